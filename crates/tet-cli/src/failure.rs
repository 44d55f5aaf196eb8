//! Converts the errors of the libraries to failures: exit code, message, place, hint.

mod layout;

use std::path::Path;

use tet_convert::{ContainerFault, FaultCause, Format, NpyFault};
use tet_document::DocumentError;
use tet_format::{ForeignFault, ForeignRule};

use crate::escape::Escaped;
use crate::exit::{Exit, Failure, MAKE_ROOM, Place};

/// The hint if data decodes to more bytes than the limit.
const RAISE_DECODED: &str = "if you trust the file, raise the limit with --max-decoded, as 64GiB";
/// The hint for a file of no known format: tables are known by their names.
const NAME_TABLES: &str = "if it is a table of text, name it .csv or .tsv";
/// At most this many names are shown in one line.
const NAMES_SHOWN_MAX: usize = 12;

/// `datasets: temp, pressure`, escaped, and cut if there are many.
pub(crate) fn names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = names.len();
    let shown = |name: &str| match name {
        "" => "\"\"".to_owned(),
        name => Escaped(name).to_string(),
    };
    let shown: Vec<String> = names.take(NAMES_SHOWN_MAX).map(shown).collect();
    match count.saturating_sub(shown.len()) {
        0 if shown.is_empty() => "the file contains no dataset".to_owned(),
        0 => format!("datasets: {}", shown.join(", ")),
        more => format!("datasets: {} and {more} more", shown.join(", ")),
    }
}

impl From<tet_io::Error> for Failure {
    fn from(error: tet_io::Error) -> Self {
        io_failure(&error)
    }
}

fn io_failure(error: &tet_io::Error) -> Failure {
    let (code, hint) = io_code(error);
    let exit = match error {
        tet_io::Error::UrlFolder { .. } => Exit::Unsupported,
        _ => Exit::from(error.kind()),
    };
    let failure = Failure::new(exit, code, error.to_string());
    let offset = match error {
        tet_io::Error::PastEnd { end, .. } => Some(*end),
        _ => None,
    };
    let place = Place { offset, ..Place::default() };
    path_hint(failure, error).at(place).about(error.path()).hint(hint)
}

impl From<tet_plot::Error> for Failure {
    fn from(error: tet_plot::Error) -> Self {
        let text = error.to_string();
        match error {
            tet_plot::Error::Query(error) => error.into(),
            tet_plot::Error::NotReal { .. } => Failure::new(Exit::Unsupported, "no-picture", text)
                .hint("`tet cat` prints the elements"),
            tet_plot::Error::NoBins { .. } => {
                Failure::usage("no-bins", text).hint("set --range MIN:MAX, or fewer --bins")
            }
            _ => Failure::new(Exit::Limit, "no-memory", text).hint("set a smaller --size"),
        }
    }
}

/// Files that mark a directory as a Zarr hierarchy.
const ZARR_KEYS: [&str; 4] = ["zarr.json", ".zgroup", ".zarray", ".zmetadata"];

/// Explains why a path cannot be opened: a URL, a missing directory, a Zarr hierarchy.
fn path_hint(failure: Failure, error: &tet_io::Error) -> Failure {
    let path = error.path();
    match failure.code.as_str() {
        "not-found" if tet_io::is_url(path) => failure.hint("check the URL"),
        "not-found" => match tet_io::missing_folder(path) {
            Some(folder) => {
                failure.hint(format!("the directory {} does not exist", tet_io::shown(folder)))
            }
            None => failure,
        },
        "not-regular" if ZARR_KEYS.iter().any(|key| path.join(key).exists()) => failure
            .saying(format!("{} is a Zarr hierarchy, and no single file", tet_io::shown(path)))
            .hint("this command takes a file: tet convert makes one of the hierarchy"),
        _ => failure,
    }
}

/// Advice about several archives in one file.
const SEVERAL: &str = "write each archive to a file of its own; of a folder of .distcp files \
    torch.distributed.checkpoint.format_utils.dcp_to_torch_save makes one file";

/// Advice about an archive that cannot be read.
fn archive_advice(fault: &tet_convert::ZipFault) -> &'static str {
    match fault {
        tet_convert::ZipFault::Damaged { .. } => "fetch or copy the file again",
        tet_convert::ZipFault::Several => SEVERAL,
        _ => "",
    }
}

