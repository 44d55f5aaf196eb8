//! A zip file as a store (APPNOTE 6.3.10, sections 4.3 to 4.5): stored members are spans of the
//! file, deflated members have their length.

use std::io::{self, Read};
use std::sync::{Arc, OnceLock};

use tet_format::Span;
use tet_io::{FolderList, Source};

use super::{KeyPlace, ObjectName};
use crate::error::{Broken, Error, Result, ZarrFault, broken, fault_in, len};
use crate::rule;

/// The longest directory that is read, in bytes.
const DIRECTORY_LEN_MAX: u64 = 256 << 20;

/// The bytes of the end record, without its comment.
const END_LEN: usize = 22;

/// The bytes of an entry of the directory before its name.
const ENTRY_LEN: usize = 46;

/// The bytes of the header of a member before its name.
const HEADER_LEN: u64 = 30;

/// A longer stored member that can be read in parts is not compared.
const COMPARED_MAX: u64 = 16 << 20;

/// The bytes that are read at once to compare a member.
const WINDOW_LEN: usize = 1 << 18;

/// A zip file whose members are objects. Clones share the directory.
///
/// # Examples
///
/// ```
/// use tet_io::Source;
/// use tet_zarr::ZipStore;
///
/// let empty = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
/// let zip = ZipStore::open(Source::from_bytes(empty))?;
/// assert!(zip.locate("zarr.json")?.is_none());
/// # Ok::<(), tet_zarr::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ZipStore(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    source: Source,
    directory: Vec<u8>,
    /// Where each entry begins in the directory.
    all: Vec<u32>,
    /// Those of members, sorted by name; of equal names the last is kept.
    entries: Vec<u32>,
    duplicate_count: u64,
    /// The first member whose header has another name than its entry, once all were compared.
    mismatch: OnceLock<Option<String>>,
}

/// A member with two names, or one that is no text.
pub(crate) struct Misnamed {
    /// The name in the directory.
    pub(crate) entry: String,
    /// The name in the header of the member, where there is one.
    pub(crate) header: String,
    pub(crate) fault: Broken,
}

/// A member as the directory describes it.
#[derive(Clone, Copy)]
struct Entry<'a> {
    name: &'a [u8],
    flags: u16,
    method: u16,
    crc32: u32,
    stored_len: u64,
    len: u64,
    header_at: u64,
    end: usize,
}

/// The header in front of the bytes of a member.
struct Header {
    /// Whether it is a header, of a name as long as that of the entry.
    is_whole: bool,
    name_len: u16,
    extra_len: u16,
    name: Vec<u8>,
}

impl ZipStore {
    /// Reads the directory of a zip file.
    ///
    /// # Errors
    ///
    /// Returns a fault of a rule `ZR-Z`, `ZR-L6` for a longer directory, and errors of reading.
    pub fn open(source: Source) -> Result<ZipStore> {
        let failed = |fault| fault_in("", fault);
        let end = find_directory(&source)?;
        let span = end.directory;
        let file_len = source.len();
        if file_len < span.end() {
            return Err(failed(broken(&rule::ZIP_DIRECTORY, span.end(), file_len)));
        }
        if DIRECTORY_LEN_MAX < span.len() {
            return Err(failed(broken(&rule::LIMIT_ZIP, span.len(), DIRECTORY_LEN_MAX)));
        }
        let directory = source.read_vec(span.start(), span.len())?;
        let mut entries = Vec::new();
        let mut at = 0;
        while at < directory.len() {
            let Some(entry) = entry(&directory, at) else {
                let at = span.start().saturating_add(len(at));
                return Err(failed(Broken { at, ..broken(&rule::ZIP_DIRECTORY, at, span.end()) }));
            };
            // The directory is shorter than 2^32 bytes.
            entries.push(u32::try_from(at).unwrap_or(u32::MAX));
            at = entry.end;
        }
        // An entry that is damaged may hide those behind it. Some programs count in 16 bits.
        let (found, wanted) = (len(entries.len()), end.entry_count);
        if found != wanted && found & 0xffff != wanted {
            let at = span.end();
            return Err(failed(Broken { at, ..broken(&rule::ZIP_COUNT, found, wanted) }));
        }
        let all = entries.clone();
        let name = |at: &u32| name_at(&directory, *at);
        // Stable, so that the last of equal names comes last; then the first of the reverse is kept.
        entries.reverse();
        entries.sort_by(|a, b| name(a).cmp(name(b)));
        entries.dedup_by(|a, b| name(a) == name(b));
        let duplicate_count = len(all.len() - entries.len());
        let mismatch = OnceLock::new();
        let opened = Opened { source, directory, all, entries, duplicate_count, mismatch };
        Ok(ZipStore(Arc::new(opened)))
    }

