//! Finds the flipped bit of a region that does not match its checksum.
//!
//! Checksums of 32 bits are linear: they determine the bit. Of other digests each bit is tried, which takes a time that
//! grows with the square of the length.

use tet_codec::Bit;
use tet_io::Progress;

use super::edit::UnrepairedCause;
use super::limits::{DIGEST_LEN_MAX, SEARCH_WORK_MAX, SUM_LEN_MAX};
use crate::Result;
use crate::container::{CheckedRegion, ChecksumOrder, StoredChecksum};

/// Bytes whose bits are tried between two reports of progress.
const BATCH: usize = 64;

/// A bit of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileBit {
    /// The offset of its byte in the file.
    pub(super) at: u64,
    /// Its number in the byte, from the lowest.
    pub(super) bit: u8,
}

/// A search within the work that is left for a file.
pub(super) struct Search<'a> {
    work_left: u64,
    memory_budget: u64,
    progress: &'a Progress,
}

/// The outcome for a region.
pub(super) enum Searched {
    /// It matches its checksum.
    Sound,
    /// Flipping this bit makes it match.
    Flipped(FileBit),
    /// It does not match, and no bit is proved.
    Unrepaired(UnrepairedCause),
}

impl<'a> Search<'a> {
    pub(super) fn new(memory_budget: u64, progress: &'a Progress) -> Search<'a> {
        Search { work_left: SEARCH_WORK_MAX, memory_budget, progress }
    }

    /// Compares a region with its checksum, and searches for its flipped bit.
    ///
    /// # Errors
    /// The file cannot be read, or the caller canceled.
    pub(super) fn region(&mut self, region: &CheckedRegion) -> Result<Searched> {
        let (payload, checksum) = (region.payload, region.checksum);
        self.progress.advance(0).map_err(tet_verify::Error::from)?;
        if self.memory_budget < checksum.cost(payload.len()) {
            // The check of the file tells whether it matches.
            return Ok(Searched::Unrepaired(UnrepairedCause::Memory));
        }
        let mut bytes = region.file.read_vec(payload.start(), payload.len())?;
        if checksum.is_of(&bytes) {
            return Ok(Searched::Sound);
        }
        let is_linear = matches!(checksum, StoredChecksum::Sum(..) | StoredChecksum::WordSum(_));
        let len_max = if is_linear { SUM_LEN_MAX } else { DIGEST_LEN_MAX };
        let mut bits = self.bits_of_field(region, &bytes)?;
        let of_payload = match checksum.solved(&bytes) {
            _ if len_max < payload.len() && bits.is_empty() => {
                return Ok(Searched::Unrepaired(UnrepairedCause::Long { len_max }));
            }
            Some(solved) => solved,
            // A digest with one wrong bit is proved by the others.
            None if !bits.is_empty() => Vec::new(),
            None => match self.tried(checksum, &mut bytes)? {
                Ok(tried) => Vec::from_iter(tried),
                Err(cause) => return Ok(Searched::Unrepaired(cause)),
            },
        };
        let in_file = |bit: Bit| FileBit {
            at: payload.start().saturating_add(u64::try_from(bit.byte).unwrap_or(u64::MAX)),
            bit: bit.bit,
        };
        bits.extend(of_payload.into_iter().map(in_file));
        Ok(match bits[..] {
            [bit] => Searched::Flipped(bit),
            [] => Searched::Unrepaired(UnrepairedCause::NoBit),
            _ => Searched::Unrepaired(UnrepairedCause::SeveralBits),
        })
    }

    /// The bit of the stored checksum that differs, if it is one.
    fn bits_of_field(&self, region: &CheckedRegion, bytes: &[u8]) -> Result<Vec<FileBit>> {
        let numbers = region.field.zip(region.checksum.numbers(bytes));
        let Some((field, (found, wanted))) = numbers else { return Ok(Vec::new()) };
        let differing = found.iter().zip(&wanted).map(|(found, wanted)| found ^ wanted);
        let differing: Vec<u8> = differing.collect();
        let count: u32 = differing.iter().map(|byte| byte.count_ones()).sum();
        let place = differing.iter().position(|byte| *byte != 0).filter(|_| count == 1);
        let Some(place) = place else { return Ok(Vec::new()) };
        let bit = differing.get(place).map_or(0, |byte| byte.trailing_zeros());
        let place = match field.order {
            ChecksumOrder::Little => place,
            ChecksumOrder::Big => differing.len().saturating_sub(place).saturating_sub(1),
        };
        let at = field.at.saturating_add(u64::try_from(place).unwrap_or(u64::MAX));
        Ok(Vec::from_iter(u8::try_from(bit).ok().map(|bit| FileBit { at, bit })))
    }

    /// The bit that makes bytes match a digest, found by trying each.
    fn tried(
        &mut self,
        checksum: StoredChecksum,
        bytes: &mut [u8],
    ) -> Result<std::result::Result<Option<Bit>, UnrepairedCause>> {
        let cost = checksum.cost(bytes.len() as u64);
        for byte in 0..bytes.len() {
            for bit in 0..8_u8 {
                let Some(left) = self.work_left.checked_sub(cost) else {
                    return Ok(Err(UnrepairedCause::Work));
                };
                self.work_left = left;
                flip(bytes, Bit { byte, bit });
                let is_match = checksum.is_of(bytes);
                flip(bytes, Bit { byte, bit });
                if is_match {
                    return Ok(Ok(Some(Bit { byte, bit })));
                }
            }
            if byte % BATCH == 0 {
                self.progress.advance(0).map_err(tet_verify::Error::from)?;
            }
        }
        Ok(Ok(None))
    }
}

fn flip(bytes: &mut [u8], bit: Bit) {
    if let Some(byte) = bytes.get_mut(bit.byte) {
        *byte ^= 1 << bit.bit;
    }
}
