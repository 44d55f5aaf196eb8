//! Bursts and scattered bits.

use tet_tests::values::Seeded;

use crate::damage::{Tally, each_fixture, judge};

/// Damaged copies of each fixture.
const COPIES: u64 = 1_000;

#[test]
fn rot() {
    let [_, sealed] = each_fixture(|fixture| {
        let mut tally = Tally::default();
        for seed in 0..COPIES {
            let mut seeded = Seeded(seed);
            let mut damaged = fixture.witness.bytes.clone();
            for _ in 0..=seeded.index(3) {
                let start = seeded.index(damaged.len());
                let len = 1 + seeded.index(if seed % 2 == 0 { 4 } else { 64 });
                let end = damaged.len().min(start + len);
                damaged[start..end].iter_mut().for_each(|byte| *byte ^= seeded.bits() as u8);
            }
            tally = tally.with(judge(fixture, &damaged, &|| format!("seed {seed}")));
        }
        tally
    });
    assert!(sealed.files >= 20 * COPIES, "{sealed:?}");
}
