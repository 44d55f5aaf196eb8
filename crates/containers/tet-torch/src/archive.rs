//! The members of a checkpoint: its pickle, its order of bytes, and its storages.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::sync::Arc;

use tet_format::{ForeignFault, ForeignRule, Span};
use tet_io::Source;
use tet_query::Sealed;

use super::checkpoint::{Checkpoint, Member, PICKLE_LEN_MAX, Stop};
use super::{pickle, rule};
use tet_container::entry::ByteOrder;
use tet_container::is_of_system;
use tet_container::read::opened::OpenOptions;
use tet_container::read::zip::{Archive, MemberSeal, ZipFault};

/// The name of the pickle behind that of the folder.
const PICKLE: &str = "/data.pkl";

impl From<ZipFault> for Stop {
    fn from(fault: ZipFault) -> Self {
        match fault {
            ZipFault::Read(error) if is_of_system(&error) => Stop::Io(error),
            _ => broken(&rule::MEMBER),
        }
    }
}

fn broken(rule: &'static ForeignRule) -> Stop {
    Stop::Fault(ForeignFault { rule, at: 0, found: 0, wanted: 0 })
}

/// Whether a file is a zip archive that has a pickle where checkpoints have it.
pub(super) fn is_checkpoint(source: &Source) -> bool {
    let names = Archive::open(source).and_then(|archive| archive.names());
    names.is_ok_and(|names| folder(&names).is_some())
}

/// The folder of all members.
fn folder(names: &[String]) -> Option<&str> {
    let folders = names.iter().filter_map(|name| name.strip_suffix(PICKLE));
    folders.filter(|name| !name.contains('/')).min()
}

/// Reads all but the storages.
pub(super) fn read(source: &Source, options: &OpenOptions) -> Result<Checkpoint, Stop> {
    let mut archive = Archive::open(source)?;
    archive.check_names()?;
    let names = archive.names()?;
    let folder = folder(&names).ok_or_else(|| broken(&rule::MEMBER))?;
    let positions: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let find = |name: &str| positions.get(format!("{folder}{name}").as_str()).copied();
    let position = find(PICKLE).ok_or_else(|| broken(&rule::MEMBER))?;
    let (bytes, pickle_at) = whole(&mut archive, position, PICKLE_LEN_MAX)?;
    let (pickle, _) = pickle::read(bytes, 0).map_err(|fault| {
        Stop::Fault(ForeignFault { at: pickle_at.saturating_add(fault.at), ..fault })
    })?;
    let order = match find("/byteorder") {
        None => ByteOrder::Little,
        Some(position) => match whole(&mut archive, position, 64)?.0.trim_ascii() {
            b"little" => ByteOrder::Little,
            b"big" => ByteOrder::Big,
            _ => return Err(broken(&rule::BYTE_ORDER)),
        },
    };
    let (mut storages, mut members) = (BTreeMap::new(), Vec::new());
    let prefix = format!("{folder}/data/");
    for (name, position) in names.iter().zip(0..) {
        let member = match archive.member(position).map(|it| (it.len, it.offset, it.crc)) {
            Ok((len, at, crc)) => {
                let unpacked = || archive.unpacked(position, name, len, options);
                let unpacked = at.is_none().then(unpacked);
                let file_len = unpacked.as_ref().unwrap_or(source).len();
                let span = Span::new(at.unwrap_or(0), len).filter(|it| it.end() <= file_len);
                span.map(|span| {
                    let sealed = Sealed::new(MemberSeal { span, crc, rule: &rule::MEMBER_CRC });
                    Member { unpacked, span, sealed: Some(Arc::new(sealed)) }
                })
            }
            Err(ZipFault::Method { .. } | ZipFault::Encrypted) => None,
            Err(fault) => return Err(fault.into()),
        };
        members.extend(member.clone());
        if let Some(key) = name.strip_prefix(&prefix) {
            storages.insert(key.to_owned(), member);
        }
    }
    let prefix = format!("{folder}/constants/");
    let constant_count = names.iter().filter(|name| name.starts_with(&prefix)).count();
    Ok(Checkpoint { pickle, pickle_at, order, storages, constant_count, members })
}

/// All bytes of a member, of at most `len_max` bytes, and its offset.
fn whole(archive: &mut Archive, position: usize, len_max: u64) -> Result<(Vec<u8>, u64), Stop> {
    let member = archive.member(position)?;
    let (len, at) = (member.len, member.offset.unwrap_or(0));
    if len_max < len {
        let rule = if len_max == PICKLE_LEN_MAX { &rule::LIMIT_PICKLE } else { &rule::BYTE_ORDER };
        return Err(Stop::Fault(ForeignFault { rule, at, found: len, wanted: len_max }));
    }
    let mut bytes = Vec::new();
    let read = member.take(len_max).read_to_end(&mut bytes);
    read.map_err(ZipFault::Read).map_err(Stop::from)?;
    Ok((bytes, at))
}