    /// The file.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.0.source
    }

    /// How many entries have the name of a later entry.
    #[must_use]
    pub fn duplicate_count(&self) -> u64 {
        self.0.duplicate_count
    }

    /// Whether there is a member of a key, which may be one that is not read.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        let Opened { directory, entries, .. } = &*self.0;
        entries.binary_search_by(|at| name_at(directory, *at).cmp(key.as_bytes())).is_ok()
    }

    /// The names of the members, sorted, without those of folders.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let Opened { directory, entries, .. } = &*self.0;
        let names = entries.iter().map(|at| name_at(directory, *at));
        names.filter_map(|name| str::from_utf8(name).ok()).filter(|name| !name.ends_with('/'))
    }

    /// Checks that each member has the name of its entry, once, in a file of this machine: where a name is damaged, the
    /// member that has it seems to be absent.
    ///
    /// # Errors
    ///
    /// As [`ZipStore::locate`].
    pub(crate) fn check_names(&self) -> Result<()> {
        if self.0.mismatch.get().is_none() {
            let is_named = |it: &Misnamed| std::ptr::eq(it.fault.rule, &rule::ZIP_NAME);
            let found = self.misnamed(|_| true)?.into_iter().find(is_named);
            let _ = self.0.mismatch.set(found.map(|it| it.entry));
        }
        match self.0.mismatch.get().and_then(Option::as_ref) {
            Some(key) => Err(fault_in(key, broken(&rule::ZIP_NAME, 0, 0))),
            None => Ok(()),
        }
    }

    /// The members whose headers have another name than their entries, of those whose names are asked for; none in a
    /// file on a server. Those whose names are not UTF-8, which are no keys, are given too.
    ///
    /// # Errors
    ///
    /// Returns errors of reading.
    pub(crate) fn misnamed(&self, is_asked: impl Fn(&[u8]) -> bool) -> Result<Vec<Misnamed>> {
        let Opened { source, directory, all, .. } = &*self.0;
        let mut misnamed = Vec::new();
        if source.access().is_remote() {
            return Ok(misnamed);
        }
        let entries = all.iter().filter_map(|at| entry(directory, usize::try_from(*at).ok()?));
        for entry in entries.filter(|it| is_asked(it.name)) {
            let Header { is_whole, name, .. } = self.header(&entry)?;
            let is_named = is_whole && name == entry.name;
            let text = |name| String::from_utf8_lossy(name).into_owned();
            let of_header = if is_whole { &name } else { entry.name };
            let fault = match str::from_utf8(entry.name) {
                _ if !is_named => broken(&rule::ZIP_NAME, 0, 0),
                Err(_) => broken(&rule::KEY, 0, 0),
                Ok(_) => continue,
            };
            misnamed.push(Misnamed { entry: text(entry.name), header: text(of_header), fault });
        }
        Ok(misnamed)
    }

    /// Reads the header of a member, as far as the file has it.
    fn header(&self, entry: &Entry<'_>) -> Result<Header> {
        let source = &self.0.source;
        let wanted = HEADER_LEN.saturating_add(len(entry.name.len()));
        let room = source.len().saturating_sub(entry.header_at);
        let mut bytes = source.read_vec(entry.header_at, wanted.min(room))?;
        let name_len = u16_at(&bytes, 26).unwrap_or(0);
        let extra_len = u16_at(&bytes, 28).unwrap_or(0);
        let is_whole =
            bytes.starts_with(b"PK\x03\x04") && usize::from(name_len) == entry.name.len();
        let name_at = usize::try_from(HEADER_LEN).unwrap_or(usize::MAX).min(bytes.len());
        let name = bytes.split_off(name_at);
        Ok(Header { is_whole, name_len, extra_len, name })
    }

    /// Where the member of a key is.
    ///
    /// # Errors
    ///
    /// Returns `ZR-Z3` when it is not inside the file or its header does not match its entry,
    /// `ZR-Z4` for a method that is not read, and errors of reading.
    pub fn locate(&self, key: &str) -> Result<Option<KeyPlace>> {
        let Opened { source, directory, entries, .. } = &*self.0;
        let name = |at: &u32| name_at(directory, *at);
        let Ok(found) = entries.binary_search_by(|at| name(at).cmp(key.as_bytes())) else {
            return Ok(None);
        };
        let at = entries.get(found).and_then(|at| usize::try_from(*at).ok());
        let Some(entry) = at.and_then(|at| entry(directory, at)) else { return Ok(None) };
        let failed = |fault: Broken| fault_in(key, Broken { at: entry.header_at, ..fault });
        if entry.flags & 1 != 0 || !matches!(entry.method, 0 | 8) {
            return Err(failed(broken(&rule::ZIP_METHOD, entry.method.into(), 0)));
        }
        if entry.method == 0 && entry.len != entry.stored_len {
            return Err(failed(broken(&rule::ZIP_MEMBER, entry.len, entry.stored_len)));
        }
        let file_len = source.len();
        let header_end = entry.header_at.saturating_add(HEADER_LEN);
        if file_len < header_end {
            return Err(failed(broken(&rule::ZIP_MEMBER, header_end, file_len)));
        }
        let Header { is_whole, name_len, extra_len, name } = self.header(&entry)?;
        if !is_whole {
            return Err(failed(broken(&rule::ZIP_MEMBER, name_len.into(), len(entry.name.len()))));
        }
        if name != entry.name {
            return Err(failed(broken(&rule::ZIP_NAME, 0, 0)));
        }
        let start = header_end.saturating_add(u64::from(name_len)).saturating_add(extra_len.into());
        let span = Span::new(start, entry.stored_len).filter(|span| span.end() <= file_len);
        let Some(span) = span else {
            let end = start.saturating_add(entry.stored_len);
            return Err(failed(broken(&rule::ZIP_MEMBER, end, file_len)));
        };
        let inflated_len = (entry.method == 8).then_some(entry.len);
        let (name, part, crc32) = (ObjectName::Zip, Some(span), Some(entry.crc32));
        Ok(Some(KeyPlace { name, part, inflated_len, crc32 }))
    }

    /// Reads all members, and compares each with its CRC-32. `charge` is asked before a deflated member is unpacked to
    /// this many bytes. Calls `report` with each finding.
    ///
    /// # Errors
    ///
    /// Returns errors of reading, and those of `charge`.
    pub fn check_members<E: From<Error>>(
        &self,
        charge: &mut dyn FnMut(u64) -> std::result::Result<(), E>,
        report: &mut dyn FnMut(ZarrFault),
    ) -> std::result::Result<(), E> {
        for key in self.keys() {
            let mut add = |key: String, fault| report(ZarrFault { fault, key, path: None });
            match self.locate(key) {
                Ok(Some(place)) => {
                    charge(place.inflated_len.unwrap_or(0))?;
                    if let Some(fault) = self.check_member(&place)? {
                        add(key.to_owned(), fault);
                    }
                }
                Ok(None) => {}
                Err(Error::Fault { fault, key }) => add(key, fault),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// A longer stored member that can be read in parts is read so, and not compared; on a server one that takes more
    /// than one request.
    #[must_use]
    pub fn compared_max(&self) -> u64 {
        let access = self.0.source.access();
        if access.is_remote() { access.request_len.min(COMPARED_MAX) } else { COMPARED_MAX }
    }

    /// Reads a member; what is wrong with its bytes.
    pub(crate) fn check_member(&self, place: &KeyPlace) -> Result<Option<Broken>> {
        let (Some(span), Some(wanted)) = (place.part, place.crc32) else { return Ok(None) };
        let stored = SpanReader { source: &self.0.source, at: span.start(), end: span.end() };
        let limit = place.inflated_len.map(|len| len.saturating_add(1));
        let mut bytes: Box<dyn Read> = match limit {
            Some(limit) => Box::new(flate2::read::DeflateDecoder::new(stored).take(limit)),
            None => Box::new(stored),
        };
        let (mut crc, mut count) = (flate2::Crc::new(), 0);
        // Of small members there may be very many.
        let room = usize::try_from(limit.unwrap_or(span.len())).unwrap_or(usize::MAX);
        let mut window = vec![0; room.clamp(1, WINDOW_LEN)];
        let cut = loop {
            match bytes.read(&mut window) {
                Ok(0) => break false,
                Ok(read) => {
                    crc.update(window.get(..read).unwrap_or_default());
                    count += len(read);
                }
                Err(error) => match error.downcast::<tet_io::Error>() {
                    Ok(error) => return Err(error.into()),
                    Err(_) => break true,
                },
            }
        };
        let at = |fault: Broken| Some(Broken { at: span.start(), ..fault });
        let wanted_len = place.inflated_len.unwrap_or(span.len());
        if cut || count != wanted_len {
            return Ok(at(broken(&rule::ZIP_MEMBER, count, wanted_len)));
        }
        let found = crc.sum();
        if found == wanted {
            return Ok(None);
        }
        Ok(at(broken(&rule::ZIP_CHECKSUM, found.into(), wanted.into())))
    }

    /// The names directly below a key.
    pub(super) fn list(&self, key: &str, count_max: usize) -> FolderList {
        let Opened { directory, entries, .. } = &*self.0;
        let prefix = if key.is_empty() { String::new() } else { format!("{key}/") };
        let name = |at: &u32| name_at(directory, *at);
        let from = entries.partition_point(|at| name(at) < prefix.as_bytes());
        let names = entries.iter().skip(from).map(name);
        let names = names.take_while(|name| name.starts_with(prefix.as_bytes()));
        super::children(names.filter_map(|name| str::from_utf8(name).ok()), &prefix, count_max)
    }
}

/// Reads the bytes of a span.
struct SpanReader<'a> {
    source: &'a Source,
    at: u64,
    end: u64,
}

impl Read for SpanReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let count = rest.min(out.len());
        let out = out.get_mut(..count).unwrap_or_default();
        self.source.read_exact_at(self.at, out).map_err(io::Error::other)?;
        self.at = self.at.saturating_add(len(count));
        Ok(count)
    }
}

