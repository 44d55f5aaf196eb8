//! Publishing on a simulated disk: whatever fails, and whenever the power goes, the target is the
//! old file or the new one, whole; after success it is the new one.
//!
//! States beyond counting are drawn by dice. A failure prints the seed; `SEED=7 cargo test -p
//! tet-tests --test engine -- simfs::` plays it again.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a suite, and what it found")]

use crate::publishing::planted::{BUGS, Bug, Planted};
use crate::publishing::{Outcome, Scene, judge, old_image};
use tet_tests::sim::{Dice, Fault, SimFs};

const SEED_DEFAULT: u64 = 1;

fn seed() -> u64 {
    std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(SEED_DEFAULT)
}

/// Plays a scene with every operation failing in every way, and once without; sums up the states.
fn play(scene: &Scene, bug: Option<Bug>, seed: u64) -> Result<u64, String> {
    let (mut count, mut at) = (0, 0);
    let mut dice = Dice::new(seed);
    count += once(scene, None, bug, &mut dice)?.0;
    loop {
        let mut was_reached = false;
        for fault in Fault::each_at(at) {
            let (states, calls) = once(scene, Some(fault), bug, &mut dice)?;
            count += states;
            was_reached |= at < calls;
        }
        if !was_reached {
            return Ok(count);
        }
        at += 1;
    }
}

/// Plays a scene with one fault; gives the number of states and of calls.
fn once(
    scene: &Scene,
    fault: Option<Fault>,
    bug: Option<Bug>,
    dice: &mut Dice,
) -> Result<(u64, usize), String> {
    let image = old_image(scene.way);
    let fs = SimFs::new(&image, scene.has_unnamed, fault.clone());
    let outcome = match bug {
        None => scene.publish(Box::new(fs.clone()), &fs),
        Some(Bug::Wrapped(wrap)) => scene.publish(Box::new(Planted::new(&fs, wrap)), &fs),
        Some(Bug::Procedure(_, procedure)) => match procedure(&fs) {
            Ok(()) => Outcome::Done,
            Err(_) => Outcome::Unsure,
        },
    };
    let states = judge(scene, &image, &fs, outcome, dice)
        .map_err(|fault_found| format!("{scene:?}, {fault:?}: {fault_found}"))?;
    Ok((states, fs.calls().len()))
}

#[test]
fn every_state_a_power_cut_may_leave_is_the_old_file_or_the_new_one() {
    let seed = seed();
    let mut count = 0;
    for (number, scene) in Scene::all().iter().enumerate() {
        let outcome = play(scene, None, seed.wrapping_add(number as u64));
        count += outcome.unwrap_or_else(|fault| panic!("SEED={seed}: {fault}"));
    }
    println!("SEED={seed}: {count} states");
    assert!(100_000 <= count, "{count} states are too few");
}

#[test]
fn every_planted_bug_is_caught() {
    let seed = seed();
    let mut names = Vec::new();
    for bug in BUGS {
        let found = Scene::all().iter().find_map(|scene| play(scene, Some(bug), seed).err());
        let found = found.unwrap_or_else(|| panic!("SEED={seed}: {bug:?} was not caught"));
        println!("{bug:?} was caught:\n    {found}");
        names.push(bug.name());
    }
    names.dedup();
    assert_eq!(names.len(), BUGS.len());
}

/// The judge is not against everybody: the procedure in one's own words passes.
#[test]
fn the_same_procedure_written_by_hand_passes() {
    let by_hand = Bug::Procedure("none", crate::publishing::planted::by_the_book);
    for scene in Scene::all() {
        let outcome = play(&scene, Some(by_hand), seed());
        outcome.unwrap_or_else(|fault| panic!("{fault}"));
    }
}
