//! Checksums as a filter: HDF5 filter 3, numcodecs `fletcher32`, `crc32`, `crc32c` and `adler32`, Zarr v3 `crc32c`.

use crate::checksum::{CHECKSUM_LEN, ChecksumKind, ChecksumPlace, Checksummed};
use crate::error::Result;
use crate::numcodecs_pipeline::NumcodecsCodec;
use crate::pipeline::{Room, Stage};
use crate::scratch::resize;

impl Stage for Checksummed {
    fn name(&self) -> &'static str {
        self.kind().name()
    }

    fn checksum(&self) -> Option<Checksummed> {
        Some(*self)
    }

    fn numcodecs(&self) -> Option<NumcodecsCodec> {
        let usual = match self.kind() {
            ChecksumKind::Fletcher32 | ChecksumKind::Crc32c => ChecksumPlace::End,
            ChecksumKind::Crc32 | ChecksumKind::Adler32 => ChecksumPlace::Start,
        };
        (self.place() == usual).then(|| NumcodecsCodec::named(self.kind().name()))
    }

    fn written_len(&self, len: u64) -> Option<u64> {
        len.checked_add(CHECKSUM_LEN as u64)
    }

    fn decoded_max(&self, stored_len: u64) -> u64 {
        stored_len.saturating_sub(CHECKSUM_LEN as u64)
    }

    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> Result<()> {
        let bytes = self.checked(stored)?;
        room.check(self.name(), bytes.len() as u64)?;
        resize(self.name(), out, bytes.len())?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn undo_into(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let bytes = self.checked(stored)?;
        Room::Exact(out.len() as u64).check(self.name(), bytes.len() as u64)?;
        out.copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode;
    use crate::error::Error;

    const ALL: [ChecksumKind; 4] = [
        ChecksumKind::Fletcher32,
        ChecksumKind::Crc32c,
        ChecksumKind::Crc32,
        ChecksumKind::Adler32,
    ];

    #[test]
    fn a_checksum_is_removed_and_a_changed_bit_is_found() {
        for (checksum, place) in
            ALL.iter().flat_map(|it| [(*it, ChecksumPlace::Start), (*it, ChecksumPlace::End)])
        {
            let stage = Checksummed::new(checksum, place);
            for len in [0_usize, 1, 2, 5, 100] {
                let bytes: Vec<u8> = (1..=len).map(|at| at as u8).collect();
                let mut stored = Vec::new();
                encode::checksum(stage, &bytes, &mut stored).unwrap();
                assert_eq!(stage.written_len(len as u64), Some(stored.len() as u64));
                let mut out = vec![0; len];
                stage.undo_into(&stored, &mut out).unwrap();
                assert_eq!(out, bytes);
                for bit in 0..stored.len() * 8 {
                    stored[bit / 8] ^= 1 << (bit % 8);
                    let found = stage.undo(&stored, Room::AtMost(999), &mut out);
                    assert_eq!(found, Err(Error::Checksum { codec: checksum.name() }), "{bit}");
                    stored[bit / 8] ^= 1 << (bit % 8);
                }
            }
            assert!(stage.undo_into(&[0; 3], &mut []).is_err());
        }
    }

    #[test]
    fn fletcher32_of_old_files_has_swapped_halves() {
        let stage = Checksummed::new(ChecksumKind::Fletcher32, ChecksumPlace::End);
        let [a, b, c, d] = ChecksumKind::Fletcher32.compute(b"some bytes").to_le_bytes();
        let stored = [b"some bytes", &[b, a, d, c][..]].concat();
        let mut out = [0; 10];
        stage.undo_into(&stored, &mut out).unwrap();
        assert_eq!(&out, b"some bytes");
    }
}