/// The bytes of a deflated member of this length.
pub(super) fn inflate(stored: &[u8], wanted: u64) -> std::result::Result<Vec<u8>, Broken> {
    let mut bytes = Vec::new();
    // One byte more shows a member that is too long.
    let mut inflated = flate2::read::DeflateDecoder::new(stored).take(wanted.saturating_add(1));
    let is_read = inflated.read_to_end(&mut bytes).is_ok();
    if !is_read || len(bytes.len()) != wanted {
        return Err(broken(&rule::ZIP_MEMBER, len(bytes.len()), wanted));
    }
    Ok(bytes)
}

/// The fault of bytes that do not have a CRC-32.
pub(crate) fn crc_fault(wanted: u32, bytes: &[u8]) -> Option<Broken> {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    let found = crc.sum();
    (found != wanted).then(|| broken(&rule::ZIP_CHECKSUM, found.into(), wanted.into()))
}

/// The record at the end of a zip file.
struct End {
    directory: Span,
    entry_count: u64,
}

/// Where the directory is: from the end record, or that of Zip64.
fn find_directory(source: &Source) -> Result<End> {
    let missing = || fault_in("", broken(&rule::ZIP_END, 0, 0));
    let tail_len = source.len().min(len(END_LEN) + u64::from(u16::MAX) + 20);
    let tail_at = source.len() - tail_len;
    let tail = source.read_vec(tail_at, tail_len)?;
    let is_end = |at: &usize| {
        let record = tail.get(*at..).unwrap_or_default();
        let comment = u16_at(record, 20).map(usize::from);
        record.starts_with(b"PK\x05\x06") && comment.is_some_and(|it| END_LEN + it <= record.len())
    };
    let last = tail.len().checked_sub(END_LEN).ok_or_else(missing)?;
    let at = (0..=last).rev().find(is_end).ok_or_else(missing)?;
    let record = tail.get(at..).unwrap_or_default();
    let numbers = (u16_at(record, 10), u32_at(record, 12), u32_at(record, 16));
    let (Some(count), Some(dir_len), Some(dir_at)) = numbers else { return Err(missing()) };
    let locator = at.checked_sub(20).and_then(|at| tail.get(at..));
    let locator = locator.filter(|locator| locator.starts_with(b"PK\x06\x07"));
    let Some(locator) = locator else {
        let directory = Span::new(dir_at.into(), dir_len.into()).ok_or_else(missing)?;
        return Ok(End { directory, entry_count: count.into() });
    };
    let record_at = u64_at(locator, 8).ok_or_else(missing)?;
    if source.len() < record_at.saturating_add(56) {
        return Err(missing());
    }
    let record = source.read_vec(record_at, 56)?;
    let numbers = u64_at(&record, 48).zip(u64_at(&record, 40));
    let span = numbers.and_then(|(start, len)| Span::new(start, len));
    let directory = span.filter(|_| record.starts_with(b"PK\x06\x06")).ok_or_else(missing)?;
    Ok(End { directory, entry_count: u64_at(&record, 32).unwrap_or(0) })
}

