//! Pipelines of every combination of a few stages, and lengths that cannot be.

use super::*;
use crate::encode;
use crate::filter::{Deflate, Shuffle};

/// Element sizes and lengths of chunks.
const CHUNKS: [(u64, usize); 5] = [(1, 0), (1, 1000), (2, 4096), (4, 70_000), (8, 8 * 999)];

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * at / 77) as u8).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    Shuffle,
    Zlib,
    Gzip,
}

fn stages(filters: &[Filter], size: u64) -> Vec<Arc<dyn Stage>> {
    let stage = |filter: &Filter| -> Arc<dyn Stage> {
        match filter {
            Filter::Shuffle => Arc::new(Shuffle::new(size)),
            Filter::Zlib => Arc::new(Deflate::zlib()),
            Filter::Gzip => Arc::new(Deflate::gzip()),
        }
    };
    filters.iter().map(stage).collect()
}

fn written(filters: &[Filter], size: u64, elements: &[u8]) -> Vec<u8> {
    filters.iter().fold(elements.to_vec(), |bytes, filter| {
        let mut out = Vec::new();
        match filter {
            Filter::Shuffle => encode::shuffle(&bytes, size, &mut out),
            Filter::Zlib => encode::deflate(&bytes, 3, &mut out),
            Filter::Gzip => encode::gzip(&bytes, 3, &mut out),
        }
        .unwrap();
        out
    })
}

#[test]
fn every_chain_of_three_is_undone_in_every_layout() {
    let all = [None, Some(Filter::Shuffle), Some(Filter::Zlib), Some(Filter::Gzip)];
    for number in 0..64 {
        let filters: Vec<Filter> = [number % 4, number / 4 % 4, number / 16]
            .into_iter()
            .filter_map(|it| all[it])
            .collect();
        for (size, len) in CHUNKS {
            let elements = bytes(len);
            let stored = written(&filters, size, &elements);
            for layout in
                [Some(ElementLayout::new(size)), ElementLayout::new(size).with_width(size)]
            {
                let layout = layout.unwrap();
                let mut wanted = elements.clone();
                layout.swap_in_place(&mut wanted);
                let pipeline = Pipeline::new(stages(&filters, size), layout);
                let mut out = vec![0xee; len];
                pipeline.decode(&stored, &mut out).unwrap();
                assert!(out == wanted, "{} of {len} bytes", pipeline.full_name());
            }
        }
    }
}

#[test]
fn axes_are_turned_behind_filters() {
    let (rows, columns) = (30_u64, 50);
    let decoded = bytes(30 * 50 * 4);
    let elements = decoded.as_chunks::<4>().0;
    let mut stored = Vec::new();
    for column in 0..columns {
        for row in 0..rows {
            stored.extend(elements[(row * columns + column) as usize].iter().rev());
        }
    }
    for filters in [&[][..], &[Filter::Shuffle], &[Filter::Shuffle, Filter::Zlib]] {
        let stored = written(filters, 4, &stored);
        let layout =
            ElementLayout::new(4).with_width(4).unwrap().with_order(&[1, 0], &[rows, columns]);
        let pipeline = Pipeline::new(stages(filters, 4), layout.unwrap());
        let mut out = vec![0; decoded.len()];
        pipeline.decode(&stored, &mut out).unwrap();
        assert!(out == decoded);
        let layout = ChunkLayout { stored_len: 6000, decoded_len: 6000, element_size: 4 };
        assert_eq!(pipeline.stored_spans(layout, 0..1), StoredSpans::Whole);
    }
}

#[test]
fn without_stages_ranges_are_decoded() {
    let stored = [0, 1, 0, 2, 0, 3];
    let layout = ChunkLayout { stored_len: 6, decoded_len: 6, element_size: 2 };
    for (width, wanted, is_identity) in [(1, [0, 2, 0, 3], true), (2, [2, 0, 3, 0], false)] {
        let pipeline = Pipeline::new([], ElementLayout::new(2).with_width(width).unwrap());
        assert_eq!(pipeline.stored_spans(layout, 1..3), StoredSpans::Range(2..6));
        let mut out = [0; 4];
        pipeline.decode_range(layout, &stored[2..], 1..3, &mut out).unwrap();
        assert_eq!((out, pipeline.is_identity()), (wanted, is_identity));
    }
    let pipeline = Pipeline::new(stages(&[Filter::Zlib], 2), ElementLayout::new(2));
    assert_eq!(pipeline.stored_spans(layout, 1..3), StoredSpans::Whole);
    assert!(pipeline.decode_range(layout, &stored[2..], 1..3, &mut [0; 4]).is_err());
}

