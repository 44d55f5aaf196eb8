//! A container of one dataset and one checksum: which questions compare it, and how often.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tet_codec::Raw;
use tet_format::{DType, Digits, ForeignRule, Grid, Integrity, Reach, Severity};
use tet_io::{Progress, ReadAt, Writers};

use super::*;
use crate::budget::DigestPolicy;
use crate::catalog::{Catalog, ChunkPlace, ChunkTable, Dataset, Decoder};
use crate::error::Error;
use crate::lazy::LazyArray;
use crate::op::Op;
use crate::reduction::Reduction;
use crate::selection::{AxisSlice, Hyperslab};
use crate::testing::small_tuning;

static RULE: ForeignRule = ForeignRule {
    id: "T-1",
    region: "blob",
    text: "the bytes must add up to their sum",
    hint: "fetch the file again",
    severity: Severity::Error,
    reach: Reach::Elements,
    digits: Digits::Decimal,
};

/// Where the 40 elements lie.
const START: u64 = 8;
const COUNT: u64 = 40;

/// The sum of the bytes.
struct Sum {
    wanted: u64,
    digested: Arc<AtomicU64>,
}

struct Adder<'a>(&'a Sum, u64);

impl Seal for Sum {
    fn span(&self) -> Span {
        Span::new(START, COUNT).unwrap()
    }

    fn digester(&self) -> Box<dyn SealDigester + '_> {
        Box::new(Adder(self, 0))
    }
}

impl SealDigester for Adder<'_> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.digested.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.1 += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
    }

    fn fault(self: Box<Self>) -> Option<ForeignFault> {
        let (found, wanted) = (self.1, self.0.wanted);
        (found != wanted).then_some(ForeignFault { rule: &RULE, at: START, found, wanted })
    }
}

/// Four raw chunks of ten, one after the other.
struct Chunks {
    sealed: Sealed,
}

impl ChunkTable for Chunks {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> Result<()> {
        let stored = |at| Span::new(START + at * 10, 10).unwrap();
        out.extend(linear.iter().map(|at| ChunkPlace::new(stored(at), 10)));
        Ok(())
    }

    fn seals(&self) -> Vec<&Sealed> {
        vec![&self.sealed]
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(&Raw)
    }
}

/// Bytes that are read by position, and who may write to them.
struct Positioned(Vec<u8>, Writers);

impl ReadAt for Positioned {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        let start = usize::try_from(offset).unwrap();
        out.copy_from_slice(&self.0[start..][..out.len()]);
        Ok(())
    }

    fn writers(&self) -> Writers {
        self.1
    }
}

/// Outcome of one comparison.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    Right { is_unchecked: bool },
    Wrong,
}

struct World {
    catalog: Catalog,
    digested: Arc<AtomicU64>,
}

impl World {
    fn new(source: Source, wanted: u64) -> World {
        let digested = Arc::new(AtomicU64::new(0));
        let sum = Sum { wanted, digested: Arc::clone(&digested) };
        let grid = Grid::new([COUNT].as_slice().into(), [10].as_slice().into()).unwrap();
        let chunks = Arc::new(Chunks { sealed: Sealed::new(sum) });
        let dataset = Dataset::new(source.clone(), "sealed", DType::UInt8, grid, chunks);
        World { catalog: Catalog::new(source, "test", vec![dataset]), digested }
    }

    /// Mapped and positioned, with a checksum that is `off` the right one.
    fn both(off: u64) -> [World; 2] {
        let wanted = (0..COUNT).sum::<u64>() + off;
        let mapped = World::new(Source::from_bytes(Self::bytes()), wanted);
        [mapped, World::positioned(wanted, Writers::Absent)]
    }

    fn positioned(wanted: u64, writers: Writers) -> World {
        let bytes = Positioned(Self::bytes(), writers);
        World::new(Source::from_reader(Arc::new(bytes)), wanted)
    }

    fn bytes() -> Vec<u8> {
        let mut bytes = vec![0xee; 64];
        for (at, byte) in (0..COUNT).zip(&mut bytes[8..]) {
            *byte = u8::try_from(at).unwrap();
        }
        bytes
    }

    fn how(digests: DigestPolicy) -> Execution {
        Execution { digests, ..small_tuning() }
    }

    /// Adds the elements up, reads them, or reads them through a lazy array in parts: all the same here.
    fn ask(&self, start: u64, stop: u64, step: u64, digests: DigestPolicy) -> Came {
        let dataset = &self.catalog.datasets()[0];
        let slice = AxisSlice { start, stop, step, axis: Default::default() };
        let slab = Hyperslab::new(vec![slice], dataset.shape()).unwrap();
        let how = World::how(digests);
        let sum = dataset.reduce(&slab, &Reduction::along(Op::Sum, [0]), &how);
        let array = dataset.read(&slab, &how);
        let wanted = (start..stop).step_by(usize::try_from(step).unwrap());
        let wanted: Vec<u8> = wanted.map(|at| u8::try_from(at).unwrap()).collect();
        match (sum, array) {
            (Ok(sum), Ok(array)) => {
                assert_eq!(array.bytes(), wanted);
                assert_eq!(array.integrity, sum.integrity);
                Came::Right { is_unchecked: array.integrity == Integrity::Unchecked }
            }
            (Err(sum), Err(array)) => {
                for error in [sum, array] {
                    let Error::Foreign { dataset, fault } = &error else { panic!("{error}") };
                    assert_eq!((dataset.as_str(), fault.rule.id), ("sealed", "T-1"));
                    assert_eq!(error.kind(), tet_io::Kind::Format);
                }
                Came::Wrong
            }
            (sum, array) => panic!("one is refused, the other is not: {sum:?} {array:?}"),
        }
    }

