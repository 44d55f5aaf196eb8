//! The chunks of a dataset, each element decoded.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use half::f16;
use tet_codec::{ChunkLayout, Decode, Error as CodecError, StoredSpans};
use tet_format::{DType, Digest, ForeignRule, Integrity};
use tet_io::{Compared, Source};
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed, StoredCompression};

use crate::model::scratch::with_buffer;

/// The integer that stands for a masked time.
const NOT_A_TIME: i64 = i64::MIN;

/// How elements are decoded.
#[derive(Clone, Debug)]
pub(super) struct Unpacking {
    pub(super) from: DType,
    pub(super) to: DType,
    /// Elements with one of these values are masked.
    pub(super) masks: Vec<Bound>,
    /// Elements outside are masked.
    pub(super) valid: Option<(Bound, Bound)>,
    pub(super) scale: Option<f64>,
    pub(super) offset: Option<f64>,
}

/// A number that elements are compared with: integers exactly, whatever their length is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    Whole(i128),
    Float(f64),
}

impl Bound {
    #[allow(clippy::cast_precision_loss, reason = "the elements are floats")]
    pub(super) const fn to_f64(self) -> f64 {
        match self {
            Bound::Whole(whole) => whole as f64,
            Bound::Float(float) => float,
        }
    }

    /// The integer that it is, if it is one.
    #[allow(clippy::cast_possible_truncation, reason = "the float is a whole number of 128 bits")]
    pub(super) fn to_whole(self) -> Option<i128> {
        match self {
            Bound::Whole(whole) => Some(whole),
            Bound::Float(float) => {
                (float.fract() == 0.0 && float.abs() < 2_f64.powi(126)).then_some(float as i128)
            }
        }
    }
}

/// The chunks of another table, decoded.
pub(super) struct Unpacked {
    pub(super) packed: Arc<dyn ChunkTable>,
    pub(super) unpacking: Unpacking,
}

impl ChunkTable for Unpacked {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let first = out.len();
        self.packed.locate(linear, out)?;
        for place in out.iter_mut().skip(first) {
            place.decoded_len = self.unpacking.decoded_len(place.decoded_len);
        }
        Ok(())
    }

    fn compression(&self) -> Option<StoredCompression> {
        self.packed.compression()
    }

    fn has_digests(&self) -> bool {
        self.packed.has_digests()
    }

    fn integrity(&self) -> Integrity {
        self.packed.integrity()
    }

    fn digest(&self, place: &ChunkPlace) -> tet_query::Result<Option<Digest>> {
        self.packed.digest(place)
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.packed.seals()
    }

    fn rule_of(&self, fault: &CodecError) -> Option<&'static ForeignRule> {
        self.packed.rule_of(fault)
    }

    fn take_fault(&self) -> Option<tet_query::Error> {
        self.packed.take_fault()
    }

    fn object(&self, number: u32) -> tet_query::Result<Option<Source>> {
        self.packed.object(number)
    }

    fn writers(&self) -> tet_io::Writers {
        self.packed.writers()
    }

    fn check_unchanged(&self) -> tet_query::Result<()> {
        self.packed.check_unchanged()
    }

    fn check_all_unchanged(&self, compared: &mut Compared) -> tet_query::Result<()> {
        self.packed.check_all_unchanged(compared)
    }

    fn decoder(&self, linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        let decoded_len = self.unpacking.stored_len(place.decoded_len);
        let packed = self.packed.decoder(linear, &ChunkPlace { decoded_len, ..*place });
        Decoder::Own(Box::new(Unpack { packed, unpacking: &self.unpacking }))
    }
}

/// The decoder of a chunk, and then of its elements.
#[derive(Debug)]
struct Unpack<'a> {
    packed: Decoder<'a>,
    unpacking: &'a Unpacking,
}