#[test]
fn names_are_those_of_the_stages() {
    let name = |filters: &[Filter], layout| {
        Pipeline::new(stages(filters, 2), layout).full_name().to_owned()
    };
    let swapped = || ElementLayout::new(2).with_width(2).unwrap();
    assert_eq!(name(&[], ElementLayout::new(2)), "raw");
    assert_eq!(name(&[], swapped()), "big-endian");
    assert_eq!(name(&[Filter::Shuffle, Filter::Gzip], swapped()), "shuffle+gzip");
}

#[test]
fn lengths_are_bounded_before_anything_is_allocated() {
    let one = |filters: &[Filter]| Pipeline::new(stages(filters, 1), ElementLayout::new(1));
    assert!(one(&[Filter::Shuffle]).check_len(5, 5).is_ok());
    assert!(one(&[Filter::Shuffle]).check_len(5, 6).is_err());
    assert!(one(&[]).check_len(6, 5).is_err());
    assert!(one(&[Filter::Shuffle, Filter::Zlib]).check_len(10, 10_320).is_ok());
    assert!(one(&[Filter::Shuffle, Filter::Zlib]).check_len(10, 10_321).is_err());
    assert!(one(&[Filter::Zlib, Filter::Gzip]).check_len(10, 10_650_240).is_ok());
    assert!(one(&[Filter::Zlib, Filter::Gzip]).check_len(10, u64::MAX).is_err());
    assert!(one(&[Filter::Zlib]).check_len(0, 1).is_err());
}

/// A compressor behind another one may decode only to what the first can have written.
#[test]
fn a_bomb_behind_a_compressor_is_stopped() {
    let stored = written(&[Filter::Gzip], 1, &vec![0; 10_000_000]);
    let pipeline = Pipeline::new(stages(&[Filter::Zlib, Filter::Gzip], 1), ElementLayout::new(1));
    let wanted = Error::TooLong { codec: "gzip", decoded_len: 2 * 100 + GROWTH };
    assert_eq!(pipeline.decode(&stored, &mut [0; 100]), Err(wanted));
}

#[test]
fn bytes_of_an_unknown_length_are_bounded() {
    let decoded: Vec<u8> = (0..100_000_u32).map(|at| (at / 1000) as u8).collect();
    let mut stored = Vec::new();
    crate::encode::deflate(&decoded, 6, &mut stored).unwrap();
    let pipeline =
        Pipeline::new([Arc::new(Deflate::zlib()) as Arc<dyn Stage>], ElementLayout::new(1));
    assert_eq!(pipeline.undo_all(&stored, 100_000).unwrap(), decoded);
    assert_eq!(pipeline.undo_all(&stored, 1 << 30).unwrap(), decoded);
    assert!(pipeline.undo_all(&stored, 99_999).is_err());
    assert!(pipeline.undo_all(&stored[..stored.len() - 9], 1 << 20).is_err());
    let plain = Pipeline::new([], ElementLayout::new(1));
    assert_eq!(plain.undo_all(b"abc", 2).unwrap(), b"abc");
}

#[test]
fn pipelines_name_the_codecs_of_numcodecs_that_decode_the_same() {
    let big = ElementLayout::new(4).with_width(4).unwrap();
    let shuffle: Arc<dyn Stage> = Arc::new(Shuffle::new(4));
    let deflate: Arc<dyn Stage> = Arc::new(Deflate::zlib());
    let known = Pipeline::new([shuffle.clone(), deflate.clone()], big).numcodecs().unwrap();
    let ids: Vec<_> = known.codecs.iter().map(|it| (it.id, it.setting)).collect();
    assert_eq!(ids, [("shuffle", Some(("elementsize", 4))), ("zlib", None)]);
    assert!(known.is_big_endian);
    let raw = Pipeline::new([], ElementLayout::new(4)).numcodecs();
    assert_eq!(raw, Some(NumcodecsPipeline::default()));
    let turned = ElementLayout::new(4).with_order(&[1, 0], &[2, 3]).unwrap();
    assert_eq!(Pipeline::new([deflate], turned).numcodecs(), None);
    let lzf: Arc<dyn Stage> = Arc::new(crate::Lzf);
    assert_eq!(Pipeline::new([shuffle, lzf], ElementLayout::new(4)).numcodecs(), None);
}
