//! Writes a result to a file, as `-o` or the document requests.

use std::path::{Path, PathBuf};

use tet_convert::export::Encoding;
use tet_convert::{Origin, ResultOptions, ResultTarget, WritePolicy, Written};
use tet_document::{Query, Resolved, Write, WriteBase, WriteTarget};
use tet_query::{Answer, Catalog, Execution, LazyArray, Reduced};

use crate::args::{QueryArgs, SaveArgs, TargetName};
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Failure, Result};
use crate::open;
use crate::render::json::WrittenShape;

/// Sets the output options in the document.
///
/// # Errors
///
/// The document sets an output already, or the format is unknown.
pub(super) fn apply(args: &SaveArgs, query: &mut Query) -> Result<()> {
    let Some(path) = &args.output else { return Ok(()) };
    let named = query.write.as_ref().filter(|write| write.target != WriteTarget::Memory);
    if named.is_some() {
        let text = "-o and the document both set the output";
        return Err(Failure::usage("two-outputs", text).hint("omit one of them"));
    }
    let written = if query.reduction.is_some() { ".npy or .raw" } else { ".npy, .raw or .tet" };
    let target = match (args.to, by_suffix(path, written)) {
        (None, named) => named?,
        (Some(_), Err(failure)) if failure.code == "output-name" => return Err(failure),
        (Some(to), named) => {
            let to = match to {
                TargetName::Npy => WriteTarget::Npy,
                TargetName::Raw => WriteTarget::Raw,
                TargetName::Tet => WriteTarget::Tet,
            };
            if named.is_ok_and(|named| named != to) {
                let text = format!("--to contradicts the suffix of {}", tet_io::shown(path));
                let failure = Failure::usage("output-format", text);
                return Err(failure.hint("omit --to, or rename the output"));
            }
            to
        }
    };
    let Some(text) = path.to_str() else {
        let text = format!("{} is not UTF-8, as a document requires", tet_io::shown(path));
        return Err(Failure::usage("output-name", text).hint("give the output another name"));
    };
    let base = WriteBase::Working;
    query.write = Some(Write { target, path: Some(text.to_owned()), base, ..Write::default() });
    Ok(())
}

/// The format of a suffix; `written` lists the supported ones.
fn by_suffix(path: &Path, written: &str) -> Result<WriteTarget> {
    if path.as_os_str() == "-" {
        let failure =
            Failure::usage("output-name", "`tet query` cannot write an array to standard output");
        return Err(failure.hint("`tet cat FILE DATASET -o -` writes values into a pipe"));
    }
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    match suffix.to_ascii_lowercase().as_str() {
        "npy" => Ok(WriteTarget::Npy),
        "raw" | "bin" => Ok(WriteTarget::Raw),
        "tet" => Ok(WriteTarget::Tet),
        _ => {
            let text = format!("{}: `tet query` writes {written} files", tet_io::shown(path));
            let failure = Failure::usage("output-format", text);
            Err(failure.hint("give the output another suffix, or the format with --to"))
        }
    }
}

/// The output file of a query, and how it is written.
pub(super) struct Output {
    /// The path, as the user wrote it, or the default one.
    path: PathBuf,
    /// The same, resolved from the base directory.
    at: PathBuf,
    target: ResultTarget,
    policy: WritePolicy,
    options: ResultOptions,
}

impl Output {
    /// The output file, if the query requests one; `op` is the name of the operation.
    pub(super) fn of(
        write: Option<&Write>,
        args: &QueryArgs,
        file: &Path,
        op: &str,
        context: &Context<'_>,
    ) -> Option<Output> {
        let write = write?;
        let target = match write.target {
            WriteTarget::Memory => return None,
            WriteTarget::Npy => ResultTarget::Npy,
            WriteTarget::Raw => ResultTarget::Raw,
            WriteTarget::Tet => ResultTarget::Tet,
        };
        let file_dir = file.parent().map(Path::to_path_buf).unwrap_or_default();
        let name = match &write.path {
            Some(path) => PathBuf::from(path),
            None => default_path(file, op, write, context.env().now()),
        };
        let path = match write.base {
            WriteBase::Working => name,
            WriteBase::File => file_dir.join(name),
        };
        let at = context.env().at(&path);
        let folder =
            |path: &Path| if path == Path::new("") { PathBuf::from(".") } else { path.into() };
        let policy = if args.save.output.is_some() {
            // The user may write anywhere with -o.
            WritePolicy::within(folder(at.parent().unwrap_or(Path::new(""))))
        } else {
            let working = folder(&context.env().base);
            let file_dir = folder(&context.env().at(&file_dir));
            let policy = WritePolicy::within(working);
            if policy.roots.contains(&file_dir) { policy } else { policy.and(file_dir) }
        };
        let (overwrite, sync) = open::publish_options(args.write);
        let history = Some(Origin { at: context.env().now() });
        let options = ResultOptions { overwrite, sync, history, ..ResultOptions::default() };
        Some(Output { path, at, target, policy, options })
    }

