//! Large Tensogram objects: cut into parts, restored from masks, compared with their hashes.

use tet_convert::{OpenOptions, Opened, open_source};
use tet_format::DType;
use tet_io::Source;
use tet_query::{
    Array, AxisSlice, DigestPolicy, Execution, Hyperslab, Op, Reduction, WithIntegrity,
};
use tet_tensogram::{
    Compressing, Encoded, Metadata, NonFinite, PackingFit, Recipe, SzipParameters, Tensor,
    WriteOptions, encode, encode_message,
};

const SHAPE: [u64; 3] = [37, 190, 211];

/// Doubles that differ, smooth enough for every codec.
fn doubles(shape: &[u64]) -> Vec<f64> {
    let count = shape.iter().product::<u64>();
    (0..count).map(|at| 280.0 + (at % 1009) as f64 * 0.25 + (at / 211) as f64 * 1e-3).collect()
}

fn message(encoded: &Encoded<'_>) -> Vec<u8> {
    let descriptor = encoded.descriptor.encode().expect("sound");
    let tensor = Tensor { descriptor: &descriptor, region: (&*encoded.region).into() };
    encode_message(&Metadata::default(), vec![tensor], &WriteOptions::default()).expect("sound")
}

fn opened(bytes: Vec<u8>) -> Opened {
    open_source(Source::from_bytes(bytes), &OpenOptions::default()).expect("sound")
}

fn read(opened: &Opened, slab: &Hyperslab, how: &Execution) -> tet_query::Result<Array> {
    Ok(opened.catalog.datasets()[0].read(slab, how)?.value)
}

/// The decoded bytes of a whole object.
fn whole(encoded: &Encoded<'_>) -> Vec<u8> {
    let (len, limits) = (encoded.region.len() as u64, tet_tensogram::Limits::default());
    let region = tet_tensogram::Region::new(&encoded.descriptor, 0, len, &limits).expect("sound");
    let mut out = vec![0; usize::try_from(region.decoded_len()).expect("sound")];
    region.decode(&encoded.region, &mut out).expect("sound");
    out
}

fn recipes() -> Vec<(&'static str, Recipe, bool)> {
    let none = Recipe::default();
    let packed = |bits| Some(PackingFit::Bits { bits, decimal_scale: 0 });
    let zstd = Compressing::Zstd { level: 1 };
    let szip = Compressing::Szip(SzipParameters::default());
    let packing = |bits| Recipe { packing: packed(bits), ..none };
    vec![
        ("16 bits", packing(16), true),
        ("8 bits", packing(8), true),
        ("12 bits", packing(12), true),
        ("31 bits", packing(31), true),
        ("57 bits", packing(57), true),
        ("no bits", packing(0), true),
        ("zstd", Recipe { compression: zstd, ..none }, true),
        ("12 bits, zstd", Recipe { compression: zstd, ..packing(12) }, true),
        ("16 bits, zstd", Recipe { compression: zstd, ..packing(16) }, true),
        ("16 bits, szip", Recipe { compression: szip, ..packing(16) }, true),
        ("24 bits, szip", Recipe { compression: szip, ..packing(24) }, true),
        ("lz4", Recipe { compression: Compressing::Lz4, ..none }, false),
        ("shuffle, zstd", Recipe { compression: zstd, shuffle: Some(8), ..none }, false),
    ]
}

