//! The checked regions of an archive: its members.

use tet_io::Source;

use super::Npz;
use super::rule::MEMBER_CRC;
use crate::Result;
use crate::container::{Repairer, TakeRegion};
use crate::read::zip::checked_members;

impl Repairer for Npz {
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()> {
        checked_members(source, &MEMBER_CRC, take)
    }
}
