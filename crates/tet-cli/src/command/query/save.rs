//! `-o`: where an array goes.

use std::path::Path;

use tet_query::document::{Query, Write, WriteBase, WriteTarget};

use crate::args::{SaveArgs, TargetName};
use crate::exit::{Failure, Result};

/// Puts the flags into the document.
///
/// # Errors
///
/// The document names a file already, or the format is not clear.
pub(super) fn apply(args: &SaveArgs, query: &mut Query) -> Result<()> {
    let Some(path) = &args.output else { return Ok(()) };
    let named = query.write.as_ref().filter(|write| write.target != WriteTarget::Memory);
    if named.is_some() {
        let text = "-o and the document both say where the array goes";
        return Err(Failure::usage("two-outputs", text).hint("leave one of them out"));
    }
    let target = match args.to {
        Some(TargetName::Npy) => WriteTarget::Npy,
        Some(TargetName::Raw) => WriteTarget::Raw,
        Some(TargetName::Tet) => WriteTarget::Tet,
        None => by_suffix(path)?,
    };
    let Some(text) = path.to_str() else {
        let text = format!("{} is not UTF-8, and a document holds text", path.display());
        return Err(Failure::usage("output-name", text).hint("give the output another name"));
    };
    let base = WriteBase::Working;
    query.write = Some(Write { target, path: Some(text.to_owned()), base, ..Write::default() });
    Ok(())
}

fn by_suffix(path: &Path) -> Result<WriteTarget> {
    if path.as_os_str() == "-" {
        let failure = Failure::usage("output-name", "an array does not go to standard output here");
        return Err(failure.hint("`tet cat FILE DATASET -o -` writes values into a pipe"));
    }
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    match suffix.to_ascii_lowercase().as_str() {
        "npy" => Ok(WriteTarget::Npy),
        "raw" | "bin" => Ok(WriteTarget::Raw),
        "tet" => Ok(WriteTarget::Tet),
        _ => {
            let text = format!("what to write into {} is not clear from its name", path.display());
            let failure = Failure::usage("output-format", text);
            Err(failure.hint("name it .npy, .raw or .tet, or give --to"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_tells_the_format() {
        let target = |name: &str| by_suffix(Path::new(name)).ok();
        assert_eq!(target("a.npy"), Some(WriteTarget::Npy));
        assert_eq!(target("a.b/c.RAW"), Some(WriteTarget::Raw));
        assert_eq!(target("x.tet"), Some(WriteTarget::Tet));
        assert_eq!([target("x"), target("-"), target("x.csv")], [None, None, None]);
    }
}
