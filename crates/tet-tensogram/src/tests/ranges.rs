//! Elements in part are that part of the whole, whatever the pipeline, and of no more bytes.

use tet_codec::{ChunkLayout, Decode, StoredSpans};
use tet_format::DType;

use crate::testing::objects::{decode, doubles, noise, owned, plan};
use crate::{
    Compressing, Encoded, Error, NonFinite, PackingFit, Readers, Recipe, Value, encode, rule,
};

const COUNT: u64 = 200_000;

fn smooth() -> Vec<u8> {
    doubles((0..COUNT).map(|at| 280.0 + ((at * 7919) % 1000) as f64 / 100.0))
}

fn object(recipe: &Recipe) -> Encoded<'static> {
    owned(encode(DType::Float64, &[COUNT], &smooth(), recipe))
}

#[test]
fn zstd_frames_are_read_by_themselves() {
    let packing = Some(PackingFit::Bits { bits: 24, decimal_scale: 0 });
    for packing in [None, packing] {
        let recipe =
            Recipe { compression: Compressing::Zstd { level: 1 }, packing, ..Recipe::default() };
        let Encoded { descriptor, region } = object(&recipe);
        let whole = decode(&descriptor, &region).unwrap();
        let plan = plan(&descriptor, &region).unwrap();
        let frames = plan.frames().unwrap();
        assert!(2 <= frames.len() && !frames.is_empty());
        let ends = (0..frames.len()).map(|number| frames.frame(number).unwrap());
        let last = ends.fold((0, 0), |at, (stored, decoded)| {
            assert_eq!(at, (stored.start, decoded.start), "frames lie one after the other");
            (stored.end, decoded.end)
        });
        assert!(last.0 < region.len() as u64, "a table follows");
        for (start, end) in
            [(0, 1), (0, COUNT), (32_767, 32_769), (100_000, 165_536), (COUNT, COUNT)]
        {
            let range = plan.payload_range(&(start..end)).unwrap().unwrap();
            let mut out = vec![0; (end - start) as usize * 8];
            let stored = &region[range.start as usize..range.end as usize];
            plan.decode_range(stored, &(start..end), &mut out).unwrap();
            assert!(out == whole[start as usize * 8..end as usize * 8], "{start}..{end}");
        }
        let one = plan.payload_range(&(5..6)).unwrap().unwrap();
        assert_eq!(one, frames.frame(0).unwrap().0);
    }
}

/// Some programs take the first frame for all of them.
#[test]
fn all_readers_find_one_zstd_frame() {
    for shuffle in [None, Some(8)] {
        let compression = Compressing::Zstd { level: 1 };
        let recipe = Recipe { compression, shuffle, readers: Readers::All, ..Recipe::default() };
        let Encoded { descriptor, region } = object(&recipe);
        assert!(descriptor.value("zstd_frame_offsets").is_none());
        assert!(decode(&descriptor, &region).unwrap() == smooth());
        let frames = region.windows(4).filter(|it| **it == 0xFD2F_B528_u32.to_le_bytes());
        assert!(frames.count() == 1 && region.starts_with(&0xFD2F_B528_u32.to_le_bytes()));
    }
}

/// The table behind the frames is the one of the seekable format.
#[test]
fn frames_end_with_a_seek_table() {
    let recipe = Recipe { compression: Compressing::Zstd { level: 1 }, ..Recipe::default() };
    let Encoded { descriptor, region } = object(&recipe);
    let plan = plan(&descriptor, &region).unwrap();
    let frames = plan.frames().unwrap();
    let footer = &region[region.len() - 9..];
    assert_eq!(footer[5..], 0x8F92_EAB1_u32.to_le_bytes());
    assert_eq!(footer[..4], (frames.len() as u32).to_le_bytes());
    let table = &region[region.len() - 9 - 8 * frames.len()..];
    for (number, entry) in table.as_chunks::<8>().0.iter().take(frames.len()).enumerate() {
        let (stored, decoded) = frames.frame(number).unwrap();
        assert_eq!(entry[..4], ((stored.end - stored.start) as u32).to_le_bytes());
        assert_eq!(entry[4..], ((decoded.end - decoded.start) as u32).to_le_bytes());
    }
}

