//! Sound files damaged in every small way there is: what becomes of their answers.
//!
//! ```text
//! bitflip   every bit of every fixture
//! fields    boundary values in every field of every record, and in pairs of one record
//! labels    every bit of coordinates
//! rot       bursts and scattered bits in payloads
//! swap      sectors that went to the wrong place, were lost, or were written twice
//! ```

mod bitflip;
mod fields;
mod labels;
mod rot;
mod swap;

use std::time::{Duration, Instant};

use tet_io::Source;
use tet_query::DigestPolicy;
use tet_tests::assemble::{Dataset, Sheet, Stored};
use tet_tests::values::TYPES;
use tet_tests::witness::{Verdict, Way, Witness};
use tet_verify::{Level, VerifyOptions};

use crate::ALLOCATOR;

/// Payloads as they come without a flag, compared where that costs nothing; and compared whatever
/// it costs, out of a map. Without digests the two are one.
const WAYS: [Way; 2] = [
    Way { viewed: false, digests: DigestPolicy::Auto },
    Way { viewed: true, digests: DigestPolicy::Always },
];

/// Bytes that all that is asked of two damaged files at once may hold.
const HELD_MAX: usize = 48 << 20;
/// Longest time of all queries of one file, on a machine that does other things too.
const TIME_MAX: Duration = Duration::from_secs(5);

/// A sound file and whether it has digests.
struct Fixture {
    name: String,
    sealed: bool,
    witness: Witness,
}

/// Forty small files: every element type, raw and zstd, with digests and without.
fn fixtures() -> Vec<Fixture> {
    let mut fixtures = Vec::new();
    for (nth, (tag, name, element_len)) in TYPES.into_iter().enumerate() {
        for stored in [Stored::Raw, Stored::Frame] {
            for sealed in [true, false] {
                let label = format!("{name} {stored:?} {}", if sealed { "sealed" } else { "bare" });
                let dataset = Dataset::new("a", tag, element_len, SHAPES[nth % 4]);
                let dataset = dataset.chunked(CHUNKS[nth % 4]).stored(stored);
                let sheet = footed(Sheet::new(&[dataset]), nth / 4);
                let sheet = if sealed { sheet.sealed() } else { sheet };
                let witness = Witness::new(&sheet.assemble().bytes);
                fixtures.push(Fixture { name: label, sealed, witness });
            }
        }
    }
    fixtures
}

const SHAPES: [&[u64]; 4] = [&[5], &[3, 2], &[1, 1], &[2, 1, 1, 2, 1, 1, 1, 1]];
const CHUNKS: [&[u64]; 4] = [&[2], &[2, 2], &[1, 1], &[1, 1, 1, 2, 1, 1, 1, 1]];

/// The sheet with one of three footers.
fn footed(sheet: Sheet, kind: usize) -> Sheet {
    let spill: &[u8] = br#"{"file":{"title":"far"},"datasets":{}}"#;
    match kind {
        0 => sheet.footer("{}"),
        1 => {
            sheet.footer(r#"{"metadata":{"file":{"t":"x"},"datasets":{"a":{"attrs":{"u":"K"}}}}}"#)
        }
        _ => sheet.footer_of(1, r#"{"metadata_ref":{"offset":@0@,"len":#0#}}"#, &[spill]),
    }
}

/// Counts of outcomes of many damaged files.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    files: u64,
    /// Files of which some answer was wrong, without a word.
    silent: u64,
    /// Wrong answers that were called verified.
    lies: u64,
    /// Files with a wrong answer that a deep look found nothing wrong with.
    missed: u64,
    /// Files with a wrong answer that had digests, and of which it is said that they have none.
    lost: u64,
}

impl Tally {
    fn add(&mut self, verdict: Verdict) {
        self.files += 1;
        self.silent += u64::from(verdict.wrong > 0);
        self.lies += verdict.wrong_verified;
    }

    fn with(self, other: Tally) -> Tally {
        Tally {
            files: self.files + other.files,
            silent: self.silent + other.silent,
            lies: self.lies + other.lies,
            missed: self.missed + other.missed,
            lost: self.lost + other.lost,
        }
    }
}

/// Asks a damaged file in every way, with what digests promise: compared always, no wrong answer;
/// otherwise none that is called verified. A file in which a deep look finds no error answers.
fn judge(fixture: &Fixture, damaged: &[u8], what: &dyn Fn() -> String) -> Tally {
    let (start, mut tally) = (Instant::now(), Tally::default());
    let sound = is_sound(damaged);
    let ways = if fixture.sealed { &WAYS[..] } else { &WAYS[..1] };
    for &way in ways {
        let verdict = fixture.witness.judge(damaged, way);
        let place = || format!("{} {} {way:?}: {verdict:?}", fixture.name, what());
        assert_eq!(verdict.wrong_verified, 0, "{}", place());
        if way.digests == DigestPolicy::Always && verdict.protected {
            assert_eq!(verdict.wrong, 0, "{}", place());
        }
        tally.lost += u64::from(fixture.sealed && !verdict.protected && verdict.wrong > 0);
        if sound {
            assert_eq!(verdict.refused, 0, "called sound: {}", place());
            tally.missed += u64::from(verdict.wrong > 0);
        }
        tally.add(verdict);
    }
    assert!(start.elapsed() < TIME_MAX, "{} {}", fixture.name, what());
    let missed = tally.missed - tally.lost.min(tally.missed);
    assert!(!fixture.sealed || missed == 0, "{} {}", fixture.name, what());
    tally
}

/// Whether a deep look finds no error.
fn is_sound(bytes: &[u8]) -> bool {
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let report = tet_verify::verify(&Source::from_bytes(bytes.to_vec()), &options);
    report.is_ok_and(|report| report.is_ok())
}

/// Works on the fixtures on two threads, within the bound of memory.
fn each_fixture(work: impl Fn(&Fixture) -> Tally + Sync) -> [Tally; 2] {
    let fixtures = fixtures();
    let (left, right) = fixtures.split_at(fixtures.len() / 2);
    let run = |fixtures: &[Fixture]| {
        let mut tallies = [Tally::default(); 2];
        for fixture in fixtures {
            let tally = &mut tallies[usize::from(fixture.sealed)];
            *tally = tally.with(work(fixture));
        }
        tallies
    };
    let _turn = ALLOCATOR.alone();
    let both = || {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| run(right));
            let [bare, sealed] = run(left);
            let [more_bare, more_sealed] = other.join().unwrap();
            [bare.with(more_bare), sealed.with(more_sealed)]
        })
    };
    let (tallies, held) = ALLOCATOR.peak_of(both);
    assert!(held <= HELD_MAX, "{held} bytes are held");
    tallies
}
