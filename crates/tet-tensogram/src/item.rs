//! The CBOR of frames (section 3.1): one map each, with text keys, in any encoding.

use std::borrow::Cow;

use tet_cbor::{Broken, Head, Items, Reader, Value};
use tet_format::Span;
use tet_io::Source;

use crate::error::{Fault, Result, Sink};
use crate::limits::Limits;
use crate::rule;

/// The fault of bytes that are no well-formed item.
pub(crate) fn cbor_fault(fault: tet_cbor::Fault) -> Fault {
    let rule = match fault.broken {
        Broken::Syntax => &rule::CBOR_SYNTAX,
        Broken::Depth => &rule::LIMIT_DEPTH,
    };
    Fault { rule, at: fault.at, found: fault.found, wanted: fault.wanted }
}

/// Reads the CBOR of a frame into memory.
pub(crate) fn read_cbor(source: &Source, span: Span, limits: &Limits) -> Result<Vec<u8>> {
    let (found, wanted) = (span.len(), limits.cbor_len_max);
    if wanted < found {
        return Err(Fault { rule: &rule::LIMIT_CBOR, at: span.start(), found, wanted }.into());
    }
    Ok(source.read_vec(span.start(), span.len())?)
}

/// The CBOR of a frame while it is read.
pub(crate) struct Cbor<'a, 's> {
    reader: Reader<'a>,
    /// How many more items may be stored.
    left: usize,
    item_count_max: usize,
    sink: Sink<'s>,
}

impl<'a, 's> Cbor<'a, 's> {
    /// The CBOR of bytes that start at `at` of the file.
    pub(crate) fn new(bytes: &'a [u8], at: u64, limits: &Limits, sink: Sink<'s>) -> Self {
        let (reader, left) = (Reader::new(bytes, 0, at, limits.depth_max), limits.item_count_max);
        Cbor { reader, left, item_count_max: left, sink }
    }

    /// Calls `visit` at the value of every pair of the only item, a map; `visit` reads the value.
    pub(crate) fn whole(
        &mut self,
        visit: impl FnMut(&mut Self, Cow<'a, str>, u64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.map(0, &rule::CBOR_MAP, visit)?;
        let (at, len) = (self.reader.at(), self.reader.all().len());
        if at < len {
            let found = len.saturating_sub(at) as u64;
            self.note(&rule::CBOR_TRAILING, self.reader.place(at), found);
        }
        if let Some(at) = self.reader.take_bad_text() {
            self.note(&rule::TEXT, self.reader.place(at), 0);
        }
        Ok(())
    }

    /// A nested map; null is an empty map. Anything else breaks `rule`.
    pub(crate) fn map(
        &mut self,
        depth: u32,
        rule: &'static tet_format::ForeignRule,
        mut visit: impl FnMut(&mut Self, Cow<'a, str>, u64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let at = self.reader.at();
        let count = match self.reader.untagged(depth).map_err(cbor_fault)? {
            Head::Map(count) => count,
            head if head.is_null() && depth != 0 => return Ok(()),
            _ => return Err(self.fault(rule, at, self.first_byte(at), 0)),
        };
        let inside = self.reader.deeper(depth).map_err(cbor_fault)?;
        let mut items = Items::new(count);
        while items.next(&mut self.reader) {
            let at = self.reader.at();
            let key = self.text(inside, &rule::KEY_TEXT)?;
            visit(self, key, self.reader.place(at))?;
        }
        Ok(())
    }

    /// Calls `visit` at every item of an array; null is an empty array.
    pub(crate) fn array(
        &mut self,
        depth: u32,
        rule: &'static tet_format::ForeignRule,
        mut visit: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let at = self.reader.at();
        let count = match self.reader.untagged(depth).map_err(cbor_fault)? {
            Head::Array(count) => count,
            head if head.is_null() => return Ok(()),
            _ => return Err(self.fault(rule, at, self.first_byte(at), 0)),
        };
        self.reader.deeper(depth).map_err(cbor_fault)?;
        let mut items = Items::new(count);
        while items.next(&mut self.reader) {
            self.count(self.reader.at())?;
            visit(self)?;
        }
        Ok(())
    }

    /// Reads text; anything else breaks `rule`.
    pub(crate) fn text(
        &mut self,
        depth: u32,
        rule: &'static tet_format::ForeignRule,
    ) -> Result<Cow<'a, str>, Fault> {
        let at = self.reader.at();
        let head = self.reader.untagged(depth).map_err(cbor_fault)?;
        if !matches!(head, Head::Text(_)) {
            return Err(self.fault(rule, at, self.first_byte(at), 0));
        }
        Ok(match self.reader.string(head).map_err(cbor_fault)? {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        })
    }

    /// Reads a non-negative integer; anything else breaks `rule`.
    pub(crate) fn unsigned(
        &mut self,
        depth: u32,
        rule: &'static tet_format::ForeignRule,
    ) -> Result<u64, Fault> {
        let at = self.reader.at();
        match self.reader.untagged(depth).map_err(cbor_fault)? {
            Head::Unsigned(number) => Ok(number),
            _ => Err(self.fault(rule, at, self.first_byte(at), 0)),
        }
    }

    /// Reads any value.
    pub(crate) fn value(&mut self, depth: u32) -> Result<Value, Fault> {
        let at = self.reader.at();
        let value = tet_cbor::value(&mut self.reader, depth, &mut self.left);
        value.map_err(cbor_fault)?.ok_or_else(|| self.over_limit(at))
    }

    /// Skips any value.
    pub(crate) fn skip(&mut self, depth: u32) -> Result<(), Fault> {
        self.reader.skip(depth).map_err(cbor_fault)
    }

    /// The file offset of the next item.
    pub(crate) fn place(&self) -> u64 {
        self.reader.place(self.reader.at())
    }

    pub(crate) fn note(&mut self, rule: &'static tet_format::ForeignRule, at: u64, found: u64) {
        (self.sink)(Fault { rule, at, found, wanted: 0 }, None);
    }

    fn count(&mut self, at: usize) -> Result<(), Fault> {
        self.left = self.left.checked_sub(1).ok_or_else(|| self.over_limit(at))?;
        Ok(())
    }

    fn over_limit(&self, at: usize) -> Fault {
        let limit = self.item_count_max as u64;
        self.fault(&rule::LIMIT_ITEMS, at, limit.saturating_add(1), limit)
    }

    fn fault(
        &self,
        rule: &'static tet_format::ForeignRule,
        at: usize,
        found: u64,
        wanted: u64,
    ) -> Fault {
        Fault { rule, at: self.reader.place(at), found, wanted }
    }

    fn first_byte(&self, at: usize) -> u64 {
        self.reader.all().get(at).copied().unwrap_or_default().into()
    }
}
