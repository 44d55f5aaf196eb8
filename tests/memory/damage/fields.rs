//! Boundary values in every field of every record, and in pairs of fields of one record.

use tet_format::index::{IndexHeader, IndexRow, ROW_LEN};
use tet_format::layout;
use tet_format::superblock::WireSuperblock;
use tet_format::wire::Field;

use crate::damage::{Fixture, Tally, each_fixture, judge};

/// A number of the file: where it starts, and its bytes.
type FieldSpan = (usize, usize);

/// The numbers of superblock, index header, the first row, the first record, and the tail.
fn records(fixture: &Fixture) -> Vec<Vec<FieldSpan>> {
    let bytes = &fixture.witness.bytes;
    let superblock = WireSuperblock::decode(bytes.first_chunk().unwrap());
    let index = superblock.index_offset;
    let row = layout::row_at(index, 0);
    let numbers = |start: u64, fields: &[Field]| -> Vec<FieldSpan> {
        let number = |field: &Field| {
            let start = usize::try_from(start + field.offset).unwrap();
            let width = usize::try_from(field.width).unwrap();
            // The coordinate of a row is eight numbers.
            (start..start + width).step_by(width.min(8)).map(move |at| (at, width.min(8)))
        };
        fields.iter().flat_map(number).collect()
    };
    let end = usize::try_from(index).unwrap();
    let record = (32..end.min(32 + 40)).step_by(4).map(|at| (at, 4)).collect();
    let tail = bytes.len() - 16;
    assert!(row + ROW_LEN <= bytes.len() as u64);
    vec![
        numbers(0, WireSuperblock::FIELDS),
        record,
        numbers(index, IndexHeader::FIELDS),
        numbers(row, IndexRow::FIELDS),
        vec![(tail, 8), (tail + 8, 4), (tail + 12, 4)],
    ]
}

/// Zero, one, the powers of two and their neighbors, the greatest, and neighbors of what is there.
fn values(width: usize, sound: u64, file_len: u64) -> Vec<u64> {
    let bits = u32::try_from(8 * width).unwrap();
    let powers = (0..bits).step_by(3).map(|bit| 1_u64 << bit);
    let mut values: Vec<u64> =
        powers.flat_map(|power| [power - 1, power, power.wrapping_add(1)]).collect();
    let near =
        |it: u64| [it.wrapping_sub(8), it.wrapping_sub(1), it.wrapping_add(1), it.wrapping_add(8)];
    values.extend(near(sound).into_iter().chain(near(file_len)));
    values.extend([u64::MAX, u64::MAX - 7, file_len]);
    let mask = u64::MAX >> (64 - bits);
    values.iter_mut().for_each(|value| *value &= mask);
    values.sort_unstable();
    values.dedup();
    values
}

fn get(bytes: &[u8], (at, width): FieldSpan) -> u64 {
    let mut le = [0; 8];
    le[..width].copy_from_slice(&bytes[at..at + width]);
    u64::from_le_bytes(le)
}

fn put(bytes: &mut [u8], (at, width): FieldSpan, value: u64) {
    bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
}

#[test]
fn fields() {
    let [bare, sealed] = each_fixture(|fixture| {
        let sound = &fixture.witness.bytes;
        let file_len = sound.len() as u64;
        let mut tally = Tally::default();
        for record in records(fixture) {
            for (nth, &first) in record.iter().enumerate() {
                for value in values(first.1, get(sound, first), file_len) {
                    let mut damaged = sound.clone();
                    put(&mut damaged, first, value);
                    if damaged == *sound {
                        continue;
                    }
                    let what = || format!("{value} at {first:?}");
                    tally = tally.with(judge(fixture, &damaged, &what));
                    let second = record[(nth + 1) % record.len()];
                    for other in [0, 1, u64::MAX, get(sound, second).wrapping_add(1)] {
                        put(&mut damaged, second, other);
                        let what = || format!("{value} at {first:?}, {other} at {second:?}");
                        tally = tally.with(judge(fixture, &damaged, &what));
                    }
                }
            }
        }
        tally
    });
    assert!(bare.files > 10_000 && sealed.files > 10_000, "{bare:?} {sealed:?}");
}
