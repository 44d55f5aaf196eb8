//! Objects of ours: every type, in every way to store it.

use anyhow::{Context, Result, ensure};
use tet_format::DType;
use tet_tensogram::{
    ByteOrder, Compressing, Limits, MaskMethod, NonFinite, PackingFit, Readers, Recipe, Region,
    SzipParameters, Tensor, encode,
};

/// An object and the elements that readers are to find.
#[derive(Clone)]
pub(super) struct Object {
    pub(super) dtype: DType,
    pub(super) shape: Vec<u64>,
    pub(super) descriptor: Vec<u8>,
    pub(super) region: Vec<u8>,
    pub(super) elements: Vec<u8>,
}

impl Object {
    /// The object as a writer takes it.
    pub(super) fn tensor(&self) -> Tensor<'_> {
        Tensor { descriptor: &self.descriptor, region: self.region[..].into() }
    }
}

const DTYPES: [DType; 15] = [
    DType::Float16,
    DType::BFloat16,
    DType::Float32,
    DType::Float64,
    DType::Complex64,
    DType::Complex128,
    DType::Int8,
    DType::Int16,
    DType::Int32,
    DType::Int64,
    DType::UInt8,
    DType::UInt16,
    DType::UInt32,
    DType::UInt64,
    DType::Bitmask,
];
const SHAPES: [&[u64]; 5] = [&[], &[0, 4], &[3, 5], &[1, 2, 1, 3, 1, 2], &[31, 37]];
const PACKED_BITS: [u32; 12] = [0, 1, 7, 8, 12, 16, 24, 31, 32, 53, 63, 64];
const METHODS: [MaskMethod; 5] =
    [MaskMethod::None, MaskMethod::Rle, MaskMethod::Roaring, MaskMethod::Lz4, MaskMethod::Zstd];

/// Objects of every kind, for readers of these releases.
pub(super) fn every(readers: Readers) -> Result<Vec<Object>> {
    let mut objects = Vec::new();
    let plain = Recipe { readers, ..Recipe::default() };
    for dtype in DTYPES {
        for shape in SHAPES {
            for recipe in stored(dtype, shape, plain) {
                let given = elements(dtype, shape, None);
                objects.push(object(dtype, shape, given, &recipe)?);
            }
        }
    }
    // More than a frame of zstd, and more than a chunk of anything.
    for compression in compressions() {
        let recipe = Recipe { compression, ..plain };
        let shape = [300, 300];
        let given = elements(DType::Float32, &shape, None);
        objects.push(object(DType::Float32, &shape, given, &recipe)?);
    }
    packed(plain, &mut objects)?;
    masked(plain, &mut objects)?;
    Ok(objects)
}

/// Every type in both byte orders, as it is, and twice one that is longer than a frame of zstd.
pub(super) fn plain() -> Result<Vec<Object>> {
    let mut objects = Vec::new();
    for dtype in DTYPES {
        for byte_order in orders(dtype) {
            let recipe = Recipe { byte_order: *byte_order, ..Recipe::default() };
            let long: &[&[u64]] = if dtype == DType::Float32 { &[&[300, 300]] } else { &[] };
            for shape in SHAPES.iter().chain(long) {
                objects.push(object(dtype, shape, elements(dtype, shape, None), &recipe)?);
            }
        }
    }
    Ok(objects)
}

/// Elements of which a third are not finite, stored as they are.
pub(super) fn special() -> Result<Vec<Object>> {
    let (nan, infinity) = (NonFinite::Kept, NonFinite::Kept);
    let recipe = Recipe { nan, infinity, ..Recipe::default() };
    let has_some = DTYPES.into_iter().filter(|it| it.is_float() || it.is_complex());
    let object = |dtype| {
        let shape = [31, 37];
        object(dtype, &shape, elements(dtype, &shape, Some(3)), &recipe)
    };
    has_some.map(object).collect()
}

/// Doubles that are worth packing.
pub(super) fn doubles() -> Result<Vec<Object>> {
    let object = |shape: &&[u64]| {
        let given = (0..shape.iter().product()).flat_map(|at| double(at).to_le_bytes());
        object(DType::Float64, shape, given.collect(), &Recipe::default())
    };
    SHAPES.iter().chain(&[&[1000][..]]).map(object).collect()
}

fn double(at: u64) -> f64 {
    280.0 + (at as f64 / 50.0).sin() * 20.0 + (at % 13) as f64 / 8.0
}

/// Bits have no order.
const fn orders(dtype: DType) -> &'static [ByteOrder] {
    match dtype {
        DType::Bitmask => &[ByteOrder::Little],
        _ => &[ByteOrder::Little, ByteOrder::Big],
    }
}

fn compressions() -> Vec<Compressing> {
    let mut all = vec![Compressing::None, Compressing::Lz4];
    all.extend([-5, 3, 19].map(|level| Compressing::Zstd { level }));
    for (rsi, block_size, flags) in [(128, 16, 8), (2, 8, 0), (4096, 64, 8), (16, 32, 12)] {
        all.push(Compressing::Szip(SzipParameters { rsi, block_size, flags }));
    }
    all
}

