//! The manifest: which parts there are, and which rows of which datasets they have.
//!
//! ```text
//!   {"tet_series": 1, "axis": "time", "datasets": {"temp": 0},
//!    "parts": [{"file": "part-0000.tet", "len": 1048576, "self": "<24 hex>", "rows": {"temp": [0, 24]}}],
//!    "of": "<24 hex>"}
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use serde_json::json;
use tet_format::{Digest, ForeignFault, ForeignRule};
use tet_io::Source;

use super::{DOCUMENT, rule};
use crate::Result;
use tet_container::read::json::{Scanner, Unfit};

/// The only version of the manifest.
const VERSION: u64 = 1;
/// Bytes of a manifest, at most.
pub(crate) const LEN_MAX: u64 = 1 << 26;

/// The content of a manifest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifest {
    /// The name of the axis that grows; none before anything was appended.
    pub(crate) axis: Option<String>,
    /// The datasets that grow, each with the position of the axis.
    pub(crate) datasets: BTreeMap<String, usize>,
    pub(crate) parts: Vec<Part>,
    /// The digest of the manifest that this one took the place of.
    pub(crate) of: Option<Digest>,
}

/// A part, as the manifest describes it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The name of its file in the folder.
    pub(crate) file: String,
    /// Bytes of the file.
    pub(crate) len: u64,
    /// Its digest `self`.
    pub(crate) digest: Digest,
    /// The rows of datasets that it has: they are the first ones in the file.
    pub(crate) rows: BTreeMap<String, Rows>,
    /// Where in the manifest it is.
    pub(crate) at: u64,
}

/// Rows from the first to before the last one.
pub(crate) type Rows = [u64; 2];

impl Manifest {
    /// The manifest of a folder of one part, to which nothing was appended.
    pub(crate) fn of_part(part: Part) -> Manifest {
        Manifest { parts: vec![part], ..Manifest::default() }
    }

    /// Reads and checks a manifest.
    pub(crate) fn read(source: &Source) -> Result<std::result::Result<Manifest, ForeignFault>> {
        let len = source.len();
        if LEN_MAX < len {
            let rule = &rule::LIMIT_MANIFEST;
            return Ok(Err(ForeignFault { rule, at: 0, found: len, wanted: LEN_MAX }));
        }
        Ok(match std::str::from_utf8(&source.read_vec(0, len)?) {
            Ok(text) => Manifest::parse(text),
            Err(error) => Err(broken(&rule::MANIFEST_JSON, error.valid_up_to())),
        })
    }

