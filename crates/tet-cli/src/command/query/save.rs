//! Writes a result to a file, as `-o` or the document requests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tet_convert::{Decoding, Origin, ResultCatalog, ResultOptions, WritePolicy};
use tet_document::{Query, Resolved, Write, WriteBase, WriteTarget};
use tet_query::{Catalog, Execution, LazyArray, Reduced, WithIntegrity};

use super::answer::Saved;
use crate::args::{QueryArgs, SaveArgs};
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Failure, Result};
use crate::open;
use crate::output;
use crate::piped;
use crate::render::json::WrittenShape;

/// Checks the options of the output.
///
/// # Errors
///
/// The document sets an output already, or the format is unknown.
pub(super) fn check(args: &SaveArgs, query: &Query) -> Result<()> {
    let Some(path) = &args.output else {
        if args.layout.layout.is_some() {
            let failure = Failure::usage("options", "--layout is for an output");
            return Err(failure.hint("give one with -o OUT.csv, or -o - --to csv"));
        }
        return Ok(());
    };
    let named = query.write.as_ref().filter(|write| write.target != WriteTarget::Memory);
    if named.is_some() {
        let text = "-o and the document both set the output";
        return Err(Failure::usage("two-outputs", text).hint("omit one of them"));
    }
    let to = args.to.as_deref();
    if is_stream(path) {
        to.ok_or_else(output::unnamed)?;
    }
    let to = to.map(output::named).transpose()?;
    let format = output::format(to.as_deref().unwrap_or(path))?;
    output::layout(args.layout, Some(format)).map(drop)
}

/// Whether an output is standard output.
fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The options of the output as a part of the document, which `--print-doc` prints.
///
/// # Errors
///
/// A document has no name for the format or the path.
pub(super) fn write_of(args: &SaveArgs) -> Result<Option<Write>> {
    let Some(path) = &args.output else { return Ok(None) };
    let to = args.to.as_deref().map(output::named).transpose()?;
    let format = output::format(to.as_deref().unwrap_or(path))?;
    let targets = [WriteTarget::Npy, WriteTarget::Raw, WriteTarget::Tet];
    let target = targets.into_iter().find(|target| target.name() == format.name());
    let target = target.ok_or_else(|| {
        let text = format!("a document cannot ask for {format}");
        Failure::usage("output-format", text).hint("give -o with the document")
    })?;
    let Some(text) = path.to_str() else {
        let text = format!("{} is not UTF-8, as a document requires", tet_io::shown(path));
        return Err(Failure::usage("output-name", text).hint("give the output another name"));
    };
    let base = WriteBase::Working;
    Ok(Some(Write { target, path: Some(text.to_owned()), base, ..Write::default() }))
}

/// The output of a query, and how it is written.
pub(super) struct Output {
    /// The path, as the user wrote it, or the default one.
    path: PathBuf,
    /// The path, resolved from the base directory.
    at: PathBuf,
    /// Where the output may be; `None` for a URL of the option.
    policy: Option<WritePolicy>,
    options: ResultOptions,
    decoding: Decoding,
}

impl Output {
    /// The output, if the query requests one; `op` is the name of the operation.
    ///
    /// # Errors
    ///
    /// The format is unknown, or has no such layout.
    pub(super) fn for_query(
        query: &Query,
        args: &QueryArgs,
        file: &Path,
        op: &str,
        context: &Context<'_>,
    ) -> Result<Option<Output>> {
        let (overwrite, sync) = open::publish_options(args.write);
        let history = Some(Origin { at: context.env().now() });
        let mut options = ResultOptions { overwrite, sync, history, ..ResultOptions::default() };
        let decoding = args.question.meaning.decoding();
        let mut document = query.clone();
        document.write = None;
        options.query = Some(document.to_json());
        let folder =
            |path: &Path| if path == Path::new("") { PathBuf::from(".") } else { path.into() };
        if let Some(path) = &args.save.output {
            options.to = args.save.to.as_deref().map(output::named).transpose()?;
            let format = output::format(options.to.as_deref().unwrap_or(path))?;
            options.layout = output::layout(args.save.layout, Some(format))?;
            let at = context.env().at(path);
            // The user may write anywhere with -o.
            let parent = || folder(at.parent().unwrap_or(Path::new("")));
            let policy = (!tet_io::is_url(&at)).then(|| WritePolicy::within(parent()));
            return Ok(Some(Output { path: path.clone(), at, policy, options, decoding }));
        }
        let write = query.write.as_ref().filter(|write| write.target != WriteTarget::Memory);
        let Some(write) = write else { return Ok(None) };
        options.to = Some(output::named(write.target.name())?);
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
        let working = folder(&context.env().base);
        let file_dir = folder(&context.env().at(&file_dir));
        let policy = WritePolicy::within(working);
        let is_root = policy.roots.contains(&file_dir) || tet_io::is_url(&file_dir);
        let policy = if is_root { policy } else { policy.and(file_dir) };
        Ok(Some(Output { path, at, policy: Some(policy), options, decoding }))
    }

