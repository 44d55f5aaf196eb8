//! A folder grows by a part.
//!
//! ```text
//!   manifest --> start of the new part: the last border of chunks, for each dataset
//!   rows behind it, and those of the inputs --> part, synced --> new manifest, in the place of the old one
//! ```
//!
//! Who finds another manifest there than the one that was read begins again.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use tet_codec::digest;
use tet_io::{FileLock, Folder, Output, Publish, Source, is_url, shown};
use tet_query::{Dataset, Execution};

use super::growing::{AxisAppend, Growing, extent, growing};
use super::new_part::{Planned, metadata_of, write_part};
use super::order::{NOT_AGAIN, unfit};
use super::{Request, change, check_fixed, grow_labels, opened_inputs, taken_inputs};
use crate::container::tets::parts::folder_at;
use crate::container::tets::{
    DOCUMENT, FORMAT, LOCK, Manifest, Part, SUFFIX, Series, new_part_name, opened_of, part,
};
use crate::container::{EditMode, EditOptions};
use crate::convert::{concat, convert};
use crate::edit::report::{DatasetChange, EditReport};
use crate::open::OpenedFile;
use crate::{Error, Result};
use tet_container::model::attribute_types::{AttrTypes, typed};
use tet_container::model::logical::to_logical;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::write::conversion::{ConvertOptions, GrowingAxis};
use tet_container::write::file::folder_of;

/// How often another process may be first.
const TRIES_MAX: usize = 10_000;
/// How long is waited for a lock before it is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// Whether a path is that of a folder that is not there yet.
pub(super) fn is_new(path: &Path) -> bool {
    let has_suffix = path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case(SUFFIX));
    let is_absent = |path: &Path| match is_url(path) {
        true => Folder::open(path).is_ok_and(|it| matches!(it.get(DOCUMENT), Ok(None))),
        false => fs::symlink_metadata(path).is_err(),
    };
    has_suffix && is_absent(path)
}

/// Makes a folder of all files, which is there complete or not at all.
pub(super) fn begin(
    file: &Path,
    asked: &AxisAppend<'_>,
    options: &EditOptions,
    how: &Execution,
) -> Result<EditReport> {
    check_output(asked, options)?;
    let inputs = opened_inputs(asked, &folder_of(file))?;
    let inputs = taken_inputs(inputs, FORMAT, asked, how, &mut Vec::new())?;
    let of_folder = &of_all(asked);
    let files = OpenedFile::all(&inputs);
    let Some((first, others)) = files.split_first() else {
        return Err(unfit("no file is given".to_owned()));
    };
    let mut report = EditReport::default();
    let mut grows = GrowingAxis { name: asked.axis.to_owned(), ..GrowingAxis::default() };
    // An input whose datasets cannot grow begins no folder.
    for it in growing(first.opened, of_folder, others)? {
        let (dataset, axis, from) = (it.dataset.name.clone(), it.axis, 0);
        let to = extent(it.dataset, axis).saturating_add(it.by());
        grows.numbers.insert(dataset.clone(), axis);
        grows.extents.insert(dataset.clone(), to);
        report.changes.push(DatasetChange::Grown { dataset, axis, from, to });
    }
    if options.mode == EditMode::Plan {
        return Ok(report);
    }
    drop(inputs);
    let mut of_folder = ConvertOptions { execution: how.clone(), ..ConvertOptions::default() };
    of_folder.tet.include = asked.datasets.to_vec();
    of_folder.tet.exclude = asked.exclude.to_vec();
    of_folder.unsupported = asked.unsupported;
    of_folder.tet.history = options.history;
    of_folder.tet.sync = options.publish.sync;
    let converted = match asked.inputs {
        [input] => convert(input, file, &of_folder),
        inputs => {
            of_folder.grows = Some(grows);
            concat(inputs, asked.axis, file, &of_folder)
        }
    };
    match converted {
        Ok(converted) => {
            // The notes say which parts of the files the folder does not have.
            report.notes = converted.notes;
            report.file_len = Some(converted.output_len);
            Ok(report)
        }
        // Another process was first.
        Err(Error::Io(tet_io::Error::Exists { .. })) => append(file, asked, options, how),
        Err(Error::Refs { what }) => Err(unfit(what)),
        Err(error) => Err(error),
    }
}

