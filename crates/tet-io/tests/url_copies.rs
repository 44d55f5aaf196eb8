//! New files of URLs, of which the server copies parts or does not: the bytes are those that were written.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use tet_format::Span;
use tet_io::{
    Overwrite, Publish, Publisher, PutMode, ReadAt, Result, Source, UrlPart, UrlStore, UrlUpload,
};

const MIB: u64 = 1 << 20;
const SOURCE_LEN: u64 = 80 * MIB;
const URL: &str = "memory://new";

/// Numbers that follow from a seed.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 29)) % end
    }
}

/// A file on the server.
struct File(&'static [u8]);

fn content(nth: usize) -> &'static [u8] {
    static FILES: [OnceLock<Vec<u8>>; 2] = [const { OnceLock::new() }; 2];
    FILES[nth].get_or_init(|| {
        let mut seeded = Seeded(nth as u64);
        (0..SOURCE_LEN / 8).flat_map(|_| seeded.below(u64::MAX).to_le_bytes()).collect()
    })
}

impl ReadAt for File {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        out.copy_from_slice(&self.0[usize::try_from(offset).unwrap()..][..out.len()]);
        Ok(())
    }

    fn version(&self) -> io::Result<Option<String>> {
        Ok(Some("one".to_owned()))
    }
}

/// A server that copies some parts.
#[derive(Debug, Default)]
struct Server {
    parts: Mutex<BTreeMap<usize, Vec<u8>>>,
    /// Of ten copies, how many fail; the state of the choice.
    failing: AtomicU64,
    choice: AtomicU64,
    copied: AtomicU64,
}

#[derive(Clone, Debug)]
struct Store(Arc<Server>);

impl UrlStore for Store {
    fn open(&self, url: &str) -> Result<Source> {
        let nth = usize::from(url.ends_with('1'));
        Ok(Source::from_named_reader(url, Arc::new(File(content(nth)))))
    }

    fn depth(&self) -> usize {
        3
    }

    fn check_target(&self, _: &str, _: bool) -> Result<()> {
        Ok(())
    }

    fn may_copy(&self, _: &str, _: &str) -> bool {
        true
    }

    fn write(&self, _: &str, content: &Source, _: PutMode<'_>) -> Result<()> {
        let bytes = content.read_vec(0, content.len())?;
        *self.0.parts.lock().unwrap() = [(0, bytes)].into();
        Ok(())
    }

    fn begin_upload(&self, _: &str, _: PutMode<'_>) -> Result<Box<dyn UrlUpload>> {
        self.0.parts.lock().unwrap().clear();
        Ok(Box::new(self.clone()))
    }
}

impl UrlUpload for Store {
    fn send(&self, content: &Source, part: UrlPart) -> Result<()> {
        let bytes = content.read_vec(part.span.start(), part.span.len())?;
        self.0.parts.lock().unwrap().insert(part.nth, bytes);
        Ok(())
    }

    fn copy(&self, part: UrlPart, from: &Source, start: u64) -> bool {
        let choice = Seeded(self.0.choice.fetch_add(1, Ordering::Relaxed)).below(10);
        if choice < self.0.failing.load(Ordering::Relaxed) {
            return false;
        }
        let nth = usize::from(from.path().unwrap().ends_with("1"));
        let start = usize::try_from(start).unwrap();
        let bytes = content(nth)[start..][..usize::try_from(part.span.len()).unwrap()].to_vec();
        self.0.parts.lock().unwrap().insert(part.nth, bytes);
        self.0.copied.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn finish(&self, content: &Source, rest: &[UrlPart]) -> Result<()> {
        rest.iter().try_for_each(|part| self.send(content, *part))
    }
}

/// A header that is written last, before what is final: written, and copied from two files, going on where the last copy
/// ended or not.
#[test]
fn a_file_has_the_bytes_that_were_written_and_copied() {
    let server = Arc::new(Server::default());
    tet_io::set_url_store(Store(Arc::clone(&server)));
    let one = Source::open("memory://1").unwrap();
    assert!(tet_io::may_copy_on_server(&one, URL.as_ref()));
    // The file of another store may have the same name.
    let other = one.of_store(Arc::new(Store(Arc::default())));
    assert!(!tet_io::may_copy_on_server(&other, URL.as_ref()));
    let mut copied = [0; 3];
    for (case, failing) in [0, 3, 10].into_iter().cycle().take(12).enumerate() {
        server.failing.store(failing, Ordering::Relaxed);
        server.copied.store(0, Ordering::Relaxed);
        let mut seeded = Seeded(case as u64);
        let sources = ["memory://0", "memory://1"].map(|url| Source::open(Path::new(url)).unwrap());
        let how = Publish { force: Overwrite::Replace, ..Publish::default() };
        let mut new = Publisher::begin(URL, &how).unwrap();
        let header_len = seeded.below(20 * MIB);
        new.file().mark_final(header_len..u64::MAX);
        new.seek(SeekFrom::Start(header_len)).unwrap();
        let mut wanted = vec![0; usize::try_from(header_len).unwrap()];
        let mut place = (0, 0);
        while (wanted.len() as u64) < 60 * MIB {
            if seeded.below(3) == 0 {
                let len = usize::try_from(seeded.below(3 * MIB)).unwrap();
                let bytes = vec![u8::try_from(seeded.below(256)).unwrap(); len];
                new.write_all(&bytes).unwrap();
                wanted.extend(bytes);
                continue;
            }
            if seeded.below(3) == 0 {
                place = (usize::try_from(seeded.below(2)).unwrap(), seeded.below(SOURCE_LEN));
            }
            let len = seeded.below(24 * MIB).min(SOURCE_LEN - place.1);
            new.copy_from(&sources[place.0], Span::new(place.1, len).unwrap()).unwrap();
            let start = usize::try_from(place.1).unwrap();
            wanted.extend(&content(place.0)[start..][..usize::try_from(len).unwrap()]);
            place.1 += len;
            let end = new.stream_position().unwrap();
            assert_eq!(end, wanted.len() as u64);
        }
        let header = vec![9; usize::try_from(header_len).unwrap()];
        new.seek(SeekFrom::Start(0)).unwrap();
        new.write_all(&header).unwrap();
        wanted[..header.len()].copy_from_slice(&header);
        new.commit().unwrap();
        let parts = std::mem::take(&mut *server.parts.lock().unwrap());
        let found: Vec<u8> = parts.into_values().flatten().collect();
        assert!(found == wanted, "case {case}: {} bytes, {} found", wanted.len(), found.len());
        copied[case % 3] += server.copied.load(Ordering::Relaxed);
    }
    assert!(10 < copied[0] && 0 < copied[1] && copied[2] == 0, "{copied:?}");
}
