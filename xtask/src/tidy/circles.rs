//! Files do not import each other in circles, but for a parent module and its child.
//!
//! An import is a `use` line. It is counted for the file that defines the name, however many modules pass
//! the name on, and a module that passes on a name of its own child imports nothing by that. Tests are
//! left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Findings, reach};

/// Names from the root of a crate to a module.
type Name = Vec<String>;

/// The imports of each module of a crate.
type Modules = BTreeMap<Name, Vec<Import>>;

/// One name in a `use` line.
#[derive(Debug, PartialEq, Eq)]
struct Import {
    /// Whether it is passed on.
    is_public: bool,
    path: Name,
    /// Its local name.
    alias: String,
}

/// Finds the circles of every package.
pub(super) fn check(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    let is_root = |path: &&PathBuf| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
    for path in files.iter().filter(is_root) {
        let mut modules = Modules::new();
        read(path, Name::new(), &mut modules)?;
        let place = path.strip_prefix(root).unwrap_or(path).display();
        for circle in circles(&modules) {
            findings.fault(&place, format!("a circle of imports: {}", circle.join(", ")));
        }
    }
    Ok(())
}

/// Reads the imports of a file and of the modules below it.
fn read(path: &Path, name: Name, modules: &mut Modules) -> Result<()> {
    let text = std::fs::read_to_string(path)?;
    let text = without_tests(&text);
    for child in text.lines().filter_map(reach::declared) {
        for file in reach::files_of(path, child).into_iter().filter(|file| file.is_file()) {
            let name = name.iter().cloned().chain([child.to_owned()]).collect();
            read(&file, name, modules)?;
        }
    }
    modules.insert(name, imports(&text));
    Ok(())
}

/// The text without comments and without what is compiled for tests alone.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let next = lines.find(|line| !line.trim_start().starts_with("#[")).unwrap_or("");
            if next.ends_with('{') {
                let indent = next.len() - next.trim_start().len();
                let end = format!("{}}}", &next[..indent]);
                let _ = lines.find(|line| line.starts_with(&end));
            }
        } else {
            kept.push_str(line.split("//").next().unwrap_or(""));
            kept.push('\n');
        }
    }
    kept
}

/// The names that the `use` lines of a text import.
fn imports(text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for statement in text.split(';') {
        let lines: Vec<&str> = statement.lines().map(str::trim).collect();
        let Some(first) = lines.iter().rposition(|line| imported(line).is_some()) else { continue };
        let statement = lines[first..].join(" ");
        if let Some((is_public, tree)) = imported(&statement) {
            expand(tree, &Name::new(), is_public, &mut found);
        }
    }
    found
}

/// Whether a `use` line passes on what it imports, and what that is; `None` for other lines.
fn imported(line: &str) -> Option<(bool, &str)> {
    let after = match line.strip_prefix("pub") {
        Some(after) if after.starts_with('(') => after.split_once(')')?.1,
        Some(after) => after,
        None => line,
    };
    Some((after.len() < line.len(), after.trim_start().strip_prefix("use ")?))
}

/// Takes the names out of a tree such as `a::{b, c as d}`.
fn expand(tree: &str, before: &Name, is_public: bool, found: &mut Vec<Import>) {
    let tree = tree.trim();
    let (head, inner) = match tree.split_once('{') {
        Some((head, inner)) => (head, inner.rsplit_once('}').map(|(inner, _)| inner)),
        None => (tree, None),
    };
    let (head, alias) = head.split_once(" as ").map_or((head, None), |(head, it)| (head, Some(it)));
    let names = head.split("::").map(str::trim).filter(|name| !name.is_empty());
    let path: Name = before.iter().cloned().chain(names.map(str::to_owned)).collect();
    match (inner, path.last()) {
        (Some(inner), _) => {
            for branch in branches(inner) {
                expand(branch, &path, is_public, found);
            }
        }
        (None, Some(last)) => {
            let alias = alias.map_or_else(|| last.clone(), |alias| alias.trim().to_owned());
            found.push(Import { is_public, path, alias });
        }
        (None, None) => {}
    }
}

/// The parts between the commas that no brace encloses.
fn branches(inner: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                found.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&inner[start..]);
    found.retain(|branch| !branch.trim().is_empty());
    found
}

/// The module a path starts from, and the names after it; `None` for a path into another crate.
fn start<'p>(modules: &Modules, of: &Name, path: &'p [String]) -> Option<(Name, &'p [String])> {
    match path.first()?.as_str() {
        "crate" => Some((Name::new(), &path[1..])),
        "self" => Some((of.clone(), &path[1..])),
        "super" => {
            let count = path.iter().take_while(|name| *name == "super").count();
            Some((of[..of.len().saturating_sub(count)].to_vec(), &path[count..]))
        }
        first => {
            let child = of.iter().cloned().chain([first.to_owned()]).collect::<Name>();
            modules.contains_key(&child).then(|| (of.clone(), path))
        }
    }
}