/// Appends files as a part, whose length is that of the report.
pub(super) fn append(
    file: &Path,
    asked: &AxisAppend<'_>,
    options: &EditOptions,
    how: &Execution,
) -> Result<EditReport> {
    check_output(asked, options)?;
    let place = match is_url(file) {
        true => file.to_path_buf(),
        false => fs::canonicalize(file)
            .map_err(|error| tet_io::Error::io(tet_io::Operation::Resolve, file, error))?,
    };
    let folder = folder_at(&place);
    Folder::open(folder)?.check_conditional()?;
    let inputs = opened_inputs(asked, &folder_of(&folder.join(DOCUMENT)))?;
    let mut notes = Vec::new();
    let inputs = taken_inputs(inputs, FORMAT, asked, how, &mut notes)?;
    let of_folder = &of_all(asked);
    let inputs = &OpenedFile::all(&inputs);
    let request = Request { asked: of_folder, inputs, options, how };
    let attempt = Attempt { folder, shown: file, request, chosen: asked };
    let mut left = TRIES_MAX;
    loop {
        left -= 1;
        let _lock = attempt.lock()?;
        match attempt.run() {
            Err(Error::Io(tet_io::Error::Changed { path }))
                if path.ends_with(DOCUMENT) && left != 0 =>
            {
                how.progress.check()?;
            }
            outcome => {
                return outcome.map(|mut report| {
                    report.notes.splice(0..0, notes);
                    report
                });
            }
        }
    }
}

/// The append without a choice of datasets, of inputs that have the chosen ones alone: all of a folder that have the
/// axis grow.
fn of_all<'a>(asked: &AxisAppend<'a>) -> AxisAppend<'a> {
    AxisAppend { datasets: &[], exclude: &[], ..*asked }
}

fn check_output(asked: &AxisAppend<'_>, options: &EditOptions) -> Result<()> {
    if options.reserved_rows != 0 {
        return Err(unfit("the index of a folder of parts has no rows to reserve".to_owned()));
    }
    let what = "a folder of parts grows where it is: `tet convert` makes a file of it";
    if asked.output.is_some() {
        return Err(unfit(what.to_owned()));
    }
    Ok(())
}

/// An append, to the manifest that is there now.
struct Attempt<'a> {
    folder: &'a Path,
    /// The folder as the caller names it.
    shown: &'a Path,
    request: Request<'a>,
    /// With the datasets that the caller chose of the inputs.
    chosen: &'a AxisAppend<'a>,
}

