//! zfp: the bytes as one row of `float64` numbers, without a header.
//!
//! The mode is in the descriptor: `zfp_mode`, and `zfp_rate`, `zfp_precision` or `zfp_tolerance`.

use tet_codec::{ZfpArray, ZfpMode, ZfpNumber};

use crate::Value;
use crate::descriptor::{ByteOrder, Descriptor};
use crate::error::{Fault, no_numbers};
use crate::rule;

const MODE_KEY: &str = "zfp_mode";
const RATE_KEY: &str = "zfp_rate";
const PRECISION_KEY: &str = "zfp_precision";
const TOLERANCE_KEY: &str = "zfp_tolerance";

/// Bytes of a number.
const SIZE: u64 = 8;

/// A row of numbers.
#[derive(Clone, Debug)]
pub(super) struct Zfp {
    array: ZfpArray,
    is_big: bool,
}

impl Zfp {
    /// The numbers that decode to `encoded_len` bytes.
    pub(super) fn from_descriptor(descriptor: &Descriptor, encoded_len: u64) -> Result<Zfp, Fault> {
        let bad = |key: &str| descriptor.parameter_fault(key);
        let mode = descriptor.value(MODE_KEY).and_then(Value::as_text);
        let mode = mode.ok_or_else(|| bad(MODE_KEY))?;
        let mode = match mode {
            "fixed_rate" => {
                let rate = descriptor.number(RATE_KEY)?;
                ZfpMode::fixed_rate(rate, 1, ZfpNumber::Float64).ok_or_else(|| bad(RATE_KEY))?
            }
            "fixed_precision" => {
                let precision = descriptor.integer(PRECISION_KEY, 0, u32::MAX.into())?;
                ZfpMode::fixed_precision(u32::try_from(precision).unwrap_or(64))
            }
            "fixed_accuracy" => ZfpMode::fixed_accuracy(descriptor.number(TOLERANCE_KEY)?),
            _ => return Err(bad(MODE_KEY)),
        };
        let count = encoded_len.is_multiple_of(SIZE).then_some(encoded_len / SIZE);
        let array = count.and_then(|count| ZfpArray::new(ZfpNumber::Float64, &[count], mode));
        let array = array.ok_or_else(|| bad(MODE_KEY))?;
        Ok(Zfp { array, is_big: descriptor.byte_order() == ByteOrder::Big })
    }

    /// The most bytes that a payload can decode to.
    pub(super) fn decoded_max(&self, payload_len: u64) -> u64 {
        self.array.decoded_max(payload_len)
    }

    /// Decodes a payload that starts at `at` of the file into exactly `out`.
    pub(super) fn decode(&self, payload: &[u8], out: &mut [u8], at: u64) -> Result<(), Fault> {
        self.array.decode(payload, 0, out).map_err(|_| no_numbers(&rule::ZFP_STREAM, at))?;
        if self.is_big {
            let (numbers, _) = out.as_chunks_mut::<8>();
            numbers.iter_mut().for_each(|number| number.reverse());
        }
        Ok(())
    }
}
