//! Tensogram files: any bytes, CBOR in the frames of a sound message, and objects of known kinds with
//! other fields or payloads.

mod made;

use std::ops::Range;

use tet_convert::OpenOptions;
use tet_io::Source;
use tet_tensogram::{
    Descriptor, Level, Limits, Metadata, ObjectAt, Region, Report, TensogramFile, Tensor,
    VerifyOptions, WriteOptions, encode_message, verify,
};

use super::feed::Feed;
use crate::ask;
use crate::tgm::{self, Frame, Hashes, Message, Object};

pub(super) use made::{metadata_seeds, pipeline_seeds};

/// Objects of more bytes are not read: a few bytes of a file may stand for them.
const LEN_MAX: u64 = 1 << 20;

/// Limits of a small machine.
fn limits() -> Limits {
    Limits::default().with_inflated_len_max(LEN_MAX)
}

fn verified(bytes: &[u8]) -> Report {
    let options = VerifyOptions {
        limits: limits(),
        threads: 1,
        findings_max: usize::MAX,
        level: Level::Checksums,
        ..VerifyOptions::default()
    };
    let report = verify(&Source::from_bytes(bytes), &options).unwrap();
    assert!(report.findings.iter().all(|it| !it.to_string().is_empty()));
    report
}

/// Opens and verifies a file; an index leads where a walk leads.
pub fn tgm_scan(bytes: &[u8]) {
    let report = verified(bytes);
    let source = Source::from_bytes(bytes);
    let Ok(file) = TensogramFile::open(source.clone(), &limits()) else {
        assert!(!report.is_ok(), "called sound");
        return;
    };
    for number in 0..file.len() {
        let span = file.span(number).unwrap();
        let fresh = TensogramFile::open(source.clone(), &limits()).unwrap();
        let walked = file.objects(number).unwrap();
        for object in &walked {
            let found = fresh.object(number, object.number).unwrap();
            assert!(span.contains(found.frame.body()), "{found:?}");
            let is_same = found.frame == object.frame;
            assert!(is_same || !report.is_ok(), "an index that lies is told");
        }
        assert!(fresh.object(number, usize::MAX).is_err());
    }
}

/// Reads all objects of a file, or of one made of these bytes, in every way.
pub fn tgm_decode(bytes: &[u8]) {
    match bytes {
        [b'T', ..] => whole(bytes),
        bytes => whole(&made::file(&mut Feed(bytes))),
    }
}

fn whole(bytes: &[u8]) {
    let source = Source::from_bytes(bytes);
    let Ok(file) = TensogramFile::open(source.clone(), &limits()) else { return };
    let opened = tet_convert::open_source(source, &OpenOptions::default());
    let catalog = opened.ok().map(|opened| opened.catalog);
    let objects = (0..file.len()).flat_map(|number| file.objects(number).unwrap());
    for (at, object) in objects.enumerate() {
        let Some(found) = read(&file, &object) else { continue };
        let dataset = catalog.as_ref().and_then(|catalog| catalog.datasets().get(at));
        let Some(dataset) = dataset else { continue };
        match (found, ask::read_all(dataset)) {
            (Ok(one), Ok(two)) => assert!(one == two, "object {at} is read in two ways"),
            (Err(error), Ok(two)) => assert!(two.is_empty(), "object {at}: {error}"),
            (Ok(one), Err(error)) => {
                let is_limit = error.kind() == tet_query::Kind::Limit;
                assert!(
                    is_limit || tgm::is_of_hash(&error) || one.is_empty(),
                    "object {at}: {error}"
                );
            }
            (Err(_), Err(_)) => {}
        }
    }
}

/// The elements of an object that is not too long.
fn read(file: &TensogramFile, object: &ObjectAt) -> Option<tet_tensogram::Result<Vec<u8>>> {
    let plan = || {
        let bytes = file.read_descriptor(object)?;
        let descriptor = Descriptor::read(&bytes, object.descriptor.start(), &limits())?;
        // An encoded descriptor can be decoded.
        if let Ok(encoded) = descriptor.encode() {
            let again = Descriptor::read(&encoded, 0, &limits()).unwrap();
            assert_eq!(again.shape(), descriptor.shape());
            assert_eq!(again.encode().unwrap(), encoded);
        }
        Region::new(&descriptor, object.region.start(), object.region.len(), &limits())
    };
    let plan = match plan() {
        Ok(plan) if LEN_MAX < plan.decoded_len() => return None,
        Err(error) if error.kind() == tet_io::Kind::Limit => return None,
        Ok(plan) => plan,
        Err(error) => return Some(Err(error)),
    };
    let region = file.source().read_vec(object.region.start(), object.region.len()).unwrap();
    Some(decoded(plan, &region))
}