    /// The content of the text.
    pub(crate) fn parse(text: &str) -> std::result::Result<Manifest, ForeignFault> {
        let (mut manifest, mut version) = (Manifest::default(), None);
        let mut scanner = Scanner::new(text);
        let mut keys = Keys::default();
        let read = scanner.object(|scanner, at, key| {
            keys.add(at, &key)?;
            match key.as_ref() {
                "tet_series" => version = Some((scanner.place(), scanner.number()?)),
                "axis" => manifest.axis = Some(scanner.string()?.into_owned()),
                "datasets" => manifest.datasets = datasets(scanner)?,
                "parts" => scanner.array(|scanner| {
                    manifest.parts.push(Part::read(scanner)?);
                    Ok::<(), Broken>(())
                })?,
                "of" => manifest.of = Some(hex(scanner)?),
                _ => return Err(broken(&rule::MEMBER, at).into()),
            }
            Ok::<(), Broken>(())
        });
        read.and_then(|()| Ok(scanner.end()?)).map_err(|Broken(fault)| fault)?;
        match version {
            Some((_, VERSION)) => {}
            Some((at, found)) => {
                let fault = broken(&rule::VERSION, at);
                return Err(ForeignFault { found, wanted: VERSION, ..fault });
            }
            None => return Err(broken(&rule::MEMBER, 0)),
        }
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> std::result::Result<(), ForeignFault> {
        let has_axis = self.axis.is_some() && !self.datasets.is_empty();
        let is_bare = self.axis.is_none() && self.datasets.is_empty() && self.parts.len() == 1;
        if self.parts.is_empty() || !(has_axis || is_bare) {
            return Err(broken(&rule::AXIS, 0));
        }
        let mut files = BTreeSet::new();
        let mut ends: BTreeMap<&str, u64> =
            self.datasets.keys().map(|name| (name.as_str(), 0)).collect();
        for part in &self.parts {
            let fault = |rule| ForeignFault { rule, at: part.at, found: 0, wanted: 0 };
            if !is_part_name(&part.file) {
                return Err(fault(&rule::PART_NAME));
            }
            if !files.insert(&part.file) {
                return Err(fault(&rule::PART_TWICE));
            }
            for (name, &[start, end]) in &part.rows {
                let expected = ends.get_mut(name.as_str()).ok_or(fault(&rule::MEMBER))?;
                if start != *expected || end <= start {
                    let found = if start == *expected { end } else { start };
                    return Err(ForeignFault { found, wanted: *expected, ..fault(&rule::ROWS) });
                }
                *expected = end;
            }
        }
        Ok(())
    }

    /// Whether a part is named.
    pub(crate) fn names(&self, file: &str) -> bool {
        self.parts.iter().any(|part| part.file == file)
    }

    /// Rows of a dataset, in all parts.
    pub(crate) fn row_count(&self, dataset: &str) -> u64 {
        let last = self.parts.iter().rev().find_map(|part| part.rows.get(dataset));
        last.map_or(0, |&[_, end]| end)
    }

    /// Cuts the rows of a dataset off behind `end`, which a newer part has. The first part stays, also without rows:
    /// it has the datasets that do not grow.
    pub(crate) fn cut(&mut self, dataset: &str, end: u64) {
        for part in &mut self.parts {
            part.rows.retain(|name, rows| name != dataset || rows[0] < end);
            if let Some(rows) = part.rows.get_mut(dataset) {
                rows[1] = rows[1].min(end);
            }
        }
        let mut nth = 0;
        self.parts.retain(|part| {
            nth += 1;
            nth == 1 || !part.rows.is_empty()
        });
    }

    /// The text, with a line for each part.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{{\"tet_series\":{VERSION}");
        if let Some(axis) = &self.axis {
            text += &format!(",\n\"axis\":{},\"datasets\":{}", json!(axis), json!(self.datasets));
        }
        text += ",\n\"parts\":[";
        for (nth, part) in self.parts.iter().enumerate() {
            let Part { file, len, digest, rows, .. } = part;
            let comma = if nth == 0 { "" } else { "," };
            text += &format!(
                "{comma}\n{{\"file\":{},\"len\":{len},\"self\":\"{digest}\",\"rows\":{}}}",
                json!(file),
                json!(rows)
            );
        }
        text += "]";
        if let Some(of) = self.of {
            text += &format!(",\n\"of\":\"{of}\"");
        }
        text + "}\n"
    }
}

impl Part {
    fn read(scanner: &mut Scanner<'_>) -> std::result::Result<Part, Broken> {
        let at = scanner.place();
        let mut part = Part {
            file: String::new(),
            len: 0,
            digest: Digest::default(),
            rows: BTreeMap::new(),
            at: place(at),
        };
        let mut keys = Keys::default();
        scanner.object(|scanner, at, key| {
            keys.add(at, &key)?;
            match key.as_ref() {
                "file" => part.file = scanner.string()?.into_owned(),
                "len" => part.len = scanner.number()?,
                "self" => part.digest = hex(scanner)?,
                "rows" => part.rows = rows(scanner)?,
                _ => return Err(broken(&rule::MEMBER, at).into()),
            }
            Ok::<(), Broken>(())
        })?;
        keys.require(&["file", "len", "self", "rows"], at)?;
        Ok(part)
    }
}

/// Whether a name is that of a file in the folder itself that may be a part.
fn is_part_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    let is_name = components.next() == Some(Component::Normal(name.as_ref()));
    let is_plain = components.next().is_none() && !name.contains(['/', '\\', '\0']);
    is_name && is_plain && !name.starts_with('.') && name != DOCUMENT
}

fn datasets(scanner: &mut Scanner<'_>) -> std::result::Result<BTreeMap<String, usize>, Broken> {
    let mut datasets = BTreeMap::new();
    scanner.object(|scanner, at, key| {
        let axis = usize::try_from(scanner.number()?);
        let axis = axis.map_err(|_| broken(&rule::MEMBER, at))?;
        match datasets.insert(key.into_owned(), axis) {
            None => Ok(()),
            Some(_) => Err(Broken::from(broken(&rule::MEMBER, at))),
        }
    })?;
    Ok(datasets)
}

