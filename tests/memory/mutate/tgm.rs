//! Mutations of Tensogram files: twenty thousand, a file of each kind in turn.
//!
//! Law of these tests: an object whose slot holds the hash that it held before gives the elements that
//! it gave before, or an error, or else `verify` names it.

use std::collections::HashMap;
use std::sync::Arc;

use tet_convert::OpenOptions;
use tet_format::Severity;
use tet_io::Source;
use tet_query::{Hyperslab, Op, Reduction};
use tet_tensogram::{
    Descriptor, Level, Limits, ObjectAt, Region, Report, TensogramFile, VerifyOptions, verify,
};
use tet_tests::ask;
use tet_tests::meter::{Bytes, Meter};
use tet_tests::tgm::{is_of_hash, kinds};
use tet_tests::values::Seeded;

use super::mutated;
use crate::ALLOCATOR;

const MUTATIONS: u64 = 20_000;
/// No object of more bytes is read: a few bytes of a payload may stand for it.
const LEN_MAX: u64 = 1 << 20;
/// Most memory of opening, reading and verifying, for each byte of the file.
const HELD_FACTOR: usize = 128;
/// And beside that: the elements of one object, those before two stages, masks, and a table.
const HELD_MAX: usize = 6 * (1 << 20);
/// Frames are walked by several, and again from each magic.
const READ_FACTOR_MAX: u64 = 200;

/// A sound file, and the elements of its objects by their hashes.
struct Fixture {
    name: &'static str,
    bytes: Vec<u8>,
    values: HashMap<u64, Vec<u8>>,
}

fn limits() -> Limits {
    Limits::default().with_inflated_len_max(LEN_MAX)
}

fn fixtures() -> Vec<Fixture> {
    let fixture = |(name, bytes): (&'static str, Vec<u8>)| {
        let source = Source::from_bytes(bytes.clone());
        let report = verified(&source);
        assert!(report.is_ok(), "{name}: {:?}", report.findings);
        let file = TensogramFile::open(source, &limits()).unwrap();
        let mut values = HashMap::new();
        for object in objects(&file) {
            let elements = read(&file, &object).unwrap().unwrap();
            values.extend(object.hash.map(|hash| (hash, elements)));
        }
        Fixture { name, bytes, values }
    };
    kinds().into_iter().map(fixture).collect()
}

fn verified(source: &Source) -> Report {
    let options = VerifyOptions {
        level: Level::Checksums,
        limits: limits(),
        threads: 1,
        findings_max: usize::MAX,
        ..VerifyOptions::default()
    };
    verify(source, &options).unwrap()
}

fn objects(file: &TensogramFile) -> Vec<ObjectAt> {
    (0..file.len()).flat_map(|number| file.objects(number).unwrap()).collect()
}

/// The elements of an object that is not too long.
fn read(file: &TensogramFile, object: &ObjectAt) -> Option<tet_tensogram::Result<Vec<u8>>> {
    let plan = || {
        let bytes = file.read_descriptor(object)?;
        let descriptor = Descriptor::read(&bytes, object.descriptor.start(), &limits())?;
        Region::new(&descriptor, object.region.start(), object.region.len(), &limits())
    };
    let plan = match plan() {
        Ok(plan) => plan,
        Err(error) => return Some(Err(error)),
    };
    if LEN_MAX < plan.decoded_len() {
        return None;
    }
    let mut out = vec![0; usize::try_from(plan.decoded_len()).unwrap()];
    let region = file.source().read_vec(object.region.start(), object.region.len()).unwrap();
    Some(plan.decode(&region, &mut out).map(|()| out))
}

/// Counts of outcomes of the mutations.
#[derive(Debug, Default)]
struct Tally {
    opened: u64,
    sound: u64,
    /// Objects that are as they were.
    kept: u64,
    /// Objects whose elements are others, and that verify names.
    noticed: u64,
}

