use std::ops::Range;

use tet_format::DType;

use super::piece::{Inside, Stage, Stretches, Strips, element_count};
use super::plan;
use super::tiling::Tiling;
use super::touch::{AxisBox, Touch};
use crate::budget::Execution;
use crate::catalog::ReadRange;
use crate::coalesce::Coalesce;
use crate::op::Op;
use crate::reduction::Reduction;
use crate::selection::Hyperslab;
use crate::testing::{Order, Stored, product, selected, slabs, world};

fn bytes(n: u64) -> Vec<u8> {
    n.to_le_bytes().to_vec()
}

/// The whole of a packed file is read from its first byte to its last, whatever the chunks.
#[test]
fn a_full_scan_of_a_packed_file_reads_each_byte_once_in_order() {
    for chunk_shape in [[1, 1, 1], [2, 3, 4], [5, 1, 7], [9, 9, 9]] {
        for stored in [Stored::Raw, Stored::Whole] {
            let world =
                world(DType::UInt64, &[5, 4, 7], &chunk_shape, stored, Order::Packed, bytes);
            let dataset = &world.mapped.datasets()[0];
            let slab = Hyperslab::whole(&world.shape);
            let stored_len = plan(dataset, &slab, Coalesce::NONE).unwrap().stored_len;
            let (mut end, how) = (8, Execution::default());
            let visit = &mut |ReadRange { span: run, .. }: ReadRange| {
                assert_eq!(run.start(), end);
                end = run.end();
            };
            dataset.reduce_runs(&slab, &Reduction::all(Op::Sum), &how, visit).unwrap();
            assert_eq!((end, stored_len), (8 + 1120, 1120));
        }
    }
}

/// A plan names exactly the chunks that hold a selected element, in row-major order.
#[test]
fn touched_chunks_are_those_of_the_selected_elements() {
    let (shape, chunk_shape) = ([5, 6], [2, 4]);
    let world = world(DType::UInt64, &shape, &chunk_shape, Stored::Raw, Order::Packed, bytes);
    let dataset = &world.mapped.datasets()[0];
    for slab in slabs(&shape, |number| number % 5 == 0) {
        let plan = plan(dataset, &slab, Coalesce::DEFAULT).unwrap();
        let elements = selected(&shape, &slab);
        let mut wanted: Vec<u64> = elements.iter().map(|at| at / 6 / 2 * 2 + at % 6 / 4).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let touched: Vec<u64> = plan.chunks().iter().map(|read| read.linear).collect();
        assert_eq!(touched, wanted, "{slab:?}");
        assert_eq!(plan.element_count, elements.len() as u64);
    }
}

/// The rectangles of every cut hold every position once, and their strips every element.
#[test]
fn rectangles_and_strips_cover_the_selection_once() {
    let (shape, chunk_shape) = ([5, 4, 6], [2, 3, 4]);
    let world = world(DType::UInt64, &shape, &chunk_shape, Stored::Raw, Order::Packed, bytes);
    let grid = &world.mapped.datasets()[0].grid;
    for slab in slabs(&shape, |number| number % 3001 == 0) {
        let touch = Touch::new(grid, &slab).unwrap();
        for limit in [1, 2, 5, 24, 1000] {
            for inside in [Inside::Cut, Inside::Whole] {
                let tiling = Tiling::new(&touch, &[0, 1, 2], limit, inside);
                let mut order: Vec<u64> =
                    (0..tiling.count()).map(|at| tiling.by_chunk(at)).collect();
                order.sort_unstable();
                assert_eq!(order, (0..tiling.count()).collect::<Vec<_>>(), "{slab:?} {limit}");
                let mut seen = Vec::new();
                for at in 0..tiling.count() {
                    let mut rect = vec![0..0; 3];
                    tiling.place(at, &mut rect);
                    if rect.iter().any(|range| range.is_empty()) {
                        continue;
                    }
                    let narrowed = touch.narrowed(&rect);
                    let mut strips = Strips::new(&narrowed, limit);
                    while let Some(boxes) = strips.boxes() {
                        assert!(element_count(boxes) <= limit);
                        let of = |axis: usize| boxes[axis].at..boxes[axis].at + boxes[axis].count;
                        for a in of(0) {
                            for b in of(1) {
                                seen.extend(of(2).map(|c| (a, b, c)));
                            }
                        }
                        strips.advance();
                    }
                }
                let total = seen.len() as u64;
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len() as u64, total, "no element twice: {slab:?} {limit}");
                assert_eq!(Some(total), slab.element_count(), "every element: {slab:?} {limit}");
            }
        }
    }
}

