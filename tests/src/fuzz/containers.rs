//! Containers whose arrays are spans of the file: what is checked, opened and read of any bytes agrees.

use tet_io::Source;

use super::agree::{DatasetLen, agree_of};

/// GGUF files; bytes without a magic get one.
pub fn gguf(bytes: &[u8]) {
    let version = 1 + bytes.first().copied().unwrap_or(0) % 3;
    match bytes {
        [b'G', b'G', b'U', b'F', ..] => agree(bytes),
        bytes => agree(&[b"GGUF", &[version, 0, 0, 0][..], bytes].concat()),
    }
}

/// Checks, opens and reads a file whose arrays have no more bytes than it.
fn agree(file: &[u8]) {
    super::agree::agree(file, DatasetLen::Max(file.len() as u64));
}

/// Tables of text; bytes of formats that have a magic are none.
pub fn csv(bytes: &[u8]) {
    let source = Source::from_named_bytes("table.csv", bytes);
    let format = tet_convert::sniff(&source).expect("bytes in memory are read");
    if format == tet_convert::Format::CSV {
        // An empty field is an element of 8 bytes, and the last one has no end.
        agree_of(source, DatasetLen::Max((bytes.len() as u64).saturating_add(1).saturating_mul(8)));
    }
}

/// Tables of every delimiter and type.
pub(super) fn csv_seeds() -> Vec<Vec<u8>> {
    let rows =
        [["a", "b c", "\"d,;\""], ["1", "-2.5", "x"], ["9223372036854775808", "", "\"y\n\""]];
    let numbers = [["1", "2", "3"], ["4", "nan", "1e-3"], ["-7", "inf", "0.1"]];
    let truths = [["t", "u", "v"], ["true", "False", "NA"], ["false", "TRUE", "NA"]];
    let mut seeds = Vec::new();
    for table in [rows, numbers, truths] {
        for delimiter in [",", ";", "\t", "|", "  "] {
            for (before, end) in [("", "\n"), ("\u{feff}", "\r\n"), ("# x y z\n\n", "\n")] {
                let lines = table.map(|row| row.join(delimiter)).join(end);
                seeds.push(format!("{before}{lines}{end}").into_bytes());
            }
        }
    }
    seeds
}

/// Files of every version, type and order of bytes.
pub(super) fn gguf_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for version in [1, 2, 3] {
        for tag in [0, 1, 2, 24, 26, 28, 30] {
            seeds.extend([false, true].map(|is_big| gguf_seed(version, tag, is_big)));
        }
    }
    seeds
}

/// A key of each kind and two tensors of the shape (2, 32).
fn gguf_seed(version: u32, tag: u32, is_big: bool) -> Vec<u8> {
    let ordered = |mut bytes: Vec<u8>| {
        if is_big {
            bytes.reverse();
        }
        bytes
    };
    let word = |word: u32| ordered(word.to_le_bytes().to_vec());
    let long = |long: u64| ordered(long.to_le_bytes().to_vec());
    let number = |it: u32| if version == 1 { word(it) } else { long(it.into()) };
    let text = |text: &str| {
        let len = u32::try_from(text.len()).expect("a short text");
        [number(len), text.as_bytes().to_vec()].concat()
    };
    let mut out = [b"GGUF".to_vec(), word(version), number(2), number(5)].concat();
    out.extend([text("general.alignment"), word(4), word(8)].concat());
    out.extend([text("name"), word(8), text("seed")].concat());
    out.extend([text("tokens"), word(9), word(8), number(2), text("a"), text("b")].concat());
    out.extend([text("scores"), word(9), word(6), number(2), word(1), word(2)].concat());
    out.extend([text("yes"), word(7), vec![1]].concat());
    for (name, offset) in [("t", 0), ("u", 512)] {
        let axes = [word(2), number(32), number(2)].concat();
        out.extend([text(name), axes, word(tag), long(offset)].concat());
    }
    out.resize(out.len().next_multiple_of(8) + 512, 7);
    out.extend([9; 512]);
    out
}

/// FITS files: units of cards that are separated by line feeds, each followed by a block of data; files that begin
/// as FITS files do are taken as they are.
pub fn fits(bytes: &[u8]) {
    if bytes.starts_with(b"SIMPLE  =") {
        return agree(bytes);
    }
    agree(&fits_file(bytes));
}

