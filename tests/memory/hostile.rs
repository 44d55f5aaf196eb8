//! The zoo: small files with large claims, each with its fate, in bounded memory.

mod hdf5;
mod tgm;
mod zarr;

use std::sync::Arc;

use tet_format::Limits;
use tet_io::{ReadAt, Source};
use tet_query::{Catalog, Coalesce, Execution, Hyperslab};
use tet_tests::ask;
use tet_tests::meter::Meter;
use tet_tests::zoo::{Animal, Fate, animals};

use crate::ALLOCATOR;

/// Opening may hold this and four times the file.
const OPEN_MAX: usize = 8 << 20;
/// Reading may hold its budget beside that.
const BUDGET: u64 = 8 << 20;

#[test]
fn every_animal_meets_its_fate() {
    let _alone = ALLOCATOR.alone();
    let mut wrong = Vec::new();
    for animal in animals() {
        let found = fate(&animal);
        if found != Ok(animal.fate) {
            wrong.push(format!("{}: {found:?}, not {:?}", animal.name, animal.fate));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn fate(animal: &Animal) -> Result<Fate, String> {
    let bytes = &animal.bytes;
    let (opened, held) = ALLOCATOR.peak_of(|| ask::open_bytes(bytes));
    let open_max = OPEN_MAX + 4 * bytes.len();
    assert!(held <= open_max, "{}: opening took {held} bytes", animal.name);
    let rule = |error: &tet_query::Error| {
        ask::broken(error).map(|(rule, _)| rule).ok_or_else(|| format!("{error:?}"))
    };
    let catalog = match opened {
        Ok(catalog) => catalog,
        Err(error) => return Ok(Fate::Closed(rule(&error)?)),
    };
    let (read, held) = ALLOCATOR.peak_of(|| first(&catalog));
    let read_max = open_max + usize::try_from(BUDGET).unwrap();
    assert!(held <= read_max, "{}: reading took {held} bytes", animal.name);
    match read {
        Ok(()) => Ok(Fate::Harmless),
        Err(error) => Ok(Fate::Unreadable(rule(&error)?)),
    }
}

fn first(catalog: &Catalog) -> Result<(), tet_query::Error> {
    let how = Execution { threads: 1, memory_budget: BUDGET, ..Execution::default() };
    let Some(dataset) = catalog.datasets().first() else { return Ok(()) };
    if let Some(error) = dataset.why() {
        // A dataset that says why it cannot be read cannot be read.
        assert!(dataset.read(&Hyperslab::whole(dataset.shape()), &how).is_err());
        return match ask::broken(error) {
            Some(_) => dataset.read(&Hyperslab::whole(dataset.shape()), &how).map(drop),
            None => panic!("{error:?} is no broken rule"),
        };
    }
    dataset.read(&Hyperslab::whole(dataset.shape()), &how).map(drop)
}

/// H9: a file that is mostly hole, larger than memory, read in part.
#[derive(Debug)]
struct Sparse {
    head: Vec<u8>,
    len: u64,
}

impl ReadAt for Sparse {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        out.fill(0);
        for (at, byte) in (offset..).zip(out) {
            let given = usize::try_from(at).ok().and_then(|at| self.head.get(at));
            *byte = given.copied().unwrap_or(0);
        }
        Ok(())
    }
}

#[test]
fn h9_a_chunk_of_a_tebibyte_costs_what_is_asked_of_it() {
    let _alone = ALLOCATOR.alone();
    use tet_tests::assemble::{Dataset, Sheet, put};
    let one = Sheet::new(&[Dataset::new("hole", 5, 1, &[8])]).assemble();
    let count = 1_u64 << 40;
    let record = one.marks.records[0] + 24;
    let row = one.marks.rows[0];
    let bytes = put(&one.bytes, record, &[count, count].map(u64::to_le_bytes).concat());
    let head = put(&bytes, row + 80, &[count, count].map(u64::to_le_bytes).concat());
    let len = one.marks.payloads[0].0 + count;
    let meter = Arc::new(Meter::new(Sparse { head, len }));
    let source = Source::from_reader(meter.clone());
    let ((), held) = ALLOCATOR.peak_of(|| {
        let catalog = ask::open(source, Limits::default()).unwrap();
        let dataset = &catalog.datasets()[0];
        let how = Execution { threads: 1, memory_budget: BUDGET, ..Execution::default() };
        let whole = dataset.read(&Hyperslab::whole(dataset.shape()), &how);
        assert_eq!(whole.unwrap_err().kind(), tet_query::Kind::Limit);
        let slice = tet_query::AxisSlice {
            start: count / 2,
            stop: count / 2 + 5,
            ..tet_query::AxisSlice::whole(count)
        };
        let slab = Hyperslab::new(vec![slice], dataset.shape()).unwrap();
        let how = Execution { coalesce: Coalesce::NONE, ..how };
        assert_eq!(dataset.read(&slab, &how).unwrap().bytes(), [0; 5]);
    });
    assert!(held <= OPEN_MAX, "{held} bytes were held");
    assert!(meter.read_len() <= 64 << 10, "{} bytes were read", meter.read_len());
}