/// A file of a format that is not read or checked, or of none that is known.
fn other_format(path: &Path, format: Format, exit: Exit, message: String) -> Failure {
    // A file that has the name of a format and not its first bytes is damaged.
    let is_named = format == Format::UNKNOWN && crate::output::format(path).is_ok();
    let is_damaged = format == Format::EMPTY || is_named;
    let exit = if is_damaged { exit } else { Exit::Unsupported };
    let unknown = if format == Format::UNKNOWN { NAME_TABLES } else { "" };
    let written = tet_convert::container(format).and_then(|it| it.reading_advice());
    let hint = tet_convert::reading_advice(format).or(written).unwrap_or(unknown);
    Failure::new(exit, "unknown-format", message).hint(hint)
}

fn io_code(error: &tet_io::Error) -> (&'static str, &'static str) {
    use std::io::ErrorKind;
    match error {
        tet_io::Error::Io { operation: tet_io::Operation::OpenFolder, .. } => {
            ("io", "--no-sync skips this, but a power failure may lose the new file")
        }
        tet_io::Error::Io { operation: tet_io::Operation::SyncFolder, .. } => {
            ("io", "the new file is in place; a power failure may lose it")
        }
        tet_io::Error::InPlace { .. } => ("in-place", "look at what is there before you try again"),
        tet_io::Error::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => ("not-found", "check the path"),
            ErrorKind::PermissionDenied => ("permission", ""),
            ErrorKind::StorageFull => ("disk-full", MAKE_ROOM),
            ErrorKind::ReadOnlyFilesystem => ("read-only", "write somewhere else"),
            _ => ("io", ""),
        },
        tet_io::Error::NotRegular { .. } => ("not-regular", "give the path of a file"),
        tet_io::Error::Changed { .. } => ("changed", ""),
        tet_io::Error::PastEnd { .. } => {
            ("truncated", "the file is truncated: copy or download it again")
        }
        tet_io::Error::NoLease { .. } => ("no-lease", "use --io pread"),
        tet_io::Error::Exists { .. } => ("exists", "use --force to replace it"),
        tet_io::Error::FolderExists { .. } => ("exists", ""),
        tet_io::Error::Unfinished { .. } => {
            ("unfinished", "if no program is writing, use --force to remove what is there")
        }
        tet_io::Error::SameFile { .. } => ("same-file", "give the output another name"),
        tet_io::Error::NotWritten { .. } => {
            ("not-written", "the disk does not store what is written: write to another disk")
        }
        tet_io::Error::NoName { .. } => ("no-name", "give the path of a file"),
        tet_io::Error::UrlOutput { .. } => {
            ("url-output", "give a path of this machine, or s3://BUCKET/KEY for one file")
        }
        tet_io::Error::UrlUnconditional { .. } => (
            "url-unconditional",
            "write a new file, or use credentials that give tokens (GOOGLE_APPLICATION_CREDENTIALS)",
        ),
        tet_io::Error::UrlFolder { .. } => (
            "url-folder",
            "read it from s3://, gs:// or az://, or give it consolidated metadata, which suffices for all but `verify`",
        ),
        tet_io::Error::Unsure { .. } => ("unsure", "look at what is there before you try again"),
        tet_io::Error::NoUrls { .. } => ("no-urls", "download the file, then give its path"),
        _ => ("io", ""),
    }
}

/// The failure for a broken rule of the format: its id, its place, what to do.
pub(crate) fn broken_rule(fault: &tet_format::Error, message: String) -> Failure {
    let place = Place {
        region: Some(fault.rule.region().name().to_owned()),
        offset: Some(fault.at),
        ..Place::default()
    };
    let exit = if fault.rule.is_limit() { Exit::Limit } else { Exit::Format };
    let failure = Failure::new(exit, fault.rule.id(), message).hint(fault.rule.hint());
    failure.at(place)
}

/// The failure of an output that a policy does not allow, or that has no use for an option.
fn of_output(error: &tet_convert::Error, message: String) -> Failure {
    use tet_convert::Error as E;
    let (code, path, hint) = match error {
        E::Outside { path, .. } => (
            "outside",
            path,
            "a document writes to the working directory or to that of the input; -o writes anywhere",
        ),
        E::NoOption { output, option } => {
            return crate::command::convert::no_option(output, option);
        }
        E::Link { path } => ("link", path, "give the path that the link points to"),
        _ => return Failure::new(Exit::from(error.kind()), "convert", message),
    };
    Failure::new(Exit::from(error.kind()), code, message).about(path).hint(hint)
}

