//! Where a picture goes: into the terminal, a file, or a pipe.

use std::io::Write;
use std::path::Path;

use tet_io::{Publish, Publisher};
use tet_plot::{Picture, PlotSize};
use tet_query::Catalog;

use crate::args::{ImageName, PlotArgs};
use crate::context::Context;
use crate::exit::{Failure, Result};
use crate::open;

/// Where a picture goes.
pub(super) enum Output {
    /// Text to standard output.
    Terminal,
    /// A file to standard output.
    Pipe(ImageName),
    /// A file, which takes its name when it is complete.
    File(ImageName, Box<Publisher>),
}

impl Output {
    /// The output of these options; an existing file is refused before anything is read.
    ///
    /// # Errors
    ///
    /// The format is unknown, the file exists, or standard output is a terminal.
    pub(super) fn begin(
        args: &PlotArgs,
        catalog: &Catalog,
        context: &Context<'_>,
    ) -> Result<Output> {
        let Some(path) = &args.picture.output else { return Ok(Output::Terminal) };
        let format = format(path, args.picture.to)?;
        if path.as_os_str() == "-" {
            if context.env().out_terminal && format == ImageName::Png {
                let failure =
                    Failure::usage("binary-output", "cannot print a PNG file to a terminal");
                return Err(failure.hint("use -o FILE, or a pipe"));
            }
            return Ok(Output::Pipe(format));
        }
        let (force, sync) = open::publish_options(args.write);
        let publish = Publish { force, sync, inputs: catalog.stamps(), ..Publish::default() };
        let publisher = Publisher::begin(context.env().at(path), &publish)?;
        Ok(Output::File(format, Box::new(publisher)))
    }

    /// Writes the picture.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn write(
        self,
        picture: &Picture,
        size: PlotSize,
        context: &mut Context<'_>,
    ) -> Result<()> {
        match self {
            Output::Terminal => {
                let text = picture.terminal(context.env().width, context.depth);
                Ok(context.out().write_all(text.as_bytes())?)
            }
            Output::Pipe(format) => Ok(context.out().write_all(&encode(picture, format, size)?)?),
            Output::File(format, mut publisher) => {
                let bytes = encode(picture, format, size)?;
                publisher.write_all(&bytes).map_err(|error| publisher.write_fault(error))?;
                Ok(publisher.commit()?)
            }
        }
    }
}

fn encode(picture: &Picture, format: ImageName, size: PlotSize) -> Result<Vec<u8>> {
    match format {
        ImageName::Png => Ok(picture.png(size)?),
        ImageName::Svg => Ok(picture.svg(size).into_bytes()),
    }
}

/// The format of the option, else of the suffix.
fn format(path: &Path, to: Option<ImageName>) -> Result<ImageName> {
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    let named = match suffix.to_ascii_lowercase().as_str() {
        "png" => Some(ImageName::Png),
        "svg" => Some(ImageName::Svg),
        _ => None,
    };
    if to.zip(named).is_some_and(|(to, named)| to != named) {
        let text = format!("--to contradicts the suffix of {}", tet_io::shown(path));
        return Err(Failure::usage("output-format", text).hint("omit --to, or rename OUT"));
    }
    to.or(named).ok_or_else(|| {
        let text = format!("{}: `tet plot` writes .png and .svg files", tet_io::shown(path));
        Failure::usage("output-format", text)
            .hint("give OUT another suffix, or the format with --to")
    })
}