#[test]
fn tensogram_mutations_never_panic_hang_take_much_or_lie() {
    let _alone = ALLOCATOR.alone();
    let fixtures = fixtures();
    let mut tally = Tally::default();
    for seed in 0..MUTATIONS {
        let mut seeded = Seeded(seed ^ 0x5447_4d21 << 32);
        let fixture = &fixtures[seeded.index(fixtures.len())];
        let bytes = mutated(&fixture.bytes, &mut seeded);
        let place = format!("seed {seed} of {:?}", fixture.name);
        let meter = Arc::new(Meter::new(Bytes(bytes.clone())));
        let source = Source::from_reader(meter.clone());
        let ((), held) = ALLOCATOR.peak_of(|| look(fixture, &source, &place, &mut tally));
        let held_max = HELD_FACTOR * bytes.len() + HELD_MAX;
        assert!(held <= held_max, "{place}: {held} bytes held");
        let read_max = READ_FACTOR_MAX * (bytes.len() as u64 + 4096);
        assert!(meter.read_len() <= read_max, "{place}: {} bytes read", meter.read_len());
    }
    println!("{tally:?} of {MUTATIONS}");
    assert!(tally.opened > MUTATIONS / 4 && tally.opened < MUTATIONS, "{tally:?}");
    assert!(tally.sound > MUTATIONS / 100, "{tally:?}");
    assert!(tally.kept > MUTATIONS / 2 && tally.noticed > MUTATIONS / 50, "{tally:?}");
}

/// Opens, reads, asks and verifies.
fn look(fixture: &Fixture, source: &Source, place: &str, tally: &mut Tally) {
    let report = verified(source);
    tally.sound += u64::from(report.is_ok());
    let Ok(file) = TensogramFile::open(source.clone(), &limits()) else {
        assert!(!report.is_ok(), "{place}: called sound");
        return;
    };
    tally.opened += 1;
    for object in objects(&file) {
        let found = read(&file, &object).and_then(Result::ok);
        let Some(found) = found else { continue };
        let Some(was) = object.hash.and_then(|hash| fixture.values.get(&hash)) else { continue };
        let is_named = report.findings.iter().any(|it| {
            let is_here =
                it.place.message == Some(object.message) && it.place.object == Some(object.number);
            is_here && it.severity == Severity::Error
        });
        assert!(found == *was || is_named, "{place}: {object:?} has other elements");
        let count = if found == *was { &mut tally.kept } else { &mut tally.noticed };
        *count += 1;
    }
    for number in 0..file.len() {
        let said = file.metadata(number);
        assert!(said.is_ok() || !report.is_ok(), "{place}: {said:?}");
    }
    query(&file, source, place);
}

/// Queries the file by a catalog.
fn query(file: &TensogramFile, source: &Source, place: &str) {
    // Without a magic at its start a file is of no known format.
    let Ok(opened) = tet_convert::open_source(source.clone(), &OpenOptions::default()) else {
        return;
    };
    let (objects, catalog) = (objects(file), opened.catalog);
    for (object, dataset) in objects.iter().zip(catalog.datasets()) {
        assert!(!format!("{dataset:?} {:?}", dataset.why()).is_empty());
        let Some(wanted) = read(file, object) else { continue };
        match (&wanted, ask::read_all(dataset)) {
            (Ok(wanted), Ok(found)) => {
                assert!(*wanted == found, "{place}: {object:?} is read in two ways");
                let slab = Hyperslab::whole(dataset.shape());
                drop(dataset.reduce(&slab, &Reduction::all(Op::Sum), &ask::small()));
            }
            (Ok(wanted), Err(error)) => {
                // The catalog takes no more than 64 axes, and compares hashes.
                let is_limit = error.kind() == tet_query::Kind::Limit;
                assert!(
                    is_limit || is_of_hash(&error) || wanted.is_empty(),
                    "{place}: {object:?}: {error}"
                );
            }
            (Err(_), Ok(found)) => assert!(found.is_empty(), "{place}: {object:?} is read"),
            (Err(_), Err(_)) => {}
        }
    }
}
