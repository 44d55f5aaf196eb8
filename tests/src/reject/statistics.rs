//! Rules of the statistics.

use tet_format::Rule;

use crate::accept::square;
use crate::assemble::statistics::{block, bound, unbound};
use crate::case::{Noticed, Reject};

/// The rejected files of these rules.
#[must_use]
pub fn cases() -> Vec<Reject> {
    let good = unbound(&square(), &block(&square()));
    let wrong = |name, rule, at: u64, change: fn(&mut Vec<u8>)| {
        let mut block = block(&square());
        change(&mut block);
        let bad = unbound(&square(), &block);
        let at = bad.marks.spills[0] + at;
        Reject::shape(name, bound(&bad), rule, at, bound(&good)).noticed(Noticed::Verify)
    };
    let (form, record) = (Rule::StatisticsBlock, Rule::StatisticsRecord);
    vec![
        wrong("another magic of statistics", form, 0, |block| block[0] = b't'),
        wrong("statistics of version 2", form, 4, |block| block[4] = 2),
        wrong("statistics of two rows", form, 8, |block| block[8] = 2),
        wrong("statistics without their record", form, 0, |block| block.truncate(16)),
        wrong("a wrong minimum", record, 16, |block| block[16] ^= 1),
        wrong("a wrong maximum", record, 24, |block| block[31] ^= 0x80),
        wrong("a wrong count of NaN", record, 32, |block| block[32] += 1),
        wrong("a wrong count of infinities", record, 40, |block| block[40] += 1),
    ]
}
