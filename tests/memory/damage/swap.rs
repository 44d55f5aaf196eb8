//! Sectors that went to the wrong place, were lost, or were written twice.

use crate::damage::{Tally, each_fixture, judge};

/// Small, so that files of a kilobyte have many.
const SECTOR_LEN: usize = 64;

#[test]
fn swap() {
    let [_, sealed] = each_fixture(|fixture| {
        let sound = &fixture.witness.bytes;
        let mut tally = Tally::default();
        let starts: Vec<usize> = (0..sound.len()).step_by(SECTOR_LEN).collect();
        let sector = |start: usize| start..sound.len().min(start + SECTOR_LEN);
        for &at in &starts {
            let mut lost = sound.clone();
            lost[sector(at)].fill(0);
            tally = tally.with(judge(fixture, &lost, &|| format!("{at} is lost")));
            let mut cut = sound.clone();
            cut[at..].fill(0);
            tally = tally.with(judge(fixture, &cut, &|| format!("all from {at} is lost")));
            for &from in starts.iter().filter(|&&from| from != at) {
                let len = sector(at).len().min(sector(from).len());
                let mut twice = sound.clone();
                twice.copy_within(from..from + len, at);
                tally = tally.with(judge(fixture, &twice, &|| format!("{from} is at {at} too")));
                let mut swapped = twice;
                swapped[from..from + len].copy_from_slice(&sound[at..at + len]);
                tally = tally.with(judge(fixture, &swapped, &|| format!("{from} and {at}")));
            }
        }
        tally
    });
    assert!(sealed.files > 10_000, "{sealed:?}");
}
