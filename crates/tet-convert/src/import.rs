//! From `.npy` and `.npz` to `.tet`, exactly and in bounded memory.
//!
//! ```text
//!   header, literal, descr        what an array is
//!   npz, store, spool             where its elements are: a stream, a file, a scratch file
//!   gather, region, element       chunks out of them, in row order, little endian
//! ```

mod declare;
mod descr;
mod element;
mod fault;
mod gather;
mod literal;
mod npy;
mod npz;
mod options;
mod region;
mod spool;
mod store;
mod texts;
mod transfer;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

use tet_file::metadata::HistoryRow;
use tet_file::write::Writer;
use tet_io::Source;

pub use fault::NpyFault;
pub use npz::NpzFault;
pub use options::{
    Attribute, AxisLabels, ChunkChoice, DimNames, ImportOptions, ImportReport, Imported,
    LabelSource, Origin,
};
pub use texts::Texts;

use crate::sniff::{Format, sniff};
use crate::{Error, Result};

pub(crate) use self::declare::{FILL_KEY, NOT_A_TIME, SCALAR_KEY, UNITS_KEY, about};
pub(crate) use self::npy::{ElementOrder, Header};
pub(crate) use self::store::SourceReader;

use self::declare::Declared;
use self::npz::Archive;
use self::transfer::transfer;

/// The arrays of an input file.
#[derive(Debug)]
enum Container {
    Npy,
    Npz(Archive),
}

/// One array of the input, its header read.
#[derive(Debug)]
struct Input {
    name: String,
    header: Header,
    /// Its place in the archive.
    position: usize,
}

/// Arrays that can be the labels of axes, by name.
type Labels = BTreeMap<String, ArrayLabels>;

/// The elements of an array as labels.
#[derive(Debug)]
struct ArrayLabels {
    texts: Vec<String>,
    /// They have no other place in the output.
    must_be_used: bool,
}

