//! The arrays of an `.npz` archive as datasets, and the CRC-32 of its members.

use std::collections::HashSet;
use std::path::Path;

use tet_format::{ForeignFault, ForeignRule, Span};
use tet_io::Source;
use tet_query::{Catalog, Dataset, Seal, SealDigester, Sealed};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, VerifyOptions};

use super::rule::{self, MEMBER_CRC};
use crate::npy::{self, Header, Place};
use tet_container::is_of_system;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::read::slabs::no_bytes;
use tet_container::read::zip::{Archive, Member, MemberSeal, Members, ZipFault};
use tet_container::{Error, Format, Note, Result};

/// Opens the archive at `path`: a dataset for each array.
pub(crate) fn open(path: &Path, source: Source, options: &OpenOptions) -> Result<Opened> {
    let failed = |member: Option<&Member>, fault| Error::Archive {
        path: path.to_path_buf(),
        member: member.map(|member| member.name.clone()),
        fault,
    };
    let mut archive = Archive::open(&source).map_err(|fault| failed(None, fault))?;
    let members = archive.members().map_err(|fault| failed(None, fault))?;
    // An `.npz` without members is a file of no datasets; another archive is none of arrays.
    let is_npz = path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("npz"));
    if members.arrays.is_empty() && !(is_npz && members.others.is_empty()) {
        let (path, readable) = (path.to_path_buf(), Vec::new());
        return Err(Error::NotArrays { path, members: members.others, readable });
    }
    let options_of_check = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options_of_check);
    check_names(&archive, &members, &mut |found| findings.take(found));
    let others = members.others.into_iter().map(|member| Note::LeftOut { member });
    let mut notes = Vec::from_iter(others);
    let (mut datasets, mut parts, mut field_count) = (Vec::new(), Vec::new(), 0_usize);
    for member in members.arrays {
        let mut open = match archive.member(member.position) {
            Ok(open) => open,
            Err(ZipFault::Read(error)) if is_of_system(&error) => {
                return Err(failed(Some(&member), ZipFault::Read(error)));
            }
            Err(fault) => {
                datasets.push(unopened(&source, member.name, &fault));
                continue;
            }
        };
        let (len, offset, crc) = (open.len, open.offset, open.crc);
        let header =
            Header::read(&mut open).and_then(|header| header.check_len(len).map(|()| header));
        drop(open);
        let place = match offset {
            Some(at) => stored(&source, at, len, crc),
            None => unpacked(&archive, &member, len, options),
        };
        let name = member.name;
        datasets.push(match header {
            Ok(header) => {
                field_count = field_count.saturating_add(header.field_count());
                if npy::FIELDS_MAX < field_count {
                    datasets.push(npy::without_fields(name, &header, place));
                    continue;
                }
                notes.extend(npy::notes(&name, &header));
                let (whole, of_it) = npy::dataset(name, &header, place, options);
                parts.extend(of_it);
                whole
            }
            Err(fault) => npy::unreadable(name, &fault, place),
        });
    }
    let catalog = Catalog::new(source, Format::NPZ.name(), datasets).with_parts(parts);
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, notes, ..Opened::new(Format::NPZ, catalog) })
}

/// Reports names that several arrays or members have.
pub(super) fn check_names(
    archive: &Archive,
    members: &Members,
    found: &mut dyn FnMut(ForeignFound),
) {
    let mut report = |rule: &'static ForeignRule, number, name: &str| {
        let fault = ForeignFault { rule, at: 0, found: 0, wanted: 0 };
        let dataset = Some((number, name.to_owned()));
        found(ForeignFound { fault, field: "directory", len: 0, dataset });
    };
    let mut names = HashSet::new();
    for (member, number) in members.arrays.iter().zip(0_u64..) {
        if !names.insert(member.name.as_str()) {
            report(&rule::NAME_TWICE, number, &member.name);
        }
    }
    let lost: HashSet<&str> = archive.repeated().iter().map(String::as_str).collect();
    for (member, number) in members.arrays.iter().zip(0_u64..) {
        let is_lost = |name: &str| lost.contains(name);
        if is_lost(&member.name) || is_lost(&format!("{}.npy", member.name)) {
            report(&rule::MEMBER_TWICE, number, &member.name);
        }
    }
}

/// A member that has a name and cannot be opened.
fn unopened(source: &Source, name: String, fault: &ZipFault) -> Dataset {
    let why = format!("{name:?} cannot be read: {fault}");
    let cause = match fault {
        ZipFault::Method { .. } | ZipFault::Encrypted => tet_query::Error::Unsupported { why },
        _ => tet_query::Error::Malformed { why },
    };
    Dataset::unreadable(source.clone(), name, cause)
}

/// A compressed member as a `.npy` file that is unpacked when it is first read.
fn unpacked(archive: &Archive, member: &Member, len: u64, options: &OpenOptions) -> Place {
    let source = archive.unpacked(member.position, &member.name, len, options);
    Place { source, at: 0, seal: Some(Sealed::new(CheckedWhenUnpacked)) }
}

/// A checksum that was compared before the first byte could be read.
struct CheckedWhenUnpacked;

impl Seal for CheckedWhenUnpacked {
    fn span(&self) -> Span {
        no_bytes()
    }

    fn digester(&self) -> Box<dyn SealDigester + '_> {
        Box::new(CheckedWhenUnpacked)
    }
}

impl SealDigester for CheckedWhenUnpacked {
    fn update(&mut self, _bytes: &[u8]) {}

    fn fault(self: Box<Self>) -> Option<ForeignFault> {
        None
    }
}

/// A member whose bytes are in the archive as they are.
fn stored(source: &Source, at: u64, len: u64, crc: u32) -> Place {
    let seal =
        Span::new(at, len).map(|span| Sealed::new(MemberSeal { span, crc, rule: &MEMBER_CRC }));
    Place { source: source.clone(), at, seal }
}
