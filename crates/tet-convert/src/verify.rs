//! `verify` for every container: one report, whatever the file is.
//!
//! A container that joins brings a function from a source to a [`Report`] and the table of its rules.

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use crate::sniff::{Format, sniff};
use crate::{Error, Result, safetensors, tensogram, ztensor};

/// Looks a file over and reports what is wrong with it.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, or is of a format that is not checked. What is
/// wrong with the file's bytes is no error here: it is in the report.
pub fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    match sniff(source)? {
        Format::Tet => Ok(tet_verify::verify(source, options)?),
        Format::SafeTensors => safetensors::verify(source, options),
        Format::SafeTensorsIndex => safetensors::verify_index(source, options),
        Format::ZTensor => ztensor::verify(source, options),
        Format::Tensogram => tensogram::verify(source, options),
        format => {
            let path = source.path().unwrap_or("(memory)".as_ref()).to_path_buf();
            Err(Error::NotVerifiable { path, format })
        }
    }
}

/// The rules of every other container than `.tet`, by container.
#[must_use]
pub fn foreign_rules() -> [(Format, Vec<&'static ForeignRule>); 3] {
    [
        (Format::SafeTensors, safetensors::RULES.to_vec()),
        (Format::ZTensor, ztensor::RULES.to_vec()),
        (Format::Tensogram, tensogram::RULES.to_vec()),
    ]
}
