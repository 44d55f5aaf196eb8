//! Chunks of parts on a server are read several at the same time, and the file is the same.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tet_io::{Access, ReadAt};

use super::*;

const DEPTH: usize = 4;

/// A part on a server that answers late.
struct Far {
    bytes: Vec<u8>,
    now: AtomicUsize,
    most: Arc<AtomicUsize>,
}

impl ReadAt for Far {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(5));
        self.now.fetch_sub(1, Ordering::SeqCst);
        out.copy_from_slice(&self.bytes[usize::try_from(offset).unwrap()..][..out.len()]);
        Ok(())
    }

    fn access(&self) -> Access {
        Access { depth: DEPTH, ..Access::LOCAL }
    }
}

#[test]
fn chunks_on_a_server_are_read_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("0.part");
    let shape = [40, 30];
    let plan = plan(&shape, &[4, 7], "raw", "");
    let writer = RegionWriter::create(&path, &plan, RegionOptions::default()).unwrap();
    write_all(&writer, 0, &shape);
    write_all(&writer, 1, &[5]);
    writer.close().unwrap();
    let near = FilePart::open(&path, &plan).unwrap();
    let wanted = published(&plan, &[near], None, &folder.path().join("near.tet")).unwrap();
    let (now, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let far = Far { bytes: std::fs::read(&path).unwrap(), now, most: Arc::clone(&most) };
    let far = FilePart::of_source(Source::from_reader(Arc::new(far)), &plan).unwrap();
    let found = published(&plan, &[far], None, &folder.path().join("far.tet")).unwrap();
    assert!(found == wanted);
    assert_eq!(most.load(Ordering::SeqCst), DEPTH);
}
