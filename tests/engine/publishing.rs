//! A file published on a simulated disk, and the judge of what is left of it.

pub(crate) mod planted;

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use tet_format::Span;
use tet_io::publish::Sync;
use tet_io::vfs::{Entry, Vfs};
use tet_io::{Operation, Overwrite, Publish, Publisher, Source};
use tet_tests::sim::{Dice, Image, Op, Replay, SimFs};

/// The file that is written.
pub(crate) const TARGET: &str = "folder/t.tet";

/// The bytes of the old file: four sectors and a bit.
pub(crate) fn old() -> Vec<u8> {
    (0..2_100_u32).map(|at| (at % 241) as u8 + 1).collect()
}

/// The bytes of the new one: other bytes at every place, and more of them.
pub(crate) fn new() -> Vec<u8> {
    (0..2_900_u32).map(|at| (at % 239) as u8 + 9).collect()
}

/// The folder before anything happens.
pub(crate) fn old_image(way: Way) -> Image {
    let mut image = Image::new();
    if way != Way::Fresh {
        image.insert(TARGET.into(), old());
    }
    image
}

/// Outcomes of a target that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Fresh,
    Replace,
    Edit,
}

/// In which order the bytes come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    AtOnce,
    InPieces,
    /// The head is written last, as in a `.tet` file.
    HeadLast,
    /// The middle is copied from another file.
    Copied,
}

/// One way to publish.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    pub(crate) way: Way,
    pub(crate) has_unnamed: bool,
    sync: Sync,
    order: Order,
}

/// Report of the program about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Failed,
    /// The new file is there, perhaps not durably.
    Unsure,
}

impl Scene {
    /// All of them.
    pub(crate) fn all() -> Vec<Self> {
        let mut scenes = Vec::new();
        for way in [Way::Fresh, Way::Replace, Way::Edit] {
            for has_unnamed in [true, false] {
                for sync in [Sync::Full, Sync::None] {
                    for order in [Order::AtOnce, Order::InPieces, Order::HeadLast, Order::Copied] {
                        scenes.push(Self { way, has_unnamed, sync, order });
                    }
                }
            }
        }
        scenes
    }

    /// Publishes the new file.
    pub(crate) fn publish(&self, vfs: Box<dyn Vfs>, fs: &SimFs) -> Outcome {
        let force = match self.way {
            Way::Fresh => Overwrite::Refuse,
            Way::Replace => Overwrite::Replace,
            Way::Edit => match fs.look(Path::new(TARGET)) {
                Entry::File(stamp) => Overwrite::Edit(stamp),
                _ => Overwrite::Refuse,
            },
        };
        let options = Publish { force, sync: self.sync, ..Publish::default() };
        match self.write(vfs, &options) {
            Ok(()) => Outcome::Done,
            Err(tet_io::Error::Io { operation: Operation::SyncFolder, .. }) => Outcome::Unsure,
            Err(error) => {
                assert!(error.to_string().contains(TARGET), "{error}");
                Outcome::Failed
            }
        }
    }

    fn write(&self, vfs: Box<dyn Vfs>, options: &Publish) -> tet_io::Result<()> {
        const HEAD_LEN: usize = 600;
        let mut out = Publisher::begin_on(vfs, Path::new(TARGET), options)?;
        let new = new();
        let (head, body) = new.split_at(HEAD_LEN);
        let written = match self.order {
            Order::AtOnce => out.write_all(&new),
            Order::InPieces => new.chunks(700).try_for_each(|piece| out.write_all(piece)),
            Order::HeadLast => out
                .seek(SeekFrom::Start(HEAD_LEN as u64))
                .and_then(|_| out.write_all(body))
                .and_then(|()| out.seek(SeekFrom::Start(0)))
                .and_then(|_| out.write_all(head)),
            Order::Copied => {
                let source = Source::from_bytes(new.clone());
                let span = Span::new(HEAD_LEN as u64, 1_500).unwrap();
                out.write_all(head).map_err(|error| out.write_fault(error))?;
                out.copy_from(&source, span)?;
                out.write_all(&new[HEAD_LEN + 1_500..])
            }
        };
        written.map_err(|error| out.write_fault(error))?;
        out.commit()
    }
}

