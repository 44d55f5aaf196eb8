//! What is done with any bytes: a function for each fuzz target. A panic is a finding.
//!
//! `tests/fuzz.rs` gives them every file that is known here.

use tet_format::Limits;
use tet_io::Source;
use tet_query::document::Query;
use tet_query::{DigestPolicy, Error, Execution, Hyperslab, Op, Reduction};
use tet_verify::{Level, VerifyOptions};

use crate::ask;
use crate::assemble::{Dataset, Sheet, Stored, put};

/// A fuzz target: its name, and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 7] = [
    ("open", open),
    ("footer", footer),
    ("decode", decode),
    ("verify", verify),
    ("query_doc", query_doc),
    ("model", model),
    ("roundtrip", roundtrip),
];

/// Opens a file, and lists what is in it.
pub fn open(bytes: &[u8]) {
    let Ok(catalog) = ask::open_bytes(bytes) else { return };
    for dataset in catalog.datasets() {
        assert!(!format!("{dataset:?} {:?}", dataset.why()).is_empty());
        // The first and the last chunk, if there are any.
        let last = dataset.grid.chunk_count().saturating_sub(1);
        for linear in [0, last].into_iter().filter(|_| dataset.grid.chunk_count() > 0) {
            let mut places = Vec::new();
            drop(dataset.chunks.locate(&[linear], &mut places));
        }
    }
}

/// Opens a sound file with these bytes as its footer JSON.
pub fn footer(bytes: &[u8]) {
    let file = Sheet::of(&[Dataset::new("a", 2, 8, &[4, 3])]).footer("{}").assemble();
    let mut damaged = file.bytes[..usize::try_from(file.marks.json).unwrap()].to_vec();
    damaged.extend(bytes);
    damaged.extend((bytes.len() as u64).to_le_bytes());
    damaged.extend([1, 0, 0, 0]);
    damaged.extend(b"THST");
    open(&damaged);
}

/// Decodes these bytes as the payload of a chunk of as many elements as the first two bytes say.
pub fn decode(bytes: &[u8]) {
    let Some((count, frame @ [_, ..])) = bytes.split_first_chunk::<2>() else { return };
    let count = u64::from(u16::from_le_bytes(*count)) + 1;
    let stored = Dataset::new("z", 5, 1, &[frame.len() as u64]).stored(Stored::Other(1));
    let file = Sheet::of(&[stored.elements(frame.to_vec())]).assemble();
    let extents = [count, count].map(u64::to_le_bytes).concat();
    let bytes = put(&file.bytes, file.marks.records[0] + 24, &extents);
    let bytes = put(&bytes, file.marks.rows[0] + 80, &count.to_le_bytes());
    if let Ok(catalog) = ask::open_bytes(&bytes)
        && let Ok(values) = ask::read_all(&catalog, &catalog.datasets()[0])
    {
        assert_eq!(values.len() as u64, count);
    }
}

/// Verifies a file; one that is called sound answers whatever it is asked.
pub fn verify(bytes: &[u8]) {
    let mut options = VerifyOptions::default();
    options.level = Level::Deep;
    let report = tet_verify::verify(&Source::from_bytes(bytes.to_vec()), &options).unwrap();
    for finding in &report.findings {
        assert!(!finding.to_string().is_empty());
    }
    let opened = ask::open_bytes(bytes);
    let catalog = match opened {
        Ok(catalog) => catalog,
        Err(error) => {
            assert!(!report.is_ok(), "called sound: {error}");
            return;
        }
    };
    let how = Execution { digests: DigestPolicy::Always, ..ask::small() };
    for dataset in catalog.datasets() {
        let slab = Hyperslab::whole(dataset.shape());
        let read = catalog.read(dataset, &slab, &how);
        // What is too large for this little memory is not damaged.
        let damaged = |error: &Error| ask::broken(error).is_some();
        let fault = read.err().filter(damaged);
        assert!(!report.is_ok() || fault.is_none(), "called sound: {fault:?}");
        for op in [Op::Sum, Op::Max, Op::Std] {
            let fault = catalog.reduce(dataset, &slab, &Reduction::all(op), &how).err();
            let fault = fault.filter(damaged);
            assert!(!report.is_ok() || fault.is_none(), "called sound: {fault:?}");
        }
    }
}

