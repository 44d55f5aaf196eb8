//! The checked regions of a FITS file: the data of units, by DATASUM, or whole units, by CHECKSUM.

use tet_format::Span;
use tet_io::Source;

use super::unit::{self, Unit};
use super::{Fits, rule};
use tet_container::Result;
use tet_container::{CheckedRegion, Repairer, StoredChecksum, TakeRegion};

impl Repairer for Fits {
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()> {
        let Ok(units) = unit::read(source, &mut |_| {})? else { return Ok(()) };
        let is_whole = |unit: &&Unit| unit.fault.is_none() && unit.padded_end() <= source.len();
        for unit in units.units.iter().filter(is_whole) {
            let (start, data, end) = (unit.header.at, unit.header.end(), unit.padded_end());
            let (range, wanted, rule) = match unit.data_sum() {
                Some(wanted) => (data..end, wanted, &rule::DATA_SUM),
                None if unit.has_check_sum() => (start..end, u32::MAX, &rule::CHECK_SUM),
                None => continue,
            };
            let payload = Span::from_range(range).filter(|it| !it.is_empty());
            let Some(payload) = payload else { continue };
            let checksum = StoredChecksum::WordSum(wanted);
            take(CheckedRegion::new(source, payload, checksum, rule, unit.name.clone()))?;
        }
        Ok(())
    }
}
