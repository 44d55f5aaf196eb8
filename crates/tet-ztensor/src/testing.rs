//! Files assembled by hand, byte by byte and without the writer of the crate: valid ones, and
//! changed ones for tests.

use tet_format::ForeignRule;
use tet_io::Source;

use crate::{Check, Level, Limits, Report, Result, VerifyOptions, ZTensorFile, rule, verify};

/// The shortest CBOR head.
pub(crate) fn head(major: u8, number: u64) -> Vec<u8> {
    let low = |low: u8| major << 5 | low;
    let bytes = number.to_le_bytes();
    let long = |first: u8, len: usize| {
        let mut head = vec![low(first)];
        head.extend(bytes[..len].iter().rev());
        head
    };
    match number {
        0..24 => vec![low(bytes[0])],
        24..0x100 => long(24, 1),
        0x100..0x1_0000 => long(25, 2),
        0x1_0000..0x1_0000_0000 => long(26, 4),
        _ => long(27, 8),
    }
}

pub(crate) fn uint(number: u64) -> Vec<u8> {
    head(0, number)
}

pub(crate) fn text(text: &str) -> Vec<u8> {
    [head(3, text.len() as u64), text.as_bytes().to_vec()].concat()
}

pub(crate) fn array(items: &[Vec<u8>]) -> Vec<u8> {
    [head(4, items.len() as u64), items.concat()].concat()
}

pub(crate) fn uints(numbers: &[u64]) -> Vec<u8> {
    array(&numbers.iter().map(|number| uint(*number)).collect::<Vec<_>>())
}

/// The fields of a map, separate so that a test can damage them one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(pub(crate) Vec<(Vec<u8>, Vec<u8>)>);

impl Fields {
    /// The entry of a raw dense tensor, as old programs write it.
    pub(crate) fn dense(name: &str, offset: u64, size: u64, dtype: &str, shape: &[u64]) -> Self {
        Fields::default()
            .with("name", text(name))
            .with("offset", uint(offset))
            .with("size", uint(size))
            .with("dtype", text(dtype))
            .with("layout", text("dense"))
            .with("shape", uints(shape))
            .with("encoding", text("raw"))
    }

    /// Sets the value of a key, or adds it at the end.
    pub(crate) fn with(mut self, key: &str, value: Vec<u8>) -> Self {
        let key = text(key);
        match self.0.iter_mut().find(|(found, _)| *found == key) {
            Some((_, held)) => *held = value,
            None => self.0.push((key, value)),
        }
        self
    }

    /// Adds a key, even if it exists.
    pub(crate) fn and(mut self, key: Vec<u8>, value: Vec<u8>) -> Self {
        self.0.push((key, value));
        self
    }

    pub(crate) fn without(mut self, key: &str) -> Self {
        let key = text(key);
        self.0.retain(|(found, _)| *found != key);
        self
    }

    /// The map without a count, with a break.
    pub(crate) fn entry(&self) -> Vec<u8> {
        let fields = self.0.iter().flat_map(|(key, value)| [key.clone(), value.clone()]);
        [vec![0xBF], fields.collect::<Vec<_>>().concat(), vec![0xFF]].concat()
    }

    /// The map with its count.
    pub(crate) fn counted(&self) -> Vec<u8> {
        let fields = self.0.iter().flat_map(|(key, value)| [key.clone(), value.clone()]);
        [head(5, self.0.len() as u64), fields.collect::<Vec<_>>().concat()].concat()
    }
}

/// A file of blobs, each at the next multiple of 64, and an index.
pub(crate) fn file(blobs: &[&[u8]], index: &[u8]) -> Vec<u8> {
    let mut bytes = b"ZTEN0001".to_vec();
    for blob in blobs {
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        bytes.extend_from_slice(blob);
    }
    bytes.extend_from_slice(index);
    bytes.extend((index.len() as u64).to_le_bytes());
    bytes
}

/// A file of one blob, at 64, and the entries.
pub(crate) fn with_entries(blob: &[u8], entries: &[Vec<u8>]) -> Vec<u8> {
    file(&[blob], &array(entries))
}

/// A file with one tensor, `t`, and a valid one, `good`, which has the same blob as bytes.
pub(crate) fn with_good(blob: &[u8], fields: &Fields) -> Vec<u8> {
    let len = blob.len() as u64;
    let good = Fields::dense("good", 64, len, "uint8", &[len]);
    with_entries(blob, &[good.entry(), fields.entry()])
}