/// The failure of references to stored chunks, of a choice of datasets, and of what has no advice.
fn of_references(error: &tet_convert::Error, message: String) -> Failure {
    use tet_convert::Error as E;
    let (exit, code, hint) = match error {
        E::LevelAlone { .. } => (Exit::Usage, "options", "add --codec, or omit --level"),
        E::Clipped { .. } => (
            Exit::Unsupported,
            "edges",
            "--edges inline fills them in the document, --edges sidecar in a file beside it",
        ),
        E::OneDataset { .. } => (Exit::Usage, "one-dataset", "name it with --dataset"),
        E::NoDatasets { .. } => (Exit::Usage, "no-datasets", "tet info lists what a file contains"),
        E::Columns { .. } | E::ColumnLabels { .. } => {
            (Exit::Usage, "columns", "choose datasets with --dataset, or write a .npz or .nc file")
        }
        E::ColumnName { .. } => (Exit::Usage, "columns", "write a .npz or .nc file"),
        E::NoReferences { .. } => (Exit::Unsupported, "no-references", ""),
        E::Names(_) => (Exit::Usage, "names", ""),
        E::Refs { .. } => (Exit::Usage, "references", ""),
        E::LongEdges { .. } => (Exit::Limit, "edges", "--edges sidecar writes them to a file"),
        _ => (Exit::from(error.kind()), "convert", ""),
    };
    Failure::new(exit, code, message).hint(hint)
}

/// The failure of several datasets: a line for each, and the code of the first.
fn several(encoding: &str, faults: Vec<tet_convert::Error>) -> Failure {
    let text = format!("{} datasets cannot be written to {encoding}", faults.len());
    let is_clipped = faults.iter().any(|it| matches!(it, tet_convert::Error::Clipped { .. }));
    let edges = if is_clipped { "--edges inline fills chunks at edges, " } else { "" };
    let failures: Vec<Failure> = faults.into_iter().map(Failure::from).collect();
    // Damage weighs most, whatever comes first.
    let worst = failures.iter().find(|it| it.exit == Exit::Format).or(failures.first());
    let Some(worst) = worst else { return Failure::usage("datasets", text) };
    let failure = Failure::new(worst.exit, &worst.code, text);
    let messages = failures.iter().map(|it| it.message.clone());
    let failure = crate::warning::aggregated(messages).into_iter().fold(failure, Failure::note);
    failure.hint(format!("{edges}--skip-unsupported leaves them out, --exclude NAME one of them"))
}

/// The failure for a file of which a part is lost, for those who need all of it.
fn incomplete(fault: &ForeignFault, message: String) -> Failure {
    let hint = "--dataset NAME takes datasets that can be read, and --skip-unsupported of `tet convert` all of them; \
                `tet verify` lists all errors";
    broken_foreign_rule(fault, message).hint(hint)
}

/// Failure of a broken rule of another container.
fn broken_foreign_rule(fault: &ForeignFault, message: String) -> Failure {
    foreign_rule_at(fault.rule, fault.at, message)
}

fn foreign_rule_at(rule: &ForeignRule, at: u64, message: String) -> Failure {
    let place =
        Place { region: Some(rule.region.to_owned()), offset: Some(at), ..Place::default() };
    let exit = if rule.is_limit() { Exit::Limit } else { Exit::Format };
    Failure::new(exit, rule.id, message).hint(rule.hint).at(place)
}

/// Adds the shard in which a failure occurred.
fn in_shard(mut failure: Failure, shard: String) -> Failure {
    failure.place.shard = Some(shard);
    failure
}

/// Adds the line of a text in which a failure occurred.
fn in_line(mut failure: Failure, line: u64) -> Failure {
    failure.place.line = Some(line);
    failure
}

impl From<tet_file::Error> for Failure {
    fn from(error: tet_file::Error) -> Self {
        file_failure(&error)
    }
}

