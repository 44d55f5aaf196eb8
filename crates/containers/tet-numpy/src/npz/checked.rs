//! The checked regions of an archive: its members.

use tet_io::Source;

use super::Npz;
use super::rule::MEMBER_CRC;
use tet_container::Result;
use tet_container::read::zip::checked_members;
use tet_container::{Repairer, TakeRegion};

impl Repairer for Npz {
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()> {
        checked_members(source, &MEMBER_CRC, take)
    }
}