impl Unpack<'_> {
    /// Decodes `out` from elements that `read` makes in a buffer of their length.
    fn with_stored(
        &self,
        out: &mut [u8],
        read: impl FnOnce(&mut [u8]) -> tet_codec::Result<()>,
    ) -> tet_codec::Result<()> {
        let len = self.unpacking.stored_len(out.len() as u64);
        with_buffer(self.name(), len, |stored| {
            read(stored)?;
            self.unpacking.decode(stored, out);
            Ok(())
        })
    }

    fn layout(&self, layout: ChunkLayout) -> ChunkLayout {
        let decoded_len = self.unpacking.stored_len(layout.decoded_len);
        ChunkLayout { decoded_len, element_size: size(self.unpacking.from), ..layout }
    }
}

impl Decode for Unpack<'_> {
    fn name(&self) -> &'static str {
        self.packed.name()
    }

    fn full_name(&self) -> &str {
        self.packed.full_name()
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        self.with_stored(out, |elements| self.packed.decode(stored, elements))
    }

    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        self.packed.stored_spans(self.layout(layout), elements)
    }

    fn decode_range(
        &self,
        layout: ChunkLayout,
        stored: &[u8],
        elements: Range<u64>,
        out: &mut [u8],
    ) -> tet_codec::Result<()> {
        let layout = self.layout(layout);
        self.with_stored(out, |room| self.packed.decode_range(layout, stored, elements, room))
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        self.packed.check_len(stored_len, self.unpacking.stored_len(decoded_len))
    }
}

fn size(dtype: DType) -> u64 {
    dtype.size().unwrap_or(1)
}

/// A stored number.
trait Stored: Copy {
    const LEN: usize;
    /// The type in which it is compared: itself, or `float64`.
    type Key: Copy + PartialEq + PartialOrd;
    fn read(bytes: &[u8]) -> Self;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn to_i64(self) -> i64;
    fn key(self) -> Self::Key;
    /// A number that elements may be equal to.
    fn equal_to(bound: Bound) -> Option<Self::Key>;
    /// How it is ordered beside another number.
    fn order(self, bound: Bound) -> Option<Ordering>;
}

macro_rules! integers {
    ($($type:ty, $len:literal;)*) => { $(
        #[allow(clippy::cast_precision_loss, clippy::cast_lossless, clippy::useless_conversion,
            clippy::unnecessary_fallible_conversions, reason = "the nearest float is what is asked for, of any type")]
        impl Stored for $type {
            const LEN: usize = $len;
            type Key = $type;
            fn read(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())
            }
            fn to_f32(self) -> f32 { self as f32 }
            fn to_f64(self) -> f64 { self as f64 }
            fn to_i64(self) -> i64 { i64::try_from(self).unwrap_or(NOT_A_TIME) }
            fn key(self) -> Self { self }
            fn equal_to(bound: Bound) -> Option<Self> { bound.to_whole()?.try_into().ok() }
            fn order(self, bound: Bound) -> Option<Ordering> {
                match bound.to_whole() {
                    Some(whole) => Some(i128::from(self).cmp(&whole)),
                    None => self.to_f64().partial_cmp(&bound.to_f64()),
                }
            }
        }
    )* };
}

integers! {
    i8, 1;
    u8, 1;
    i16, 2;
    u16, 2;
    i32, 4;
    u32, 4;
    i64, 8;
    u64, 8;
}

macro_rules! floats {
    ($($type:ty, $len:literal, $to_f32:expr, $to_f64:expr;)*) => { $(
        impl Stored for $type {
            const LEN: usize = $len;
            type Key = f64;
            fn read(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())
            }
            #[allow(clippy::cast_possible_truncation, reason = "the nearest float is what is asked for")]
            fn to_f32(self) -> f32 { $to_f32(self) }
            fn to_f64(self) -> f64 { $to_f64(self) }
            fn to_i64(self) -> i64 { NOT_A_TIME }
            fn key(self) -> f64 { self.to_f64() }
            fn equal_to(bound: Bound) -> Option<f64> { Some(bound.to_f64()) }
            fn order(self, bound: Bound) -> Option<Ordering> {
                self.to_f64().partial_cmp(&bound.to_f64())
            }
        }
    )* };
}