/// The stages of a walk have its strips, each once, those of a chunk in order; where no chunk is cut, all in order.
#[test]
fn stages_have_the_strips_of_the_walk() {
    let (shape, chunk_shape) = ([7, 4, 3], [3, 3, 2]);
    let world = world(DType::UInt64, &shape, &chunk_shape, Stored::Raw, Order::Packed, bytes);
    let grid = &world.mapped.datasets()[0].grid;
    for slab in slabs(&shape, |number| number % 301 == 0) {
        let touch = Touch::new(grid, &slab).unwrap();
        let walk = |limit, stage| -> Vec<(u64, Vec<AxisBox>)> {
            let mut strips = Strips::of_stage(&touch, limit, stage);
            let mut all = Vec::new();
            while let Some(boxes) = strips.boxes() {
                all.push((strips.ordinal(), boxes.to_vec()));
                let mut whole = strips.chunk_boxes().unwrap().iter().zip(boxes);
                assert_eq!(strips.is_first(), whole.all(|(whole, part)| whole.at == part.at));
                strips.advance();
            }
            all
        };
        let count = slab.axes()[0].count();
        for (limit, len, inside) in
            product(&[vec![1, 2, 5, 9, 100], vec![1, 2, 3, 4, 9], vec![0, 1]])
                .iter()
                .map(|it| (it[0], it[1], [Inside::Cut, Inside::Whole][usize::from(it[2] == 1)]))
        {
            let stages = (0..count.div_ceil(len)).map(|nth| {
                let positions = nth * len..count.min((nth + 1) * len);
                walk(limit, Some(Stage { axis: 0, positions, inside }))
            });
            let stages: Vec<_> = stages.collect();
            let chunk = |it: &(u64, Vec<AxisBox>)| it.0;
            let (mut found, mut wanted) = (stages.concat(), walk(limit, None));
            if inside == Inside::Cut {
                found.sort_by_key(chunk);
                wanted.sort_by_key(chunk);
            }
            assert_eq!(found, wanted, "{slab:?} {limit} {len} {inside:?}");
            let is_cut = |pair: &[Vec<_>]| {
                let last = pair[0].last().map(chunk);
                last.is_some() && last == pair[1].first().map(chunk)
            };
            assert!(inside == Inside::Cut || !stages.windows(2).any(is_cut), "{slab:?} {len}");
        }
    }
}

#[test]
fn rectangles_of_one_chunk_follow_each_other() {
    let (shape, chunk_shape) = ([3, 4], [2, 2]);
    let world = world(DType::UInt64, &shape, &chunk_shape, Stored::Raw, Order::Packed, bytes);
    let grid = &world.mapped.datasets()[0].grid;
    let touch = Touch::new(grid, &Hyperslab::whole(&shape)).unwrap();
    let rects = |limit, order: fn(&Tiling, u64) -> u64| -> Vec<Vec<Range<u64>>> {
        let tiling = Tiling::new(&touch, &[0, 1], limit, Inside::Cut);
        let place = |nth| {
            let mut rect = vec![0..0; 2];
            tiling.place(order(&tiling, nth), &mut rect);
            rect
        };
        (0..tiling.count()).map(place).filter(|rect| !rect[0].is_empty()).collect()
    };
    let rows = [[0..1, 0..2], [1..2, 0..2], [0..1, 2..4], [1..2, 2..4], [2..3, 0..2], [2..3, 2..4]];
    assert_eq!(rects(2, Tiling::by_chunk), rows);
    // Whole chunks are in their order anyway.
    assert_eq!(rects(8, Tiling::by_chunk), rects(8, |_, nth| nth));
}

/// The stretches of every box hold its elements once and in order, under every gap and window: each
/// begins and ends with one, holds no wider gap, and has no gaps where it is longer than a window.
#[test]
fn stretches_hold_the_selected_elements_in_order() {
    let shape = [3, 4, 5];
    let world = world(DType::UInt64, &shape, &shape, Stored::Raw, Order::Packed, bytes);
    let grid = &world.mapped.datasets()[0].grid;
    for slab in slabs(&shape, |number| number % 211 == 0) {
        let wanted = selected(&shape, &slab);
        let touch = Touch::new(grid, &slab).unwrap();
        let Some(boxes) = touch.cursor().boxes().map(<[_]>::to_vec) else { continue };
        for (gap_max, len_max) in [(0, 0), (0, 9), (1, 4), (2, 7), (9, 6), (60, 60)] {
            let stretches = Stretches::new(&boxes, gap_max, len_max);
            assert_eq!(stretches.total() as usize, stretches.clone().count());
            assert_eq!((stretches.base, stretches.end), (wanted[0], wanted[wanted.len() - 1] + 1));
            let mut left = &wanted[..];
            for stretch in stretches.clone() {
                let (here, after) = left.split_at(stretches.selected(&stretch) as usize);
                left = after;
                assert_eq!(stretch.elements, here[0]..here[here.len() - 1] + 1);
                let len = stretch.elements.end - stretch.elements.start;
                assert!(here.windows(2).all(|pair| pair[1] - pair[0] - 1 <= gap_max));
                assert!(len == here.len() as u64 || len <= len_max, "{slab:?} {stretch:?}");
            }
            assert_eq!(left, [0; 0]);
        }
    }
}
