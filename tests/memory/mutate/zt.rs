//! Mutations of zTensor files: twenty thousand, a file of each kind in turn.
//!
//! The index of a zTensor file has no checksum, so a change of it may say something else that holds.
//! Law of these tests: an entry that is as it was, with a checksum, gives its elements or an error,
//! and `verify` names it when its bytes are others.

use std::sync::Arc;

use tet_convert::{OpenOptions, RepairOptions};
use tet_io::{Kind, Source};
use tet_tests::ask;
use tet_tests::meter::{Bytes, Meter};
use tet_tests::values::Seeded;
use tet_tests::zt::{assemble, kinds};
use tet_ztensor::{
    Check, Checksum, Level, Limits, Report, Severity, Tensor, VerifyOptions, ZTensorFile,
};

use super::mutated;
use crate::ALLOCATOR;

const MUTATIONS: u64 = 20_000;
/// Of every so many a repair is planned.
const PLANNED_STEP: u64 = 16;
/// No tensor of more bytes is read: a few bytes of a frame may stand for it.
const LEN_MAX: u64 = 1 << 20;
/// Most memory of opening, reading and verifying, for each byte of the file.
const HELD_FACTOR: usize = 64;
/// And beside that: the elements of one tensor, twice where a blob is decoded before it is sparse,
/// and a window of a frame.
const HELD_MAX: usize = 4 * (1 << 20);
/// A tensor is read whole, in part and for its checksum, by `verify` too.
const READ_FACTOR_MAX: u64 = 400;

/// A sound file and what is in it.
struct Fixture {
    name: &'static str,
    bytes: Vec<u8>,
    /// Entry, and elements.
    tensors: Vec<(Vec<u8>, Vec<u8>)>,
}

fn fixtures() -> Vec<Fixture> {
    let fixture = |(name, tensors): (&'static str, Vec<_>)| {
        let (bytes, _) = assemble(&tensors);
        let tensors = values(&open(Source::from_bytes(bytes.clone())).unwrap());
        Fixture { name, bytes, tensors }
    };
    kinds().into_iter().map(fixture).collect()
}

fn limits() -> Limits {
    Limits { sparse_len_max: LEN_MAX, ..Limits::default() }
}

fn open(source: Source) -> tet_ztensor::Result<ZTensorFile> {
    ZTensorFile::open(source, &limits())
}

fn verified(source: &Source) -> Report {
    let options = VerifyOptions {
        level: Level::Deep,
        limits: limits(),
        threads: 1,
        findings_max: usize::MAX,
        ..VerifyOptions::default()
    };
    tet_ztensor::verify(source, &options).unwrap()
}

/// Entries of tensors that can be read, and their elements.
fn values(file: &ZTensorFile) -> Vec<(Vec<u8>, Vec<u8>)> {
    let value = |tensor: Tensor<'_>| {
        let elements = read(file, tensor, Check::Always)?.ok()?;
        Some((tensor.entry_bytes().to_vec(), elements))
    };
    file.tensors().filter_map(value).collect()
}

/// The elements of a tensor that is not too long.
fn read(
    file: &ZTensorFile,
    tensor: Tensor<'_>,
    check: Check,
) -> Option<tet_ztensor::Result<Vec<u8>>> {
    let is_long = tensor.decoded_len().is_some_and(|len| LEN_MAX < len);
    (!is_long).then(|| file.read(tensor, check))
}

/// Counts of outcomes of the mutations.
#[derive(Debug, Default)]
struct Tally {
    opened: u64,
    sound: u64,
    /// Tensors whose elements are others, and that verify names.
    noticed: u64,
    repaired: u64,
}