pub(crate) fn open(bytes: &[u8]) -> Result<ZTensorFile> {
    ZTensorFile::open(Source::from_bytes(bytes), &Limits::default())
}

/// The elements of the tensor at a position.
pub(crate) fn read(bytes: &[u8], position: usize) -> Result<Vec<u8>> {
    let file = open(bytes)?;
    file.read(file.tensor(position).expect("the position exists"), Check::Always)
}

pub(crate) fn deep(bytes: &[u8]) -> Report {
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let report = verify(&Source::from_bytes(bytes), &options).expect("memory can be read");
    // With less memory the findings are the same, except for repeated positions.
    let by_pieces = VerifyOptions { memory_budget: 0, ..options };
    let by_pieces = verify(&Source::from_bytes(bytes), &by_pieces).expect("memory can be read");
    let found = |report: &Report| {
        let findings = report.findings.iter().filter(|it| it.rule() != Some(&rule::COORD_TWICE));
        findings.map(|it| (it.rule(), it.place.dataset)).collect::<Vec<_>>()
    };
    assert_eq!(found(&report), found(&by_pieces));
    report
}

/// The rules that a file breaks, warnings and notes among them.
pub(crate) fn rules(bytes: &[u8]) -> Vec<&'static ForeignRule> {
    deep(bytes).findings.iter().filter_map(crate::Finding::rule).collect()
}

/// Checks that `open` and `verify` refuse the file as a whole because of a rule.
#[track_caller]
pub(crate) fn refused(bytes: &[u8], rule: &'static ForeignRule) {
    assert_eq!(open(bytes).map(|file| file.len()).unwrap_err().rule(), Some(rule));
    assert!(rules(bytes).contains(&rule), "{:?}", deep(bytes));
    assert!(!deep(bytes).is_ok());
}

/// Checks that reading the last tensor of a file and `verify` report a rule, and that all tensors
/// before it can be read.
#[track_caller]
pub(crate) fn tensor_refused(bytes: &[u8], rule: &'static ForeignRule) {
    let file = open(bytes).expect("a damaged tensor does not affect opening");
    let last = file.len().checked_sub(1).expect("there is a tensor");
    for tensor in file.tensors().take(last) {
        file.read(tensor, Check::Always).expect("the others can be read");
    }
    let tensor = file.tensor(last).expect("it is the last");
    let found = file.read(tensor, Check::Always).map(|_| ()).map_err(|error| error.rule());
    assert_eq!(found, Err(Some(rule)), "{:?}", deep(bytes).findings);
    let report = deep(bytes);
    let findings = report.findings.iter().find(|finding| finding.rule() == Some(rule));
    assert_eq!(
        findings.map(|finding| finding.place.dataset),
        Some(Some(last as u64)),
        "{:?}",
        report.findings
    );
    assert!(!report.is_ok());
}

/// A zstd frame with its content length and a checksum.
pub(crate) fn zstd(decoded: &[u8]) -> Vec<u8> {
    use tet_codec::{Encode, ZstdEncoder};
    let mut out = Vec::new();
    let encoder = ZstdEncoder::new(1).expect("a level");
    encoder.encode(decoded, &mut out).expect("it can be encoded");
    out
}

/// A zstd frame of raw blocks without a content length.
pub(crate) fn zstd_bare(decoded: &[u8]) -> Vec<u8> {
    let mut out = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58];
    let count = decoded.chunks(1000).len();
    for (at, block) in decoded.chunks(1000).enumerate() {
        let last = u32::from(at + 1 == count);
        out.extend(&((block.len() as u32) << 3 | last).to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    if decoded.is_empty() {
        out.extend([1, 0, 0]);
    }
    out
}

/// A skippable frame with the table of these frames.
pub(crate) fn seek_table(frames: &[(u32, u32)]) -> Vec<u8> {
    let mut content: Vec<u8> = Vec::new();
    for (stored_len, decoded_len) in frames {
        content.extend(stored_len.to_le_bytes());
        content.extend(decoded_len.to_le_bytes());
    }
    content.extend((frames.len() as u32).to_le_bytes());
    content.push(0);
    content.extend(0x8F92_EAB1_u32.to_le_bytes());
    let head = [0x184D_2A5E_u32, content.len() as u32].map(u32::to_le_bytes).concat();
    [head, content].concat()
}
