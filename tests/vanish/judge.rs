//! What becomes of a changed file: opened for `info`, and converted to `.tet`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tet_convert::{ConvertOptions, OpenOptions, Opened, convert, open};
use tet_query::{Dataset, Execution, Hyperslab};

use crate::files::Sample;

/// What becomes of a changed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    Refused,
    Same,
    Values,
    Described,
    Renamed,
    Vanished,
}

/// All that is known of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contents {
    /// Type, shape and axes.
    described: String,
    attrs: String,
    elements: Vec<u8>,
}

/// The datasets of a file, by their names.
type Datasets = BTreeMap<String, Contents>;

/// What a sound file answers, to compare with.
pub(crate) struct Judge {
    folder: PathBuf,
    root: PathBuf,
    listed: Vec<String>,
    converted: Datasets,
    /// The notes of the conversion of the sound file.
    notes: Vec<String>,
}

impl Judge {
    pub(crate) fn new(sample: &Sample, folder: &Path) -> Judge {
        let (folder, root) = (folder.to_path_buf(), folder.join(&sample.root));
        write(&folder, &sample.files);
        let opened = open(&root, &OpenOptions::default()).unwrap();
        let listed = opened.catalog.datasets().iter().map(|it| it.name.clone()).collect();
        let out = folder.with_extension("tet");
        let report = convert(&root, &out, &options()).unwrap();
        let notes = report.notes.iter().map(ToString::to_string).collect();
        let converted = datasets(&open(&out, &OpenOptions::default()).unwrap());
        assert!(!converted.is_empty(), "{}", sample.name);
        Judge { folder, root, listed, converted, notes }
    }

    /// What becomes of these files.
    pub(crate) fn fate(&self, files: &[(PathBuf, Vec<u8>)]) -> Fate {
        write(&self.folder, files);
        let Ok(opened) = open(&self.root, &OpenOptions::default()) else { return Fate::Refused };
        self.of_info(&opened).max(self.of_convert())
    }

    /// `info` lists all datasets, or ends with an error, or names what is not there.
    fn of_info(&self, opened: &Opened) -> Fate {
        if opened.losses().next().is_some() {
            return Fate::Refused;
        }
        let said: Vec<String> = opened.warnings().map(ToString::to_string).collect();
        let names: Vec<&str> =
            opened.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
        let is_gone = |name: &&String| {
            !names.contains(&name.as_str()) && !said.iter().any(|text| text.contains(name.as_str()))
        };
        match self.listed.iter().filter(is_gone).count() {
            0 => Fate::Same,
            _ if names.len() < self.listed.len() => Fate::Vanished,
            _ => Fate::Renamed,
        }
    }

    /// `convert` writes all datasets, or fails, or names what it leaves out.
    fn of_convert(&self) -> Fate {
        let out = self.folder.with_extension("tet");
        let Ok(report) = convert(&self.root, &out, &options()) else { return Fate::Refused };
        let said = report.notes.iter().map(ToString::to_string);
        let said: Vec<String> = said.filter(|note| !self.notes.contains(note)).collect();
        let found = datasets(&open(&out, &OpenOptions::default()).unwrap());
        let is_told = |name: &str| said.iter().any(|text| text.contains(name));
        let mut fate = Fate::Refused;
        for (name, contents) in &self.converted {
            let of_name = match found.get(name) {
                _ if is_told(name) => Fate::Refused,
                None if found.len() < self.converted.len() => Fate::Vanished,
                None => Fate::Renamed,
                Some(now) if now == contents => Fate::Same,
                Some(now) if now.described != contents.described => Fate::Described,
                Some(_) => Fate::Values,
            };
            fate = fate.max(of_name);
        }
        fate
    }
}

fn options() -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.tet.sync = tet_io::publish::Sync::None;
    options.tet.overwrite = tet_io::Overwrite::Replace;
    options.tet.history = None;
    options
}

/// Replaces a folder by these files.
fn write(folder: &Path, files: &[(PathBuf, Vec<u8>)]) {
    let _ = fs::remove_dir_all(folder);
    for (path, bytes) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Everything that a file has.
fn datasets(opened: &Opened) -> Datasets {
    let attrs = opened.catalog.attrs().clone();
    let of_file =
        Contents { described: String::new(), attrs: format!("{attrs:?}"), elements: Vec::new() };
    let named = opened.catalog.datasets().iter().map(|it| (it.name.clone(), contents(it)));
    named.chain([(String::new(), of_file)]).collect()
}

fn contents(dataset: &Dataset) -> Contents {
    let slab = Hyperslab::whole(dataset.shape());
    let read = dataset.read(&slab, &Execution::default());
    let elements = read.map(|it| it.value.into_bytes()).unwrap_or_default();
    let (shape, dims) = (dataset.shape(), &dataset.dims);
    let described = format!("{} {shape:?} {dims:?} {:?}", dataset.dtype_name, dataset.coords);
    Contents { described, attrs: format!("{:?}", dataset.attrs), elements }
}
