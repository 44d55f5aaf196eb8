//! Written files can be read.

use std::path::PathBuf;
use std::sync::LazyLock;

use tet_file::write::{CodecChoice, DigestChoice, WriteOptions};
use tet_format::write::DatasetSpec;
use tet_format::{DType, Shape};
use tet_io::Source;
use tet_io::publish::Overwrite;

use super::feed::Feed;
use super::report;
use crate::ask;
use crate::values::TYPES;
use crate::written::{self, Written};

/// Writes these bytes as elements, and reads them back.
pub fn roundtrip(bytes: &[u8]) {
    /// A folder for each process: the same target runs in many at once.
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = std::env::temp_dir().join(format!("tet-roundtrip-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    });
    // And a file for each thread.
    let name = format!("{:?}.tet", std::thread::current().id());
    let mut feed = Feed(bytes);
    let count = 1 + feed.below(3);
    let encoder = [CodecChoice::Raw, CodecChoice::Zstd { level: 1 }][feed.below(2)];
    let digests = [DigestChoice::Written, DigestChoice::Left][feed.below(2)];
    let datasets: Vec<Written> = (0..count).map(|nth| dataset(nth, &mut feed)).collect();
    let overwrite = Overwrite::Replace;
    let options = WriteOptions { encoder, threads: 1, digests, overwrite, ..Default::default() };
    let path = written::write_with(options, &FOLDER, &name, &datasets);
    let file = std::fs::read(path).unwrap();
    let report = report(&file);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let catalog = ask::open(Source::from_bytes(file), tet_format::Limits::default()).unwrap();
    assert_eq!(catalog.datasets().len(), datasets.len());
    for (read, written) in catalog.datasets().iter().zip(&datasets) {
        assert_eq!(read.name, written.spec.name);
        assert_eq!(read.shape(), &written.spec.shape[..]);
        assert_eq!(ask::read_all(read).unwrap(), written.elements);
    }
}

/// A dataset whose elements are the next bytes.
fn dataset(nth: usize, feed: &mut Feed<'_>) -> Written {
    let (tag, _, element_len) = TYPES[feed.below(10)];
    let rank = 1 + feed.below(3);
    let (shape, chunk_shape) = (feed.extents(rank), feed.extents(rank));
    let len = usize::try_from(shape.iter().product::<u64>() * element_len).unwrap();
    let elements = (0..len).map(|_| u8::try_from(feed.below(256)).unwrap()).collect();
    let spec = DatasetSpec {
        name: format!("{nth}"),
        dtype: DType::from_tet_tag(tag).unwrap(),
        shape: Shape::from(shape.as_slice()),
        chunk_shape: Shape::from(chunk_shape.as_slice()),
    };
    Written { spec, elements }
}
