//! Single files whose reads fail, end early or find other bytes from some read on: each container, with every fault at
//! several moments. The right answer, an error, or an answer that is called unchecked; never another one.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tet_convert::{ChunkChoice, ConvertOptions, Note, OpenOptions, convert, convert_source};
use tet_file::write::CodecChoice;
use tet_format::DType;
use tet_format::write::DatasetSpec;
use tet_io::publish::Sync;
use tet_io::{ReadAt, Source};
use tet_query::{Execution, Hyperslab, Integrity, Op, Reduction};
use tet_tests::values::Seeded;
use tet_tests::written::{self, Written};
use tet_verify::{Level, VerifyOptions};

/// Four chunks, each longer than what is read when a file is opened.
const SHAPE: [u64; 2] = [512, 256];
const CHUNK: [u64; 2] = [128, 256];

/// Containers, and whether checksums protect their elements.
const CONTAINERS: [(&str, bool); 10] = [
    ("raw.tet", true),
    ("zstd.tet", true),
    ("a.zt", true),
    ("a.tgm", true),
    ("a.npz", true),
    ("a.npy", false),
    ("a.safetensors", false),
    ("a.h5", false),
    ("a.nc3", false),
    ("a.zarr.zip", false),
];

/// Faults from some read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Reads of this byte fail.
    Fails(usize),
    /// Reads end here, and the length is as before.
    Ends(usize),
    /// Another program cuts the file to this length.
    Cut(usize),
    /// Another program writes another file in its place.
    Replaced,
    /// A bit of this byte flips, and the version stays.
    Flips(usize),
}

/// A file of which reads go wrong, from read number `after` on.
struct Faulty {
    bytes: Arc<Vec<u8>>,
    other: Arc<Vec<u8>>,
    fault: Option<Fault>,
    after: u64,
    read_count: AtomicU64,
}

impl Faulty {
    /// The fault, once that many reads have been made.
    fn fault_now(&self) -> Option<Fault> {
        self.fault.filter(|_| self.after < self.read_count.load(Ordering::Relaxed))
    }
}

impl ReadAt for Faulty {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_count.fetch_add(1, Ordering::Relaxed);
        let start = usize::try_from(offset).unwrap();
        let range = start..start + out.len();
        let fault = self.fault_now();
        let bytes = if fault == Some(Fault::Replaced) { &self.other } else { &self.bytes };
        let end = match fault {
            Some(Fault::Fails(at)) if range.contains(&at) => return Err(io::Error::other("EIO")),
            Some(Fault::Ends(at) | Fault::Cut(at)) => at,
            _ => bytes.len(),
        };
        let found = bytes.get(range.clone()).filter(|_| range.end <= end);
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        if let Some(Fault::Flips(at)) = fault
            && let Some(byte) = at.checked_sub(start).and_then(|at| out.get_mut(at))
        {
            *byte ^= 4;
        }
        Ok(())
    }

    fn version(&self) -> io::Result<Option<String>> {
        let is_other = matches!(self.fault_now(), Some(Fault::Cut(_) | Fault::Replaced));
        Ok(Some(format!("{is_other}")))
    }
}

/// An answer, and whether all of it was compared with checksums.
#[derive(Debug, PartialEq, Eq)]
struct ReadOutput {
    bytes: Vec<u8>,
    is_compared: bool,
}

type Outcome = Result<ReadOutput, String>;

/// The questions of one container, and the folder for what is written.
struct Questions<'a> {
    folder: &'a Path,
}

impl Questions<'_> {
    const COUNT: usize = 5;

    /// The answer to question `number`.
    fn ask(&self, number: usize, source: Source) -> Outcome {
        let answer = match number {
            0 => verified(&source),
            1 => self.converted(&source),
            _ => read(source, number - 2),
        };
        answer.map_err(|error| error.to_string())
    }

    /// A new file of the source; after an error there is none.
    fn converted(&self, source: &Source) -> tet_convert::Result<ReadOutput> {
        let output = self.folder.join("converted.tet");
        let mut options = ConvertOptions::default();
        options.tet.sync = Sync::None;
        let report = convert_source(source, &output, &options);
        let bytes = std::fs::read(&output).ok();
        assert_eq!(report.is_ok(), bytes.is_some(), "a file is there when there is no error");
        let is_compared = !report?.notes.contains(&Note::Unchecked);
        std::fs::remove_file(output).unwrap();
        Ok(ReadOutput { bytes: bytes.unwrap_or_default(), is_compared })
    }
}

/// The report of all bytes; one that finds something is no answer.
fn verified(source: &Source) -> tet_convert::Result<ReadOutput> {
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let report = tet_convert::verify(source, &options)?;
    let is_compared = report.is_ok();
    Ok(ReadOutput { bytes: format!("{report:?}").into_bytes(), is_compared })
}

