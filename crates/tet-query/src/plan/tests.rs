use tet_format::DType;

use super::piece::{Strips, element_count};
use super::plan;
use super::tiling::{Inside, Tiling};
use super::touch::Touch;
use crate::coalesce::Coalesce;
use crate::selection::Hyperslab;
use crate::testing::{Order, Stored, selected, slabs, world};

fn bytes(n: u64) -> Vec<u8> {
    n.to_le_bytes().to_vec()
}

/// The whole of a packed file is one run of exactly its bytes, whatever the chunks.
#[test]
fn a_full_scan_of_a_packed_file_is_one_run() {
    for chunk_shape in [[1, 1, 1], [2, 3, 4], [5, 1, 7], [9, 9, 9]] {
        for stored in [Stored::Raw, Stored::Whole] {
            let world =
                world(DType::UInt64, &[5, 4, 7], &chunk_shape, stored, Order::Packed, bytes);
            let dataset = &world.mapped.datasets()[0];
            let plan = plan(dataset, &Hyperslab::whole(&world.shape), Coalesce::NONE).unwrap();
            let runs: Vec<_> = plan.runs().collect();
            assert_eq!((runs.len(), plan.run_count), (1, 1));
            assert_eq!((runs[0].span.len(), plan.read_len, plan.stored_len), (1120, 1120, 1120));
            assert_eq!(runs[0].members, 0..plan.chunks().len());
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
        assert!(plan.stored_len <= plan.read_len);
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