    /// Writes an array.
    ///
    /// # Errors
    ///
    /// The policy does not allow to write there, or the array cannot be read.
    pub(super) fn array(
        mut self,
        catalog: &Catalog,
        lazy: &Arc<LazyArray>,
        how: &Execution,
        bar: &Bar,
        context: &mut Context<'_>,
    ) -> Result<Saved> {
        self.options.execution = how.clone();
        let size = lazy.dtype().size().unwrap_or(1);
        let count = lazy.shape().element_count().unwrap_or(u64::MAX);
        bar.next("writing", count.saturating_mul(size));
        let mut result = ResultCatalog::of_array(catalog, lazy, &self.options)?;
        let can = output::capabilities(self.options.to.as_deref().unwrap_or(&self.path))?;
        let is_text = !can.layouts.is_empty() && can.is_decoded(self.decoding);
        if is_text && lazy.transform().is_none() {
            result = result.with_dates(how);
        }
        self.write(catalog, &result, context)
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
        reduced: &Arc<WithIntegrity<Reduced>>,
        how: &Execution,
        context: &mut Context<'_>,
    ) -> Result<Saved> {
        self.options.execution = how.clone();
        let Resolved { dataset, slab, .. } = resolved;
        let result = ResultCatalog::of_reduced(catalog, dataset, slab, reduced, &self.options)?;
        self.write(catalog, &result, context)
    }

    /// Writes a result.
    fn write(
        &self,
        catalog: &Catalog,
        result: &ResultCatalog,
        context: &mut Context<'_>,
    ) -> Result<Saved> {
        let options = &self.options;
        if is_stream(&self.path) {
            let word = options.to.as_deref().and_then(Path::extension).unwrap_or_default();
            let notes = if let Some(encoding) = output::streamed(&word.to_string_lossy()) {
                output::check_terminal(Some(encoding), context)?;
                let out = context.streams.out.as_mut();
                result.stream(encoding, options.layout, &options.execution, out)?
            } else {
                let name = options.to.as_deref().unwrap_or(&self.path);
                piped::output(name, context, |path, _| Ok(result.write(path, options)?.notes))?
            };
            notes.into_iter().for_each(|note| context.warn(note));
            return Ok(Saved::Printed);
        }
        let allowed = match &self.policy {
            Some(policy) => policy.resolve(&self.at, catalog.source()),
            None => Ok(self.at.clone()),
        };
        let written = allowed.and_then(|at| result.write(&at, options));
        let written = written.map_err(|error| self.named(error.into()))?;
        for note in &written.notes {
            context.warn(note);
        }
        let format = output::format(options.to.as_deref().unwrap_or(&self.path))?.name();
        let path = tet_io::without_secrets(&self.path).into_owned();
        Ok(Saved::File(WrittenShape { path, format, bytes: written.bytes }))
    }

    /// Replaces the path of the output in a failure by the one that the user wrote.
    fn named(&self, mut failure: Failure) -> Failure {
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let long = failure.file.clone().filter(|file| {
            let last = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
            last == name
        });
        if let Some(long) = long {
            let path = tet_io::without_secrets(&self.path).into_owned();
            failure.message = failure.message.replace(&long, &path);
            failure.file = Some(path);
        }
        failure
    }
}

/// The default path of an output: `climate.zscore.tet` for `climate.tet`, with the time if requested.
fn default_path(file: &Path, op: &str, write: &Write, now: u64) -> PathBuf {
    let name = tet_io::without_secrets(file);
    let stem = Path::new(&*name).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
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
}