/// Reads a query document; what is read is written and read again, and put to a small file.
pub fn query_doc(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let query = match Query::parse(text) {
        Ok(query) => query,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let again = Query::from_json(&query.to_json()).unwrap();
    assert_eq!(again.to_json(), query.to_json(), "a document is what it is written as");
    let toml = Query::from_toml(&query.to_toml()).unwrap();
    assert_eq!(toml.to_json(), query.to_json(), "in both syntaxes");
    let file = Sheet::of(&[Dataset::new("a", 1, 4, &[4, 3]).chunked(&[2, 2])]).assemble();
    let catalog = ask::open_bytes(&file.bytes).unwrap();
    drop(query.resolve(&catalog));
}

/// Makes a sound file of the first bytes, changes it as the others say, and verifies it.
pub fn model(bytes: &[u8]) {
    let mut feed = Feed(bytes);
    let count = 1 + feed.below(2);
    let datasets: Vec<Dataset> = (0..count).map(|nth| dataset(nth, &mut feed)).collect();
    let mut sheet = Sheet { gap_len: feed.below(3), ..Sheet::of(&datasets) };
    match feed.below(4) {
        0 => {}
        1 => sheet = sheet.footer("{}"),
        2 => {
            sheet = sheet.footer(r#"{"metadata":{"datasets":{"0":{"attrs":{"u":"K"}}}}}"#).sealed()
        }
        _ => sheet = sheet.footer("{}").sealed(),
    }
    let file = sheet.assemble();
    let sound = ask::open_bytes(&file.bytes).unwrap();
    assert!(ask::everything(&sound).iter().all(Result::is_ok));
    let mut damaged = file.bytes;
    for _ in 0..feed.below(4) {
        change(&mut damaged, &mut feed);
    }
    verify(&damaged);
}

fn dataset(nth: usize, feed: &mut Feed<'_>) -> Dataset {
    let (tag, _, element_len) = crate::values::TYPES[feed.below(10)];
    let rank = 1 + feed.below(3);
    let extents =
        |feed: &mut Feed<'_>| -> Vec<u64> { (0..rank).map(|_| 1 + feed.below(4) as u64).collect() };
    let (shape, chunk_shape) = (extents(feed), extents(feed));
    let stored = [Stored::Raw, Stored::Frame, Stored::Frames][feed.below(3)];
    Dataset::new(&nth.to_string(), tag, element_len, &shape).chunked(&chunk_shape).stored(stored)
}

/// One change: a bit, a number at a boundary, a cut, bytes that moved.
fn change(bytes: &mut Vec<u8>, feed: &mut Feed<'_>) {
    if bytes.is_empty() {
        return;
    }
    let at = feed.wide() % bytes.len();
    let room = bytes.len() - at;
    match feed.below(5) {
        0 => bytes[at] ^= 1 << feed.below(8),
        1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][feed.below(5)],
        2 => {
            let width = 8.min(room);
            let value = [0, 1, u64::MAX, bytes.len() as u64, 1 << feed.below(64)][feed.below(5)];
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        3 => bytes.truncate(at),
        _ => {
            let to = feed.wide() % bytes.len();
            let len = room.min(bytes.len() - to).min(1 + feed.below(64));
            bytes.copy_within(at..at + len, to);
        }
    }
}

/// Writes these bytes as elements, and reads them back.
pub fn roundtrip(bytes: &[u8]) {
    let mut feed = Feed(bytes);
    let (tag, _, element_len) = crate::values::TYPES[feed.below(10)];
    let chunk_len = 1 + feed.below(9) as u64;
    let stored = [Stored::Raw, Stored::Frame, Stored::Frames][feed.below(3)];
    let width = usize::try_from(element_len).unwrap();
    let elements = feed.0[..feed.0.len() / width * width].to_vec();
    let count = (elements.len() / width) as u64;
    if count == 0 {
        return;
    }
    let dataset = Dataset::new("a", tag, element_len, &[count]).chunked(&[chunk_len]);
    let sheet = Sheet::of(&[dataset.stored(stored).elements(elements.clone())]);
    let file = sheet.footer("{}").sealed().assemble();
    let catalog = ask::open(Source::from_bytes(file.bytes), Limits::default()).unwrap();
    let read = ask::read_all(&catalog, &catalog.datasets()[0]).unwrap();
    assert_eq!(read, elements);
}

/// Bytes taken one after the other; zeros when there are no more.
struct Feed<'a>(&'a [u8]);

impl Feed<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    fn wide(&mut self) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }
}
