use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tet_format::footer::{FOOTER_VERSION, Tail};
use tet_format::index::{HEADER_LEN, IndexRow, ROW_LEN};
use tet_format::write::{DatasetSpec, Declaration, FileWriter, FooterParts};
use tet_format::{Codec, DType, NoteCode, Rule};
use tet_io::ReadAt;

use super::*;
use crate::dataset::RowOrder;

const JSON: &str = r#"{"history":[["made","here","1"]]}"#;

/// A file of raw bytes: each dataset a name, a shape and a chunk shape.
fn build(datasets: &[(&str, &[u64], &[u64])], json: Option<&str>) -> Vec<u8> {
    let specs: Vec<DatasetSpec> = datasets
        .iter()
        .map(|(name, shape, chunk)| DatasetSpec::new(*name, DType::UInt8, *shape, *chunk))
        .collect();
    let layout = Declaration::new(specs).layout().unwrap();
    let chunks: Vec<u64> = layout.chunks().map(|chunk| chunk.raw_len).collect();
    let mut writer = FileWriter::new(io::Cursor::new(Vec::new()), layout).unwrap();
    for len in chunks {
        writer.push(Codec::Raw, len, &vec![7; usize::try_from(len).unwrap()]).unwrap();
    }
    let parts = json.map(|json| FooterParts {
        block: &[],
        spill: &[],
        json: json.as_bytes(),
        version: FOOTER_VERSION,
    });
    writer.finish(parts).unwrap().into_inner()
}

const TWO: &[(&str, &[u64], &[u64])] = &[("a", &[4, 6], &[2, 4]), ("b", &[5], &[2])];

fn open(bytes: &[u8]) -> Result<TetFile> {
    open_with(bytes, FooterMode::Required)
}

fn open_with(bytes: &[u8], footer: FooterMode) -> Result<TetFile> {
    TetFile::open(Source::from_bytes(bytes), &OpenOptions { footer, ..OpenOptions::default() })
}

fn rule_of(outcome: Result<TetFile>) -> Rule {
    outcome.unwrap_err().as_format().expect("the file is at fault").rule
}

/// The bytes of row number `row`.
fn row_range(bytes: &[u8], row: u64) -> std::ops::Range<usize> {
    let start = usize::try_from(open(bytes).unwrap().index().row_at(row)).unwrap();
    start..start + IndexRow::LEN
}

fn swap_rows(bytes: &mut [u8], a: u64, b: u64) {
    let (a, b) = (row_range(bytes, a), row_range(bytes, b));
    let row = bytes[a.clone()].to_vec();
    bytes.copy_within(b.clone(), a.start);
    bytes[b].copy_from_slice(&row);
}

/// Gives row `row` to another dataset or chunk.
fn patch_row(bytes: &mut [u8], row: u64, patch: impl FnOnce(&mut IndexRow)) {
    let range = row_range(bytes, row);
    let mut decoded = IndexRow::decode(bytes[range.clone()].first_chunk().unwrap());
    patch(&mut decoded);
    bytes[range].copy_from_slice(&decoded.encode());
}

#[test]
fn a_file_opens_with_all_it_says() {
    let bytes = build(TWO, Some(JSON));
    let file = open(&bytes).unwrap();
    assert_eq!(file.version(), 1);
    assert_eq!(file.file_len(), bytes.len() as u64);
    let [a, b] = file.datasets() else { panic!("two datasets") };
    assert_eq!((a.name.as_str(), a.dtype, a.chunk_count()), ("a", Some(DType::UInt8), 4));
    assert_eq!((a.rows.clone(), a.order), (0..4, RowOrder::RowMajor));
    assert_eq!((b.rows.clone(), b.order, b.fault), (4..7, RowOrder::RowMajor, None));
    assert_eq!(file.index().row_count(), 7);
    assert_eq!(file.history()[0].op, "made");
    assert!(file.metadata().is_empty());
    assert_eq!(file.payload_end(), bytes.len() as u64 - 16 - JSON.len() as u64);
    assert_eq!(file.warnings(), []);
}