/// The file of some cards: a unit ends at an empty line. A line of `=` and hexadecimal digits is its data.
pub(super) fn fits_file(text: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    for cards in text.split(|&byte| byte == b'\n').collect::<Vec<_>>().split(|line| line.is_empty())
    {
        let is_typed = cards.first().is_some_and(|it| it.starts_with(b"XTENSION"));
        match (file.is_empty(), is_typed) {
            (true, _) => card(&mut file, b"SIMPLE  = T"),
            (false, true) => {}
            (false, false) => card(&mut file, b"XTENSION= 'IMAGE'"),
        }
        let (data, cards): (Vec<_>, Vec<_>) =
            cards.iter().copied().partition(|it: &&[u8]| it.starts_with(b"="));
        cards.iter().for_each(|line| card(&mut file, line));
        card(&mut file, b"END");
        file.resize(file.len().next_multiple_of(2880), b' ');
        let data: Vec<u8> = data.iter().flat_map(|line| digits(line)).collect();
        let (len, fill) = if data.is_empty() { (2880, b'7') } else { (data.len(), 0) };
        let end = (file.len() + len).next_multiple_of(2880);
        file.extend(data);
        file.resize(end, fill);
    }
    file
}

/// The bytes of hexadecimal digits.
fn digits(line: &[u8]) -> Vec<u8> {
    let digits: Vec<u32> = line.iter().filter_map(|&it| char::from(it).to_digit(16)).collect();
    let byte = |pair: &[u32; 2]| u8::try_from(pair[0] << 4 | pair[1]).unwrap_or(0);
    digits.as_chunks().0.iter().map(byte).collect()
}

/// A first unit whose data are a block.
const FIRST_UNIT: &str = "BITPIX  = 8\nNAXIS   = 1\nNAXIS1  = 2880";

/// The units of a file of images in tiles, each as cards and data.
fn tile_seeds() -> Vec<Vec<u8>> {
    const FILE: &[u8] = include_bytes!("../../../crates/tet-convert/tests/data/tiles.fits");
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    let mut is_header = true;
    for block in FILE.chunks(2880) {
        if block.starts_with(b"XTENSION") {
            seeds.push([FIRST_UNIT.as_bytes(), b"\n\n"].concat());
            is_header = true;
        }
        let Some(seed) = seeds.last_mut() else { continue };
        if is_header {
            for card in block.chunks(80).map(<[u8]>::trim_ascii_end).filter(|it| !it.is_empty()) {
                is_header &= card != b"END";
                seed.extend(if is_header { [card, b"\n"].concat() } else { b"=".to_vec() });
            }
        } else {
            let used = block.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            seed.extend(block[..used].iter().flat_map(|byte| format!("{byte:02x}").into_bytes()));
        }
    }
    seeds
}

/// Appends a card.
fn card(file: &mut Vec<u8>, line: &[u8]) {
    let mut card = line.to_vec();
    card.resize(80, b' ');
    file.extend(card);
}

/// The cards of images of every type, and of units that are no images.
pub(super) fn fits_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (bitpix, zero) in [
        (8, "-128"),
        (16, "32768"),
        (32, "0"),
        (64, "9223372036854775808"),
        (-32, "1.5"),
        (-64, "0"),
    ] {
        for more in [
            "BLANK   = 3\nBSCALE  = 0.5\nCONTINUE  'x'",
            "EXTNAME = 'a&'\nCONTINUE  'b'\nEXTVER  = 2\nDATASUM = '12'",
            "HIERARCH a b = (1, 2)\nCOMMENT c\nCHECKSUM= '0123456789abcdef'",
        ] {
            let axes = format!(
                "BITPIX  = {bitpix}\nNAXIS   = 2\nNAXIS1  = 3\nNAXIS2  = 4\nBZERO   = {zero}"
            );
            seeds
                .push(format!("{axes}\n{more}\n\n{axes}\n\nBITPIX  = 8\nNAXIS   = 0").into_bytes());
        }
    }
    for kind in ["'BINTABLE'\nZIMAGE  = T\nZNAXIS  = 1\nZNAXIS1 = 5", "'TABLE'", "'OTHER'"] {
        let axes = "BITPIX  = 8\nNAXIS   = 2\nNAXIS1  = 3\nNAXIS2  = 4\nPCOUNT  = 0\nGCOUNT  = 1";
        seeds.push(format!("{FIRST_UNIT}\n\nXTENSION= {kind}\n{axes}").into_bytes());
    }
    let groups = "NAXIS   = 2\nNAXIS1  = 0\nNAXIS2  = 4\nGROUPS  = T\nPCOUNT  = 2\nGCOUNT  = 3";
    seeds.push(format!("BITPIX  = 16\n{groups}").into_bytes());
    seeds.extend(tile_seeds());
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_of_tiles_are_sound() {
        let seeds = tile_seeds();
        assert_eq!(seeds.len(), 14);
        for seed in seeds {
            let file = Source::from_bytes(fits_file(&seed));
            let report = tet_convert::verify(&file, &tet_verify::VerifyOptions::default()).unwrap();
            assert!(report.is_ok() && report.findings.is_empty(), "{:?}", report.findings);
            let opened =
                tet_convert::open_source(file, &tet_convert::OpenOptions::default()).unwrap();
            assert!(opened.catalog.datasets()[1].chunks.is_chunked());
        }
    }
}
