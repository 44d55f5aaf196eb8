//! Checks of an `.npz` archive: its directory, the headers of its arrays, and all bytes of each
//! against their CRC-32.

use std::io::{self, Read};

use crc_fast::{CrcAlgorithm, Digest};
use tet_format::{ForeignFault, ForeignRule, usual_decoded_max};
use tet_io::{Progress, Source};
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::catalog::check_names;
use super::rule::{ARCHIVE, MEMBER_CRC, MEMBER_DATA, MISNAMED, NO_ARRAYS, OTHER_MEMBER, SEVERAL};
use crate::npy::check_header;
use tet_container::is_of_system;
use tet_container::read::opened::path_of;
use tet_container::read::zip::{Archive, Member, OpenMember, ZipFault};
use tet_container::{Error, Result};

/// Bytes that are unpacked at once.
const PIECE_LEN: usize = 1 << 18;

/// Checks an archive.
pub(crate) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let file_len = source.len();
    let mut seen =
        ForeignSeen { file_len, integrity: Integrity::Unprotected, ..Default::default() };
    let opened = Archive::open(source)
        .and_then(|mut archive| archive.members().map(|members| (archive, members)));
    let (mut archive, members) = match opened {
        Ok(opened) => opened,
        Err(ZipFault::Read(error)) if is_of_system(&error) => {
            return Err(of_system(source, None, error));
        }
        Err(fault) => {
            let rule = if matches!(fault, ZipFault::Several) { &SEVERAL } else { &ARCHIVE };
            findings.take(finding(rule, 0, 0, 0, None));
            return Ok(findings.report(&seen));
        }
    };
    check_names(&archive, &members, &mut |it| findings.take(it));
    for (other, number) in members.others.iter().zip(0_u64..) {
        findings.take(finding(&OTHER_MEMBER, 0, 0, 0, Some((number, other.clone()))));
    }
    let path = path_of(source);
    let is_npz = path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("npz"));
    if members.arrays.is_empty() && !(is_npz && members.others.is_empty()) {
        findings.take(finding(&NO_ARRAYS, 0, 0, 0, None));
    }
    let count = members.arrays.len() as u64;
    (seen.dataset_count, seen.chunk_count) = (count, count);
    let lens = members.arrays.iter().filter_map(|it| Some(archive.member(it.position).ok()?.len));
    seen.decoded_len = lens.fold(0, u64::saturating_add);
    (seen.stored_len, seen.integrity) = (file_len, Integrity::Unchecked);
    let limit = options.decoded_max.unwrap_or_else(|| usual_decoded_max(file_len));
    if limit < seen.decoded_len {
        let (what, wanted) = ("bytes that the members unpack to", seen.decoded_len);
        return Err(tet_query::Error::Limit { what, wanted, limit }.into());
    }
    let progress = options.progress.begin(seen.decoded_len);
    for (member, index) in members.arrays.iter().zip(0..) {
        let (faults, len) = check(source, &mut archive, member, options.level, &progress)?;
        seen.payload_len = seen.payload_len.saturating_add(len);
        for ForeignFault { rule, at, found: is, wanted } in faults {
            if rule.id == MEMBER_CRC.id {
                seen.integrity = Integrity::Mismatch;
            }
            findings.take(finding(rule, at, is, wanted, Some((index, member.name.clone()))));
        }
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}

/// Checks a member, and counts its compared bytes.
fn check(
    source: &Source,
    archive: &mut Archive,
    member: &Member,
    level: Level,
    progress: &Progress,
) -> Result<(Vec<ForeignFault>, u64)> {
    let broken = |rule, at, found, wanted| ForeignFault { rule, at, found, wanted };
    let open = match archive.member(member.position) {
        Ok(open) => open,
        Err(ZipFault::Read(error)) if is_of_system(&error) => {
            return Err(of_system(source, Some(member), error));
        }
        Err(ZipFault::Misnamed { .. }) => return Ok((vec![broken(&MISNAMED, 0, 0, 0)], 0)),
        Err(_) => return Ok((vec![broken(&ARCHIVE, 0, 0, 0)], 0)),
    };
    let (len, wanted, at) = (open.len, u64::from(open.crc), open.bytes.data_start().unwrap_or(0));
    let mut input = Summed { open, crc: Digest::new(CrcAlgorithm::Crc32IsoHdlc), len: 0 };
    let mut faults = Vec::new();
    let ended = match check_header(&mut input, len, at) {
        Ok(fault) => {
            faults.extend(fault);
            if level == Level::Deep { input.read_to_end(progress)? } else { Ok(()) }
        }
        Err(error) => Err(error),
    };
    match ended {
        Err(error) if is_of_system(&error) => {
            return Err(of_system(source, Some(member), error));
        }
        // The reader compares the CRC-32 behind the last byte.
        Err(_) if input.len < len => faults.push(broken(&MEMBER_DATA, at, input.len, len)),
        _ => {}
    }
    if level != Level::Deep || input.len < len {
        return Ok((faults, 0));
    }
    let found = input.crc.finalize();
    faults.extend((found != wanted).then(|| broken(&MEMBER_CRC, at, found, wanted)));
    Ok((faults, len))
}

/// A member whose bytes are summed up as they are read.
struct Summed<'a> {
    open: OpenMember<'a>,
    crc: Digest,
    len: u64,
}

impl Summed<'_> {
    /// Reads the rest; the inner error is that of the member, the outer one that of a caller who stops.
    fn read_to_end(&mut self, progress: &Progress) -> Result<io::Result<()>> {
        let mut piece = vec![0; PIECE_LEN];
        loop {
            match self.read(&mut piece) {
                Ok(0) => return Ok(Ok(())),
                Ok(len) => progress.advance(len as u64).map_err(tet_verify::Error::from)?,
                Err(error) => return Ok(Err(error)),
            }
        }
    }
}

impl Read for Summed<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.open.read(out)?;
        self.crc.update(out.get(..len).unwrap_or_default());
        self.len = self.len.saturating_add(len as u64);
        Ok(len)
    }
}

/// An error of the system while the archive is read.
fn of_system(source: &Source, member: Option<&Member>, error: io::Error) -> Error {
    Error::Archive {
        path: path_of(source),
        member: member.map(|member| member.name.clone()),
        fault: ZipFault::Read(error),
    }
}

fn finding(
    rule: &'static ForeignRule,
    at: u64,
    found: u64,
    wanted: u64,
    dataset: Option<(u64, String)>,
) -> ForeignFound {
    let fault = ForeignFault { rule, at, found, wanted };
    ForeignFound { fault, field: rule.region, len: 0, dataset }
}