#[test]
fn an_empty_file_opens_with_and_without_a_footer() {
    let file = open(&build(&[], None)).unwrap();
    assert_eq!((file.datasets().len(), file.file_len(), file.payload_end()), (0, 32, 32));
    let mut rows = Vec::new();
    file.index().rows(0..9, &mut rows).unwrap();
    assert_eq!(rows, []);
    let file = open(&build(&[], Some(JSON))).unwrap();
    assert_eq!((file.datasets().len(), file.history().len(), file.payload_end()), (0, 1, 32));
}

#[test]
fn every_prefix_is_an_error() {
    let bytes = build(TWO, Some(JSON));
    for len in 0..bytes.len() {
        let error = open(&bytes[..len]).unwrap_err();
        assert_eq!(error.kind(), tet_io::Kind::Format, "{len}: {error}");
    }
}

#[test]
fn every_byte_may_be_anything() {
    let bytes = build(TWO, Some(JSON));
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7F, 0x80, 0xFF, bytes[at] ^ 1, bytes[at] ^ 0x20] {
            let mut broken = bytes.clone();
            broken[at] = value;
            for mode in [FooterMode::Required, FooterMode::Lenient, FooterMode::Ignore] {
                if let Err(error) = open_with(&broken, mode) {
                    assert_ne!(error.kind(), tet_io::Kind::Usage, "byte {at}: {error}");
                }
            }
        }
    }
}

#[test]
fn rows_in_any_order_are_found_by_counting() {
    let mut bytes = build(TWO, Some(JSON));
    // The first row of b among those of a.
    swap_rows(&mut bytes, 1, 4);
    swap_rows(&mut bytes, 0, 1);
    let file = open(&bytes).unwrap();
    let [a, b] = file.datasets() else { panic!("two datasets") };
    assert_eq!((a.rows.clone(), a.order, a.fault), (1..5, RowOrder::Unknown, None));
    assert_eq!((b.rows.clone(), b.order, b.fault), (0..7, RowOrder::Unknown, None));
}

#[test]
fn h3_only_the_dataset_whose_rows_are_missing_is_damaged() {
    let mut bytes = build(&[("a", &[4], &[2]), ("b", &[4], &[2]), ("c", &[4], &[2])], None);
    // A row of b becomes one of no dataset.
    patch_row(&mut bytes, 2, |row| row.dataset_id = 9);
    let file = open(&bytes).unwrap();
    let [a, b, c] = file.datasets() else { panic!("three datasets") };
    assert_eq!((a.rows.clone(), a.order, a.fault), (0..2, RowOrder::RowMajor, None));
    assert_eq!((c.rows.clone(), c.order, c.fault), (4..6, RowOrder::RowMajor, None));
    let fault = b.fault.unwrap();
    assert_eq!((fault.rule, fault.at, fault.found, fault.wanted), (Rule::RowCount, b.at, 1, 2));
}

#[test]
fn h3_a_grid_larger_than_the_index_costs_nothing() {
    let mut bytes = build(TWO, None);
    // The shape of b, [5] in chunks of 2, becomes [2^60].
    let file = open(&bytes).unwrap();
    let shape_at = usize::try_from(file.datasets()[1].at).unwrap() + 24;
    bytes[shape_at..shape_at + 8].copy_from_slice(&(1_u64 << 60).to_le_bytes());
    let file = open(&bytes).unwrap();
    let fault = file.datasets()[1].fault.unwrap();
    assert_eq!((fault.rule, fault.found, fault.wanted), (Rule::RowCount, 3, 1 << 59));
    assert_eq!(file.datasets()[0].fault, None);
}

#[test]
fn h1_a_dataset_count_larger_than_the_file_is_refused() {
    let mut bytes = build(TWO, None);
    bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(rule_of(open(&bytes)), Rule::RecordCount);
}

#[test]
fn an_unknown_dtype_leaves_the_other_datasets_readable() {
    let mut bytes = build(TWO, None);
    let at = usize::try_from(open(&bytes).unwrap().datasets()[0].at).unwrap();
    bytes[at + 4] = 99;
    let file = open(&bytes).unwrap();
    let [a, b] = file.datasets() else { panic!("two datasets") };
    assert_eq!((a.dtype_tag, a.dtype, a.fault.unwrap().rule), (99, None, Rule::DTypeTag));
    assert_eq!(b.fault, None);
}

