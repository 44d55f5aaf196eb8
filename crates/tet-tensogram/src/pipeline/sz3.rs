//! sz3: the bytes as one row of `float64` numbers, in a stream that states how it was written.

use tet_codec::{Sz3Array, Sz3Number};

use crate::descriptor::{ByteOrder, Descriptor};
use crate::error::{Error, Result, no_numbers};
use crate::rule;

/// A row of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sz3 {
    is_big: bool,
}

impl Sz3 {
    /// The numbers of an object.
    pub(super) fn from_descriptor(descriptor: &Descriptor) -> Sz3 {
        Sz3 { is_big: descriptor.byte_order() == ByteOrder::Big }
    }

    /// The most bytes that a payload can decode to.
    pub(super) const fn decoded_max(payload_len: u64) -> u64 {
        Sz3Array::decoded_max(payload_len)
    }

    /// Decodes a payload that starts at `at` of the file into exactly `out`.
    pub(super) fn decode(self, payload: &[u8], out: &mut [u8], at: u64) -> Result<()> {
        let array = Sz3Array::of_stream(payload, Sz3Number::Float64);
        array.and_then(|array| array.decode(out)).map_err(|error| {
            let rule = match error {
                tet_codec::Error::Unsupported { .. } => &rule::SZ3_BUILT,
                _ => &rule::SZ3_STREAM,
            };
            Error::from(no_numbers(rule, at))
        })?;
        if self.is_big {
            let (numbers, _) = out.as_chunks_mut::<8>();
            numbers.iter_mut().for_each(|number| number.reverse());
        }
        Ok(())
    }
}
