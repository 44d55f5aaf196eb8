//! Every bit of every fixture.

use crate::damage::{Tally, each_fixture, judge};

#[test]
fn bitflip() {
    let [bare, sealed] = each_fixture(|fixture| {
        let mut damaged = fixture.witness.bytes.clone();
        let mut tally = Tally::default();
        for bit in 0..damaged.len() * 8 {
            damaged[bit / 8] ^= 1 << (bit % 8);
            tally = tally.with(judge(fixture, &damaged, &|| format!("bit {bit}")));
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
        tally
    });
    println!("with digests {sealed:?}; without {bare:?}");
    assert!(sealed.files > 200_000 && bare.files > 50_000, "{sealed:?} {bare:?}");
    // Raw payloads and attributes are most of what small files are made of.
    assert!(bare.silent * 2 < bare.files, "{bare:?}");
    // With digests there is none: an error, or the same answer.
    assert_eq!((sealed.silent, sealed.missed, sealed.lost), (0, 0, 0), "{sealed:?}");
}