floats! {
    f32, 4, |it| it, f64::from;
    f64, 8, |it| it as f32, |it| it;
    f16, 2, f16::to_f32, f16::to_f64;
    half::bf16, 2, half::bf16::to_f32, half::bf16::to_f64;
}

impl Unpacking {
    fn decoded_len(&self, stored_len: u64) -> u64 {
        (stored_len / size(self.from)).saturating_mul(size(self.to))
    }

    fn stored_len(&self, decoded_len: u64) -> u64 {
        (decoded_len / size(self.to)).saturating_mul(size(self.from))
    }

    /// Decodes all elements.
    fn decode(&self, stored: &[u8], out: &mut [u8]) {
        match self.from {
            DType::Int8 => self.all::<i8>(stored, out),
            DType::UInt8 => self.all::<u8>(stored, out),
            DType::Int16 => self.all::<i16>(stored, out),
            DType::UInt16 => self.all::<u16>(stored, out),
            DType::Int32 => self.all::<i32>(stored, out),
            DType::UInt32 => self.all::<u32>(stored, out),
            DType::Int64 => self.all::<i64>(stored, out),
            DType::UInt64 => self.all::<u64>(stored, out),
            DType::Float16 => self.all::<f16>(stored, out),
            DType::BFloat16 => self.all::<half::bf16>(stored, out),
            DType::Float32 => self.all::<f32>(stored, out),
            _ => self.all::<f64>(stored, out),
        }
    }

    fn all<S: Stored>(&self, stored: &[u8], out: &mut [u8]) {
        let elements = stored.chunks_exact(S::LEN).map(S::read);
        let masks: Vec<S::Key> = self.masks.iter().filter_map(|mask| S::equal_to(*mask)).collect();
        let is_masked = |element: S| masks.contains(&element.key()) || self.is_outside(element);
        match self.to {
            DType::Float32 => {
                let (scale, offset) = (self.scale.map(narrow), self.offset.map(narrow));
                for (element, out) in elements.zip(out.as_chunks_mut::<4>().0) {
                    let mut value = if is_masked(element) { f32::NAN } else { element.to_f32() };
                    value = scale.map_or(value, |scale| value * scale);
                    *out = offset.map_or(value, |offset| value + offset).to_le_bytes();
                }
            }
            DType::Int64 => {
                for (element, out) in elements.zip(out.as_chunks_mut::<8>().0) {
                    let value = if is_masked(element) { NOT_A_TIME } else { element.to_i64() };
                    *out = value.to_le_bytes();
                }
            }
            DType::Bool => {
                let zero = S::equal_to(Bound::Whole(0));
                for (element, out) in elements.zip(out) {
                    *out = u8::from(Some(element.key()) != zero);
                }
            }
            DType::Float16 | DType::BFloat16 => {
                let nan = match self.to {
                    DType::Float16 => f16::NAN.to_le_bytes(),
                    _ => half::bf16::NAN.to_le_bytes(),
                };
                out.copy_from_slice(stored);
                for (element, out) in elements.zip(out.as_chunks_mut::<2>().0) {
                    if is_masked(element) {
                        *out = nan;
                    }
                }
            }
            _ => {
                for (element, out) in elements.zip(out.as_chunks_mut::<8>().0) {
                    let mut value = if is_masked(element) { f64::NAN } else { element.to_f64() };
                    value = self.scale.map_or(value, |scale| value * scale);
                    *out = self.offset.map_or(value, |offset| value + offset).to_le_bytes();
                }
            }
        }
    }

    fn is_outside<S: Stored>(&self, element: S) -> bool {
        self.valid.is_some_and(|(low, high)| {
            element.order(low) == Some(Ordering::Less)
                || element.order(high) == Some(Ordering::Greater)
        })
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the type of the result is chosen by that of the number"
)]
fn narrow(value: f64) -> f32 {
    value as f32
}