/// Of so many states that a power cut leaves, one is worked on.
const RECOVERY_ONE_IN: u64 = 400;

/// Looks at every state after every operation; says how many there were, or what is wrong.
pub(crate) fn judge(
    scene: &Scene,
    image: &Image,
    fs: &SimFs,
    outcome: Outcome,
    dice: &mut Dice,
) -> Result<u64, String> {
    let (count, left) = look(scene, image, fs, outcome, dice)?;
    let mut all = count;
    for image in &left {
        // After the cut, the same is asked for again; and the power goes again, too.
        let again = Scene { way: Way::Replace, ..*scene };
        let fs = SimFs::new(image, scene.has_unnamed, None);
        let outcome = again.publish(Box::new(fs.clone()), &fs);
        if outcome != Outcome::Done {
            return Err(format!("not written after a power cut: {outcome:?}"));
        }
        all += look(&again, image, &fs, outcome, dice)?.0;
    }
    Ok(all)
}

/// As [`judge`], without working on; gives some of the states too.
fn look(
    scene: &Scene,
    before: &Image,
    fs: &SimFs,
    outcome: Outcome,
    dice: &mut Dice,
) -> Result<(u64, Vec<Image>), String> {
    let log = fs.log();
    let target = Path::new(TARGET);
    let (old, new) = (before.get(target).cloned(), Some(new()));
    let strays_before = strays(before);
    let mut replay = Replay::new(before);
    let (mut count, mut left) = (0, Vec::new());
    for done in 0..=log.len() {
        let is_last = done == log.len();
        let check = |image: &Image, what: &str| {
            let seen = image.get(target);
            let (is_old, is_new) = (seen == old.as_ref(), seen == new.as_ref());
            let is_right = match outcome {
                Outcome::Done if is_last => is_new,
                Outcome::Failed if is_last => is_old,
                _ => is_old || is_new,
            };
            let seen = seen.map(Vec::len);
            let is_clean = strays(image) <= strays_before + 1;
            if is_right && is_clean {
                return Ok(());
            }
            let log: Vec<String> = log[..done].iter().map(brief).collect();
            Err(format!("{what} after [{}], {outcome:?}: {seen:?} bytes", log.join(", ")))
        };
        let killed = replay.killed();
        check(&killed, "killed")?;
        if is_last && fs.calls().last() != Some(&"remove") && strays_before < strays(&killed) {
            return Err(format!("{outcome:?} leaves litter"));
        }
        if scene.sync == Sync::Full {
            let mut fault = None;
            let mut seen_count = count;
            count += replay.states(dice, &mut |image| {
                if fault.is_none() {
                    fault = check(image, "power cut").err();
                }
                seen_count += 1;
                if seen_count % RECOVERY_ONE_IN == 0 {
                    left.push(image.clone());
                }
            });
            fault.map_or(Ok(()), Err)?;
        }
        if let Some(op) = log.get(done) {
            replay.step(op);
        }
    }
    Ok((count, left))
}

/// Names beside the target's; each must say what it is.
fn strays(image: &Image) -> usize {
    let names = image.keys().filter(|name| name.as_path() != Path::new(TARGET));
    names
        .map(|name| {
            let name = name.file_name().unwrap().to_string_lossy();
            assert!(name.starts_with(".t.tet.tet-") && name.ends_with(".tmp"), "{name}");
        })
        .count()
}

fn brief(op: &Op) -> String {
    let name = |path: &Path| {
        if path == Path::new(TARGET) { "target" } else { "hidden" }
    };
    match op {
        Op::Create(_) => "create".to_owned(),
        Op::Link(path, _) => format!("link {}", name(path)),
        Op::Rename(from, to, _) => format!("rename {} {}", name(from), name(to)),
        Op::Unlink(path) => format!("unlink {}", name(path)),
        Op::Write(_, offset, bytes) => format!("write {offset}+{}", bytes.len()),
        Op::Sync(_) => "sync".to_owned(),
        Op::SyncFailed(_) => "failed sync".to_owned(),
        Op::SyncFolder => "sync folder".to_owned(),
    }
}
