//! The members of a zip archive, each with the CRC-32 of its bytes.

use tet_codec::ChecksumKind;
use tet_format::{ForeignRule, Span};
use tet_io::Source;

use super::archive::Archive;
use super::fault::ZipFault;
use crate::error::is_of_system;
use crate::read::opened::path_of;
use crate::{CheckedRegion, StoredChecksum, TakeRegion};
use crate::{Error, Result};

/// Lists all members that are stored as they are or deflated, and can be opened.
///
/// # Errors
/// The archive cannot be read, and what `take` returns.
pub fn checked_members(
    source: &Source,
    rule: &'static ForeignRule,
    take: &mut TakeRegion<'_>,
) -> Result<()> {
    let mut archive = match Archive::open(source) {
        Ok(archive) => archive,
        Err(fault) => return unread(source, fault),
    };
    let names = match archive.names() {
        Ok(names) => names,
        Err(fault) => return unread(source, fault),
    };
    for (name, position) in names.into_iter().zip(0_usize..) {
        let region = match archive.member(position) {
            Ok(member) => {
                let (at, stored_len) = (member.bytes.data_start(), member.bytes.compressed_size());
                let payload = at.and_then(|at| Span::new(at, stored_len));
                let payload = payload.filter(|it| !it.is_empty() && it.end() <= source.len());
                let checksum = match (member.offset, member.crc, member.len) {
                    (Some(_), crc32, _) => StoredChecksum::Sum(ChecksumKind::Crc32, crc32),
                    (None, crc32, len) => StoredChecksum::Deflated { crc32, len },
                };
                payload.map(|payload| CheckedRegion::new(source, payload, checksum, rule, name))
            }
            Err(fault) => {
                unread(source, fault)?;
                None
            }
        };
        region.map_or(Ok(()), &mut *take)?;
    }
    Ok(())
}

/// An archive whose members are hidden: nothing is repaired then, unless the system refused to read.
fn unread(source: &Source, fault: ZipFault) -> Result<()> {
    match fault {
        ZipFault::Read(error) if is_of_system(&error) => {
            let (path, fault) = (path_of(source), ZipFault::Read(error));
            Err(Error::Archive { path, member: None, fault })
        }
        _ => Ok(()),
    }
}