/// Writes the arrays of `input` as datasets of the new file `output`.
///
/// The input is told by its content. `progress` is told the decoded bytes written so far and in
/// all. The output appears complete or not at all.
///
/// # Errors
/// The input is damaged, of another format or of a dtype without a place in `.tet`; an option
/// names what is not there; the output exists, is the input, or cannot be written; the caller
/// canceled.
pub fn import(
    input: &Path,
    output: &Path,
    options: &ImportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ImportReport> {
    let source = Source::open(input)?;
    let finish = |writer: Writer, declared: &Declared| {
        let history = options.history.map(|origin| {
            let name = input.file_name().unwrap_or_default().to_string_lossy();
            HistoryRow::new("convert", &name, &origin.at.to_string())
        });
        Ok(writer.finish(&declared.metadata, history.as_slice())?.file_len)
    };
    let (mut report, output_len) = written(&source, (input, output), options, progress, finish)?;
    report.output_len = output_len;
    Ok(report)
}

/// As [`import`], into a file without a name that lies in `folder`, and is gone when it is dropped.
pub(crate) fn import_scratch(
    input: &Path,
    source: &Source,
    folder: &Path,
    options: &ImportOptions,
) -> Result<(ImportReport, Source)> {
    let random = RandomState::new().build_hasher().finish();
    let scratch = folder.join(format!(".tet-{random:016x}.tmp"));
    let finish =
        |writer: Writer, declared: &Declared| Ok(writer.finish_scratch(&declared.metadata)?);
    written(source, (input, &scratch), options, &mut |_, _| (), finish)
}

/// Writes the arrays of `source`; `finish` is what becomes of the file when they are written.
fn written<T>(
    source: &Source,
    (input, output): (&Path, &Path),
    options: &ImportOptions,
    progress: &mut dyn FnMut(u64, u64),
    finish: impl FnOnce(Writer, &Declared) -> Result<T>,
) -> Result<(ImportReport, T)> {
    let mut notes = Vec::new();
    let (mut container, inputs, labels, options) = match sniff(source)? {
        Format::Npy => {
            let (input, options) = npy_input(source, input, options)?;
            (Container::Npy, vec![input], Labels::new(), options)
        }
        Format::Npz => {
            let mut archive = Archive::open(source).map_err(|fault| of_archive(input, fault))?;
            let (inputs, labels, options) = npz_inputs(&mut archive, input, options, &mut notes)?;
            (Container::Npz(archive), inputs, labels, options)
        }
        format => return Err(Error::NotImportable { path: input.to_path_buf(), format }),
    };
    let declared = Declared::new(inputs, &labels, &options, &mut notes)?;
    let (datasets, decoded_len) = (declared.imported(), declared.decoded_len());
    let paths = (input, output);
    let written = transfer(&declared, &mut container, source, paths, &options, progress)
        .and_then(|writer| finish(writer, &declared));
    let written =
        written.map_err(|error| if options.is_canceled() { Error::Canceled } else { error })?;
    let (input_len, output_len, shard_count) = (source.len(), 0, 0);
    let report = ImportReport { datasets, notes, input_len, decoded_len, output_len, shard_count };
    Ok((report, written))
}

/// The one array of a `.npy` file, its length checked.
fn npy_input(
    source: &Source,
    path: &Path,
    options: &ImportOptions,
) -> Result<(Input, ImportOptions)> {
    let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = options.name.clone().or_else(stem).unwrap_or_default();
    let options = options.named(&[&name]);
    if !declare::select(&[&name], &options)?[0] {
        return Err(Error::NoArrays { path: path.to_path_buf(), is_filtered: true });
    }
    let header = Header::read(&mut SourceReader::buffered(source, 0))
        .and_then(|header| header.check_len(source.len()).map(|()| header))
        .map_err(|fault| Error::Array { array: name.clone(), fault })?;
    Ok((Input { name, header, position: 0 }, options))
}

/// The chosen arrays of an archive.
fn npz_inputs(
    archive: &mut Archive,
    path: &Path,
    options: &ImportOptions,
    notes: &mut Vec<crate::Note>,
) -> Result<(Vec<Input>, Labels, ImportOptions)> {
    let members = archive.members().map_err(|fault| of_archive(path, fault))?;
    let has_others = !members.others.is_empty();
    notes.extend(members.others.into_iter().map(|member| crate::Note::LeftOut { member }));
    let names = members.arrays.iter().map(|member| member.name.as_str()).collect::<Vec<_>>();
    let options = options.named(&names);
    let chosen = declare::select(&names, &options)?;
    // An `.npz` without members is a file of no datasets; another archive is none of arrays.
    let is_npz = path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("npz"));
    let is_empty = is_npz && names.is_empty() && !has_others;
    if !chosen.contains(&true) && !is_empty {
        let is_filtered = !chosen.is_empty();
        return Err(Error::NoArrays { path: path.to_path_buf(), is_filtered });
    }
    let (mut inputs, mut labels) = (Vec::new(), Labels::new());
    for (member, _) in members.arrays.iter().zip(chosen).filter(|(_, chosen)| *chosen) {
        let mut open = archive
            .member(member.position)
            .map_err(|fault| of_member(path, &member.name, fault))?;
        let len = open.len;
        let of_array = |fault| Error::Array { array: member.name.clone(), fault };
        let header = match Header::read(&mut open) {
            Err(NpyFault::Texts(texts)) => {
                let texts =
                    texts.read(&mut open).map_err(|error| of_array(NpyFault::Read(error)))?;
                labels.insert(member.name.clone(), ArrayLabels { texts, must_be_used: true });
                continue;
            }
            header => header.map_err(of_array)?,
        };
        header.check_len(len).map_err(of_array)?;
        let is_asked = |it: &AxisLabels| it.from == LabelSource::Array(member.name.clone());
        if options.labels.iter().any(is_asked) {
            let texts = header.texts(&mut open).map_err(|error| of_array(NpyFault::Read(error)))?;
            let array = || member.name.clone();
            let texts = texts.ok_or_else(|| Error::NoLabels { array: array() })?;
            labels.insert(array(), ArrayLabels { texts, must_be_used: false });
        }
        inputs.push(Input { name: member.name.clone(), header, position: member.position });
    }
    if let (true, Some(array)) = (inputs.is_empty(), labels.keys().next()) {
        return Err(Error::UnusedTexts { array: array.clone() });
    }
    Ok((inputs, labels, options))
}

fn of_archive(path: &Path, fault: NpzFault) -> Error {
    Error::Archive { path: path.to_path_buf(), member: None, fault }
}

fn of_member(path: &Path, member: &str, fault: NpzFault) -> Error {
    Error::Archive { path: path.to_path_buf(), member: Some(member.to_owned()), fault }
}
