//! The bytes of a header, whose length is known before the places in it are.

#![allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]

use super::attributes::NcValue;
use super::draft::{Draft, NcVariable};
use crate::cursor::HEADER_LEN_MAX;
use crate::header::{ATTRIBUTES, DIMENSIONS, VARIABLES};
use crate::value::Version;
use tet_container::Result;

/// Where the length of a variable does not fit, as the format has it.
const LEN_UNKNOWN: u32 = u32::MAX;

/// The header of a file.
///
/// # Errors
/// It is longer than headers that are read.
pub(super) fn bytes(draft: &Draft) -> Result<Vec<u8>> {
    let len_of = |begins: &mut dyn Iterator<Item = u64>| Encoder::encode(draft, begins);
    let len = len_of(&mut std::iter::repeat(0)).len();
    let len = u64::try_from(len).unwrap_or(u64::MAX);
    if HEADER_LEN_MAX < len {
        let (what, limit) = ("bytes of the header", HEADER_LEN_MAX);
        return Err(tet_query::Error::Limit { what, wanted: len, limit }.into());
    }
    Ok(len_of(&mut begins(draft, len).into_iter()))
}

/// Where each variable begins, behind a header of this length. The records of all come behind the variables of fixed
/// length, whose elements are in the order of the variables; there are no records.
fn begins(draft: &Draft, header_len: u64) -> Vec<u64> {
    let mut at = header_len;
    let mut begins = vec![header_len; draft.variables.len()];
    for has_records in [false, true] {
        let variables = draft.variables.iter().zip(&mut begins);
        for (variable, begin) in variables.filter(|(it, _)| draft.has_records(it) == has_records) {
            *begin = at;
            at = at.saturating_add(draft.vsize(variable));
        }
    }
    begins
}

struct Encoder {
    version: Version,
    out: Vec<u8>,
}

impl Encoder {
    fn encode(draft: &Draft, begins: &mut dyn Iterator<Item = u64>) -> Vec<u8> {
        let mut it = Encoder { version: draft.version, out: b"CDF".to_vec() };
        it.out.push(if draft.version == Version::Cdf5 { 5 } else { 2 });
        it.number(0);
        it.list(DIMENSIONS, draft.dims.len());
        for (name, extent) in &draft.dims {
            it.text(name.as_bytes());
            it.number(*extent);
        }
        it.attributes(&draft.attrs);
        it.list(VARIABLES, draft.variables.len());
        for variable in &draft.variables {
            let vsize = draft.vsize(variable);
            it.variable(variable, vsize, begins.next().unwrap_or_default());
        }
        it.out
    }

    fn word(&mut self, word: u32) {
        self.out.extend(word.to_be_bytes());
    }

    /// A length or number. Those of CDF-2 fit, as the draft has made sure.
    fn number(&mut self, number: u64) {
        match self.version {
            Version::Cdf5 => self.out.extend(number.to_be_bytes()),
            Version::Cdf2 => self.word(u32::try_from(number).unwrap_or(LEN_UNKNOWN)),
        }
    }

    fn count(&mut self, count: usize) {
        self.number(u64::try_from(count).unwrap_or(u64::MAX));
    }

    /// The beginning of a list; an absent one has no tag.
    fn list(&mut self, tag: u32, count: usize) {
        self.word(if count == 0 { 0 } else { tag });
        self.count(count);
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
        self.out.resize(self.out.len().next_multiple_of(4), 0);
    }

    fn text(&mut self, text: &[u8]) {
        self.count(text.len());
        self.padded(text);
    }

    fn attributes(&mut self, attrs: &[(String, NcValue)]) {
        self.list(ATTRIBUTES, attrs.len());
        for (name, value) in attrs {
            self.text(name.as_bytes());
            self.word(value.stored.tag().unwrap_or_default());
            self.count(value.count);
            self.padded(&value.bytes);
        }
    }

    fn variable(&mut self, variable: &NcVariable, vsize: u64, begin: u64) {
        self.text(variable.name.as_bytes());
        self.count(variable.dims.len());
        variable.dims.iter().for_each(|&dim| self.count(dim));
        self.attributes(&variable.attrs);
        self.word(variable.stored.tag().unwrap_or_default());
        self.number(vsize);
        self.out.extend(begin.to_be_bytes());
    }
}