impl From<tet_query::Error> for Failure {
    fn from(error: tet_query::Error) -> Self {
        match error {
            tet_query::Error::Io(error) => error.into(),
            tet_query::Error::File(error) => error.into(),
            tet_query::Error::Canceled => Failure::interrupted(),
            tet_query::Error::NoSuchDataset { name, known, suggestion } => {
                let verb = if tet_query::Pattern::parse(&name).is_some() { "matches " } else { "" };
                let text = format!("no dataset {verb}\"{}\"", Escaped(&name));
                let failure = Failure::usage("no-such-dataset", text);
                let near = |near: String| format!("did you mean \"{}\"?", Escaped(&near));
                let formula = || crate::elsewhere::of_name(&name).map(str::to_owned);
                let hint = formula().or_else(|| suggestion.map(near));
                let place = Place { dataset: Some(name), ..Place::default() };
                let failure = failure.among(known.iter().map(String::as_str)).at(place);
                failure.hint(hint.unwrap_or_default())
            }
            error => query_failure(&error),
        }
    }
}

fn query_failure(error: &tet_query::Error) -> Failure {
    use tet_query::Error as E;
    let message = error.to_string();
    let plain = |code: &str| Failure::new(exit_of(error), code, message.clone());
    let at = |failure: Failure, dataset: &str, chunk: Option<&[u64]>, offset: Option<u64>| {
        let dataset = Some(dataset.to_owned());
        let chunk = chunk.map(<[u64]>::to_vec);
        let offset = offset.or(failure.place.offset);
        let place = Place { dataset, chunk, offset, ..failure.place.clone() };
        failure.at(place)
    };
    match error {
        E::Io(error) => io_failure(error),
        E::File(error) => file_failure(error),
        E::Selection(wrong) => plain("selection").hint(wrong.fault.hint().unwrap_or_default()),
        E::Ambiguous { .. } => plain("ambiguous"),
        E::InFile { file, fault } => query_failure(fault).about(file),
        // Some causes name the dataset already.
        E::Unreadable { dataset, cause } if cause.to_string().contains(&format!("{dataset:?}")) => {
            query_failure(cause)
        }
        E::Unreadable { dataset, cause } => {
            let cause = query_failure(cause);
            at(cause.saying(message), dataset, None, None)
        }
        E::Dataset { dataset, fault } => at(broken_rule(fault, message), dataset, None, None),
        E::Foreign { dataset, fault } => {
            at(broken_foreign_rule(fault, message), dataset, None, None)
        }
        E::Shard { dataset, shard, fault } => {
            let mut failure = broken_foreign_rule(fault, message);
            failure.place.shard = Some(shard.clone());
            at(failure, dataset, None, None)
        }
        E::Opaque { dataset, .. }
        | E::Compound { dataset, .. }
        | E::Text { dataset }
        | E::NoTexts { dataset, .. }
        | E::Incomparable { dataset, .. }
        | E::Misfit { dataset, .. } => {
            let (code, hint) = other_elements(error);
            at(plain(code), dataset, None, None).hint(hint)
        }
        E::UnknownDType { dataset, .. } => at(plain("unknown-dtype"), dataset, None, None),
        E::Chunk { dataset, chunk, fault } => {
            at(broken_rule(fault, message), dataset, Some(chunk), None)
        }
        E::MissingChunk { dataset, chunk } => {
            at(plain("missing-chunk"), dataset, Some(chunk), None)
        }
        E::DuplicateChunk { dataset, chunk, at: offset } => {
            at(plain("duplicate-chunk"), dataset, Some(chunk), Some(*offset))
        }
        E::UnknownCodec { dataset, chunk, .. } => {
            at(plain("unknown-codec"), dataset, Some(chunk), None)
        }
        E::Codec { dataset, chunk, at: offset, .. } => {
            at(plain("payload"), dataset, Some(chunk), Some(*offset))
                .hint("the payload is damaged: fetch or copy the file again")
        }
        E::Histogram { .. } => plain("histogram").hint("give them as --range MIN:MAX"),
        E::Budget { .. } => plain("limit").hint("select a smaller part, or raise --memory"),
        E::Expansion { .. } => plain("limit").hint(RAISE_DECODED),
        E::Limit { .. } | E::NoMemory { .. } => plain("limit").hint("select a smaller part"),
        _ => plain(code_of(error)),
    }
}