/// Every way in which elements of a type are stored whole.
fn stored(dtype: DType, shape: &[u64], plain: Recipe) -> Vec<Recipe> {
    let is_bits = dtype == DType::Bitmask;
    let mut recipes = Vec::new();
    let is_empty = shape.contains(&0);
    for compression in compressions() {
        let is_szip = matches!(compression, Compressing::Szip(_));
        for &byte_order in orders(dtype) {
            let recipe = Recipe { byte_order, compression, ..plain };
            // No reader takes a stream of no samples.
            if !is_szip || !is_empty && !is_bits && dtype.bit_width() <= 32 {
                recipes.push(recipe);
            }
            let size = dtype.size().filter(|_| !is_empty);
            if let Some(size) = size {
                recipes.push(Recipe { shuffle: Some(size), ..recipe });
            }
        }
    }
    if is_bits {
        let words = [Compressing::Rle, Compressing::Roaring];
        recipes.extend(words.map(|compression| Recipe { compression, ..plain }));
    }
    recipes
}

fn packed(plain: Recipe, objects: &mut Vec<Object>) -> Result<()> {
    for count in [1, 1000] {
        let given: Vec<u8> = (0..count).flat_map(|at| double(at).to_le_bytes()).collect();
        for bits in PACKED_BITS {
            for compression in compressions() {
                let is_szip = matches!(compression, Compressing::Szip(_));
                if is_szip && !matches!(bits, 8 | 16 | 24 | 32) {
                    continue;
                }
                let fit = PackingFit::Bits { bits, decimal_scale: i32::from(bits == 12) };
                let recipe = Recipe { packing: Some(fit), compression, ..plain };
                objects.push(object(DType::Float64, &[count], given.clone(), &recipe)?);
            }
        }
        let fit = PackingFit::Within { error_max: 0.01 };
        let recipe = Recipe { packing: Some(fit), shuffle: Some(1), ..plain };
        objects.push(object(DType::Float64, &[count], given, &recipe)?);
    }
    Ok(())
}

fn masked(plain: Recipe, objects: &mut Vec<Object>) -> Result<()> {
    for dtype in DTYPES.into_iter().filter(|it| it.is_float() || it.is_complex()) {
        for mask_method in METHODS {
            for (one_in, shape) in [(3, &[5][..]), (3, &[31, 37]), (2000, &[31, 37])] {
                let (nan, infinity) = (NonFinite::Masked, NonFinite::Masked);
                for small_mask_len in [0, 128] {
                    let compression = Compressing::Zstd { level: 1 };
                    let recipe =
                        Recipe { nan, infinity, mask_method, small_mask_len, compression, ..plain };
                    let given = elements(dtype, shape, Some(one_in));
                    objects.push(object(dtype, shape, given, &recipe)?);
                }
            }
        }
    }
    Ok(())
}

/// An object, and what becomes of its elements: packed numbers are others.
fn object(dtype: DType, shape: &[u64], given: Vec<u8>, recipe: &Recipe) -> Result<Object> {
    let encoded = encode(dtype, shape, &given, recipe);
    let encoded = encoded.with_context(|| format!("{dtype:?} {shape:?} {recipe:?}"))?;
    let limits = Limits::default();
    let plan = Region::new(&encoded.descriptor, 0, encoded.region.len() as u64, &limits)?;
    let mut elements = vec![0; usize::try_from(plan.decoded_len())?];
    plan.decode(&encoded.region, &mut elements)?;
    let is_lossy = recipe.packing.is_some();
    ensure!(is_lossy || elements == given, "{dtype:?} {shape:?} {recipe:?} is not read back");
    let descriptor = encoded.descriptor.encode()?;
    let (shape, region) = (shape.to_vec(), encoded.region.into_owned());
    Ok(Object { dtype, shape, descriptor, region, elements })
}

/// Elements in some order, finite but for one in so many of each kind that is not.
fn elements(dtype: DType, shape: &[u64], one_in: Option<u64>) -> Vec<u8> {
    let count: u64 = shape.iter().product();
    let byte = |at: u64| (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0] & 0x3f;
    let Some(size) = dtype.size() else {
        // Bits in runs of many lengths.
        let bits = (0..count).map(|at| u8::from(((at * at) >> 5) % 7 < 3) << (7 - at % 8));
        let bits: Vec<u8> = bits.collect();
        return bits.chunks(8).map(|bits| bits.iter().sum()).collect();
    };
    // No byte has the bits of an exponent that is all ones.
    let mut out: Vec<u8> = (0..count * size).map(byte).collect();
    let Some(one_in) = one_in else { return out };
    let unit = if dtype.is_complex() { size / 2 } else { size };
    let [nan, infinity, sign]: [u64; 3] = match (dtype, unit) {
        (DType::Float16, _) => [0x7E00, 0x7C00, 0x8000],
        (DType::BFloat16, _) => [0x7FC0, 0x7F80, 0x8000],
        (_, 4) => [0x7FC0_0000, 0x7F80_0000, 0x8000_0000],
        _ => [0x7FF8 << 48, 0x7FF0 << 48, 1 << 63],
    };
    let [unit, size] = [unit, size].map(|len| usize::try_from(len).unwrap_or(1));
    for (at, element) in (0_u64..).zip(out.chunks_exact_mut(size)) {
        let value = match at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 {
            drawn if drawn % one_in == 0 => nan,
            drawn if drawn % one_in == 1 => infinity,
            drawn if drawn % (2 * one_in) == 2 => infinity | sign,
            _ => continue,
        };
        for part in element.chunks_exact_mut(unit) {
            part.copy_from_slice(&value.to_le_bytes()[..unit]);
        }
    }
    out
}
