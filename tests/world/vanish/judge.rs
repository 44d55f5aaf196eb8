//! Outcomes of a changed file: opened for `info` and `stats`, converted to `.tet`, and compared with the sound file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tet_convert::{
    ConvertOptions, NameMap, OpenOptions, Opened, catalog_diff, contents, convert, open,
};
use tet_query::{AttrText, Dataset, DatasetDiff, Execution, Hyperslab, Integrity, Tolerance};

use crate::vanish::changes::Change;
use crate::vanish::files::Sample;

/// Outcomes of a changed file, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    Refused,
    Same,
    Values,
    Attrs,
    Described,
    Renamed,
    Stripped,
    Vanished,
    Overlooked,
    Panicked,
}

impl Fate {
    pub(crate) const ALL: [Fate; 10] = [
        Fate::Refused,
        Fate::Same,
        Fate::Values,
        Fate::Attrs,
        Fate::Described,
        Fate::Renamed,
        Fate::Stripped,
        Fate::Vanished,
        Fate::Overlooked,
        Fate::Panicked,
    ];
}

/// All that is known of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contents {
    /// Type, shape and axes.
    described: String,
    /// Attributes by their names.
    attrs: BTreeMap<String, String>,
    elements: Vec<u8>,
    /// Whether it cannot be read, and the reason is told.
    has_fault: bool,
}

/// The name of the file itself among its datasets: no dataset has it, and messages about the attributes of the file do.
const FILE: &str = " attribute ";

/// The rules of messages about what has no name that is known: shards that the index of a model does not have, and
/// members of consolidated metadata that belong to no array or group.
const NAMES_UNKNOWN: [&str; 2] = ["ST-N9", "ZR-M19"];

/// The datasets of a file by their names, and the file itself.
type Datasets = BTreeMap<String, Contents>;

/// Results of a sound file, to compare with.
pub(crate) struct Judge {
    folder: PathBuf,
    root: PathBuf,
    /// The sound file, in a folder of its own, as `diff` compares it.
    sound: Opened,
    compared: Datasets,
    listed: Datasets,
    converted: Datasets,
    /// Warnings about the sound file.
    said: BTreeSet<String>,
}

impl Judge {
    pub(crate) fn new(sample: &Sample, folder: &Path) -> Judge {
        let (folder, root) = (folder.to_path_buf(), folder.join(&sample.root));
        let beside = folder.with_extension("sound");
        [&folder, &beside].into_iter().for_each(|folder| write(sample, folder));
        let opened = open(&root, &OpenOptions::default()).unwrap();
        let mut sound = open(beside.join(&sample.root), &OpenOptions::default()).unwrap();
        sound.catalog = contents(sound.catalog);
        let out = folder.with_extension("tet");
        let report = convert(&root, &out, &options()).unwrap();
        let notes = report.notes.iter().map(ToString::to_string);
        let said = warnings(&opened).into_iter().chain(notes).collect();
        let converted = datasets(&open(&out, &OpenOptions::default()).unwrap(), typed, elements);
        assert!(1 < converted.len(), "{}", sample.name);
        let (listed, compared) = (listed(&opened, typed), listed(&sound, untyped));
        Judge { folder, root, sound, compared, listed, converted, said }
    }

    /// Outcome of the sample with a change.
    pub(crate) fn fate(&self, sample: &Sample, change: &Change) -> Fate {
        let (path, sound) = &sample.files[change.file];
        let path = self.folder.join(path);
        fs::write(&path, change.bytes(sample)).unwrap();
        let fate = catch_unwind(AssertUnwindSafe(|| self.of_files()));
        fs::write(&path, sound).unwrap();
        fate.unwrap_or(Fate::Panicked)
    }

    fn of_files(&self) -> Fate {
        let Ok(opened) = open(&self.root, &OpenOptions::default()) else { return Fate::Refused };
        let fate = match (self.of_info(&opened), self.of_convert()) {
            (Fate::Same, Fate::Refused) => Fate::Refused,
            (listed, converted) => listed.max(converted),
        };
        if self.is_overlooked(opened) { Fate::Overlooked } else { fate }
    }

    /// Whether `diff` says that the file is the sound one, and nothing else, though more than elements differs.
    fn is_overlooked(&self, mut opened: Opened) -> bool {
        let told = warnings(&opened);
        let is_told = told.iter().any(|it| !self.said.contains(it));
        if is_told || opened.check_complete().is_err() {
            return false;
        }
        opened.catalog = contents(opened.catalog);
        let now = listed(&opened, untyped);
        self.compare(&self.compared, &now, told) != Fate::Same && self.is_equal(&opened)
    }

    fn is_equal(&self, opened: &Opened) -> bool {
        let catalogs = [&self.sound.catalog, &opened.catalog];
        let files = catalog_diff(catalogs[0], catalogs[1], &NameMap::default());
        let (tolerance, how) = (Tolerance::default(), Execution::default());
        let is_same = |both: &[Dataset; 2]| {
            let slabs = [&both[0], &both[1]].map(|it| Hyperslab::whole(it.shape()));
            let slabs = [&slabs[0], &slabs[1]];
            let datasets = [(catalogs[0], &both[0]), (catalogs[1], &both[1])];
            let found = DatasetDiff::compare(datasets, slabs, Some(&tolerance), &how);
            // Whether bytes were compared with their checksums is told.
            let is_checked = |it: &DatasetDiff| {
                it.elements.as_ref().is_none_or(|it| it.integrity != Integrity::Unchecked)
            };
            found.is_ok_and(|it| it.is_same() && is_checked(&it))
        };
        files.only.iter().all(Vec::is_empty)
            && files.attrs.is_empty()
            && files.both.iter().all(is_same)
    }