/// The code of an error that its message says all about.
fn code_of(error: &tet_query::Error) -> &'static str {
    use tet_query::Error as E;
    match error {
        E::Unsupported { .. } => "unsupported",
        E::Malformed { .. } => "malformed",
        E::Axis { .. } => "axis",
        E::Undefined { .. } | E::Combined { .. } | E::NoPlace { .. } | E::Windowed { .. } => {
            "undefined"
        }
        E::NoFill { .. } => "no-fill",
        E::Inexact { .. } => "inexact",
        E::Overflow { .. } => "overflow",
        _ => "query",
    }
}

fn exit_of(error: &tet_query::Error) -> Exit {
    match error.is_unsupported() {
        true => Exit::Unsupported,
        false => Exit::from(error.kind()),
    }
}

/// The code and the hint for a dataset whose elements or shape are not what was asked for.
fn other_elements(error: &tet_query::Error) -> (&'static str, String) {
    use tet_query::Error as E;
    match error {
        E::Compound { members, .. } => {
            let hint = |member: &String| format!("tet cat FILE {member:?} prints a member");
            ("compound", members.first().map(hint).unwrap_or_default())
        }
        E::Text { .. } => ("text", "tet cat prints it".to_owned()),
        E::NoTexts { .. } => ("no-text", String::new()),
        E::Incomparable { .. } => ("incomparable", String::new()),
        E::Misfit { .. } => ("misfit", String::new()),
        _ => {
            let hint = "tet convert copies such a dataset unchanged, tet cat -o OUT.raw its bytes";
            ("opaque", hint.to_owned())
        }
    }
}

/// The failure of an error that one family of containers has.
fn of_container(fault: &ContainerFault, message: String) -> Failure {
    if let Some((rule, at)) = fault.rule().zip(fault.at()) {
        return foreign_rule_at(rule, at, message);
    }
    let plain = |code: &str| Failure::new(Exit::from(fault.kind()), code, message);
    match fault.cause() {
        FaultCause::NoSuchDataset => plain("no-such-dataset"),
        FaultCause::Ambiguous => plain("ambiguous").hint("select one as #N, its position"),
        FaultCause::DecodedLimit => plain("limit").hint(RAISE_DECODED),
        FaultCause::Limit => plain("limit"),
        _ => plain(fault.format().name()),
    }
}

/// Advice about positions of several datasets.
const NAME_AXES: &str = "name the axes, as in time#0:10, or give --dataset";
/// Advice about elements that are parts of bytes.
const AT_BYTES: &str = "start and end the slice of the last axis at a byte, or write all elements";

/// How long sparse tensors are written.
const SPARSE: &str =
    "tet convert --sparse dense writes them above the limit; a .zt output stores them sparse";

impl From<tet_convert::Error> for Failure {
    fn from(error: tet_convert::Error) -> Self {
        use tet_convert::Error as E;
        let exit = Exit::from(error.kind());
        let message = error.to_string();
        let plain = |code: &str| Failure::new(exit, code, message.clone());
        match error {
            E::Io(error) => error.into(),
            E::File(error) => error.into(),
            E::Query(error) => error.into(),
            E::InFile { path, error } => Failure::from(*error).about(&path),
            E::Canceled => Failure::interrupted(),
            E::Write(error) => error.into(),
            E::Verify(error) => error.into(),
            E::Container(fault) => of_container(&fault, message),
            E::SelectsInOne { .. } => plain("selection").hint(NAME_AXES),
            E::EmptySelection { .. } => plain("empty-selection").hint(crate::target::ALLOW_EMPTY),
            E::NoSuchKind { .. } => {
                plain("dtype").hint("name the dataset, as in --dtype temp=int16")
            }
            E::NoStack { .. } | E::Stack { .. } => plain("stack"),
            E::Merge { what: "axis", .. } => {
                plain("merge").hint("`tet edit set --dims` renames axes")
            }
            E::Merge { .. } => plain("merge").hint("--prefer first takes that of the first file"),
            E::UnknownTarget { .. } => plain("output-format"),
            E::NotWritable { format, .. } => {
                plain("output-format").hint(tet_convert::writing_advice(format))
            }
            E::HasNames { .. } => plain("options").hint("leave out --name"),
            // The type is not read here either; what an output alone lacks is `NoDType`.
            E::NoSuchDType { .. } => Failure::new(Exit::Unsupported, "dtype", message),
            E::Foreign { path, fault, .. } => broken_foreign_rule(&fault, message).about(&path),
            E::Part { path, part, fault } => {
                in_shard(broken_foreign_rule(&fault, message).about(&path), part)
            }
            E::Line { path, fault, line, .. } => {
                in_line(broken_foreign_rule(&fault, message).about(&path), line)
            }
            E::NotReadable { path, format } | E::NotVerifiable { path, format } => {
                other_format(&path, format, exit, message).about(&path)
            }
            E::Array { fault, .. } => of_array(&fault, exit, message),
            E::Archive { path, fault, .. } => {
                plain("archive").about(&path).hint(archive_advice(&fault))
            }
            E::NoArrays { path } => plain("no-arrays").about(&path),
            E::NotArrays { path, .. } => {
                plain("no-arrays").about(&path).hint("unpack it, then open what it contains")
            }
            E::OtherFolder { .. } => plain("output-name").hint("give the output another name"),
            E::Memory { .. } | E::Budget { .. } => plain("limit"),
            E::Dense { .. } => plain("limit").hint(SPARSE),
            E::Parts { rule, .. } => {
                plain(rule.id).hint("--sparse split copies the component arrays unchanged")
            }
            error @ (E::Outside { .. } | E::Link { .. } | E::NoOption { .. }) => {
                of_output(&error, message)
            }
            E::Several { encoding, faults } => several(encoding, faults),
            E::Incomplete { fault, .. } => incomplete(&fault, message),
            E::PartOfBytes { .. } => plain("part-of-bytes").hint(AT_BYTES),
            E::TooWide { .. } => plain("too-wide").hint("--json shows such integers exactly"),
            error => layout::failure(&error).unwrap_or_else(|| of_references(&error, message)),
        }
    }
}

