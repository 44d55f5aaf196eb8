//! Descriptors and payloads that lie: an error, or elements of the right length; never more memory.

use proptest::prelude::*;
use tet_format::{DType, ForeignRule, Severity};

use crate::testing::objects::{decode, doubles, noise, owned, plan, reread, text};
use crate::{
    Compressing, Descriptor, Encoded, Error, Limits, MaskMethod, NonFinite, PackingFit, Recipe,
    Region, SzipParameters, Value, encode, rule,
};

fn int(number: i64) -> Value {
    Value::Int(number.into())
}

fn bytes(count: u64) -> Descriptor {
    Descriptor::new(DType::UInt8, &[count]).unwrap()
}

#[track_caller]
fn breaks(descriptor: &Descriptor, region: &[u8], wanted: &'static ForeignRule) {
    let error = decode(descriptor, region).unwrap_err();
    assert_eq!(error.fault().map(|fault| fault.rule.id), Some(wanted.id), "{error}");
}

/// An object of every kind of payload and mask.
fn objects() -> Vec<Encoded<'static>> {
    let ramp = doubles((0..300).map(|at| if at % 50 == 7 { f64::NAN } else { f64::from(at % 9) }));
    let masked = Recipe { nan: NonFinite::Masked, small_mask_len: 0, ..Recipe::default() };
    let packing = Some(PackingFit::Bits { bits: 16, decimal_scale: 0 });
    let szip = Compressing::Szip(SzipParameters { rsi: 4, block_size: 8, flags: 8 });
    use MaskMethod as M;
    let recipes = [
        masked,
        Recipe { packing, mask_method: M::Rle, ..masked },
        Recipe { packing, compression: szip, mask_method: M::Lz4, ..masked },
        Recipe { shuffle: Some(8), compression: szip, mask_method: M::Zstd, ..masked },
        Recipe { compression: Compressing::Zstd { level: 3 }, mask_method: M::None, ..masked },
        Recipe { compression: Compressing::Lz4, shuffle: Some(4), ..masked },
    ];
    let of = |recipe: &Recipe| owned(encode(DType::Float64, &[3, 100], &ramp, recipe));
    let mut objects: Vec<Encoded> = recipes.iter().map(of).collect();
    for compression in [Compressing::Rle, Compressing::Roaring] {
        let recipe = Recipe { compression, ..Recipe::default() };
        objects.push(owned(encode(DType::Bitmask, &[1000], &noise(125), &recipe)));
    }
    objects
}

#[test]
fn every_prefix_and_every_flip_gets_an_answer() {
    for Encoded { descriptor, region } in objects() {
        let whole = decode(&descriptor, &region).unwrap();
        for len in 0..region.len() {
            assert!(decode(&descriptor, &region[..len]).is_err(), "{len} of {}", region.len());
        }
        let step = region.len().div_ceil(700).max(1);
        for bit in (0..region.len() * 8).step_by(step) {
            let mut flipped = region.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(found) = decode(&descriptor, &flipped) {
                assert_eq!(found.len(), whole.len());
            }
        }
        flipped_descriptor(&descriptor, &region);
    }
}

