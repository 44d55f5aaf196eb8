//! Aligned tables without borders: the same text on a terminal and in a pipe.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};

use super::paint::Paint;
use crate::escape::Escaped;

/// The longest word that is not broken to make a table narrower.
const WORD_MAX: usize = 10;
/// The least width that columns of longer words need.
const BROKEN_LEN: usize = 8;

/// Names that are at least this long are shortened before a column is left out.
const NAME_LEN: usize = 24;
/// Names are not made shorter than this.
const NAME_LEN_MIN: usize = 8;

/// A table: columns with a name and an alignment, rows of texts.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Side)>,
    rows: Vec<Vec<String>>,
}

/// The side a column is aligned to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Names and texts.
    Left,
    /// Numbers.
    Right,
}

impl Table {
    /// An empty table; a column whose name is empty has no heading.
    #[must_use]
    pub(crate) fn new(columns: &[(&'static str, Side)]) -> Table {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; every text is escaped.
    pub(crate) fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells = cells.into_iter().map(|cell| Escaped(cell.as_ref()).to_string());
        self.rows.push(cells.collect());
    }

    /// Whether there are no rows.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines, indented by two, without columns in which every cell is empty.
    ///
    /// With a width, long cells wrap inside their column.
    #[must_use]
    pub(crate) fn lines(&self, width: Option<usize>, paint: Paint) -> Vec<String> {
        let used: Vec<usize> = (0..self.columns.len()).filter(|&at| self.is_used(at)).collect();
        let has_header = used.iter().any(|&at| !self.columns[at].0.is_empty());
        let is_plain = width.is_none() && self.is_narrow();
        let mut lines = match is_plain {
            true => self.plain_lines(&used, has_header),
            false => self.arranged_lines(&used, has_header, width),
        };
        if let Some(header) = lines.first_mut().filter(|_| has_header) {
            let text = std::mem::take(header);
            *header = paint.faint(text).to_string();
        }
        lines
    }

    /// Whether all characters are known to take one column of a terminal: those of ASCII, ellipses and blocks.
    fn is_narrow(&self) -> bool {
        let is_narrow = |c: char| matches!(c, ' '..='~' | '\u{2026}' | '\u{2581}'..='\u{2588}');
        self.rows.iter().flatten().all(|cell| cell.chars().all(is_narrow))
    }

    /// The lines of a table in which no cell wraps. Tables of 100,000 rows take a tenth of what arranging them does.
    fn plain_lines(&self, used: &[usize], has_header: bool) -> Vec<String> {
        let widths: Vec<usize> = used.iter().map(|&at| self.column_width(at)).collect();
        let line = |row: Option<&Vec<String>>| {
            let mut line = String::with_capacity(widths.iter().map(|width| width + 2).sum());
            for (&at, width) in used.iter().zip(&widths) {
                let heading = self.columns[at].0;
                let cell = row.map_or(heading, |row| row.get(at).map_or("", String::as_str));
                let pad = width - cell.chars().count();
                let (before, after) = match self.columns[at].1 {
                    Side::Left => (2, pad),
                    Side::Right => (2 + pad, 0),
                };
                line.extend(std::iter::repeat_n(' ', before));
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', after));
            }
            line.truncate(line.trim_end().len());
            line
        };
        let header = has_header.then_some(None);
        header.into_iter().chain(self.rows.iter().map(Some)).map(line).collect()
    }

    /// The lines of any table: cells of wide characters, or of more than fit.
    fn arranged_lines(
        &self,
        used: &[usize],
        has_header: bool,
        width: Option<usize>,
    ) -> Vec<String> {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING);
        if has_header {
            table.set_header(used.iter().map(|&at| self.columns[at].0).collect::<Vec<_>>());
        }
        for row in &self.rows {
            let cell = |&at: &usize| row.get(at).map_or("", String::as_str);
            table.add_row(used.iter().map(cell).collect::<Vec<_>>());
        }
        for (place, &at) in used.iter().enumerate() {
            let Some(column) = table.column_mut(place) else { continue };
            column.set_padding((2, 0));
            column.set_cell_alignment(match self.columns[at].1 {
                Side::Left => CellAlignment::Left,
                Side::Right => CellAlignment::Right,
            });
        }
        if let Some(width) = width.and_then(|width| u16::try_from(width).ok()) {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            keep_words(&mut table, width);
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Whether no line is wider than this.
    #[must_use]
    pub(crate) fn fits(&self, width: usize) -> bool {
        self.width() <= width
    }

    /// Makes the table narrower where it has to be: names, in the column "name", lose their middle, and
    /// `optional` columns are left out, in this order, before names become shorter than `NAME_LEN`.
    pub(crate) fn fit(&mut self, width: usize, optional: &[&str]) {
        let mut optional = optional.iter();
        loop {
            let Some(names) = self.columns.iter().position(|(name, _)| *name == "name") else {
                return;
            };
            let len = self.column_width(names);
            let room = width.saturating_sub(self.width() - len);
            if len <= room || NAME_LEN <= room {
                return self.shorten(names, room);
            }
            let Some(out) = optional.next() else {
                return self.shorten(names, room.max(NAME_LEN_MIN));
            };
            self.remove(out);
        }
    }

    /// Cuts the texts of the last column where that makes lines fit and leaves them at least `least` characters.
    pub(crate) fn shorten_last(&mut self, width: usize, least: usize) {
        let Some(last) = self.columns.len().checked_sub(1) else { return };
        let len = self.column_width(last);
        let others = self.width() - if self.is_used(last) { len + 2 } else { 0 };
        let room = width.saturating_sub(others + 2);
        if len <= room || room < least {
            return;
        }
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(last)) {
            if room < cell.chars().count() {
                *cell = cell.chars().take(room - 1).chain(['\u{2026}']).collect();
            }
        }
    }

    /// Leaves out a column.
    pub(crate) fn remove(&mut self, column: &str) {
        let Some(at) = self.columns.iter().position(|(name, _)| *name == column) else { return };
        self.columns.remove(at);
        for row in self.rows.iter_mut().filter(|row| at < row.len()) {
            row.remove(at);
        }
    }

    /// Columns of the widest line.
    fn width(&self) -> usize {
        let used = (0..self.columns.len()).filter(|&at| self.is_used(at));
        used.map(|at| self.column_width(at) + 2).sum()
    }

    fn column_width(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        let widths = cells.map(|cell| cell.chars().count());
        widths.chain([self.columns[at].0.len()]).max().unwrap_or(0)
    }

    /// Takes the middle out of longer cells of a column.
    fn shorten(&mut self, at: usize, len: usize) {
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(at)) {
            let count = cell.chars().count();
            if len < count {
                let kept = len.saturating_sub(1);
                let head: String = cell.chars().take(kept.div_ceil(2)).collect();
                let tail: String = cell.chars().skip(count - kept / 2).collect();
                *cell = format!("{head}\u{2026}{tail}");
            }
        }
    }

    fn is_used(&self, at: usize) -> bool {
        self.rows.iter().any(|row| row.get(at).is_some_and(|cell| !cell.is_empty()))
    }
}

/// Has columns of short words break between them, if the table is wide enough.
fn keep_words(table: &mut comfy_table::Table, width: u16) {
    let word = |cell: &comfy_table::Cell| {
        let content = cell.content();
        content.split(' ').map(|word| word.chars().count()).max().unwrap_or(0)
    };
    let longest = |column: &comfy_table::Column| {
        let rows = table.row_iter().chain(table.header());
        rows.filter_map(|row| row.cell_iter().nth(column.index)).map(word).max().unwrap_or(0)
    };
    let needed: Vec<usize> = table.column_iter().map(longest).collect();
    let at_least = |&len: &usize| if len <= WORD_MAX { len + 2 } else { BROKEN_LEN };
    let all: usize = needed.iter().map(at_least).sum();
    if usize::from(width) < all {
        return;
    }
    for (column, len) in table.column_iter_mut().zip(needed) {
        if let Some(len) = u16::try_from(len + 2).ok().filter(|_| len <= WORD_MAX) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(len)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table =
            Table::new(&[("name", Side::Left), ("size", Side::Right), ("note", Side::Left)]);
        table.row(["temp", "1", ""]);
        table.row(["a\u{1b}b", "1000", ""]);
        table
    }

    #[test]
    fn columns_align_and_empty_ones_vanish() {
        let lines = table().lines(None, Paint::Plain);
        assert_eq!(lines, ["  name    size", "  temp       1", "  a\\x1bb  1000"]);
    }

    #[test]
    fn plain_tables_are_laid_out_as_arranged_ones() {
        let cells = ["", " ", "a", "12", " \u{2581}  \u{2588} ", "a b", "name\u{2026}", "a\\b "];
        let names = [["name", "size", "values"], ["", "", ""]];
        for (names, (step, count)) in names.iter().zip([(1, 9), (3, 4)]) {
            let sides = [Side::Left, Side::Right, Side::Left];
            let columns: Vec<_> = names.iter().copied().zip(sides).collect();
            let mut table = Table::new(&columns);
            for at in 0..count {
                table.row([0, 1, 2].map(|nth| cells[(at * step + nth * (at + 1)) % cells.len()]));
            }
            table.row(["short"]);
            let used: Vec<usize> = (0..3).filter(|&at| table.is_used(at)).collect();
            let has_header = !names[0].is_empty();
            assert!(table.is_narrow());
            let plain = table.plain_lines(&used, has_header);
            assert_eq!(plain.len(), count + 1 + usize::from(has_header));
            assert_eq!(plain, table.arranged_lines(&used, has_header, None));
        }
        let mut wide = table();
        wide.row(["\u{6e29}\u{5ea6}", "2", ""]);
        assert!(!wide.is_narrow());
    }

    #[test]
    fn short_words_are_not_broken() {
        let mut table = Table::new(&[("name", Side::Left), ("codec", Side::Left)]);
        table.row(["complex128 and more", "shuffle+deflate+fletcher32"]);
        let lines = table.lines(Some(22), Paint::Plain);
        assert_eq!(lines[1], "  complex128  shuffle+", "{lines:?}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let mut table = table();
        table.row(["a name of many words that must wrap somewhere", "1", ""]);
        let lines = table.lines(Some(30), Paint::Plain);
        assert!(lines.iter().all(|line| line.chars().count() <= 30), "{lines:?}");
    }
}