fn rows(scanner: &mut Scanner<'_>) -> std::result::Result<BTreeMap<String, Rows>, Broken> {
    let mut rows = BTreeMap::new();
    scanner.object(|scanner, at, key| {
        let pair: std::result::Result<Rows, _> = scanner.numbers()?.try_into();
        let pair = pair.map_err(|_| broken(&rule::MEMBER, at))?;
        match rows.insert(key.into_owned(), pair) {
            None => Ok(()),
            Some(_) => Err(Broken::from(broken(&rule::MEMBER, at))),
        }
    })?;
    Ok(rows)
}

fn hex(scanner: &mut Scanner<'_>) -> std::result::Result<Digest, Broken> {
    let at = scanner.place();
    Digest::from_hex(&scanner.string()?).ok_or_else(|| broken(&rule::MEMBER, at).into())
}

/// The keys of an object that were there.
#[derive(Default)]
struct Keys(BTreeSet<String>);

impl Keys {
    fn add(&mut self, at: usize, key: &str) -> std::result::Result<(), Broken> {
        let is_new = self.0.insert(key.to_owned());
        if is_new { Ok(()) } else { Err(broken(&rule::MEMBER, at).into()) }
    }

    fn require(&self, keys: &[&str], at: usize) -> std::result::Result<(), Broken> {
        let has_all = keys.iter().all(|key| self.0.contains(*key));
        if has_all { Ok(()) } else { Err(broken(&rule::MEMBER, at).into()) }
    }
}

/// Reasons to end the reading of a manifest.
struct Broken(ForeignFault);

impl From<ForeignFault> for Broken {
    fn from(fault: ForeignFault) -> Broken {
        Broken(fault)
    }
}

impl From<Unfit> for Broken {
    fn from(unfit: Unfit) -> Broken {
        Broken(match unfit {
            Unfit::Syntax(at) => broken(&rule::MANIFEST_JSON, at),
            Unfit::Type(at) => broken(&rule::MEMBER, at),
        })
    }
}

/// A fault at a byte of the manifest.
fn broken(rule: &'static ForeignRule, at: usize) -> ForeignFault {
    ForeignFault { rule, at: place(at), found: 0, wanted: 0 }
}

fn place(at: usize) -> u64 {
    u64::try_from(at).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(file: &str, rows: &[(&str, Rows)]) -> Part {
        let rows = rows.iter().map(|(name, rows)| ((*name).to_owned(), *rows)).collect();
        Part { file: file.to_owned(), len: 9, digest: Digest::default(), rows, at: 0 }
    }

    /// A part, and what it has of each dataset.
    type Shown<'m> = (&'m str, Vec<(&'m str, Rows)>);

    fn shown(manifest: &Manifest) -> Vec<Shown<'_>> {
        let mut shown = Vec::new();
        for Part { file, rows, .. } in &manifest.parts {
            let rows = rows.iter().map(|(name, rows)| (name.as_str(), *rows)).collect();
            shown.push((file.as_str(), rows));
        }
        shown
    }

    #[test]
    fn text_is_read_as_what_was_written() {
        let parts = vec![part("a \"b\".tet", &[("x", [0, 4])]), part("c", &[("x", [4, u64::MAX])])];
        let datasets = [("x".to_owned(), 1), ("y/\u{e9}".to_owned(), 0)].into();
        let axis = Some("time".to_owned());
        let manifest = Manifest { axis, datasets, parts, of: Some(Digest::default()) };
        let again = Manifest::parse(&manifest.text()).unwrap();
        assert_eq!(shown(&again), shown(&manifest));
        assert_eq!((&again.axis, &again.datasets), (&manifest.axis, &manifest.datasets));
        assert_eq!(again.row_count("x"), u64::MAX);
        assert_eq!(manifest.text(), again.text());
    }

    #[test]
    fn parts_without_rows_are_left_out_but_for_the_first() {
        let parts = vec![
            part("a", &[("x", [0, 2]), ("y", [0, 2])]),
            part("b", &[("x", [2, 3])]),
            part("c", &[("x", [3, 9]), ("y", [2, 5])]),
        ];
        let mut manifest = Manifest { parts, ..Manifest::default() };
        manifest.cut("x", 8);
        manifest.cut("y", 0);
        let wanted =
            [("a", vec![("x", [0, 2])]), ("b", vec![("x", [2, 3])]), ("c", vec![("x", [3, 8])])];
        assert_eq!(shown(&manifest), wanted);
        manifest.cut("x", 0);
        assert_eq!(shown(&manifest), [("a", Vec::new())]);
    }
}
