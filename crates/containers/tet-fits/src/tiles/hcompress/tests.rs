//! A stream of known bits, streams of an encoder that is written here, and streams that are broken.

use super::*;

/// The bytes of bits.
fn bytes(bits: &str) -> Vec<u8> {
    let bits: Vec<char> = bits.chars().filter(|it| !it.is_whitespace()).collect();
    let byte = |bits: &[char]| {
        bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit == '1') << (7 - at))
    };
    bits.chunks(8).map(byte).collect()
}

fn header(rows: i32, columns: i32, scale: i32, sum: i64, planes: [u8; 3]) -> Vec<u8> {
    let numbers = [rows, columns, scale].map(i32::to_be_bytes).concat();
    [&MAGIC[..], &numbers, &sum.to_be_bytes(), &planes].concat()
}

fn pixels(stored: &[u8], count: usize, smoothing: Smoothing) -> Result<Vec<i32>> {
    let decoded = decode(stored, count, smoothing)?;
    Ok(decoded.bytes.as_chunks::<4>().0.iter().map(|it| i32::from_le_bytes(*it)).collect())
}

/// Sums and differences of 2 x 2 pixels: 1 2 / 5 9 has the sum 17, rows 11, columns 5, both 3;
/// the differences of rows and columns are stored as 12 and 6.
#[test]
fn four_pixels_are_those_of_their_sums() {
    let planes = [0, 4, 2];
    // Each quadrant is a coefficient, the highest bit of a block. Differences of rows are a tree of planes, 1100; the
    // code 011 is the first bit alone, 111110 no bit.
    let rows = "1111 011  1111 011  1111 111110  1111 111110";
    // As they are: 0110.
    let columns = "0000 0000  0000 1000  0000 1000  0000 0000";
    let both = "0000 1000  0000 1000";
    let quadrants = [columns, rows, both, "0000"].concat();
    let of = |signs: &str| {
        let stored = [header(2, 2, 0, 17, planes), bytes(&quadrants), bytes(signs)].concat();
        pixels(&stored, 4, Smoothing::None)
    };
    assert_eq!(of("000").unwrap(), [1, 2, 5, 9]);
    // The second column is less than the first, the second row more.
    assert_eq!(of("101").unwrap(), [2, 1, 9, 5]);
    let stored = [header(2, 2, 0, 17, planes), bytes(&quadrants), bytes("000")].concat();
    for len in 0..stored.len() {
        assert!(decode(&stored[..len], 4, Smoothing::None).is_err(), "{len}");
    }
    for count in [0, 3, 5, 8] {
        assert!(decode(&stored, count, Smoothing::None).is_err(), "{count}");
    }
}

/// The streams of an encoder: all planes as they are or as trees, of which every code is used.
fn encoded(pixels: &[i64], rows: usize, columns: usize, is_tree: fn(usize) -> bool) -> Vec<u8> {
    let mut table = pixels.to_vec();
    let (mut high, mut wide) = (rows, columns);
    let count = levels(rows.max(columns));
    for level in 0..count {
        let shift = u32::from(level > 0);
        let before = table.clone();
        let at = |row: usize, column: usize| {
            if row < high && column < wide { before[row * columns + column] } else { 0 }
        };
        let (upper, left) = (high.div_ceil(2), wide.div_ceil(2));
        for row in 0..upper {
            for column in 0..left {
                let (r, c) = (2 * row, 2 * column);
                let [a, b] = [at(r, c), at(r, c + 1)];
                let [c, d] = [at(r + 1, c), at(r + 1, c + 1)];
                let (is_high, is_wide) = (r + 1 < high, 2 * column + 1 < wide);
                let weight = [is_high, is_wide].iter().filter(|it| !**it).count();
                let sum = (a + b + c + d) << weight >> shift;
                table[row * columns + column] =
                    (sum + (2 << level) - i64::from(sum < 0)) & (-4 << level);
                if is_wide {
                    table[row * columns + left + column] =
                        away((b + d - a - c) << usize::from(!is_high) >> shift, 2 << level);
                }
                if is_high {
                    table[(upper + row) * columns + column] =
                        away((c + d - a - b) << usize::from(!is_wide) >> shift, 2 << level);
                }
                if is_high && is_wide {
                    table[(upper + row) * columns + left + column] = (a + d - b - c) >> shift;
                }
            }
        }
        (high, wide) = (upper, left);
    }
    stream(table, rows, columns, is_tree)
}

/// A multiple of a unit, away from zero: the bits below follow from others.
fn away(value: i64, unit: i64) -> i64 {
    value.signum() * (value.abs() + unit - 1) / unit * unit
}

