//! FITS images in tiles: those of astropy, every rule, and every byte changed.

#![allow(clippy::big_endian_bytes, reason = "the numbers of FITS are big-endian")]

use crate::common::fits::{PRIMARY, unit, with};
use crate::common::{codes, deep, elements, fixture, opened, read};
use tet_convert::{OpenOptions, open_source, verify};
use tet_format::DType;
use tet_io::Source;
use tet_query::{AttrText, Axis, AxisSlice, Execution, Hyperslab};
use tet_verify::VerifyOptions;

/// The images of the fixture that have the values of all fixtures: name, type and tile. Those of PLIO have no
/// negative values, and the bytes of unsigned ones.
const KEPT: [(&str, &str, [u64; 2]); 8] = [
    ("RICE_I2", "i2", [2, 3]),
    ("RICE_U4", "u4", [1, 7]),
    ("RICE_U1", "u1", [5, 7]),
    ("GZIP_I8", "i8", [2, 3]),
    ("SHUFFLED_F4", "f4", [4, 9]),
    ("PLAIN_U2", "u2", [1, 4]),
    ("PLIO_I2", "u2", [3, 7]),
    ("HCOMPRESS_I2", "i2", [5, 7]),
];

#[test]
fn tiles_of_every_codec_are_read() {
    let file = opened(&fixture("tiles.fits"));
    assert!(file.findings.is_empty(), "{:?}", file.findings);
    for (name, code, tile) in KEPT {
        let dataset = file.catalog.find(name).unwrap();
        assert_eq!(dataset.grid.chunk_shape().to_vec(), tile, "{name}");
        assert!(dataset.chunks.is_chunked());
        assert_eq!(read(&file, name).bytes(), elements(code, 35), "{name}");
        let slices = [(1, 4), (2, 7)].map(|(start, stop)| {
            let axis = Axis::Kept;
            AxisSlice { start, stop, step: 1, axis }
        });
        let slab = Hyperslab::new(slices.to_vec(), dataset.shape()).unwrap();
        let part = dataset.read(&slab, &Execution::default()).unwrap().value;
        let size = part.bytes().len() / 15;
        let whole = elements(code, 35);
        let rows = (1..4).flat_map(|row| &whole[(row * 7 + 2) * size..(row * 7 + 7) * size]);
        assert_eq!(part.bytes(), rows.copied().collect::<Vec<u8>>(), "{name}");
    }
    let report = verify(file.catalog.source(), &deep()).unwrap();
    assert!(report.is_ok() && report.findings.is_empty());
}

/// The images whose pixels astropy decoded into another file.
const DECODED: [(&str, DType); 6] = [
    ("NEAREST", DType::Float32),
    ("DITHERED", DType::Float32),
    ("ZEROS", DType::Float64),
    ("LOSSY", DType::Int32),
    ("SMOOTHED", DType::Int16),
    ("LOSSY_FLOATS", DType::Float32),
];

/// The values that astropy made of the same bytes, bit for bit.
#[test]
fn decoded_values_are_those_of_astropy() {
    let (file, truth) = (fixture("tiles.fits"), fixture("tiles_decoded.fits"));
    let (file, truth) = (opened(&file), opened(&truth));
    for (name, dtype) in DECODED {
        assert_eq!(file.catalog.find(name).unwrap().dtype, Some(dtype), "{name}");
        assert_eq!(read(&file, name).bytes(), read(&truth, name).bytes(), "{name}");
    }
}

#[test]
fn cards_of_the_table_are_no_attributes() {
    let file = opened(&fixture("tiles.fits"));
    let attrs = &file.catalog.find("DITHERED").unwrap().attrs;
    let names: Vec<&str> = attrs.keys().map(String::as_str).collect();
    assert_eq!(names, ["BUNIT", "EXTNAME", "units"]);
    assert_eq!(attrs["units"], AttrText::Text("adu".to_owned()));
    // The type says it.
    assert!(!file.catalog.find("PLAIN_U2").unwrap().attrs.contains_key("BZERO"));
}

/// A table of two tiles, each of 2 x 2 pixels of 16 bits, of an image of 2 x 3.
const TILES: [&str; 19] = [
    "XTENSION='BINTABLE'",
    "BITPIX=8",
    "NAXIS=2",
    "NAXIS1=8",
    "NAXIS2=2",
    "PCOUNT=12",
    "GCOUNT=1",
    "TFIELDS=1",
    "TTYPE1='COMPRESSED_DATA'",
    "TFORM1='1PB(8)'",
    "ZIMAGE=T",
    "ZBITPIX=16",
    "ZNAXIS=2",
    "ZNAXIS1=3",
    "ZNAXIS2=2",
    "ZTILE1=2",
    "ZTILE2=2",
    "ZCMPTYPE='NOCOMPRESS'",
    "EXTNAME='TILED'",
];

/// The rows of the table, and its heap.
fn data(rows: [[i32; 2]; 2]) -> Vec<u8> {
    let rows = rows.iter().flatten().flat_map(|number| number.to_be_bytes());
    rows.chain([0, 1, 0, 2, 0, 4, 0, 5, 0, 3, 0, 6]).collect()
}

const ROWS: [[i32; 2]; 2] = [[8, 0], [4, 8]];

/// A file of a primary image and these tiles.
fn file(cards: &[&str], data: &[u8]) -> Vec<u8> {
    [unit(&PRIMARY, &[1; 12]), unit(cards, data)].concat()
}

