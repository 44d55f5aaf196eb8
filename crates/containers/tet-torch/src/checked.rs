//! The checked regions of a checkpoint: the members of its archive. Files of before version 1.6 have no checksums.

use tet_io::Source;

use super::Torch;
use super::rule::MEMBER_CRC;
use tet_container::Result;
use tet_container::read::zip::checked_members;
use tet_container::{Repairer, TakeRegion};

impl Repairer for Torch {
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()> {
        checked_members(source, &MEMBER_CRC, take)
    }
}