/// The stream of coefficients.
fn stream(mut table: Vec<i64>, rows: usize, columns: usize, is_tree: fn(usize) -> bool) -> Vec<u8> {
    let sum = std::mem::take(&mut table[0]);
    let (upper, left) = (rows.div_ceil(2), columns.div_ceil(2));
    let quadrants = [
        (0, 0..upper, 0..left),
        (1, 0..upper, left..columns),
        (1, upper..rows, 0..left),
        (2, upper..rows, left..columns),
    ];
    let mut planes = [0; 3];
    for (place, rows, wide) in quadrants.clone() {
        for row in rows {
            for column in wide.clone() {
                let value = table[row * columns + column].unsigned_abs();
                planes[place] =
                    planes[place].max(u8::try_from(64 - value.leading_zeros()).unwrap());
            }
        }
    }
    let mut out = String::new();
    for (place, high, wide) in quadrants {
        for plane in (0..usize::from(planes[place])).rev() {
            let bit = |row: usize, column: usize| {
                let is_inside = row < high.len() && column < wide.len();
                let at = (high.start + row) * columns + wide.start + column;
                is_inside && table[at].unsigned_abs() >> plane & 1 == 1
            };
            out.push_str(&plane_bits(&bit, high.len(), wide.len(), is_tree(plane)));
        }
    }
    let signs: String =
        table.iter().filter(|it| **it != 0).map(|it| if *it < 0 { '1' } else { '0' }).collect();
    let (rows, columns) = (i32::try_from(rows).unwrap(), i32::try_from(columns).unwrap());
    out.push_str("0000");
    [header(rows, columns, 0, sum, planes), bytes(&out), bytes(&signs)].concat()
}

/// The bits of a plane.
fn plane_bits(
    bit: &dyn Fn(usize, usize) -> bool,
    rows: usize,
    columns: usize,
    is_tree: bool,
) -> String {
    // Whether there is a bit in a square.
    let any = |level: u32, row: usize, column: usize| {
        let side = 1 << level;
        (0..side).any(|r| (0..side).any(|c| bit(row * side + r, column * side + c)))
    };
    let code = |level: u32, row: usize, column: usize| {
        let bits = [(0, 0), (0, 1), (1, 0), (1, 1)];
        bits.iter().fold(0, |code, (r, c)| {
            code << 1 | usize::from(any(level, 2 * row + r, 2 * column + c))
        })
    };
    let mut out = String::from(if is_tree { "1111" } else { "0000" });
    let count = if is_tree { levels(rows.max(columns)).max(1) } else { 1 };
    for level in (0..count).rev() {
        let mut blocks = Vec::new();
        for row in 0..rows.div_ceil(2 << level) {
            for column in 0..columns.div_ceil(2 << level) {
                blocks.push(code(level, row, column));
            }
        }
        if is_tree && level + 1 < count {
            blocks.retain(|it| *it != 0);
            blocks.reverse();
        }
        for block in blocks {
            out.push_str(&if is_tree { CODES[block].to_owned() } else { format!("{block:04b}") });
        }
    }
    out
}

/// The codes of appendix A of the paper, by the bits that they stand for.
const CODES: [&str; 16] = [
    "111110", "000", "001", "1000", "010", "1001", "11010", "11011", "011", "11100", "1010",
    "11101", "1011", "11110", "111111", "1100",
];

#[test]
fn pixels_of_all_shapes_come_back() {
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(seed >> 33).unwrap()
    };
    let ways: [fn(usize) -> bool; 3] = [|_| false, |_| true, |plane| plane % 2 == 0];
    for rows in 2..9 {
        for columns in [2, 3, 4, 5, 7, 8, 9, 17, 33] {
            for bits in [1, 3, 9, 31] {
                let values: Vec<i64> = (0..rows * columns)
                    .map(|_| random() % (1 << bits) - (1 << (bits - 1)))
                    .collect();
                for way in ways {
                    let stored = encoded(&values, rows, columns, way);
                    let read = pixels(&stored, rows * columns, Smoothing::None);
                    let read: Vec<i64> = read.unwrap().into_iter().map(i64::from).collect();
                    assert_eq!(read, values, "{rows} x {columns} of {bits} bits");
                }
            }
        }
    }
}

#[test]
fn what_is_wrong_is_refused() {
    let sound = |header: Vec<u8>| [header, vec![0]].concat();
    let of = |stored: Vec<u8>, count| {
        decode(&stored, count, Smoothing::Requested).map(|it| it.bytes.len())
    };
    assert_eq!(of(sound(header(4, 4, 0, 0, [0; 3])), 16), Ok(64));
    assert!(of(sound(header(4, 4, 0, 0, [63, 0, 0])), 16).is_err());
    assert!(of(sound(header(-4, -4, 0, 0, [0; 3])), 16).is_err());
    assert!(of(sound(header(1, 16, 0, 0, [0; 3])), 16).is_err());
    assert!(of(sound(header(0, 16, 0, 0, [0; 3])), 0).is_err());
    // The sum of pixels that have more than 32 bits: an error, or the nearest where values were lost anyway.
    let stored = |scale| sound(header(4, 4, scale, i64::MAX / 16, [0; 3]));
    assert!(of(stored(1), 16).is_err());
    assert_eq!(pixels(&stored(2), 16, Smoothing::None).unwrap(), [i32::MAX; 16]);
    let mut other = sound(header(4, 4, 0, 0, [0; 3]));
    other[1] = 0x98;
    assert!(of(other, 16).is_err());
    // No end behind the quadrants; a plane of no form.
    assert!(of([header(4, 4, 0, 0, [0; 3]), vec![0x10]].concat(), 16).is_err());
    assert!(of([header(4, 4, 0, 0, [1, 0, 0]), vec![0x10, 0, 0]].concat(), 16).is_err());
    // Numbers of all bits overflow, and nothing else happens.
    for byte in [0x00, 0x55, 0xaa, 0xff, 0x0f] {
        for planes in [[62; 3], [1, 62, 3]] {
            for scale in [i32::MIN, 0, 7, i32::MAX] {
                let stored = [header(5, 7, scale, i64::MIN, planes), vec![byte; 4000]].concat();
                let _ = of(stored, 35);
            }
        }
    }
}