    fn digested(&self) -> u64 {
        self.digested.load(Ordering::Relaxed)
    }
}

const CHECKED: Came = Came::Right { is_unchecked: false };
const UNCHECKED: Came = Came::Right { is_unchecked: true };

#[test]
fn all_of_a_dataset_is_compared_once() {
    for world in World::both(0) {
        assert_eq!(world.ask(3, 9, 1, DigestPolicy::Auto), UNCHECKED);
        assert_eq!(world.ask(0, 40, 2, DigestPolicy::Auto), UNCHECKED, "a part of every chunk");
        assert_eq!(world.digested(), 0, "parts are not worth reading all");
        assert_eq!(world.ask(0, 40, 1, DigestPolicy::Auto), CHECKED);
        assert_eq!(world.digested(), COUNT);
        assert_eq!(world.ask(3, 9, 1, DigestPolicy::Auto), CHECKED, "it is known by now");
        assert_eq!(world.ask(3, 9, 1, DigestPolicy::Always), CHECKED);
        assert_eq!(world.digested(), COUNT, "and not looked at again");
    }
}

#[test]
fn nothing_is_verified_where_somebody_may_write_between_two_reads() {
    for writers in [Writers::Unknown, Writers::Present] {
        let world = World::positioned((0..COUNT).sum(), writers);
        for digests in [DigestPolicy::Auto, DigestPolicy::Always] {
            assert_eq!(world.ask(0, 40, 1, digests), UNCHECKED);
        }
    }
}

#[test]
fn a_part_is_compared_when_that_is_asked_for() {
    for world in World::both(0) {
        assert_eq!(world.ask(3, 9, 1, DigestPolicy::Never), UNCHECKED);
        assert_eq!(world.ask(0, 40, 1, DigestPolicy::Never), UNCHECKED);
        assert_eq!(world.digested(), 0);
        assert_eq!(world.ask(3, 9, 1, DigestPolicy::Always), CHECKED);
        assert_eq!(world.digested(), COUNT);
    }
}

#[test]
fn what_differs_is_refused_before_it_is_used() {
    for world in World::both(1) {
        assert_eq!(world.ask(3, 9, 1, DigestPolicy::Auto), UNCHECKED);
        assert_eq!(world.ask(0, 40, 1, DigestPolicy::Auto), Came::Wrong);
        assert_eq!(world.ask(3, 9, 1, DigestPolicy::Auto), Came::Wrong, "it is known by now");
        assert_eq!(world.ask(3, 9, 1, DigestPolicy::Never), UNCHECKED);
        assert_eq!(world.digested(), COUNT);
    }
    for world in World::both(1) {
        assert_eq!(world.ask(3, 9, 1, DigestPolicy::Always), Came::Wrong);
    }
}

#[test]
fn a_lens_that_is_read_in_parts_is_compared_whole() {
    for (off, is_right) in [(0, true), (1, false)] {
        for world in World::both(off) {
            let dataset = &world.catalog.datasets()[0];
            let lazy = LazyArray::values(dataset, &Hyperslab::whole(&[COUNT])).unwrap();
            let how = World::how(DigestPolicy::Auto);
            assert_eq!(lazy.check_seal(&how).is_ok(), is_right);
            let part = lazy.blocks(10, 10).unwrap().next().unwrap();
            assert_eq!(lazy.read(&part, &how).is_ok(), is_right);
            assert_eq!(lazy.integrity(), Integrity::Verified);
            let slice = AxisSlice { start: 0, stop: 9, step: 1, axis: Default::default() };
            let part = Hyperslab::new(vec![slice], &[COUNT]).unwrap();
            let lazy = LazyArray::values(dataset, &part).unwrap();
            assert_eq!(lazy.check_seal(&World::how(DigestPolicy::Auto)).is_ok(), is_right);
            assert_eq!(world.digested(), COUNT);
        }
    }
}

#[test]
fn who_stops_leaves_nothing_behind() {
    for world in World::both(0) {
        let dataset = &world.catalog.datasets()[0];
        let mut how = World::how(DigestPolicy::Always);
        how.progress = Progress::default().with_cancel(Arc::new(AtomicBool::new(true)));
        let slab = Hyperslab::whole(&[COUNT]);
        let canceled = dataset.read(&slab, &how);
        assert!(matches!(canceled, Err(Error::Canceled)), "{canceled:?}");
        assert_eq!(dataset.chunks.seals()[0].known(), None);
        assert_eq!(world.ask(0, 40, 1, DigestPolicy::Auto), CHECKED);
    }
}