/// All elements, some of them, or their sum.
fn read(source: Source, number: usize) -> tet_convert::Result<ReadOutput> {
    let how = Execution { threads: 2, ..Execution::default() };
    let opened = tet_convert::open_source(source, &OpenOptions::default())?;
    let dataset = &opened.catalog.datasets()[0];
    let whole = Hyperslab::whole(dataset.shape());
    let (bytes, integrity) = match number {
        0 | 1 => {
            let part = whole.part(&[100..300, 7..9]);
            let read = dataset.read(if number == 0 { &whole } else { &part }, &how)?;
            (read.bytes().to_vec(), read.integrity)
        }
        _ => {
            let sum = dataset.reduce(&whole, &Reduction::all(Op::Sum), &how)?;
            (format!("{:?}", sum.value.values).into_bytes(), sum.integrity)
        }
    };
    opened.catalog.check_unchanged()?;
    Ok(ReadOutput { bytes, is_compared: integrity == Integrity::Verified })
}

/// A file of each container of elements that follow from `seed`.
fn make(folder: &Path, seed: u64) {
    let mut seeded = Seeded(seed);
    let count = SHAPE.iter().product::<u64>();
    let number = |_| ((seeded.bits() >> 40) as f32 / 16.0).to_le_bytes();
    let elements = (0..count).flat_map(number).collect();
    let spec = DatasetSpec::new("a", DType::Float32, SHAPE, CHUNK);
    let input = written::write(folder, "raw.tet", &[Written { spec, elements }], CodecChoice::Raw);
    for (name, _) in &CONTAINERS[1..] {
        let output = folder.join(name);
        let mut options = ConvertOptions::default();
        let (_, writer) = tet_convert::writable(&output).unwrap();
        if writer.can().options.contains(&tet_convert::WriteOption::Chunks) {
            options.tet.chunks = ChunkChoice::Shape(CHUNK.to_vec()).into();
        }
        convert(&input, &output, &options).unwrap();
    }
}

/// Every fault of a file of `len` bytes.
fn faults(len: usize) -> Vec<Fault> {
    let mut faults = vec![Fault::Replaced, Fault::Cut(len / 2)];
    faults.extend([0, 100, len / 4, len / 2, len - 1].map(Fault::Fails));
    faults.extend([len / 2, len - 1].map(Fault::Ends));
    faults.extend([len / 4, len * 3 / 4].map(Fault::Flips));
    faults
}

/// Moments between the reads of an answer, the first before all of them.
fn moments(read_count: u64) -> Vec<u64> {
    let mut moments = vec![0, 1, 3, read_count / 2, read_count.saturating_sub(1)];
    moments.retain(|&after| after < read_count);
    moments.sort_unstable();
    moments.dedup();
    moments
}

#[test]
fn no_file_gives_a_wrong_answer_whichever_read_fails() {
    let folders = [1, 3].map(|seed| {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), seed);
        folder
    });
    let (mut answered, mut refused) = (0, 0);
    for (name, is_protected) in CONTAINERS {
        let [bytes, other] =
            folders.each_ref().map(|it| Arc::new(std::fs::read(it.path().join(name)).unwrap()));
        let source = |fault, after| {
            let (bytes, other) = (Arc::clone(&bytes), Arc::clone(&other));
            let read_count = AtomicU64::new(0);
            let faulty = Arc::new(Faulty { bytes, other, fault, after, read_count });
            let reader: Arc<dyn ReadAt> = Arc::<Faulty>::clone(&faulty);
            (Source::from_named_reader(name, reader), faulty)
        };
        let questions = Questions { folder: folders[0].path() };
        for number in 0..Questions::COUNT {
            let (sound, reader) = source(None, 0);
            let wanted = questions.ask(number, sound).unwrap();
            let read_count = reader.read_count.load(Ordering::Relaxed);
            for fault in faults(bytes.len()) {
                for after in moments(read_count) {
                    // Without checksums a flipped bit is not seen, and nor is another file from the first read on.
                    let is_hidden = matches!(fault, Fault::Flips(_)) && !is_protected;
                    if is_hidden || after == 0 && fault == Fault::Replaced {
                        continue;
                    }
                    let about = format!("{name}, question {number}, {fault:?} after {after}");
                    match questions.ask(number, source(Some(fault), after).0) {
                        Ok(found) => {
                            answered += 1;
                            let is_right = found.bytes == wanted.bytes || !found.is_compared;
                            assert!(is_right, "{about}: another answer");
                        }
                        Err(error) => {
                            refused += 1;
                            assert!(!error.is_empty(), "{about}");
                        }
                    }
                }
            }
        }
    }
    assert!(100 < answered && 100 < refused, "{answered} answers, {refused} errors");
}
