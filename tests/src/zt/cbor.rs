//! Items of CBOR (RFC 8949), spelled by hand.

/// A head: the shortest one.
#[must_use]
pub fn head(major: u8, number: u64) -> Vec<u8> {
    let width = match number {
        0..24 => return vec![major << 5 | number.to_le_bytes()[0]],
        24..0x100 => 0,
        0x100..0x1_0000 => 1,
        0x1_0000..0x1_0000_0000 => 2,
        _ => 3,
    };
    head_of(major, number, width)
}

/// A head of `2^width` bytes behind the first, however small the number.
#[must_use]
pub fn head_of(major: u8, number: u64, width: u8) -> Vec<u8> {
    let mut out = vec![major << 5 | (24 + width)];
    out.extend(number.to_le_bytes()[..1 << width].iter().rev());
    out
}

/// An unsigned integer.
#[must_use]
pub fn uint(number: u64) -> Vec<u8> {
    head(0, number)
}

/// Text.
#[must_use]
pub fn text(text: &str) -> Vec<u8> {
    [head(3, text.len() as u64), text.as_bytes().to_vec()].concat()
}

/// A list with its count.
#[must_use]
pub fn array(items: &[Vec<u8>]) -> Vec<u8> {
    [head(4, items.len() as u64), items.concat()].concat()
}

/// A list of unsigned integers.
#[must_use]
pub fn uints(numbers: &[u64]) -> Vec<u8> {
    array(&numbers.iter().map(|number| uint(*number)).collect::<Vec<_>>())
}

/// A map, with its count or with a break at its end.
#[must_use]
pub fn entry(fields: &[(Vec<u8>, Vec<u8>)], counted: bool) -> Vec<u8> {
    let pairs = fields.iter().flat_map(|(key, value)| [&key[..], &value[..]]);
    let pairs = pairs.collect::<Vec<_>>().concat();
    if counted {
        [head(5, fields.len() as u64), pairs].concat()
    } else {
        [vec![0xbf], pairs, vec![0xff]].concat()
    }
}

/// Items of every kind that a custom field may be: as JSON has them, and otherwise.
#[must_use]
pub fn odd_items() -> Vec<Vec<u8>> {
    let float = |first: u8, bits: u64, len: usize| {
        let mut item = vec![first];
        item.extend(bits.to_le_bytes()[..len].iter().rev());
        item
    };
    vec![
        vec![0xf6],
        vec![0xf7],
        vec![0xf5],
        head(1, 499),
        head_of(0, 7, 3),
        head(1, u64::MAX),
        float(0xf9, 0x7e00, 2),
        float(0xfa, f32::MAX.to_bits().into(), 4),
        float(0xfb, std::f64::consts::PI.to_bits(), 8),
        text("text"),
        vec![0x7f, 0x61, b'a', 0x60, 0x61, b'b', 0xff],
        [head(2, 3), vec![0, 255, 7]].concat(),
        vec![0x5f, 0x41, 1, 0x42, 2, 3, 0xff],
        array(&[uint(1), array(&[text("x"), vec![0xf4]])]),
        vec![0x9f, 0x01, 0x80, 0xff],
        entry(&[(text("key"), uint(1)), (uint(7), text("seven"))], true),
        entry(&[(text("open"), vec![0x80])], false),
        [head(6, 42), text("under a tag")].concat(),
        vec![0xf8, 0x20],
        [vec![0x81; 90], vec![0x00]].concat(),
    ]
}
