//! The checked regions of a checkpoint: the members of its archive. Files of before version 1.6 have no checksums.

use tet_io::Source;

use super::Torch;
use super::rule::MEMBER_CRC;
use crate::Result;
use crate::container::{Repairer, TakeRegion};
use crate::read::zip::checked_members;

impl Repairer for Torch {
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()> {
        checked_members(source, &MEMBER_CRC, take)
    }
}