#[test]
fn ztensor_mutations_never_panic_hang_take_much_or_lie() {
    let _alone = ALLOCATOR.alone();
    let fixtures = fixtures();
    let mut tally = Tally::default();
    for seed in 0..MUTATIONS {
        let mut seeded = Seeded(seed ^ 0x5a54_454e << 32);
        let fixture = &fixtures[seeded.index(fixtures.len())];
        let bytes = mutated(&fixture.bytes, &mut seeded);
        let place = format!("seed {seed} of {:?}", fixture.name);
        let meter = Arc::new(Meter::new(Bytes(bytes.clone())));
        let source = Source::from_reader(meter.clone());
        let ((), held) = ALLOCATOR.peak_of(|| ask(fixture, &source, &place, &mut tally));
        let held_max = HELD_FACTOR * bytes.len() + HELD_MAX;
        assert!(held <= held_max, "{place}: {held} bytes held");
        let read_max = READ_FACTOR_MAX * (bytes.len() as u64 + 4096);
        assert!(meter.read_len() <= read_max, "{place}: {} bytes read", meter.read_len());
        if seed % PLANNED_STEP == 0 {
            tally.repaired += u64::from(repaired(bytes, &place));
        }
    }
    println!("{tally:?} of {MUTATIONS}");
    assert!(tally.opened > MUTATIONS / 4 && tally.opened < MUTATIONS, "{tally:?}");
    assert!(tally.sound > MUTATIONS / 20, "{tally:?}");
    assert!(tally.noticed > MUTATIONS / 20, "{tally:?}");
    assert!(tally.repaired != 0, "{tally:?}");
}

/// Opens, reads and verifies.
fn ask(fixture: &Fixture, source: &Source, place: &str, tally: &mut Tally) {
    let report = verified(source);
    tally.sound += u64::from(report.is_ok());
    let Ok(file) = open(source.clone()) else {
        assert!(!report.is_ok(), "{place}: called sound");
        return;
    };
    tally.opened += 1;
    let opened = tet_convert::open_source(source.clone(), &OpenOptions::default());
    let catalog = opened.unwrap_or_else(|error| panic!("{place}: {error}")).catalog;
    for (tensor, dataset) in file.tensors().zip(catalog.datasets()) {
        let at = tensor.position();
        let is_named = report
            .findings
            .iter()
            .any(|it| it.severity == Severity::Error && it.place.dataset == Some(at as u64));
        let Some(checked) = read(&file, tensor, Check::Always) else { continue };
        assert!(is_named || checked.is_ok(), "{place}: tensor {at} is called sound");
        let is_as_stored = dataset.dtype == tensor.dtype() && dataset.shape() == tensor.shape();
        let by_catalog = ask::read_all(dataset);
        if let (Ok(checked), Ok(found), true) = (&checked, by_catalog, is_as_stored) {
            assert!(*checked == found, "{place}: tensor {at} is read in two ways");
        }
        let entry = tensor.entry_bytes();
        let was = fixture.tensors.iter().find(|(was, _)| was == entry);
        let Some((_, was)) = was.filter(|_| tensor.checksum().is_some_and(Checksum::is_known))
        else {
            continue;
        };
        assert!(checked.is_err() || checked.is_ok_and(|it| it == *was), "{place}: tensor {at}");
        let unchecked = read(&file, tensor, Check::Never).and_then(Result::ok);
        if unchecked.is_some_and(|unchecked| unchecked != *was) {
            assert!(is_named, "{place}: tensor {at} has other elements");
            tally.noticed += 1;
        }
    }
}

/// Plans a repair, which costs no tensor; whether there is something to put back.
fn repaired(bytes: Vec<u8>, place: &str) -> bool {
    let source = Source::from_bytes(bytes);
    let plan = match tet_convert::plan_repair(&source, &RepairOptions::default()) {
        Err(error) if matches!(error.kind(), Kind::Limit | Kind::Usage) => return false,
        plan => plan.unwrap_or_else(|error| panic!("{place}: {error}")).plan,
    };
    if plan.edits.is_empty() {
        return false;
    }
    let before = values(&open(source).unwrap());
    let after = values(&open(plan.repaired()).unwrap());
    assert!(before.iter().all(|tensor| after.contains(tensor)), "{place}: a tensor is lost");
    assert!(before.len() < after.len(), "{place}: nothing is gained");
    true
}