#[test]
fn every_rule_has_a_file_that_breaks_it() {
    let of_card = |card| codes(&file(&with(&TILES, card), &data(ROWS)));
    let of_rows = |rows| codes(&file(&TILES, &data(rows)));
    assert_eq!(of_rows(ROWS), [""; 0]);
    let source = Source::from_bytes(file(&TILES, &data(ROWS)));
    let opened = open_source(source, &OpenOptions::default()).unwrap();
    let wanted: Vec<u8> = (1..=6_i16).flat_map(i16::to_le_bytes).collect();
    assert_eq!(read(&opened, "TILED").bytes(), wanted);
    for card in [
        "ZBITPIX=12",
        "ZTILE2=0",
        "ZTILE1=-2",
        "ZCMPTYPE=3",
        "TFIELDS=1000",
        "TFIELDS=2",
        "TFORM1='B'",
        "TFORM1='1QB'",
        "TFORM1='?'",
        "TTYPE1='OTHER'",
        "THEAP=15",
        "THEAP=29",
        "NAXIS=1",
        "ZSCALE='x'",
    ] {
        assert_eq!(of_card(card).last().map(String::as_str), Some("FITS-C1"), "{card}");
    }
    assert_eq!(of_card("NAXIS2=1")[..], ["FITS-C2"]);
    assert_eq!(of_card("ZNAXIS1=9223372036854775807"), ["FITS-H5"]);
    assert_eq!(of_card("ZNAXIS1=-1"), ["FITS-H4"]);
    for row in [[8, 5], [8, -1], [-8, 0], [i32::MAX, i32::MAX]] {
        assert_eq!(of_rows([row, [4, 8]]), ["FITS-C3"], "{row:?}");
    }
    assert_eq!(of_rows([[8, 0], [0, 8]]), ["FITS-C4"]);
    assert_eq!(of_rows([[7, 0], [4, 8]]), ["FITS-C5"]);
    assert_eq!(of_rows([[3, 0], [3, 8]]), ["FITS-C5", "FITS-C5"]);
    assert_eq!(of_card("ZCMPTYPE='GZIP_1'"), ["FITS-C5", "FITS-C5"]);
}

#[test]
fn tiles_that_are_longer_than_the_memory_limit_are_a_warning() {
    let source = Source::from_bytes(file(&with(&TILES, "ZCMPTYPE='GZIP_1'"), &data(ROWS)));
    let options = VerifyOptions { memory_budget: 7, ..deep() };
    let report = verify(&source, &options).unwrap();
    let codes: Vec<String> = report.findings.iter().map(|it| it.code.to_string()).collect();
    // The other tile has 4 bytes, and is no gzip.
    assert_eq!(codes, ["FITS-L2", "FITS-C5"]);
}

#[test]
fn a_broken_tile_leaves_the_others() {
    let source = Source::from_bytes(file(&TILES, &data([[8, 0], [4, 9]])));
    let opened = open_source(source, &OpenOptions::default()).unwrap();
    let dataset = opened.catalog.find("TILED").unwrap();
    let part = |stop| {
        let slices = [(0, 2), (0, stop)].map(|(start, stop)| {
            let axis = Axis::Kept;
            AxisSlice { start, stop, step: 1, axis }
        });
        let slab = Hyperslab::new(slices.to_vec(), dataset.shape()).unwrap();
        dataset.read(&slab, &Execution::default())
    };
    assert_eq!(part(2).unwrap().value.bytes(), [1, 0, 2, 0, 4, 0, 5, 0]);
    let error = part(3).unwrap_err().to_string();
    assert!(error.contains("FITS-C3") && error.contains("byte 8648"), "{error}");
    assert_eq!(read(&opened, "PRIMARY").bytes(), [1; 12]);
}

#[test]
fn what_is_not_decoded_is_listed_with_its_reason() {
    for (card, word) in [
        ("ZCMPTYPE='OTHER_1'", "OTHER_1"),
        ("ZCMPTYPE='PLIO_1'", "columns of another type"),
        ("ZMASKCMP='RICE_1'", "ZMASKCMP"),
        ("TTYPE1='UNCOMPRESSED_DATA'", "UNCOMPRESSED_DATA"),
        ("NAXIS1=70000", "rows of 70000 bytes"),
    ] {
        let data = [&data(ROWS)[..], &[0; 140_000]].concat();
        let source = Source::from_bytes(file(&with(&TILES, card), &data));
        let opened = open_source(source, &OpenOptions::default()).unwrap();
        let why = opened.catalog.find("TILED").unwrap().why().unwrap().to_string();
        assert!(why.contains(word) && why.contains("funpack"), "{card}: {why}");
    }
}

/// A file of the primary unit and one unit of the fixture, and where its data begin.
fn alone(name: &str) -> (Vec<u8>, usize) {
    let path = fixture("tiles.fits");
    let bytes = std::fs::read(&path).expect("the fixture is read");
    let place = |at: u64| usize::try_from(at).expect("a short file");
    let mut out = bytes[..2880].to_vec();
    let mut data = 0;
    for region in opened(&path).regions.iter().filter(|region| region.holds == name) {
        data = out.len();
        out.extend(&bytes[place(region.span.start())..place(region.span.end())]);
    }
    (out, data)
}

/// A file of each image in tiles.
pub(super) fn files() -> Vec<Vec<u8>> {
    let names = KEPT.iter().map(|it| it.0).chain(DECODED.map(|it| it.0));
    names.map(|name| alone(name).0).collect()
}
