//! FITS files: those of astropy, every rule, and every byte changed.

#![allow(clippy::big_endian_bytes, reason = "the numbers of FITS are big-endian")]

use crate::common::fits::{PRIMARY, header, unit, with};
use crate::common::{codes, deep, elements, fixture, opened, read};
use tet_convert::{Format, OpenOptions, ValidRange, decoded, open_source, verify};
use tet_format::{DType, Integrity};
use tet_io::Source;
use tet_query::{AttrText, Execution, Hyperslab};

fn json(dtype: DType, json: &str) -> AttrText {
    AttrText::Numbers { dtype, json: json.to_owned() }
}

fn text(text: &str) -> AttrText {
    AttrText::Text(text.to_owned())
}

#[test]
fn files_of_astropy_are_read() {
    let file = opened(&fixture("units.fits"));
    assert_eq!(file.format, Format::FITS);
    for (code, dtype) in
        crate::common::DTYPES.iter().filter(|(code, _)| !["f2", "b1"].contains(code))
    {
        let name = format!("P_{}", code.to_uppercase());
        let dataset = file.catalog.find(&name).unwrap();
        assert_eq!((dataset.shape(), dataset.dtype_name.as_str()), (&[3, 4][..], *dtype), "{name}");
        assert_eq!(read(&file, &name).bytes(), elements(code, 12), "{name}");
        assert!(!dataset.attrs.contains_key("BZERO"), "{name}");
    }
    let names: Vec<&str> = file.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names[10..], ["SCI", "SCI,2", "SCALED", "WIDE", "BLANKED", "ROWS", "SMALL"]);
    let units = &file.catalog.find("SCI").unwrap().attrs;
    assert_eq!((&units["units"], &units["BUNIT"]), (&text("adu"), &text("adu")));
    let rows = file.catalog.find("ROWS").unwrap();
    assert!(rows.why().unwrap().to_string().contains("a binary table"));
    assert_eq!(file.catalog.find("SMALL").unwrap().shape(), [3, 4]);
    assert_eq!(read(&file, "SMALL").bytes(), elements("i2", 12));
    assert_eq!(file.catalog.find("ROWS").unwrap().shape(), [5]);
    assert!(file.findings.is_empty(), "{:?}", file.findings);
    let report = verify(file.catalog.source(), &deep()).unwrap();
    assert!(report.is_ok() && report.findings.is_empty());
    assert_eq!(report.integrity, Integrity::Verified);
    let cube = opened(&fixture("cube.fits"));
    assert_eq!(cube.catalog.datasets()[0].shape(), [2, 3, 4]);
    assert_eq!(read(&cube, "PRIMARY").bytes(), elements("f4", 24));
}

#[test]
fn cards_are_attributes_with_their_types() {
    let file = opened(&fixture("units.fits"));
    let attrs = file.catalog.attrs();
    assert_eq!(attrs["TELESCOP"], text("a telescope"));
    let long = "a text that is longer than one card, ".repeat(3);
    assert_eq!(attrs["LONG"], text(long.trim_end()));
    assert_eq!(attrs["ESO TEL ALT"], json(DType::Float64, "45.5"));
    assert_eq!(attrs["QUOTED"], text("O'HARA"));
    assert_eq!(attrs["COUNT"], json(DType::Int64, "4611686018427387905"));
    assert_eq!(attrs["DONE"], AttrText::Json("true".to_owned()));
    assert_eq!(attrs["PAIR"], json(DType::Float64, "[1.5,-2.0]"));
    assert_eq!(attrs["NOTHING"], AttrText::Json("null".to_owned()));
    assert_eq!(attrs["COMMENT"], text("one line\nanother line"));
    assert_eq!(attrs["HISTORY"], text("made by a script"));
    assert!(!attrs.contains_key("NAXIS") && !attrs.contains_key("CHECKSUM"));
}

