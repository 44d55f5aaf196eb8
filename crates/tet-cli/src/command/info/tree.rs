//! `tet info --tree`: names with `/` as a tree of groups, with the attributes of the groups.

use std::collections::HashMap;

use tet_convert::Opened;
use tet_query::{Catalog, Dataset};

use super::metadata;
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::Result;
use crate::render::dtype::shown_dtype;

/// Groups within each other that are drawn; a name of more parts has the others in its last one.
const DEPTH_MAX: usize = 64;
/// Columns of names before those that follow are moved.
const LEFT_MAX: usize = 40;
/// Levels that are indented.
const INDENT_MAX: usize = 16;

/// A group or a dataset.
#[derive(Debug, Default)]
struct Node<'a> {
    name: &'a str,
    children: Vec<usize>,
    dataset: Option<&'a Dataset>,
    attrs: Vec<(&'a str, String)>,
}

/// The groups and datasets of a file; the first node is its root.
struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    /// Groups by the node around them and their names.
    groups: HashMap<(usize, &'a str), usize>,
}

impl<'a> Tree<'a> {
    fn new(catalog: &'a Catalog) -> Tree<'a> {
        let mut tree = Tree { nodes: vec![Node::default()], groups: HashMap::new() };
        for dataset in catalog.datasets() {
            let mut parts = dataset.name.splitn(DEPTH_MAX, '/').peekable();
            let mut at = 0;
            while let Some(name) = parts.next() {
                if parts.peek().is_none() {
                    let node = Node { name, dataset: Some(dataset), ..Node::default() };
                    tree.push(at, node);
                } else {
                    at = tree.group(at, name);
                }
            }
        }
        tree
    }

    fn push(&mut self, at: usize, node: Node<'a>) -> usize {
        let child = self.nodes.len();
        self.nodes.push(node);
        if let Some(around) = self.nodes.get_mut(at) {
            around.children.push(child);
        }
        child
    }

    /// The group of this name in a node.
    fn group(&mut self, at: usize, name: &'a str) -> usize {
        if let Some(&group) = self.groups.get(&(at, name)) {
            return group;
        }
        let group = self.push(at, Node { name, ..Node::default() });
        self.groups.insert((at, name), group);
        group
    }

    /// Gives an attribute of the file, whose name begins with that of its group, to the group.
    fn take_attr(&mut self, key: &'a str, value: String) {
        let (mut at, mut rest) = (0, key);
        while let Some((name, inner)) = rest.split_once('/')
            && let Some(&group) = self.groups.get(&(at, name))
        {
            (at, rest) = (group, inner);
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.attrs.push((rest, value));
        }
    }

    /// Calls `visit` with every node and its depth, a group before what is in it.
    fn walk(&self, visit: &mut dyn FnMut(&Node<'a>, usize)) {
        let mut open = vec![(0_usize, 0_usize)];
        while let Some((at, depth)) = open.pop() {
            let Some(node) = self.nodes.get(at) else { continue };
            visit(node, depth);
            open.extend(node.children.iter().rev().map(|&child| (child, depth + 1)));
        }
    }
}

/// A line: what is indented, and what follows in columns.
struct Line {
    left: String,
    /// Type, shape, axes; empty for groups and attributes.
    right: Vec<String>,
}

impl Line {
    fn new(depth: usize, text: &str) -> Line {
        let left = format!("{}{}", "  ".repeat(depth.min(INDENT_MAX)), Escaped(text));
        Line { left, right: Vec::new() }
    }

    fn of_dataset(depth: usize, name: &str, dataset: &Dataset) -> Line {
        let dtype = shown_dtype(dataset);
        let mut right = vec![Escaped(dtype).to_string(), dataset.shape_text()];
        let axes = metadata::axes(dataset);
        if !axes.is_empty() {
            right.push(Escaped(&axes).to_string());
        }
        Line { right, ..Line::new(depth, if name.is_empty() { "\"\"" } else { name }) }
    }
}

/// Prints the tree of a file.
///
/// # Errors
///
/// Writing to standard output fails.
pub(crate) fn write(opened: &Opened, context: &mut Context<'_>) -> Result<()> {
    let mut tree = Tree::new(&opened.catalog);
    let attrs = metadata::file_attrs(opened);
    for (key, value) in opened.catalog.attrs().keys().zip(attrs.values()) {
        tree.take_attr(key, metadata::text(value));
    }
    let parts = opened.catalog.parts().iter();
    let parts: HashMap<&str, &Dataset> = parts.map(|part| (&*part.name, part)).collect();
    let mut lines = Vec::new();
    tree.walk(&mut |node, depth| {
        match node.dataset {
            Some(dataset) => lines.push(Line::of_dataset(depth, node.name, dataset)),
            None => lines.push(Line::new(depth, &format!("{}/", node.name))),
        }
        for (name, value) in &node.attrs {
            lines.push(Line::new(depth + 1, &format!("@{name} = {value}")));
        }
        let Some(dataset) = node.dataset else { return };
        let Some(tet_query::Error::Compound { members, .. }) = dataset.why() else { return };
        for member in members.iter().filter_map(|name| parts.get(name.as_str())) {
            let name = member.name.strip_prefix(&*dataset.name).unwrap_or(&member.name);
            lines.push(Line::of_dataset(depth + 1, name, member));
        }
    });
    write_lines(&lines, context)
}

/// Prints lines with their columns below each other, where names are not very long.
fn write_lines(lines: &[Line], context: &mut Context<'_>) -> Result<()> {
    let count = |text: &str| text.chars().count();
    let columns = |at: usize, most: usize| {
        let widths = lines.iter().filter_map(|it| it.right.get(at)).map(|text| count(text));
        widths.max().unwrap_or(0).min(most)
    };
    let names = lines.iter().filter(|it| !it.right.is_empty()).map(|it| count(&it.left));
    let widths = [names.max().unwrap_or(0).min(LEFT_MAX), columns(0, 16), columns(1, 24)];
    for Line { left, right } in lines {
        let mut line = format!("  {left}");
        let cells = [left].into_iter().chain(right);
        for ((cell, width), next) in cells.zip(widths).zip(right) {
            line.push_str(&" ".repeat(width.saturating_sub(count(cell)) + 2));
            line.push_str(next);
        }
        context.line(line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(names: &'static [&'static str]) -> Vec<String> {
        use tet_format::{DType, Grid, Span};
        let dataset = |name: &&str| {
            let grid = Grid::new([2].into(), [2].into()).expect("small");
            let span = Span::new(0, 2).expect("small");
            let slabs = tet_convert::Slabs::new(grid.clone(), 8, span);
            let source = tet_io::Source::from_bytes([1, 2]);
            Dataset::new(source, *name, DType::UInt8, grid, std::sync::Arc::new(slabs))
        };
        let datasets = names.iter().map(dataset).collect();
        let catalog = Catalog::new(tet_io::Source::from_bytes([1]), "test", datasets);
        let mut tree = Tree::new(&catalog);
        for key in ["units", "g/units", "g/h/a/b", "x/y"] {
            tree.take_attr(key, String::new());
        }
        let mut lines = Vec::new();
        tree.walk(&mut |node, depth| {
            let attrs: Vec<&str> = node.attrs.iter().map(|(name, _)| *name).collect();
            lines.push(format!("{depth} {} {}", node.name, attrs.join(" ")).trim_end().to_owned());
        });
        lines
    }

    #[test]
    fn groups_are_in_the_order_of_their_first_dataset() {
        let wanted =
            ["0  units x/y", "1 t", "1 g units", "2 a", "2 h a/b", "3 b", "2 c", "1 u", "1 t"];
        assert_eq!(tree(&["t", "g/a", "u", "g/h/b", "g/c", "t"]), wanted);
        assert_eq!(tree(&["/a", "b/"]), ["0  units g/units g/h/a/b x/y", "1", "2 a", "1 b", "2"]);
    }
}