impl Attempt<'_> {
    /// Locks the folder against those who remove what no manifest names; nothing where the file system has no locks,
    /// for nothing is removed there.
    fn lock(&self) -> Result<Option<FileLock>> {
        if is_url(self.folder) {
            return Ok(None);
        }
        let path = self.folder.join(LOCK);
        loop {
            match FileLock::try_shared(&path) {
                Ok(None) => thread::sleep(PAUSE),
                Ok(lock) => return Ok(lock),
                Err(error) if is_of(&error, ErrorKind::Unsupported) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            self.request.how.progress.check()?;
        }
    }

    fn run(&self) -> Result<EditReport> {
        let Request { asked, inputs, options, how } = self.request;
        // It stays open until it is replaced, so that its inode is not used again.
        let source = Source::open(self.folder.join(DOCUMENT))?;
        let series = Series::open(self.shown, &source, &OpenOptions::default())?;
        if let Some(axis) = series.manifest.axis.as_ref().filter(|axis| **axis != asked.axis) {
            let what = format!("{} grows along {axis:?}, not {:?}", shown(self.shown), asked.axis);
            return Err(unfit(what));
        }
        let catalog = typed(series.catalog.clone().viewed(to_logical), AttrTypes::Json);
        let catalog = catalog.of_file(self.shown);
        let opened = opened_of(catalog);
        self.check_chosen(&opened)?;
        let growing = growing(&opened, asked, inputs)?;
        let file = OpenedFile { path: self.shown, opened: &opened };
        check_fixed(file, &growing, asked, inputs, how)?;
        let mut metadata = metadata_of(&series, &growing);
        let mut notes = Vec::new();
        for it in &growing {
            grow_labels(it, &mut metadata)?;
            notes.extend(it.check_coordinates(self.shown, asked.axis, NOT_AGAIN, how)?);
        }
        let planned = growing.iter().filter(|it| it.by() != 0);
        let planned = planned.map(|it| Planned::new(&series, it)).collect::<Result<Vec<_>>>()?;
        let changes = growing.iter().map(|it| change(it).1).collect();
        let mut report = EditReport { changes, notes, ..EditReport::default() };
        if planned.is_empty() || options.mode == EditMode::Plan {
            return Ok(report);
        }
        let file = new_part_name();
        let path = self.folder.join(&file);
        // Where its folder cannot be synced, the part is there.
        let written = write_part(&series, &planned, &metadata, &self.request, &path);
        let written = written.and_then(|begun| {
            inputs.iter().try_for_each(|it| it.opened.catalog.check_unchanged())?;
            let part = part(&path, file.clone())?;
            let len = part.len;
            let mut new = grown(&series.manifest, asked.axis, &growing, &planned, part)?;
            new.of = Some(digest(&source.read_vec(0, source.len())?));
            begun.check(self.folder)?;
            self.replace(&source, &new.text(), &file)?;
            Ok(len)
        });
        // Whether the manifest was replaced before an error is what it says itself.
        let len = written.inspect_err(|error| {
            let is_unsure = matches!(error, Error::Io(tet_io::Error::Unsure { .. }));
            if !is_unsure && !self.is_named(&file) {
                // Where this fails, it is listed with the unused parts.
                let _ = Folder::open(self.folder).and_then(|folder| folder.remove(&file));
            }
        })?;
        report.file_len = Some(len);
        Ok(report)
    }

    /// Checks that the datasets that were chosen of the inputs are all of the folder's that have the axis.
    fn check_chosen(&self, folder: &Opened) -> Result<()> {
        let chosen = self.chosen;
        if chosen.datasets.is_empty() && chosen.exclude.is_empty() {
            return Ok(());
        }
        let has_axis = |it: &&Dataset| it.dims.iter().any(|dim| dim == chosen.axis);
        for dataset in folder.catalog.datasets().iter().filter(has_axis) {
            let name = &dataset.name;
            let lacks = |it: &&OpenedFile<'_>| it.opened.catalog.only_named(name).is_none();
            if let Some(OpenedFile { path, .. }) = self.request.inputs.iter().find(lacks) {
                return Err(unfit(format!(
                    "all its datasets along {:?} grow together, and {name:?} is not among those chosen of {}: \
                     choose it too, or make a folder of fewer datasets with `tet convert --dataset`",
                    chosen.axis,
                    shown(path)
                )));
            }
        }
        Ok(())
    }

    /// Puts a new manifest, which names the part `file`, in the place of the one that was read.
    fn replace(&self, source: &Source, text: &str, file: &str) -> Result<()> {
        let path = self.folder.join(DOCUMENT);
        let publish = Publish { sync: self.request.options.publish.sync, ..Publish::default() };
        loop {
            let mut publisher = Output::InPlace(&path).begin(source, &publish)?;
            let written = publisher.write_all(text.as_bytes());
            written.map_err(|error| publisher.write_fault(error))?;
            match publisher.commit() {
                // Another process is replacing it right now.
                Err(error) if is_of(&error, ErrorKind::WouldBlock) => thread::sleep(PAUSE),
                // A manifest of a later append names the part, or follows this one.
                Err(tet_io::Error::Unsure { .. }) if self.follows(text, file) => return Ok(()),
                outcome => return Ok(outcome?),
            }
            self.request.how.progress.check()?;
        }
    }

    /// The manifest that is there now.
    fn manifest(&self) -> Option<Manifest> {
        let source = Source::open(self.folder.join(DOCUMENT)).ok()?;
        Manifest::read(&source).ok()?.ok()
    }

    /// Whether the manifest that is there now names a part; also where that cannot be found out.
    fn is_named(&self, file: &str) -> bool {
        self.manifest().is_none_or(|manifest| manifest.names(file))
    }

    /// Whether the manifest that is there now was made of this one, as far as it says so.
    fn follows(&self, text: &str, file: &str) -> bool {
        let is_of = |of| digest(text.as_bytes()).differs(of).is_none();
        self.manifest().is_some_and(|it| it.names(file) || it.of.is_some_and(is_of))
    }
}

/// Whether the system refused something in this way.
fn is_of(error: &tet_io::Error, kind: ErrorKind) -> bool {
    error.system().is_some_and(|(_, error)| error.kind() == kind)
}

/// The manifest with the new part.
fn grown(
    old: &Manifest,
    axis: &str,
    growing: &[Growing<'_>],
    planned: &[Planned<'_>],
    mut part: Part,
) -> Result<Manifest> {
    let mut new = old.clone();
    if new.axis.is_none() {
        new.axis = Some(axis.to_owned());
        for Growing { dataset, axis, .. } in growing {
            new.datasets.insert(dataset.name.clone(), *axis);
            let end = extent(dataset, *axis);
            if end != 0 {
                new.parts[0].rows.insert(dataset.name.clone(), [0, end]);
            }
        }
    }
    for Planned { growing, start, spec } in planned {
        if new.datasets.get(&spec.name) != Some(&growing.axis) {
            return Err(unfit(format!("{:?} has the axis, and does not grow there", spec.name)));
        }
        let rows = spec.shape.get(growing.axis).copied().unwrap_or(0);
        new.cut(&spec.name, *start);
        part.rows.insert(spec.name.clone(), [*start, start.saturating_add(rows)]);
    }
    new.parts.push(part);
    Ok(new)
}