/// The values that astropy computes: in float32 for images of 16 bits, in float64 for those of 32.
#[test]
fn scales_and_blanks_decode_values() {
    let file = opened(&fixture("units.fits"));
    let stored = elements("i4", 12);
    let stored: Vec<i32> =
        stored.as_chunks::<4>().0.iter().map(|it| i32::from_le_bytes(*it)).collect();
    assert_eq!(read(&file, "SCALED").bytes(), elements("i2", 12));
    let catalog = decoded(file.catalog, ValidRange::Ignored);
    let bytes = |name: &str, dtype: DType| {
        let dataset = catalog.find(name).unwrap();
        assert_eq!(dataset.dtype, Some(dtype), "{name}");
        let slab = Hyperslab::whole(dataset.shape());
        dataset.read(&slab, &Execution::default()).unwrap().value.bytes().to_vec()
    };
    let narrow = stored.iter().flat_map(|it| (*it as f32 * 0.1 + 20.5).to_le_bytes());
    assert_eq!(bytes("SCALED", DType::Float32), narrow.collect::<Vec<u8>>());
    let wide = stored.iter().flat_map(|it| (f64::from(*it) * 0.1 + 20.5).to_le_bytes());
    assert_eq!(bytes("WIDE", DType::Float64), wide.collect::<Vec<u8>>());
    let blank = |it: &i32| if *it == -39 { f64::NAN } else { f64::from(*it) };
    let blanked = stored.iter().flat_map(|it| blank(it).to_le_bytes());
    assert_eq!(bytes("BLANKED", DType::Float64), blanked.collect::<Vec<u8>>());
    assert_eq!(bytes("P_U2", DType::UInt16), elements("u2", 12));
}

const IMAGE: [&str; 8] = [
    "XTENSION='IMAGE   '",
    "BITPIX=-32",
    "NAXIS=1",
    "NAXIS1=2",
    "PCOUNT=0",
    "GCOUNT=1",
    "EXTNAME='E'",
    // The sum of 1.0 and 2.0.
    "DATASUM='2139095040'",
];

pub(super) fn sound() -> Vec<u8> {
    let floats = [1.0_f32, 2.0].map(f32::to_be_bytes).concat();
    [unit(&PRIMARY, &(0..12).collect::<Vec<u8>>()), unit(&IMAGE, &floats)].concat()
}

#[test]
fn every_rule_has_a_file_that_breaks_it() {
    let image = IMAGE;
    let floats = [1.0_f32, 2.0].map(f32::to_be_bytes).concat();
    let primary = unit(&PRIMARY, &[1; 12]);
    let sound = [primary.clone(), unit(&image, &floats)].concat();
    assert_eq!(codes(&sound), [""; 0]);
    let of_image = |card| codes(&[primary.clone(), unit(&with(&image, card), &floats)].concat());
    let of_primary = |card| codes(&unit(&with(&PRIMARY, card), &[1; 12]));
    assert_eq!(codes(&sound[..2000]), ["FITS-H1"]);
    assert_eq!(codes(&sound[..8000]), ["FITS-H1"]);
    assert_eq!(of_primary("SIMPLE=F"), ["FITS-H2"]);
    assert_eq!(of_primary("BITPIX=12"), ["FITS-H3"]);
    assert_eq!(of_image("BITPIX=0"), ["FITS-H3"]);
    assert_eq!(of_primary("NAXIS=1000"), ["FITS-H4"]);
    assert_eq!(of_primary("NAXIS2=-1"), ["FITS-H4"]);
    assert_eq!(of_image("PCOUNT=-1"), ["FITS-H4"]);
    assert_eq!(of_primary("NAXIS1=9223372036854775807"), ["FITS-H5"]);
    assert_eq!(of_primary("NAXIS1=3000"), ["FITS-D1"]);
    // The data that the second unit does not count are where a unit would begin.
    assert_eq!(of_image("GCOUNT=0"), ["FITS-D1", "FITS-H6"]);
    let no_extension = with(&image, "XTENSION=T").join("\n").replace("XTENSION", "XTENSIOM");
    let no_extension: Vec<&str> = no_extension.lines().collect();
    assert_eq!(codes(&[primary.clone(), unit(&no_extension, &floats)].concat()), ["FITS-H6"]);
    assert_eq!(codes(&[&sound[..], &[1; 7]].concat()), ["FITS-H6"]);
    assert_eq!(of_image("DATASUM='1'"), ["FITS-D2"]);
    assert_eq!(of_image("CHECKSUM='AAAAAAAAAAAAAAAA'"), ["FITS-D3"]);
    assert_eq!(of_image("lower=1"), ["FITS-K1"]);
    assert_eq!(of_image("KEY=nan"), ["FITS-K1"]);
    let mut twice = image.to_vec();
    twice.push("EXTNAME='F'");
    assert_eq!(codes(&[primary.clone(), unit(&twice, &floats)].concat()), ["FITS-K2"]);
    assert_eq!(of_primary("BSCALE='1'"), ["FITS-K3"]);
    assert_eq!(of_image("BLANK=3"), ["FITS-K3"]);
    assert_eq!(of_primary("BLANK=3"), [""; 0]);
    assert_eq!(of_image("DATASUM='4294967296'"), ["FITS-K4"]);
    let end = sound.windows(4).position(|it| it == b"END ").unwrap();
    for behind in [end + 10, end + 80] {
        let mut cards_behind_the_end = sound.clone();
        cards_behind_the_end[behind] = b'x';
        assert_eq!(codes(&cards_behind_the_end), ["FITS-K5"]);
    }
    let several = [primary.clone(), unit(&image, &floats), unit(&image, &floats)].concat();
    assert_eq!(codes(&several), ["FITS-N1"]);
    assert_eq!(codes(&sound[..sound.len() - 1]), ["FITS-P1"]);
    assert_eq!(codes(&[&sound[..], &[0; 7]].concat()), ["FITS-P2"]);
}