#[test]
fn a_broken_footer_stops_unless_it_may_fail() {
    let mut bytes = build(TWO, Some("{\"history\":[}"));
    let json_at = bytes.len() as u64 - 16 - 13;
    assert_eq!(rule_of(open(&bytes)), Rule::JsonSyntax);
    let file = open_with(&bytes, FooterMode::Lenient).unwrap();
    assert_eq!(file.footer_fault().unwrap().rule, Rule::JsonSyntax);
    assert_eq!((file.payload_end(), file.datasets().len()), (json_at, 2));
    let file = open_with(&bytes, FooterMode::Ignore).unwrap();
    assert_eq!((file.footer_fault(), file.payload_end()), (None, bytes.len() as u64));
    // Without a tail nothing says where payloads end.
    *bytes.last_mut().unwrap() = b'?';
    assert_eq!(rule_of(open(&bytes)), Rule::TailMagic);
    let file = open_with(&bytes, FooterMode::Lenient).unwrap();
    assert_eq!(file.payload_end(), bytes.len() as u64);
}

#[test]
fn h12_a_tail_nobody_announced_is_noted() {
    let mut bytes = build(TWO, Some(JSON));
    bytes[12] = 0x82;
    let file = open(&bytes).unwrap();
    let codes: Vec<NoteCode> = file
        .warnings()
        .iter()
        .map(|warning| match warning {
            Warning::Note(note) => note.code,
            Warning::Fault(fault) => panic!("{fault}"),
        })
        .collect();
    assert_eq!(codes, [NoteCode::UnknownFlags, NoteCode::UndeclaredTail]);
    assert_eq!(file.payload_end(), bytes.len() as u64);
    assert!(file.history().is_empty());
}

