//! Hostile Tensogram files, and streams that are cut.

use std::sync::Arc;

use tet_convert::OpenOptions;
use tet_format::Severity;
use tet_io::Source;
use tet_tensogram::{
    Descriptor, Error, Level, Limits, ObjectAt, Region, TensogramFile, VerifyOptions, verify,
};
use tet_tests::ask;
use tet_tests::meter::{Bytes, Meter};
use tet_tests::tgm::{Animal, Fate, Hashes, Message, animals, objects};

use crate::ALLOCATOR;

/// Whatever is done with a small file holds no more, beside what its CBOR comes to.
const HELD_MAX: usize = 8 << 20;
const HELD_FACTOR: usize = 64;
/// A file is read so many times at most, all in all.
const READ_FACTOR_MAX: u64 = 64;

#[test]
fn every_tensogram_animal_meets_its_fate() {
    let _alone = ALLOCATOR.alone();
    let mut wrong = Vec::new();
    for animal in animals() {
        let meter = Arc::new(Meter::new(Bytes(animal.bytes.clone())));
        let source = Source::from_reader(meter.clone());
        let (found, held) = ALLOCATOR.peak_of(|| fate(&source, &animal));
        if let Err(found) = found {
            wrong.push(format!("{}: {found}, not {:?}", animal.name, animal.fate));
        }
        let held_max = HELD_MAX + HELD_FACTOR * animal.bytes.len();
        assert!(held <= held_max, "{}: {held} bytes were held", animal.name);
        let read_max = READ_FACTOR_MAX * (animal.bytes.len() as u64 + 4096);
        assert!(meter.read_len() <= read_max, "{}: {} bytes", animal.name, meter.read_len());
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn id(error: &Error) -> String {
    error.fault().map_or_else(|| error.to_string(), |fault| fault.rule.id.to_owned())
}

/// Bytes are compared with their hashes.
fn checksums() -> VerifyOptions {
    VerifyOptions { level: Level::Checksums, ..VerifyOptions::default() }
}

/// Whether all readers agree with what is said of the animal.
fn fate(source: &Source, animal: &Animal) -> Result<(), String> {
    let report = verify(source, &checksums()).unwrap();
    let ids: Vec<&str> = report.findings.iter().map(|it| it.code.id()).collect();
    let catalog = tet_convert::open_source(source.clone(), &OpenOptions::default());
    let file = match (TensogramFile::open(source.clone(), &Limits::default()), animal.fate) {
        (Ok(file), _) => file,
        (Err(error), Fate::Closed(rule)) if id(&error) == rule => {
            return match (catalog.is_err(), ids.contains(&rule)) {
                (true, true) => Ok(()),
                (is_closed, _) => Err(format!("closed {is_closed}, and {ids:?}")),
            };
        }
        (Err(error), _) => return Err(id(&error)),
    };
    let catalog = catalog.map_err(|error| error.to_string())?.catalog;
    let by_catalog = ask::read_all(&catalog.datasets()[0]);
    let object = file.object(0, 0).map_err(|error| id(&error))?;
    match (read(&file, &object), animal.fate, by_catalog) {
        (Err(error), Fate::Unreadable(rule), Err(_)) if id(&error) == rule => Ok(()),
        (Ok(one), Fate::Named(rule), Ok(two)) if one == two && ids.contains(&rule) => {
            let is_note = rule.starts_with("TGM-N");
            (report.is_ok() == is_note).then_some(()).ok_or(format!("{ids:?}"))
        }
        (Ok(one), Fate::Harmless, Ok(two)) if one == two && ids.is_empty() => Ok(()),
        (found, _, by_catalog) => {
            let found = found.map(|_| ()).map_err(|error| id(&error));
            let by_catalog = by_catalog.map(|_| ()).map_err(|error| error.to_string());
            Err(format!("{found:?} {by_catalog:?} {ids:?}"))
        }
    }
}

fn read(file: &TensogramFile, object: &ObjectAt) -> tet_tensogram::Result<Vec<u8>> {
    let bytes = file.read_descriptor(object)?;
    let limits = Limits::default();
    let descriptor = Descriptor::read(&bytes, object.descriptor.start(), &limits)?;
    let plan = Region::new(&descriptor, object.region.start(), object.region.len(), &limits)?;
    let mut out = vec![0; usize::try_from(plan.decoded_len()).unwrap()];
    let region = file.source().read_vec(object.region.start(), object.region.len())?;
    plan.decode(&region, &mut out)?;
    Ok(out)
}

/// A stream that is cut, at a frame or elsewhere, is no shorter stream, and what is behind it stands.
#[test]
fn every_cut_of_a_stream_is_told() {
    let _alone = ALLOCATOR.alone();
    let few: Vec<_> = objects().into_iter().take(3).map(|(_, object)| object).collect();
    let stream = Message::stream(&few, Hashes::Frames);
    let (bytes, next) = (stream.bytes(), Message::whole(&few, Hashes::Frames).bytes());
    let options = checksums();
    for at in 1..bytes.len() {
        let cut = Source::from_bytes(&bytes[..at]);
        assert!(!verify(&cut, &options).unwrap().is_ok(), "{at}");
        assert!(TensogramFile::open(cut, &Limits::default()).is_err(), "{at}");
        let both = Source::from_bytes([&bytes[..at], &next].concat());
        let report = verify(&both, &options).unwrap();
        assert!(report.findings.iter().any(|it| it.severity == Severity::Error), "{at}");
        let file = TensogramFile::open(both, &Limits::default()).unwrap();
        assert_eq!((file.len(), file.objects(0).unwrap().len()), (1, 3), "{at}");
    }
    for at in stream.offsets() {
        let cut = Source::from_bytes(&bytes[..usize::try_from(at).unwrap()]);
        let error = TensogramFile::open(cut, &Limits::default()).unwrap_err();
        assert_eq!(id(&error), "TGM-F9", "{at}");
    }
}