/// The entry that begins at a byte of the directory.
fn entry(directory: &[u8], at: usize) -> Option<Entry<'_>> {
    let fixed = directory.get(at..at.checked_add(ENTRY_LEN)?)?;
    if !fixed.starts_with(b"PK\x01\x02") {
        return None;
    }
    let name_len = usize::from(u16_at(fixed, 28)?);
    let extra_len = usize::from(u16_at(fixed, 30)?);
    let comment_len = usize::from(u16_at(fixed, 32)?);
    let name_end = at + ENTRY_LEN + name_len;
    let extra_end = name_end + extra_len;
    let end = extra_end + comment_len;
    let name = directory.get(at + ENTRY_LEN..name_end)?;
    let extra = directory.get(name_end..extra_end)?;
    directory.get(extra_end..end)?;
    let small = [u32_at(fixed, 24)?, u32_at(fixed, 20)?, u32_at(fixed, 42)?];
    let [len, stored_len, header_at] = widened(small, extra)?;
    let (flags, method, crc32) = (u16_at(fixed, 8)?, u16_at(fixed, 10)?, u32_at(fixed, 16)?);
    Some(Entry { name, flags, method, crc32, stored_len, len, header_at, end })
}

/// Numbers of 32 bits; those with all bits set are in the Zip64 field, in this order.
fn widened(small: [u32; 3], extra: &[u8]) -> Option<[u64; 3]> {
    let mut wide = small.map(u64::from);
    if !small.contains(&u32::MAX) {
        return Some(wide);
    }
    let mut rest = extra;
    let mut field = loop {
        let (id, len) = (u16_at(rest, 0)?, usize::from(u16_at(rest, 2)?));
        let body = rest.get(4..4 + len)?;
        if id == 1 {
            break body;
        }
        rest = rest.get(4 + len..)?;
    };
    for (number, small) in wide.iter_mut().zip(small) {
        if small == u32::MAX {
            *number = u64_at(field, 0)?;
            field = field.get(8..)?;
        }
    }
    Some(wide)
}

/// The name of an entry.
fn name_at(directory: &[u8], at: u32) -> &[u8] {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    entry(directory, at).map_or(&[], |entry| entry.name)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