/// The elements of a region, whole; in part they are the same.
fn decoded(plan: Region, region: &[u8]) -> tet_tensogram::Result<Vec<u8>> {
    let mut out = vec![0; usize::try_from(plan.decoded_len()).unwrap()];
    let done = plan.decode(region, &mut out);
    let Some(size) = plan.dtype().size() else { return done.map(|()| out) };
    let at = |range: Range<u64>| {
        usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()
    };
    let plan = if plan.has_masks() {
        match plan.read_masks(&region[at(plan.masks())]) {
            Ok(masks) => plan.with_masks(masks),
            Err(error) => {
                assert!(done.is_err(), "{error}");
                return Err(error);
            }
        }
    } else {
        plan
    };
    let count = plan.element_count();
    for elements in [0..count, count / 3..count - count / 4, count..count] {
        let place = plan.payload_range(&elements).unwrap().unwrap_or(plan.payload());
        let mut part = vec![0xa5; usize::try_from((elements.end - elements.start) * size).unwrap()];
        let found = plan.decode_range(&region[at(place)], &elements, &mut part);
        if done.is_ok() {
            found.unwrap();
            let wanted = &out[at(elements.start * size..elements.end * size)];
            assert!(part == wanted, "{elements:?} is read otherwise");
        }
    }
    done.map(|()| out)
}

/// Reads these bytes as the CBOR of every kind of frame; what is said is written and said again.
pub fn tgm_metadata(bytes: &[u8]) {
    let object = || Object::new("uint8", &[2], vec![1, 2]);
    for kind in [1, 2, 3, 5, 6, 7, 8] {
        let mut message = Message::stream(&[object()], Hashes::Frames);
        // The preceder is the second frame, and before the tensor stands what does not end a message.
        let at = match kind {
            1..4 => 0,
            8 => 1,
            _ => 3,
        };
        message.frames[at] = Frame::cbor(kind, bytes.to_vec());
        let file = message.bytes();
        tgm_scan(&file);
        let file = TensogramFile::open(Source::from_bytes(file), &limits()).unwrap();
        let Ok(said) = file.metadata(0) else { continue };
        written(&said);
    }
}

/// Metadata that can be written are read as they were.
fn written(said: &Metadata) {
    let cbor = vec![0xa0];
    let tensors = said.base.iter().map(|_| Tensor { descriptor: &cbor, region: [][..].into() });
    let Ok(bytes) = encode_message(said, tensors.collect(), &WriteOptions::default()) else {
        return;
    };
    let file = TensogramFile::open(Source::from_bytes(bytes), &limits()).unwrap();
    let again = file.metadata(0).unwrap();
    // Keys are put in order, and NaN is like nothing.
    assert_eq!(again.base.len(), said.base.len());
    assert_eq!(again.extra.len(), said.extra.len());
    let once = encode_message(&again, Vec::new(), &WriteOptions::default());
    assert!(once.is_ok() || !again.base.is_empty());
}

/// Decodes these bytes as the payload of an object: the first says which, and what is changed of it.
pub fn tgm_pipeline(bytes: &[u8]) {
    let Some((object, payload_at)) = made::object(bytes) else { return };
    let region: Vec<u8> = {
        let masks = object.masks.iter().map(|(_, _, blob)| &blob[..]);
        [bytes[payload_at..].to_vec(), masks.collect::<Vec<_>>().concat()].concat()
    };
    let object = Object { payload: bytes[payload_at..].to_vec(), ..object };
    let descriptor = Descriptor::read(&object.descriptor(), 0, &limits()).unwrap();
    let Ok(plan) = Region::new(&descriptor, 0, region.len() as u64, &limits()) else { return };
    if plan.decoded_len() <= LEN_MAX {
        drop(plan.check_offsets(&region[..object.payload.len()]));
        drop(decoded(plan, &region));
    }
}
