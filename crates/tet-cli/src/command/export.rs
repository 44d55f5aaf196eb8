//! `tet export`: whole datasets as a file of another kind.

use std::sync::Arc;

use tet_convert::export::{self, ExportOptions};
use tet_convert::{ConvertOptions, ImportReport, Imported, Origin, Target, chosen};
use tet_file::write::CodecChoice;
use tet_query::Dataset;

use super::convert;
use crate::args::ExportArgs;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::progress::Progress;
use crate::size::{Size, counted};

/// Runs the command.
///
/// # Errors
///
/// The input, a name, or the output.
pub(crate) fn run(args: &ExportArgs, context: &mut Context<'_>) -> Result<Exit> {
    if let Ok(Target::Tet | Target::ZTensor | Target::Tensogram | Target::SafeTensorsIndex) =
        Target::from_path(&args.output)
    {
        return convert::write(
            &args.input,
            &args.output,
            &whole(args, context),
            args.json,
            context,
        );
    }
    let opened = open::open(&args.input, &args.read, context)?;
    let catalog = &opened.catalog;
    let datasets = chosen(catalog, &args.dataset, &args.exclude);
    let datasets = datasets.map_err(|error| Failure::from(error).about(&args.input))?;
    let output = context.world().at(&args.output);
    let (overwrite, sync) = open::publish_options(args.write);
    let execution = open::execution(&args.read, context);
    let options = ExportOptions { overwrite, sync, execution, ..ExportOptions::default() };
    let notes = Progress::of(context, "exporting", |progress| {
        export::write_datasets_file(catalog, &datasets, &output, &options, progress)
    });
    let notes = notes.map_err(|error| convert::failed(error, &args.input, &args.output))?;
    for note in &notes {
        context.warn(note);
    }
    let decoded_len = datasets.iter().filter_map(|dataset| decoded_len(dataset));
    let decoded_len = decoded_len.fold(0, u64::saturating_add);
    if args.json {
        let mut report = ImportReport::default();
        report.datasets = datasets.into_iter().map(Imported::from).collect();
        report.notes = notes;
        (report.input_len, report.decoded_len) = (catalog.file_len(), decoded_len);
        report.output_len = std::fs::metadata(&output)?.len();
        context.json(&convert::shape(&args.input, &args.output, &report))?;
    } else {
        let count = counted(u64::try_from(datasets.len()).unwrap_or(u64::MAX), "dataset");
        let len = Size(decoded_len);
        context.note(format!("wrote {count}, {len}, to {}", args.output.display()));
    }
    Ok(Exit::Done)
}

/// The way of `tet convert` with nothing asked for but datasets.
fn whole(args: &ExportArgs, context: &Context<'_>) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.tet.include.clone_from(&args.dataset);
    options.tet.exclude.clone_from(&args.exclude);
    (options.tet.overwrite, options.tet.sync) = open::publish_options(args.write);
    options.tet.codec = CodecChoice::Zstd { level: convert::TET_LEVEL };
    options.tet.history = Some(Origin { at: context.world().now() });
    options.tet.cancel = Some(Arc::clone(&context.world().cancel));
    options.execution = open::execution(&args.read, context);
    options.scratch = context.world().temp_dir.clone();
    options
}

/// Bytes of a dataset's elements, where they can be counted.
fn decoded_len(dataset: &Dataset) -> Option<u64> {
    dataset.grid.shape().element_count()?.checked_mul(dataset.dtype?.size()?)
}