#[test]
fn offsets_that_cannot_be_are_not_used() {
    let recipe = Recipe { compression: Compressing::Zstd { level: 1 }, ..Recipe::default() };
    let Encoded { descriptor, region } = object(&recipe);
    let whole = decode(&descriptor, &region).unwrap();
    let Some(Value::Array(offsets)) = descriptor.value("zstd_frame_offsets").cloned() else {
        panic!()
    };
    let mut swapped = offsets.clone();
    swapped.swap(1, 2);
    let mut late = offsets.clone();
    *late.last_mut().unwrap() = Value::Int(1 << 62);
    let mut shifted = offsets.clone();
    shifted[0] = Value::Int(1);
    let lists = [swapped, late, shifted, offsets[1..].to_vec(), vec![], vec![Value::Null]];
    for list in lists {
        let descriptor = descriptor.clone().with("zstd_frame_offsets", Value::Array(list));
        let plan = plan(&descriptor, &region).unwrap();
        assert_eq!(plan.notes()[0].rule, &rule::NOTE_OFFSETS);
        assert_eq!(plan.payload_range(&(1..2)).unwrap(), None);
        assert!(decode(&descriptor, &region).unwrap() == whole);
    }
    // Those that only might be are no frames when they are read.
    let mut moved = offsets;
    let Value::Int(at) = &mut moved[1] else { panic!() };
    *at += 1;
    let descriptor = descriptor.with("zstd_frame_offsets", Value::Array(moved));
    let plan = plan(&descriptor, &region).unwrap();
    let range = plan.payload_range(&(1..2)).unwrap().unwrap();
    let stored = &region[range.start as usize..range.end as usize];
    let error = plan.decode_range(stored, &(1..2), &mut [0; 8]).unwrap_err();
    assert_eq!(error.fault().unwrap().rule, &rule::ZSTD_FRAMES);
}

#[test]
fn what_needs_the_whole_payload_says_so() {
    let recipes = [
        Recipe { shuffle: Some(8), ..Recipe::default() },
        Recipe { compression: Compressing::Lz4, ..Recipe::default() },
    ];
    for recipe in recipes {
        let Encoded { descriptor, region } = object(&recipe);
        let plan = plan(&descriptor, &region).unwrap();
        assert_eq!(plan.payload_range(&(3..7)).unwrap(), None);
        let mut out = [0; 32];
        plan.decode_range(&region, &(3..7), &mut out).unwrap();
        assert_eq!(out, smooth()[24..56]);
    }
}

#[test]
#[allow(clippy::reversed_empty_ranges, reason = "a reversed range is what is tested")]
fn no_elements_are_made_up() {
    let Encoded { descriptor, region } = object(&Recipe::default());
    let plan = plan(&descriptor, &region).unwrap();
    for elements in [COUNT..COUNT + 1, 0..COUNT + 1, 2..1, u64::MAX..u64::MAX, 0..u64::MAX] {
        let error = plan.payload_range(&elements).unwrap_err();
        assert!(matches!(error, Error::Usage { wanted: COUNT, .. }), "{error}");
        assert!(plan.decode_range(&[], &elements, &mut []).is_err());
    }
}

/// As planners of chunks see it: with masks only once these are at hand.
#[test]
fn a_region_is_a_chunk() {
    let mut values = smooth();
    for element in [0, 5, 77_777] {
        values[element * 8..][..8].copy_from_slice(&f64::NAN.to_le_bytes());
    }
    let recipe = Recipe { nan: NonFinite::Masked, ..Recipe::default() };
    let Encoded { descriptor, region } =
        encode(DType::Float64, &[COUNT], &values, &recipe).unwrap();
    let plan = plan(&descriptor, &region).unwrap();
    let (stored_len, decoded_len) = (region.len() as u64, COUNT * 8);
    let layout = ChunkLayout { stored_len, decoded_len, element_size: 8 };
    plan.check_len(stored_len, decoded_len).unwrap();
    assert!(plan.check_len(stored_len, decoded_len + 8).is_err() && !plan.is_identity());
    let mut whole = vec![0; values.len()];
    Decode::decode(&plan, &region, &mut whole).unwrap();
    assert!(whole == values);
    assert_eq!(plan.stored_spans(layout, 4..9), StoredSpans::Whole);
    assert!(plan.decode_range(&region[32..72], &(4..9), &mut [0; 40]).is_err());

    let range = plan.masks();
    let masks = plan.read_masks(&region[range.start as usize..range.end as usize]).unwrap();
    let plan = plan.with_masks(masks);
    assert_eq!(plan.stored_spans(layout, 4..9), StoredSpans::Range(32..72));
    let mut out = [0; 40];
    Decode::decode_range(&plan, layout, &region[32..72], 4..9, &mut out).unwrap();
    assert_eq!(out, values[32..72]);

    let raw = owned(encode(DType::UInt8, &[9], &noise(9), &Recipe::default()));
    assert!(crate::testing::objects::plan(&raw.descriptor, &raw.region).unwrap().is_identity());
}