    /// `info` and `stats` list all datasets, or ends with an error, or names what is not there.
    fn of_info(&self, opened: &Opened) -> Fate {
        match opened.losses().next() {
            Some(_) => Fate::Refused,
            None => self.compare(&self.listed, &listed(opened, typed), warnings(opened)),
        }
    }

    /// `convert` writes all datasets, or fails, or names what it leaves out.
    fn of_convert(&self) -> Fate {
        let out = self.folder.with_extension("tet");
        let Ok(report) = convert(&self.root, &out, &options()) else { return Fate::Refused };
        let said = report.notes.iter().map(ToString::to_string).collect();
        let now = datasets(&open(&out, &OpenOptions::default()).unwrap(), typed, elements);
        self.compare(&self.converted, &now, said)
    }

    /// Compares what was there with what is now, but for what is named in a message.
    fn compare(&self, before: &Datasets, now: &Datasets, said: Vec<String>) -> Fate {
        let said: Vec<String> = said.into_iter().filter(|it| !self.said.contains(it)).collect();
        let is_new = |name: &str| !before.get(name).is_some_and(|it| it.has_fault);
        let faulty = now.iter().filter(|(name, it)| it.has_fault && is_new(name));
        let faulty: Vec<&String> = faulty.map(|(name, _)| name).collect();
        let unknown = faulty.iter().filter(|name| !before.contains_key(**name)).count();
        let gone = before.keys().filter(|name| !now.contains_key(*name)).count();
        let is_told = |name: &str| {
            // A group with a fault stands for its members, and an object without its name for one with a name.
            let is_within = |group: &&String| {
                ["/", ""].contains(&group.as_str())
                    || name.strip_prefix(group.as_str()).is_some_and(|it| it.starts_with('/'))
            };
            name == FILE
                && (!faulty.is_empty() || said.iter().any(|it| it.contains("dataset \"\"")))
                || said.iter().any(|text| NAMES_UNKNOWN.iter().any(|rule| text.contains(rule)))
                || said.iter().any(|text| text.contains(name))
                || faulty.iter().any(is_within)
                || !now.contains_key(name) && gone <= unknown
        };
        // Axes have the names of datasets.
        let has_lost_axis =
            |it: &Contents| faulty.iter().any(|name| it.described.contains(&format!("{name:?}")));
        let of_name = |(name, old): (&String, &Contents)| match now.get(name) {
            _ if is_told(name) => Fate::Refused,
            None if now.len() < before.len() => Fate::Vanished,
            None => Fate::Renamed,
            Some(it) if it.has_fault => Fate::Refused,
            Some(it) if it == old => Fate::Same,
            Some(it) if it.attrs.len() < old.attrs.len() => Fate::Stripped,
            Some(it) if it.described != old.described && has_lost_axis(old) => Fate::Refused,
            Some(it) if it.described != old.described => Fate::Described,
            Some(it) if it.attrs != old.attrs => Fate::Attrs,
            Some(_) => Fate::Values,
        };
        before.iter().map(of_name).max().unwrap_or(Fate::Refused)
    }
}

/// Writes the files of a sample into a folder.
fn write(sample: &Sample, folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    for (path, bytes) in &sample.files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Warnings about an open file.
fn warnings(opened: &Opened) -> Vec<String> {
    let left_out = opened.left_out().map(ToString::to_string);
    opened.warnings().map(ToString::to_string).chain(left_out).collect()
}

fn options() -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.tet.sync = tet_io::publish::Sync::None;
    options.tet.overwrite = tet_io::Overwrite::Replace;
    options.tet.history = None;
    options
}

/// Everything that a file has but elements.
fn listed(opened: &Opened, attr: fn(&AttrText) -> String) -> Datasets {
    datasets(opened, attr, |_| Vec::new())
}

/// Everything that a file has.
fn datasets(
    opened: &Opened,
    attr: fn(&AttrText) -> String,
    elements: impl Fn(&Dataset) -> Vec<u8>,
) -> Datasets {
    let texts = |attrs: &BTreeMap<String, AttrText>| {
        attrs.iter().map(|(key, value)| (key.clone(), attr(value))).collect()
    };
    let of_file = Contents {
        described: String::new(),
        attrs: texts(opened.catalog.attrs()),
        elements: Vec::new(),
        has_fault: false,
    };
    let contents = |it: &Dataset| Contents {
        described: format!("{} {} {:?} {:?}", it.dtype_name, it.shape_text(), it.dims, it.coords),
        attrs: texts(&it.attrs),
        elements: elements(it),
        has_fault: it.fault.is_some(),
    };
    let named = opened.catalog.datasets().iter().map(|it| (it.name.clone(), contents(it)));
    named.chain([(FILE.to_owned(), of_file)]).collect()
}

fn elements(dataset: &Dataset) -> Vec<u8> {
    let read = dataset.read(&Hyperslab::whole(dataset.shape()), &Execution::default());
    read.map(|it| it.value.into_bytes()).unwrap_or_default()
}

/// An attribute with its type.
fn typed(attr: &AttrText) -> String {
    format!("{attr:?}")
}

/// An attribute as `diff` compares it: numbers without their types, and a list of one as that one.
fn untyped(attr: &AttrText) -> String {
    let (AttrText::Json(json) | AttrText::Numbers { json, .. }) = attr else { return typed(attr) };
    match serde_json::from_str::<Value>(json) {
        Ok(Value::Array(list)) if list.len() == 1 => double(&list[0]),
        Ok(Value::Array(list)) => list.iter().map(double).collect::<Vec<_>>().join(","),
        Ok(value) => double(&value),
        Err(_) => json.clone(),
    }
}

fn double(value: &Value) -> String {
    value.as_f64().map_or_else(|| value.to_string(), |it| it.to_string())
}
