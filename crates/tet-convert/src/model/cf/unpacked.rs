//! The chunks of a dataset, each element decoded.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use half::f16;
use tet_codec::{ChunkLayout, Decode, Error as CodecError, StoredSpans};
use tet_format::{DType, Digest, ForeignRule, Integrity};
use tet_io::Source;
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed};

thread_local! {
    /// Stored elements before they are decoded.
    static STORED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// How elements are decoded.
#[derive(Clone, Debug)]
pub(super) struct Unpacking {
    pub(super) from: DType,
    pub(super) to: DType,
    /// Elements with one of these values are masked.
    pub(super) masks: Vec<f64>,
    /// Elements outside are masked.
    pub(super) valid: Option<(f64, f64)>,
    pub(super) scale: Option<f64>,
    pub(super) offset: Option<f64>,
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

    fn object(&self, number: u32) -> tet_query::Result<Option<Source>> {
        self.packed.object(number)
    }

    fn check_unchanged(&self) -> tet_query::Result<()> {
        self.packed.check_unchanged()
    }

    fn check_all_unchanged(&self) -> tet_query::Result<()> {
        self.packed.check_all_unchanged()
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
        STORED.with_borrow_mut(|stored| {
            let codec = self.name();
            let len = self.unpacking.stored_len(out.len() as u64);
            let len = usize::try_from(len).map_err(|_| CodecError::Memory { codec })?;
            let more = len.saturating_sub(stored.len());
            stored.try_reserve_exact(more).map_err(|_| CodecError::Memory { codec })?;
            stored.resize(len, 0);
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
    fn read(bytes: &[u8]) -> Self;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
}

macro_rules! stored {
    ($($type:ty, $len:literal, $to_f32:expr, $to_f64:expr;)*) => { $(
        impl Stored for $type {
            const LEN: usize = $len;
            fn read(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())
            }
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_lossless,
                reason = "the nearest float is what is asked for")]
            fn to_f32(self) -> f32 { $to_f32(self) }
            #[allow(clippy::cast_precision_loss, clippy::cast_lossless,
                reason = "the nearest float is what is asked for")]
            fn to_f64(self) -> f64 { $to_f64(self) }
        }
    )* };
}

stored! {
    i8, 1, |it| it as f32, |it| it as f64;
    u8, 1, |it| it as f32, |it| it as f64;
    i16, 2, |it| it as f32, |it| it as f64;
    u16, 2, |it| it as f32, |it| it as f64;
    i32, 4, |it| it as f32, |it| it as f64;
    u32, 4, |it| it as f32, |it| it as f64;
    i64, 8, |it| it as f32, |it| it as f64;
    u64, 8, |it| it as f32, |it| it as f64;
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
        match self.to {
            DType::Float32 => {
                let (scale, offset) = (self.scale.map(narrow), self.offset.map(narrow));
                for (element, out) in elements.zip(out.as_chunks_mut::<4>().0) {
                    let mut value = element.to_f32();
                    if self.is_masked(value.into()) {
                        value = f32::NAN;
                    }
                    value = scale.map_or(value, |scale| value * scale);
                    *out = offset.map_or(value, |offset| value + offset).to_le_bytes();
                }
            }
            DType::Float16 | DType::BFloat16 => {
                let nan = match self.to {
                    DType::Float16 => f16::NAN.to_le_bytes(),
                    _ => half::bf16::NAN.to_le_bytes(),
                };
                out.copy_from_slice(stored);
                for (element, out) in elements.zip(out.as_chunks_mut::<2>().0) {
                    if self.is_masked(element.to_f64()) {
                        *out = nan;
                    }
                }
            }
            _ => {
                for (element, out) in elements.zip(out.as_chunks_mut::<8>().0) {
                    let mut value = element.to_f64();
                    if self.is_masked(value) {
                        value = f64::NAN;
                    }
                    value = self.scale.map_or(value, |scale| value * scale);
                    *out = self.offset.map_or(value, |offset| value + offset).to_le_bytes();
                }
            }
        }
    }

    fn is_masked(&self, value: f64) -> bool {
        let is_outside = |(low, high): (f64, f64)| value < low || high < value;
        self.masks.contains(&value) || self.valid.is_some_and(is_outside)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the type of the result is chosen by that of the number"
)]
fn narrow(value: f64) -> f32 {
    value as f32
}