#[test]
fn metadata_that_does_not_fit_its_dataset_is_said() {
    let about = |text: &str| {
        let json = format!(r#"{{"metadata":{{"datasets":{{"a":{{{text}}}}}}}}}"#);
        let file = open(&build(TWO, Some(&json))).unwrap();
        let rules = file.warnings().iter().map(|warning| match warning {
            Warning::Fault(fault) => (fault.rule, fault.found, fault.wanted),
            Warning::Note(note) => panic!("{note}"),
        });
        rules.collect::<Vec<_>>()
    };
    let four = r#"{"labels":["1","2","3","4"]}"#;
    assert_eq!(about(r#""dim_names":["y"]"#), [(Rule::DimNames, 1, 2)]);
    assert_eq!(about(r#""dim_names":["y","x"]"#), []);
    assert_eq!(about(&format!(r#""dim_names":["y","x"],"coords":{{"y":{four},"0":{four}}}"#)), []);
    assert_eq!(about(&format!(r#""coords":{{"y":{four}}}"#)), [(Rule::CoordAxis, 4, 2)]);
    assert_eq!(about(&format!(r#""coords":{{"2":{four}}}"#)), [(Rule::CoordAxis, 4, 2)]);
    assert_eq!(about(&format!(r#""coords":{{"1":{four}}}"#)), [(Rule::LabelCount, 4, 6)]);
}

#[test]
fn limits_are_the_callers() {
    let bytes = build(TWO, None);
    let limits = Limits { directory_len_max: 20, ..Limits::default() };
    let options = OpenOptions { limits, ..OpenOptions::default() };
    let error = TetFile::open(Source::from_bytes(bytes), &options).unwrap_err();
    assert_eq!(error.kind(), tet_io::Kind::Limit);
}

/// Counts its reads and the bytes it gives.
struct Counting {
    bytes: Vec<u8>,
    read_len: AtomicU64,
    read_count: AtomicU64,
}

impl Counting {
    fn new(bytes: Vec<u8>) -> Arc<Self> {
        Arc::new(Counting { bytes, read_len: AtomicU64::new(0), read_count: AtomicU64::new(0) })
    }
}

impl ReadAt for Counting {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_len.fetch_add(out.len() as u64, Ordering::Relaxed);
        self.read_count.fetch_add(1, Ordering::Relaxed);
        let start = usize::try_from(offset).unwrap();
        out.copy_from_slice(&self.bytes[start..start + out.len()]);
        Ok(())
    }
}

#[test]
fn rows_of_a_large_index_come_on_demand() {
    let row_count = (2 << 20) / ROW_LEN + 1;
    let bytes = build(&[("a", &[row_count], &[1])], Some(JSON));
    let counting = Counting::new(bytes);
    let source = Source::from_reader(Arc::<Counting>::clone(&counting));
    let file = TetFile::open(source, &OpenOptions::default()).unwrap();
    let at_open = counting.read_len.load(Ordering::Relaxed);
    assert!(at_open < 1000, "the rows were not read: {at_open}");
    let mut rows = Vec::new();
    for range in [0..1, 7..9, row_count - 1..row_count + 5, 5..5, row_count..row_count + 1] {
        rows.clear();
        file.index().rows(range.clone(), &mut rows).unwrap();
        let found: Vec<u64> = rows.iter().map(|row| row.coord[0]).collect();
        assert_eq!(found, (range.start..range.end.min(row_count)).collect::<Vec<_>>());
    }
    assert_eq!(counting.read_len.load(Ordering::Relaxed) - at_open, 4 * ROW_LEN);
    rows.clear();
    file.index().rows(0..u64::MAX, &mut rows).unwrap();
    assert_eq!(rows.len() as u64, row_count);
}

#[test]
fn a_small_index_is_read_once() {
    let bytes = build(TWO, None);
    let counting = Counting::new(bytes);
    let source = Source::from_reader(Arc::<Counting>::clone(&counting));
    let file = TetFile::open(source, &OpenOptions::default()).unwrap();
    let at_open = counting.read_len.load(Ordering::Relaxed);
    assert_eq!(at_open, file.index_end() + Tail { json_len: 0, version: 1 }.encode().len() as u64);
    let mut rows = Vec::new();
    file.index().rows(0..7, &mut rows).unwrap();
    assert_eq!(rows.len(), 7);
    assert_eq!(counting.read_len.load(Ordering::Relaxed), at_open);
    assert_eq!(file.superblock().index_len, HEADER_LEN + 7 * ROW_LEN);
}

/// A file of many datasets, and how many reads opening it takes.
fn opened_by_reads(dataset_count: u64, chunk_count: u64, edit: fn(&mut [u8])) -> (TetFile, u64) {
    let names: Vec<String> = (0..dataset_count).map(|id| id.to_string()).collect();
    let shape = [chunk_count];
    let datasets: Vec<_> = names.iter().map(|name| (&**name, &shape[..], &[1][..])).collect();
    let mut bytes = build(&datasets, Some(JSON));
    edit(&mut bytes);
    let counting = Counting::new(bytes);
    let source = Source::from_reader(Arc::<Counting>::clone(&counting));
    let file = TetFile::open(source, &OpenOptions::default()).unwrap();
    (file, counting.read_count.load(Ordering::Relaxed))
}

#[test]
fn opening_takes_few_reads_however_many_datasets_there_are() {
    for (dataset_count, chunk_count) in [(2000, 11), (2000, 100), (100_000, 1), (3, 100_000)] {
        let (file, read_count) = opened_by_reads(dataset_count, chunk_count, |_| ());
        assert!(read_count <= 9, "{dataset_count} datasets: {read_count} reads");
        for (id, entry) in (0..).zip(file.datasets()) {
            assert_eq!(entry.rows, id * chunk_count..(id + 1) * chunk_count);
            assert_eq!((entry.order, entry.fault), (RowOrder::RowMajor, None));
        }
    }
}

#[test]
fn rows_of_a_large_index_in_another_order_are_found_by_counting() {
    // The rows of the first two datasets are mixed.
    let (file, _) = opened_by_reads(2000, 11, |bytes| swap_rows(bytes, 0, 12));
    let orders: Vec<_> = file.datasets().iter().map(|entry| entry.order).collect();
    assert_eq!(orders[..2], [RowOrder::Unknown; 2]);
    assert!(orders[2..].iter().all(|order| *order == RowOrder::RowMajor));
}
