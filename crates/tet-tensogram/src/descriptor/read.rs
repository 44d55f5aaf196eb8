//! Reads the fields of a descriptor from CBOR of any encoding.

use std::borrow::Cow;

use tet_cbor::{Broken, Head, Items, Reader};
use tet_format::ForeignRule;

use super::{Descriptor, Field, judge};
use crate::error::{Fault, Result, no_numbers};
use crate::limits::Limits;
use crate::rule;

impl Descriptor {
    /// Reads the descriptor at the start of `bytes`, which are at offset `at` of the file.
    ///
    /// Faults of its fields do not fail the call: see [`Descriptor::faults`].
    ///
    /// # Errors
    ///
    /// Returns TGM-D1 and TGM-D10 where there is no well-formed item, TGM-D2 where it is no map,
    /// TGM-L1 and TGM-L2 where it is longer than the limits.
    pub fn read(bytes: &[u8], at: u64, limits: &Limits) -> Result<Descriptor> {
        let len = bytes.len() as u64;
        // A payload may follow, so no more is read than the longest allowed descriptor.
        let visible = usize::try_from(limits.cbor_len_max).unwrap_or(usize::MAX);
        let is_cut = visible < bytes.len();
        let bytes = bytes.get(..visible).unwrap_or(bytes);
        let mut reader = Reader::new(bytes, 0, at, limits.depth_max);
        match fields(&mut reader, limits) {
            Ok((fields, faults)) => {
                let mut descriptor = Descriptor::from_fields(fields, at, reader.at() as u64);
                descriptor.faults.splice(..0, faults);
                Ok(descriptor)
            }
            Err(Stop::Cbor(fault)) if is_cut && fault.broken == Broken::Syntax => {
                let wanted = limits.cbor_len_max;
                Err(Fault { rule: &rule::LIMIT_CBOR, at, found: len, wanted }.into())
            }
            Err(Stop::Cbor(fault)) => Err(broken(fault).into()),
            Err(Stop::Rule(fault)) => Err(fault.into()),
        }
    }

    /// A descriptor from its fields, with its faults.
    pub(super) fn from_fields(fields: Vec<Field>, at: u64, stored_len: u64) -> Descriptor {
        let mut descriptor = Descriptor {
            fields,
            at,
            stored_len,
            shape: Vec::new(),
            strides: Vec::new(),
            dtype: None,
            byte_order: None,
            masks: Vec::new(),
            faults: Vec::new(),
        };
        judge::judge(&mut descriptor);
        descriptor
    }
}

enum Stop {
    Cbor(tet_cbor::Fault),
    Rule(Fault),
}

impl From<tet_cbor::Fault> for Stop {
    fn from(fault: tet_cbor::Fault) -> Self {
        Stop::Cbor(fault)
    }
}

fn broken(fault: tet_cbor::Fault) -> Fault {
    let tet_cbor::Fault { broken, at, found, wanted } = fault;
    let rule: &'static ForeignRule = match broken {
        Broken::Syntax => &rule::DESCRIPTOR_SYNTAX,
        Broken::Depth => &rule::DESCRIPTOR_DEPTH,
    };
    Fault { rule, at, found, wanted }
}

fn fields(reader: &mut Reader<'_>, limits: &Limits) -> Result<(Vec<Field>, Vec<Fault>), Stop> {
    let Head::Map(count) = reader.untagged(0)? else {
        return Err(Stop::Rule(no_numbers(&rule::DESCRIPTOR_MAP, reader.place(0))));
    };
    let inside = reader.deeper(0)?;
    let (mut items, mut left) = (Items::new(count), limits.item_count_max);
    let (mut fields, mut faults) = (Vec::new(), Vec::new());
    let mut has_other_keys = false;
    while items.next(reader) {
        let key_at = reader.at();
        let key = match reader.untagged(inside)? {
            head @ Head::Text(_) => Some(reader.string(head)?),
            head => {
                reader.skip_rest(head, key_at, inside)?;
                None
            }
        };
        let at = reader.place(reader.at());
        let value = tet_cbor::value(reader, inside, &mut left)?;
        let (Some(value), Some(fewer)) = (value, left.checked_sub(1)) else {
            let wanted = limits.item_count_max as u64;
            let (rule, found) = (&rule::LIMIT_ITEMS, wanted.saturating_add(1));
            return Err(Stop::Rule(Fault { rule, at, found, wanted }));
        };
        left = fewer;
        match key {
            Some(key) => fields.push(Field { key: lossy(key), value, at }),
            None if has_other_keys => {}
            None => {
                has_other_keys = true;
                faults.push(no_numbers(&rule::DESCRIPTOR_MAP, reader.place(key_at)));
            }
        }
    }
    if let Some(at) = reader.take_bad_text() {
        faults.push(no_numbers(&rule::DESCRIPTOR_TEXT, reader.place(at)));
    }
    Ok((fields, faults))
}

fn lossy(text: Cow<'_, [u8]>) -> String {
    String::from_utf8_lossy(&text).into_owned()
}