/// The module that defines what a path from `module` on names. `depth` bounds the modules it is passed
/// on by.
fn definer(modules: &Modules, mut module: Name, mut path: &[String], depth: usize) -> Name {
    while let Some((first, rest)) = path.split_first() {
        let child = module.iter().cloned().chain([first.clone()]).collect::<Name>();
        if modules.contains_key(&child) {
            (module, path) = (child, rest);
            continue;
        }
        let passed_on = modules[&module].iter().find(|import| import.alias == *first);
        let from = passed_on.and_then(|import| start(modules, &module, &import.path));
        return match from {
            Some((next, names)) if 0 < depth => {
                let names = [names, rest].concat();
                definer(modules, next, &names, depth - 1)
            }
            _ => module,
        };
    }
    module
}

/// The modules that each module imports.
fn edges(modules: &Modules) -> BTreeMap<&Name, BTreeSet<Name>> {
    let target = |of: &Name, import: &Import| {
        let (module, path) = start(modules, of, &import.path)?;
        let to = definer(modules, module, path, 16);
        let is_passed_on = import.is_public && to.starts_with(of);
        (to != *of && !is_passed_on).then_some(to)
    };
    let all = |of| modules[of].iter().filter_map(|import| target(of, import)).collect();
    modules.keys().map(|of| (of, all(of))).collect()
}

/// The modules of each circle in which an import joins two that are not parent and child.
fn circles(modules: &Modules) -> Vec<Vec<String>> {
    let edges = edges(modules);
    let reached: BTreeMap<&Name, BTreeSet<&Name>> =
        modules.keys().map(|of| (of, reached(&edges, of))).collect();
    let is_pair = |a: &Name, b: &Name| {
        let (parent, child) = if a.len() < b.len() { (a, b) } else { (b, a) };
        child.len() == parent.len() + 1 && child.starts_with(parent)
    };
    let mut found = BTreeSet::new();
    for (of, targets) in &edges {
        let back = |to: &Name| reached[to].contains(of);
        if targets.iter().any(|to| back(to) && !is_pair(of, to)) {
            let circle = reached[of].iter().filter(|to| reached[**to].contains(of));
            found.insert(circle.map(|name| name.join("::")).collect());
        }
    }
    found.into_iter().collect()
}

/// All modules that one imports, directly or through others.
fn reached<'a>(edges: &'a BTreeMap<&Name, BTreeSet<Name>>, of: &Name) -> BTreeSet<&'a Name> {
    let mut found = BTreeSet::new();
    let mut left: Vec<&Name> = edges[of].iter().collect();
    while let Some(next) = left.pop() {
        if found.insert(next) {
            left.extend(&edges[next]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let module = |(name, text): &(&str, &str)| {
            let name = name.split("::").filter(|name| !name.is_empty()).map(str::to_owned);
            (name.collect(), imports(&without_tests(text)))
        };
        let root = (Name::new(), Vec::new());
        circles(&files.iter().map(module).chain([root]).collect())
            .iter()
            .map(|it| it.join(" "))
            .collect()
    }

    #[test]
    fn files_in_a_circle_are_found() {
        let found = circles_of(&[("a", "use crate::b::B;"), ("b", "use super::{c, a::A};")]);
        assert_eq!(found, ["a b"]);
        let found = circles_of(&[("a", "use crate::b::B;"), ("b", "use std::fs;")]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn parent_and_child_may_import_each_other() {
        let child = ("a::b", "use super::A;");
        assert_eq!(circles_of(&[("a", "use self::b::B;"), child]), [""; 0]);
        let sibling = ("a::c", "use super::A;");
        let both = "use self::{b::B, c::C};";
        assert_eq!(circles_of(&[("a", both), child, sibling]), [""; 0]);
        let sibling = ("a::c", "use super::b::B;");
        let child = ("a::b", "use super::c::{self, C as D};");
        assert_eq!(circles_of(&[("a", both), child, sibling]), ["a::b a::c"]);
    }

    #[test]
    fn a_name_counts_for_the_file_that_defines_it() {
        let passing = ("a", "pub(crate) use self::b::{B, Z as Y};");
        let user = ("c", "use crate::a::Y;");
        assert_eq!(circles_of(&[passing, ("a::b", "use crate::c::C;"), user]), ["a::b c"]);
        assert_eq!(circles_of(&[passing, ("a::b", ""), ("a::d", "use super::B;")]), [""; 0]);
    }

    #[test]
    fn tests_and_comments_import_nothing() {
        let user = ("b", "use crate::a::A;");
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n// use crate::b::B;\n";
        assert_eq!(circles_of(&[("a", tests), user]), [""; 0]);
    }
}
