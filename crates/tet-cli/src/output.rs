//! The format of an output: that of its suffix, or the one that `--to` names.

use std::path::{Path, PathBuf};

use tet_convert::export::Encoding;
use tet_convert::{Capabilities, Format, TextLayout};

use crate::args::{LayoutArgs, LayoutName};
use crate::context::Context;
use crate::exit::{Failure, Result};

/// The encodings that a stream takes, by the words that name them.
const STREAMED: [(&str, Encoding); 6] = [
    ("npy", Encoding::Npy),
    ("raw", Encoding::Raw),
    ("bin", Encoding::Raw),
    ("csv", Encoding::Csv),
    ("tsv", Encoding::Tsv),
    ("json", Encoding::Json),
];

/// A name with the suffix of the format that `--to` names: a suffix, or the name of a format.
///
/// # Errors
///
/// No format that can be written has this name.
pub(crate) fn named(to: &str) -> Result<PathBuf> {
    let word = to.trim_start_matches('.').to_ascii_lowercase();
    let name = |suffix: &str| PathBuf::from(format!("x.{suffix}"));
    if tet_convert::writable(&name(&word)).is_ok() {
        return Ok(name(&word));
    }
    let containers = tet_convert::containers();
    let written = || containers.iter().filter(|container| container.writer().is_some());
    if let Some(container) = written().find(|container| container.format().name() == word) {
        return Ok(name(container.suffixes().first().copied().unwrap_or_default()));
    }
    let suffixes = written().flat_map(|container| container.suffixes().iter().copied());
    let text = format!("no format that can be written is named {to:?}");
    let hint = format!("give one of {}", suffixes.collect::<Vec<_>>().join(", "));
    Err(Failure::usage("output-format", text).hint(hint))
}

/// The format of an output, by the name whose suffix chooses it.
///
/// # Errors
///
/// The suffix is of no format that can be written.
pub(crate) fn format(name: &Path) -> Result<Format> {
    writable(name).map(|(format, _)| format)
}

/// Capabilities of an output file, by the name whose suffix chooses its format.
///
/// # Errors
///
/// The suffix is of no format that can be written.
pub(crate) fn capabilities(name: &Path) -> Result<Capabilities> {
    writable(name).map(|(_, can)| can)
}

fn writable(name: &Path) -> Result<(Format, Capabilities)> {
    match tet_convert::writable(name) {
        Ok((format, writer)) => Ok((format, writer.can())),
        Err(error) => {
            let failure = Failure::from(error).about(name);
            Err(failure.hint("give the output another suffix, or the format with --to"))
        }
    }
}

/// How a stream is written, by the name of its format; `None` for formats of files that are written by position.
pub(crate) fn streamed(word: &str) -> Option<Encoding> {
    let word = word.trim_start_matches('.').to_ascii_lowercase();
    STREAMED.iter().find(|(name, _)| *name == word).map(|(_, encoding)| *encoding)
}

/// Checks that values may go to standard output: bytes that are no text do not go to a terminal.
///
/// # Errors
///
/// It is a terminal.
pub(crate) fn check_terminal(encoding: Option<Encoding>, context: &Context<'_>) -> Result<()> {
    if context.env().out_terminal && !encoding.is_some_and(Encoding::has_text) {
        let failure = Failure::usage("binary-output", "cannot print binary values to a terminal");
        return Err(failure.hint("use -o FILE, or a pipe"));
    }
    Ok(())
}

/// The failure of an output to standard output whose format nothing names.
pub(crate) fn unnamed() -> Failure {
    let failure = Failure::usage("output-format", "--to names the format of standard output");
    failure.hint("add --to csv, npy, tet or another; use ./- for a file named -")
}

/// The layout of an output of this format; `None` is text for people.
///
/// # Errors
///
/// The format has no such layout.
pub(crate) fn layout(args: LayoutArgs, format: Option<Format>) -> Result<TextLayout> {
    let layout = match args.layout {
        None | Some(LayoutName::Tidy) => TextLayout::Tidy,
        Some(LayoutName::Wide) => TextLayout::Wide,
        Some(LayoutName::Bare) => TextLayout::Bare,
    };
    let writer = format.and_then(tet_convert::container).and_then(|it| it.writer());
    let has_layout = writer.is_some_and(|writer| writer.can().layouts.contains(&layout));
    if args.layout.is_none() || has_layout {
        return Ok(layout);
    }
    let containers = tet_convert::containers();
    let takes = containers.iter().filter(|container| {
        container.writer().is_some_and(|writer| writer.can().layouts.contains(&layout))
    });
    let suffixes: Vec<String> =
        takes.flat_map(|it| it.usual_suffixes()).map(|suffix| format!(".{suffix}")).collect();
    let name = format.map_or("text", Format::name);
    let text = format!("{name} output has no such layout");
    let hint = format!("this --layout is for {} outputs", suffixes.join(", "));
    Err(Failure::usage("output-format", text).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_named_by_suffixes_and_by_names() {
        for (to, wanted) in [
            ("npy", "x.npy"),
            (".NC", "x.nc"),
            ("zarr.zip", "x.zarr.zip"),
            ("ztensor", "x.zt"),
            ("hdf5", "x.hdf5"),
        ] {
            assert_eq!(named(to).unwrap(), Path::new(wanted), "{to}");
        }
        assert_eq!(named("grib").unwrap_err().code, "output-format");
        assert_eq!(streamed("tet"), None);
        assert_eq!(streamed("BIN"), Some(Encoding::Raw));
        assert_eq!(format(Path::new("a.b/c.RAW")).unwrap().name(), "raw");
    }
}
