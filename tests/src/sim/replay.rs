//! States that a power cut may leave.
//!
//! The rules are those of a file system that promises no more than it must:
//!
//! ```text
//! bytes   not synced: each 512 of a write may be there, or missing, or be a longer file of zeros
//! names   not synced: each link, rename and unlink may be there or missing, whatever the others
//! failed  bytes whose sync failed: there or missing for ever, whatever is synced later
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Dice, Ino, Op};

/// Content of the folder: names and bytes.
pub type Image = BTreeMap<PathBuf, Vec<u8>>;

/// Bytes that a disk writes as one.
const SECTOR_LEN: usize = 512;

/// States of one moment that are tried one by one; of more, this many at random.
const STATES_MAX: u64 = 48;

/// The disk after some operations of a log.
#[derive(Clone, Debug)]
pub struct Replay {
    names: Names,
    pending_names: Vec<Op>,
    files: Vec<Content>,
}

type Names = BTreeMap<PathBuf, Ino>;

/// The bytes of one file: those that are safe, and those that may come after them.
#[derive(Clone, Debug, Default)]
struct Content {
    durable: Vec<u8>,
    pending: Vec<Piece>,
}

#[derive(Clone, Debug)]
struct Piece {
    offset: usize,
    bytes: Vec<u8>,
    /// Whether its sync failed: no later one makes it durable.
    is_lost: bool,
}

/// Outcomes of a piece.
#[derive(Clone, Copy)]
enum Fate {
    Missing,
    Zeros,
    There,
}

const FATES: [Fate; 3] = [Fate::Missing, Fate::Zeros, Fate::There];

impl Replay {
    /// The disk as it was before the first operation.
    #[must_use]
    pub fn new(image: &Image) -> Self {
        let names = image.keys().cloned().zip(0..).collect();
        let durable = |bytes: &Vec<u8>| Content { durable: bytes.clone(), pending: Vec::new() };
        let files = image.values().map(durable).collect();
        Self { names, pending_names: Vec::new(), files }
    }

    /// Lets one more operation happen.
    pub fn step(&mut self, op: &Op) {
        match op {
            Op::Create(_) => self.files.push(Content::default()),
            Op::Link(..) | Op::Rename(..) | Op::Unlink(_) => self.pending_names.push(op.clone()),
            Op::Write(ino, offset, bytes) => self.files[*ino].write(*offset, bytes),
            Op::Sync(ino) => self.files[*ino].sync(),
            Op::SyncFailed(ino) => {
                self.files[*ino].pending.iter_mut().for_each(|piece| piece.is_lost = true);
            }
            Op::SyncFolder => {
                for op in self.pending_names.drain(..) {
                    rename(&mut self.names, &op);
                }
            }
        }
    }

    /// Content when only the program dies: everything that was done.
    #[must_use]
    pub fn killed(&self) -> Image {
        let mut names = self.names.clone();
        self.pending_names.iter().for_each(|op| rename(&mut names, op));
        self.image(&names, &mut |_| Fate::There)
    }

    /// Calls `see` with what a power cut may leave now, and says how many states that were.
    pub fn states(&self, dice: &mut Dice, see: &mut dyn FnMut(&Image)) -> u64 {
        let mut count = 0;
        // Few names are changed between two syncs, so every subset is tried.
        for subset in 0..1_u64 << self.pending_names.len().min(8) {
            let mut names = self.names.clone();
            let chosen = self.pending_names.iter().enumerate();
            let chosen = chosen.filter(|(bit, _)| *bit > 7 || subset >> bit & 1 == 1);
            chosen.for_each(|(_, op)| rename(&mut names, op));
            let pieces: usize = names.values().map(|&ino| self.files[ino].pending.len()).sum();
            let all = u32::try_from(pieces).ok().and_then(|pieces| 3_u64.checked_pow(pieces));
            match all.filter(|&all| all <= STATES_MAX) {
                Some(all) => {
                    for mut number in 0..all {
                        see(&self.image(&names, &mut |_| digit(&mut number)));
                    }
                    count += all;
                }
                None => count += self.some_states(&names, pieces, dice, see),
            }
        }
        count
    }

    /// The plain ones among too many states, and others at random.
    fn some_states(
        &self,
        names: &Names,
        pieces: usize,
        dice: &mut Dice,
        see: &mut dyn FnMut(&Image),
    ) -> u64 {
        for at in 0..=pieces {
            // All that was written before a moment; all but one piece.
            let before = |piece| if piece < at { Fate::There } else { Fate::Missing };
            see(&self.image(names, &mut { before }));
            let but_one = |piece| if piece == at { Fate::Zeros } else { Fate::There };
            see(&self.image(names, &mut { but_one }));
        }
        for _ in 0..STATES_MAX {
            see(&self.image(names, &mut |_| digit(&mut dice.below(3))));
        }
        2 * (pieces as u64 + 1) + STATES_MAX
    }

    /// The folder under these names; `fate` is asked about each piece of the files that have one.
    fn image(&self, names: &Names, fate: &mut dyn FnMut(usize) -> Fate) -> Image {
        let mut number = 0;
        let mut image = Image::new();
        for (name, &ino) in names {
            let content = &self.files[ino];
            let mut bytes = content.durable.clone();
            for piece in &content.pending {
                match fate(number) {
                    Fate::Missing => {}
                    Fate::Zeros => extend(&mut bytes, piece.offset + piece.bytes.len()),
                    Fate::There => put(&mut bytes, piece.offset, &piece.bytes),
                }
                number += 1;
            }
            image.insert(name.clone(), bytes);
        }
        image
    }
}

impl Content {
    fn write(&mut self, mut offset: usize, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let len = (SECTOR_LEN - offset % SECTOR_LEN).min(bytes.len());
            let (piece, rest) = bytes.split_at(len);
            self.pending.push(Piece { offset, bytes: piece.to_vec(), is_lost: false });
            offset += len;
            bytes = rest;
        }
    }

    fn sync(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        for (at, piece) in pending.iter().enumerate() {
            let end = piece.offset + piece.bytes.len();
            let is_covered = |later: &Piece| {
                !later.is_lost
                    && later.offset <= piece.offset
                    && end <= later.offset + later.bytes.len()
            };
            if !piece.is_lost {
                put(&mut self.durable, piece.offset, &piece.bytes);
            } else if !pending[at..].iter().any(is_covered) {
                self.pending.push(piece.clone());
            }
        }
    }
}

/// The last digit of a number to the base 3, which it loses.
fn digit(number: &mut u64) -> Fate {
    let fate = FATES[usize::try_from(*number % 3).unwrap_or(0)];
    *number /= 3;
    fate
}

fn rename(names: &mut Names, op: &Op) {
    match op {
        Op::Link(name, ino) => {
            names.insert(name.clone(), *ino);
        }
        Op::Rename(from, to, ino) => {
            names.remove::<Path>(from);
            names.insert(to.clone(), *ino);
        }
        Op::Unlink(name) => {
            names.remove::<Path>(name);
        }
        _ => {}
    }
}

fn extend(file: &mut Vec<u8>, len: usize) {
    if file.len() < len {
        file.resize(len, 0);
    }
}

/// Puts bytes into a file, after zeros where it did not reach.
pub(super) fn put(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    extend(file, offset + bytes.len());
    file[offset..offset + bytes.len()].copy_from_slice(bytes);
}