fn bytes_of(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The elements of a part, picked out of all.
fn picked(all: &[u8], shape: &[u64], axes: &[AxisSlice]) -> Vec<u8> {
    let index = |number: u64| usize::try_from(number).expect("in memory");
    let positions =
        |axis: usize| (axes[axis].start..axes[axis].stop).step_by(index(axes[axis].step));
    let mut out = Vec::new();
    for a in positions(0) {
        for b in positions(1) {
            for c in positions(2) {
                let at = index((a * shape[1] + b) * shape[2] + c) * 8;
                out.extend_from_slice(&all[at..at + 8]);
            }
        }
    }
    out
}

fn slice(start: u64, stop: u64, step: u64, extent: u64) -> AxisSlice {
    AxisSlice { start, stop, step, ..AxisSlice::whole(extent) }
}

#[test]
fn parts_have_the_elements_of_the_whole() {
    let elements = bytes_of(&doubles(&SHAPE));
    for (name, recipe, is_cut) in recipes() {
        let encoded = encode(DType::Float64, &SHAPE, &elements, &recipe).unwrap();
        let wanted = whole(&encoded);
        let opened = opened(message(&encoded));
        let dataset = &opened.catalog.datasets()[0];
        assert!(dataset.fault.is_none(), "{name}");
        assert_eq!(dataset.grid.chunk_count() > 1, is_cut, "{name}");
        let [a, b, c] = SHAPE;
        for slices in [
            [slice(0, a, 1, a), slice(0, b, 1, b), slice(0, c, 1, c)],
            [slice(17, 18, 1, a), slice(100, 101, 1, b), slice(3, 4, 1, c)],
            [slice(11, 30, 1, a), slice(1, 189, 1, b), slice(5, 210, 1, c)],
            [slice(0, a, 3, a), slice(7, b, 11, b), slice(0, c, 2, c)],
            [slice(36, 37, 1, a), slice(189, 190, 1, b), slice(210, 211, 1, c)],
        ] {
            let slab = Hyperslab::new(slices.to_vec(), &SHAPE).unwrap();
            for memory_budget in [1 << 26, 1 << 30] {
                let how = Execution { memory_budget, ..Execution::default() };
                let found = read(&opened, &slab, &how).unwrap();
                assert!(found.bytes() == picked(&wanted, &SHAPE, &slices), "{name} {slices:?}");
            }
        }
        let sums: Vec<String> = [1, 2, 3]
            .map(|threads| {
                let how = Execution { threads, ..Execution::default() };
                let (slab, sum) = (Hyperslab::whole(&SHAPE), Reduction::all(Op::Sum));
                let reduced = dataset.reduce(&slab, &sum, &how).unwrap();
                format!("{:?}", reduced.values.get(0))
            })
            .to_vec();
        assert!(sums.iter().all(|sum| *sum == sums[0]), "{name}: {sums:?}");
    }
}

#[test]
fn many_bits_are_the_bytes_that_hold_them() {
    let bytes: Vec<u8> = (0..(12_u32 << 20) + 1).map(|at| (at % 251) as u8).collect();
    let bits = bytes.len() as u64 * 8 - 3;
    let recipe = Recipe { compression: Compressing::Zstd { level: 1 }, ..Recipe::default() };
    let encoded = encode(DType::Bitmask, &[bits], &bytes, &recipe).unwrap();
    let wanted = whole(&encoded);
    let opened = opened(message(&encoded));
    assert_eq!(opened.catalog.datasets()[0].grid.chunk_count(), 1);
    let (count, how) = (bytes.len() as u64, Execution::default());
    for (start, stop) in [(0, count), (3, 9), (9 << 20, count)] {
        let slab = Hyperslab::new(vec![slice(start, stop, 1, count)], &[count]).unwrap();
        let found = read(&opened, &slab, &how).unwrap();
        let [start, stop] = [start, stop].map(|at| usize::try_from(at).expect("in memory"));
        assert!(found.bytes() == &wanted[start..stop], "{start}..{stop}");
    }
}

#[test]
fn masks_are_restored_in_every_part() {
    let mut values = doubles(&SHAPE);
    for (at, value) in values.iter_mut().enumerate() {
        match at % 1031 {
            7 => *value = f64::NAN,
            8 => *value = f64::INFINITY,
            900 => *value = f64::NEG_INFINITY,
            _ => {}
        }
    }
    let elements = bytes_of(&values);
    for (name, recipe, is_cut) in recipes() {
        let masked = NonFinite::Masked;
        let recipe = Recipe { nan: masked, infinity: masked, ..recipe };
        let encoded = encode(DType::Float64, &SHAPE, &elements, &recipe).unwrap();
        let wanted = whole(&encoded);
        let count = |bytes: &[u8]| {
            let numbers = bytes.as_chunks().0.iter().map(|it| f64::from_le_bytes(*it));
            numbers.filter(|it| !it.is_finite()).count()
        };
        assert_eq!(count(&wanted), count(&elements), "{name}");
        let opened = opened(message(&encoded));
        assert_eq!(opened.catalog.datasets()[0].grid.chunk_count() > 1, is_cut, "{name}");
        let [a, b, c] = SHAPE;
        let slices = [slice(9, 31, 1, a), slice(3, 150, 2, b), slice(0, c, 1, c)];
        for slices in [slices, SHAPE.map(AxisSlice::whole)] {
            let slab = Hyperslab::new(slices.to_vec(), &SHAPE).unwrap();
            let found = read(&opened, &slab, &Execution::default()).unwrap();
            assert!(found.bytes() == picked(&wanted, &SHAPE, &slices), "{name} {slices:?}");
        }
    }
}

#[test]
fn hashes_are_compared_by_the_policy() {
    let elements = bytes_of(&doubles(&SHAPE));
    let packed = PackingFit::Bits { bits: 16, decimal_scale: 0 };
    for recipe in [Recipe::default(), Recipe { packing: Some(packed), ..Recipe::default() }] {
        let encoded = encode(DType::Float64, &SHAPE, &elements, &recipe).unwrap();
        let sound = message(&encoded);
        let mut bytes = sound.clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let whole = Hyperslab::whole(&SHAPE);
        let first = SHAPE.map(|extent| slice(0, 1, 1, extent));
        let first = Hyperslab::new(first.to_vec(), &SHAPE).unwrap();
        for (policy, slab, is_reported) in [
            (DigestPolicy::Auto, &whole, true),
            (DigestPolicy::Auto, &first, false),
            (DigestPolicy::Always, &first, true),
            (DigestPolicy::Never, &whole, false),
        ] {
            let how = Execution { digests: policy, ..Execution::default() };
            assert!(read(&opened(sound.clone()), slab, &how).is_ok());
            let found = read(&opened(bytes.clone()), slab, &how);
            let is_hash = |error: &tet_query::Error| error.to_string().contains("hash");
            assert_eq!(found.as_ref().is_err_and(is_hash), is_reported, "{policy:?}: {found:?}");
        }
    }
}

/// Damage of any place of a payload or a mask is an error, or elements of the stated length.
#[test]
fn damaged_parts_do_no_harm() {
    let mut values = doubles(&[700_000]);
    values[77] = f64::NAN;
    let elements = bytes_of(&values);
    for (name, recipe, _) in recipes() {
        let recipe = Recipe { nan: NonFinite::Masked, ..recipe };
        let encoded = encode(DType::Float64, &[700_000], &elements, &recipe).unwrap();
        let sound = message(&encoded);
        for place in [300, sound.len() / 3, sound.len() / 2, sound.len() - 400] {
            let mut bytes = sound.clone();
            bytes[place] ^= 0x10;
            let options = OpenOptions::default();
            let Ok(opened) = open_source(Source::from_bytes(bytes), &options) else { continue };
            let how = Execution { digests: DigestPolicy::Never, ..Execution::default() };
            for dataset in opened.catalog.datasets() {
                let found = dataset.read(&Hyperslab::whole(dataset.shape()), &how);
                let is_whole = |array: WithIntegrity<Array>| array.bytes().len() == elements.len();
                assert!(found.map_or(true, is_whole) || dataset.shape() != [700_000], "{name}");
            }
        }
    }
}