    /// Writes an array.
    ///
    /// # Errors
    ///
    /// The policy does not allow to write there, or the array cannot be read.
    pub(super) fn array(
        mut self,
        catalog: &Catalog,
        lazy: &LazyArray,
        how: &Execution,
        bar: &Bar,
        context: &mut Context<'_>,
    ) -> Result<WrittenShape> {
        self.options.execution = how.clone();
        let size = lazy.dtype().size().unwrap_or(1);
        let count = lazy.shape().element_count().unwrap_or(u64::MAX);
        bar.next("writing", count.saturating_mul(size));
        let Output { target, policy, options, .. } = &self;
        let written = tet_convert::write_result(catalog, lazy, *target, &self.at, policy, options);
        self.report(written, context)
    }

    /// The encoding of the cells of a reduction.
    ///
    /// # Errors
    ///
    /// The format cannot store them.
    pub(super) fn encoding(&self) -> Result<Encoding> {
        match self.target {
            ResultTarget::Npy => Ok(Encoding::Npy),
            ResultTarget::Raw => Ok(Encoding::Raw),
            _ => {
                let text = "results of a reduction are written to .npy or .raw, not to .tet";
                let hint = "use -o result.npy; in a document \"target\": \"npy\"";
                Err(Failure::usage("output-format", text).hint(hint))
            }
        }
    }

    /// Writes the cells of a reduction.
    ///
    /// # Errors
    ///
    /// The policy does not allow to write there.
    pub(super) fn cells(
        mut self,
        catalog: &Catalog,
        resolved: &Resolved,
        reduced: &Answer<Reduced>,
        encoding: Encoding,
        how: &Execution,
        context: &mut Context<'_>,
    ) -> Result<WrittenShape> {
        self.options.execution = how.clone();
        let Output { policy, options, .. } = &self;
        let dataset = &resolved.dataset;
        let written = tet_convert::write_reduced(
            catalog, dataset, reduced, encoding, &self.at, policy, options,
        );
        self.report(written, context)
    }

    fn report(
        &self,
        written: tet_convert::Result<Written>,
        context: &mut Context<'_>,
    ) -> Result<WrittenShape> {
        let written = written.map_err(|error| self.named(error.into()))?;
        for note in &written.notes {
            context.warn(note);
        }
        let format = match self.target {
            ResultTarget::Npy => "npy",
            ResultTarget::Raw => "raw",
            _ => "tet",
        };
        let path = self.path.to_string_lossy().into_owned();
        Ok(WrittenShape { path, format, bytes: written.bytes })
    }

    /// Replaces the path of the output in a failure by the one that the user wrote.
    fn named(&self, mut failure: Failure) -> Failure {
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let long = failure.file.clone().filter(|file| {
            let last = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
            last == name
        });
        if let Some(long) = long {
            let path = self.path.to_string_lossy().into_owned();
            failure.message = failure.message.replace(&long, &path);
            failure.file = Some(path);
        }
        failure
    }
}

/// The default path of an output: `climate.zscore.tet` for `climate.tet`, with the time if requested.
fn default_path(file: &Path, op: &str, write: &Write, now: u64) -> PathBuf {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let time = if write.timestamp { format!(".{now}") } else { String::new() };
    PathBuf::from(format!("{stem}.{op}{time}.{}", write.target.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_up_of_file_and_method() {
        let write = Write { target: WriteTarget::Tet, ..Write::default() };
        let made = |write: &Write| default_path(Path::new("a/climate.tet"), "zscore", write, 7);
        assert_eq!(made(&write), Path::new("climate.zscore.tet"));
        let timed = Write { timestamp: true, ..write };
        assert_eq!(made(&timed), Path::new("climate.zscore.7.tet"));
    }

    #[test]
    fn the_suffix_tells_the_format() {
        let target = |name: &str| by_suffix(Path::new(name), "").ok();
        assert_eq!(target("a.npy"), Some(WriteTarget::Npy));
        assert_eq!(target("a.b/c.RAW"), Some(WriteTarget::Raw));
        assert_eq!(target("x.tet"), Some(WriteTarget::Tet));
        assert_eq!([target("x"), target("-"), target("x.csv")], [None, None, None]);
    }
}