/// The failure of a NumPy array: arrays of a type that is not read are sound.
fn of_array(fault: &NpyFault, exit: Exit, message: String) -> Failure {
    let is_sound = matches!(fault, NpyFault::Dtype { .. });
    Failure::new(if is_sound { Exit::Unsupported } else { exit }, "array", message)
}

impl From<tet_document::Error> for Failure {
    fn from(error: tet_document::Error) -> Self {
        match error {
            tet_document::Error::Document(error) => error.into(),
            tet_document::Error::Query(error) => error.into(),
            error => Failure::new(Exit::from(error.kind()), "query", error.to_string()),
        }
    }
}

impl From<Box<DocumentError>> for Failure {
    fn from(error: Box<DocumentError>) -> Self {
        document_failure(&error)
    }
}

/// The failure for an invalid document: the place of the error, and what is allowed there.
pub(crate) fn document_failure(error: &DocumentError) -> Failure {
    let number = |number: Option<usize>| number.and_then(|number| u64::try_from(number).ok());
    let place = Place {
        line: number(error.line()),
        column: number(error.column()),
        path: Some(error.path().to_owned()).filter(|path| !path.is_empty()),
        ..Place::default()
    };
    let failure = Failure::new(Exit::from(error.kind()), "document", error.message());
    let failure = error.notes().into_iter().fold(failure, Failure::note);
    failure.at(place).hint(error.hint().unwrap_or_default())
}

fn file_failure(error: &tet_file::Error) -> Failure {
    match error {
        tet_file::Error::Io(error) => io_failure(error),
        tet_file::Error::Format(fault) => broken_rule(fault, fault.to_string()),
        error => Failure::new(Exit::from(error.kind()), "file", error.to_string()),
    }
}

impl From<tet_verify::Error> for Failure {
    fn from(error: tet_verify::Error) -> Self {
        match error {
            tet_verify::Error::Io(error) => error.into(),
            tet_verify::Error::File(tet_file::Error::Canceled) => Failure::interrupted(),
            tet_verify::Error::File(error) => error.into(),
            tet_verify::Error::Canceled => Failure::interrupted(),
            tet_verify::Error::NotSound { ref first } => {
                let code = first.code.id();
                Failure::new(Exit::Format, code, error.to_string())
            }
            tet_verify::Error::Unused { .. } => {
                Failure::new(Exit::Format, "TET-N15", error.to_string())
            }
            tet_verify::Error::Sum { .. } => Failure::new(Exit::Format, "sum", error.to_string()),
            error => Failure::new(Exit::from(error.kind()), "limit", error.to_string()),
        }
    }
}