fn flipped_descriptor(descriptor: &Descriptor, region: &[u8]) {
    let cbor = descriptor.encode().unwrap();
    for bit in 0..cbor.len() * 8 {
        let mut flipped = cbor.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let Ok(descriptor) = Descriptor::read(&flipped, 0, &Limits::default()) else { continue };
        let limits = Limits { inflated_len_max: 1 << 20, ..Limits::default() };
        if let Ok(plan) = Region::new(&descriptor, 0, region.len() as u64, &limits) {
            // No payload of these objects can come to more.
            assert!(plan.decoded_len() <= 1 << 30, "{} bytes", plan.decoded_len());
            if plan.decoded_len() <= 1 << 20 {
                let found = decode(&descriptor, region);
                assert!(found.is_err() || found.unwrap().len() as u64 == plan.decoded_len());
            }
        }
    }
    for len in 0..cbor.len() {
        let error = Descriptor::read(&cbor[..len], 9, &Limits::default()).unwrap_err();
        assert_eq!(error.fault().unwrap().rule, &rule::DESCRIPTOR_SYNTAX);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_get_an_answer(
        which in any::<prop::sample::Index>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        is_descriptor in any::<bool>(),
    ) {
        let mut objects = objects();
        let Encoded { descriptor, region } = objects.swap_remove(which.index(objects.len()));
        let mut region = region.into_owned();
        let mut cbor = descriptor.encode().unwrap();
        let target = if is_descriptor { &mut cbor } else { &mut region };
        for (at, byte) in places {
            *at.get_mut(target) = byte;
        }
        let read = Descriptor::read(&cbor, 0, &Limits::default());
        let Ok(descriptor) = read else { return Ok(()) };
        let Ok(plan) = plan(&descriptor, &region) else { return Ok(()) };
        if plan.decoded_len() <= 1 << 20
            && let Ok(found) = decode(&descriptor, &region)
        {
            prop_assert_eq!(found.len() as u64, plan.decoded_len());
        }
    }
}

#[test]
fn bombs_are_refused_before_memory_is_asked_for() {
    const HUGE: u64 = 1 << 60;
    let packed = Descriptor::new(DType::Float64, &[HUGE / 16])
        .unwrap()
        .with("encoding", text("simple_packing"))
        .with("sp_reference_value", Value::Float(1.0))
        .with("sp_binary_scale_factor", int(0))
        .with("sp_decimal_scale_factor", int(0))
        .with("sp_bits_per_value", int(0));
    breaks(&packed, &[], &rule::LIMIT_INFLATED);
    breaks(&bytes(HUGE).with("compression", text("zstd")), &[0; 9], &rule::PAYLOAD_SHORT);
    breaks(&bytes(HUGE).with("compression", text("lz4")), &[255; 9], &rule::PAYLOAD_SHORT);
    let szip = bytes(HUGE)
        .with("compression", text("szip"))
        .with("szip_rsi", int(128))
        .with("szip_block_size", int(16))
        .with("szip_flags", int(8));
    breaks(&szip, &[0; 9], &rule::PAYLOAD_SHORT);
    let bits = Descriptor::new(DType::Bitmask, &[HUGE]).unwrap();
    breaks(&bits.clone().with("compression", text("rle")), &[0; 9], &rule::LIMIT_INFLATED);
    breaks(&bits.with("compression", text("roaring")), &[0; 9], &rule::LIMIT_INFLATED);
    breaks(&bytes(HUGE), &[0; 9], &rule::PAYLOAD_LEN);
}

/// A payload that comes to more than its elements is stopped where they end.
#[test]
fn payloads_come_to_exactly_their_elements() {
    let long = vec![7; 1 << 20];
    let compressed = |compression| {
        let recipe = Recipe { compression, ..Recipe::default() };
        encode(DType::UInt8, &[1 << 20], &long, &recipe).unwrap()
    };
    let zstd = compressed(Compressing::Zstd { level: 3 });
    let lz4 = compressed(Compressing::Lz4);
    for count in [100, (1 << 20) - 1, (1 << 20) + 1] {
        let count = Value::Array(vec![int(count)]);
        let zstd_object = zstd.descriptor.clone().with("shape", count.clone());
        breaks(&zstd_object.without("zstd_frame_offsets"), &zstd.region, &rule::ZSTD_LEN);
        breaks(&lz4.descriptor.clone().with("shape", count), &lz4.region, &rule::LZ4_LEN);
    }
    let mut lying = lz4.region.to_vec();
    lying[..4].copy_from_slice(&100_u32.to_le_bytes());
    let short = lz4.descriptor.with("shape", Value::Array(vec![int(100)]));
    breaks(&short, &lying, &rule::LZ4_BLOCK);
    breaks(&short, &lying[..3], &rule::LZ4_LEN);
    breaks(&bytes(5).with("compression", text("zstd")), b"no zstd frame", &rule::ZSTD_FRAMES);
    let bits = Descriptor::new(DType::Bitmask, &[16]).unwrap();
    let rle = bits.clone().with("compression", text("rle"));
    assert_eq!(decode(&rle, &[0, 0, 0, 16, 1, 16]).unwrap(), [255, 255]);
    breaks(&rle, &[0, 0, 0, 15, 1, 16], &rule::BIT_COUNT);
    breaks(&rle, &[0, 0, 0, 16, 1, 15], &rule::BIT_RUNS);
    let roaring = bits.with("compression", text("roaring"));
    breaks(&roaring, &[0, 0, 0, 16, 1, 2, 3, 4], &rule::BIT_SET);
}

#[test]
fn codecs_that_are_not_built_in_are_named() {
    for (key, word) in [("compression", "jpeg2000"), ("filter", "delta")] {
        let object = reread(&bytes(4).with(key, text(word)));
        assert_eq!((object.fault(), object.shape()), (None, &[4][..]));
        let error = decode(&object, &[0; 4]).unwrap_err();
        let Error::NotBuilt { codec, fault } = &error else { panic!("{error}") };
        assert_eq!((&**codec, fault.rule), (word, &rule::CODEC_BUILT));
        assert_eq!(fault.at, object.place(key));
        assert!(error.to_string().starts_with(&format!("codec {word} is not built into this tet")));
    }
}

#[test]
fn parameters_are_within_their_ranges() {
    let szip = |key: &str, value| {
        bytes(64)
            .with("compression", text("szip"))
            .with("szip_rsi", int(1))
            .with("szip_block_size", int(8))
            .with("szip_flags", int(8))
            .with(key, value)
    };
    let shuffle =
        |size| bytes(64).with("filter", text("shuffle")).with("shuffle_element_size", size);
    let bad = [
        szip("szip_rsi", int(0)),
        szip("szip_rsi", int(4097)),
        szip("szip_block_size", int(12)),
        szip("szip_block_size", text("8")),
        szip("szip_flags", int(-1)),
        szip("szip_flags", int(128)),
        shuffle(int(0)),
        shuffle(int(-4)),
        shuffle(Value::Float(2.0)),
        bytes(64).with("filter", text("shuffle")),
    ];
    for object in bad {
        breaks(&object, &[0; 64], &rule::CODEC_PARAMETER);
    }
    breaks(&shuffle(int(3)), &[0; 64], &rule::WHOLE_PARTS);
    breaks(&bytes(4).with("encoding", text("simple_packing")), &[0; 4], &rule::CODEC_DTYPE);
    breaks(&bytes(4).with("compression", text("rle")), &[0; 4], &rule::CODEC_DTYPE);
    let wide = Descriptor::new(DType::Int64, &[1]).unwrap().with("compression", text("szip"));
    breaks(&wide, &[0; 8], &rule::CODEC_DTYPE);
}

#[test]
fn errors_are_not_among_the_notes() {
    for rule in rule::ALL {
        let is_note = rule.id.starts_with("TGM-N");
        assert_eq!(rule.severity != Severity::Error, is_note, "{}", rule.id);
    }
}