#[test]
fn headers_of_more_than_64_mib_are_refused() {
    let mut file = header(&PRIMARY);
    file.truncate(5 * 80);
    file.resize(65 << 20, b' ');
    assert_eq!(codes(&file), ["FITS-L1"]);
}

#[test]
fn units_that_are_no_images_are_listed_and_the_next_is_read() {
    let groups = with(&PRIMARY, "NAXIS1=0");
    let groups = [&groups[..], &["GROUPS=T", "PCOUNT=3", "GCOUNT=2"]].concat();
    let foreign = with(&IMAGE, "XTENSION='FOREIGN'");
    let empty = [&IMAGE[..1], &["BITPIX=8", "NAXIS=0"]].concat();
    let floats = [1.0_f32, 1.0].map(f32::to_be_bytes).concat();
    let file = [
        unit(&groups, &[1; 20]),
        unit(&with(&foreign, "DATASUM=''"), &floats),
        unit(&empty, &[]),
        unit(&with(&IMAGE, "DATASUM='2130706432'"), &floats),
    ]
    .concat();
    let opened = open_source(Source::from_bytes(file), &OpenOptions::default()).unwrap();
    let why: Vec<String> = opened
        .catalog
        .datasets()
        .iter()
        .map(|it| it.why().map_or_else(String::new, ToString::to_string))
        .collect();
    for (why, word) in why.iter().zip(["random groups", "\"FOREIGN\"", "NAXIS is 0", ""]) {
        assert!(why.contains(word) && why.is_empty() == word.is_empty(), "{why}");
    }
    let dataset = &opened.catalog.datasets()[3];
    let slab = Hyperslab::whole(dataset.shape());
    let array = dataset.read(&slab, &Execution::default()).unwrap();
    assert_eq!((array.value.len(), array.integrity), (2, Integrity::Verified));
}

#[test]
fn data_that_do_not_have_their_sum_are_not_used() {
    let floats = [1.0_f32, 2.0].map(f32::to_be_bytes).concat();
    let file = [unit(&PRIMARY, &[0; 12]), unit(&with(&IMAGE, "DATASUM='5'"), &floats)].concat();
    let opened = open_source(Source::from_bytes(file), &OpenOptions::default()).unwrap();
    let dataset = opened.catalog.find("E").unwrap();
    let slab = Hyperslab::whole(dataset.shape());
    let error = dataset.read(&slab, &Execution::default()).unwrap_err();
    assert!(error.to_string().contains("FITS-D2"), "{error}");
}
