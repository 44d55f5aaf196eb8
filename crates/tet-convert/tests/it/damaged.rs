//! Files of which chunks are damaged, converted with missing values in their place.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::fs::{self, OpenOptions as FileOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tet_convert::{
    Attribute, ChunkChoice, CodecRule, ConvertOptions, DTypeRule, DamageChoice, Error,
    ImportReport, Note, OpenOptions, PayloadCodec, convert, open,
};
use tet_file::AttrValue;
use tet_format::DType;

use super::common::{npy, opened, read};

const ROWS: u64 = 12;
const COLUMNS: u64 = 4;

/// An array of the numbers 0 to 47, as this type, in a file with chunks of three rows.
fn sample(folder: &Path, suffix: &str, descr: &str, fill: Option<&str>) -> PathBuf {
    let count = u16::try_from(ROWS * COLUMNS).unwrap();
    let elements: Vec<u8> = match descr {
        "<f4" => (0..count).flat_map(|it| f32::from(it).to_le_bytes()).collect(),
        _ => (0..count).flat_map(|it| i32::from(it).to_le_bytes()).collect(),
    };
    let input = folder.join("tas.npy");
    fs::write(&input, npy(descr, "False", &format!("({ROWS}, {COLUMNS})"), &elements)).unwrap();
    let output = folder.join(format!("in.{suffix}"));
    let mut options = ConvertOptions::default();
    options.tet.chunks = ChunkChoice::Shape(vec![3, COLUMNS]).into();
    options.tet.dims = vec![tet_convert::DimNames {
        dataset: None,
        names: vec!["time".to_owned(), "x".to_owned()],
    }];
    options.codecs =
        vec![CodecRule { dataset: "tas".to_owned(), codec: Some(PayloadCodec::Zstd), level: None }];
    options.tet.attrs = attribute(fill).into_iter().collect();
    convert(&input, &output, &options).unwrap();
    output
}

fn attribute(fill: Option<&str>) -> Option<Attribute> {
    let value = AttrValue::Json(fill?.to_owned());
    Some(Attribute { dataset: None, key: "_FillValue".to_owned(), value })
}

/// Overwrites the stored bytes of chunks.
fn damage(path: &Path, chunks: &[u64]) {
    let file = open(path, &OpenOptions::default()).unwrap();
    let dataset = file.catalog.find("tas").unwrap();
    let mut places = Vec::new();
    dataset.chunks.locate(chunks, &mut places).unwrap();
    for place in places {
        let object = dataset.object(&place).unwrap();
        let path = object.as_ref().unwrap_or(&dataset.source).path().unwrap().to_path_buf();
        let file = FileOptions::new().write(true).open(path).unwrap();
        let bytes = vec![0xff; usize::try_from(place.stored.len()).unwrap()];
        file.write_all_at(&bytes, place.stored.start()).unwrap();
    }
}

fn salvaged(
    input: &Path,
    output: &Path,
    options: ConvertOptions,
) -> tet_convert::Result<ImportReport> {
    let mut options = options;
    options.damage = DamageChoice::Missing;
    options.tet.overwrite = tet_io::Overwrite::Replace;
    convert(input, output, &options)
}

fn floats(path: &Path) -> Vec<f32> {
    read(&opened(path), "tas").as_slice::<f32>().unwrap().to_vec()
}

fn texts(report: &ImportReport) -> Vec<String> {
    let damaged = report.notes.iter().filter(|it| matches!(it, Note::Damaged { .. }));
    damaged.map(ToString::to_string).collect()
}

#[test]
fn damaged_chunks_are_missing_values_in_every_container() {
    for suffix in ["tet", "h5", "nc", "zarr", "tets"] {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) =
            (sample(folder.path(), suffix, "<f4", None), folder.path().join("out.npz"));
        damage(&input, &[1, 2]);
        assert!(convert(&input, &output, &ConvertOptions::default()).is_err(), "{suffix}");
        let report = salvaged(&input, &output, ConvertOptions::default()).unwrap();
        let [note] = &texts(&report)[..] else { panic!("{suffix}: {:?}", report.notes) };
        assert!(note.starts_with("\"tas\": time 3..8 cannot be read ("), "{suffix}: {note}");
        let wanted = "6 of 12 along time, 24 of 48 elements, are missing values (NaN)";
        assert!(note.ends_with(wanted), "{suffix}: {note}");
        for (at, value) in (0_u16..).zip(floats(&output)) {
            let is_lost = (12..36).contains(&at);
            let is_right = if is_lost { value.is_nan() } else { value == f32::from(at) };
            assert!(is_right, "{suffix}, element {at}: {value}");
        }
    }
}

#[test]
fn a_sound_file_is_converted_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (sample(folder.path(), "h5", "<i4", None), folder.path().join("out.npz"));
    let report = salvaged(&input, &output, ConvertOptions::default()).unwrap();
    assert_eq!(texts(&report), [""; 0]);
    assert_eq!(read(&opened(&output), "tas").as_slice::<i32>().unwrap()[47], 47);
}

#[test]
fn the_missing_value_is_that_of_the_dataset() {
    let folder = tempfile::tempdir().unwrap();
    for (descr, fill) in [("<f4", "-1.5"), ("<i4", "-9")] {
        let input = sample(folder.path(), "nc", descr, Some(fill));
        damage(&input, &[3]);
        let output = folder.path().join("out.nc");
        let report = salvaged(&input, &output, ConvertOptions::default()).unwrap();
        let note = texts(&report).concat();
        assert!(note.ends_with(&format!("are missing values (_FillValue = {fill})")), "{note}");
        let all = read(&opened(&output), "tas");
        match descr {
            "<f4" => assert_eq!(all.as_slice::<f32>().unwrap()[34..37], [34.0, 35.0, -1.5]),
            _ => assert_eq!(all.as_slice::<i32>().unwrap()[34..37], [34, 35, -9]),
        }
        fs::remove_file(input).unwrap();
    }
}

#[test]
fn integers_without_a_missing_value_are_left_out_with_ways_out() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (sample(folder.path(), "h5", "<i4", None), folder.path().join("out.npz"));
    damage(&input, &[1]);
    let whole = folder.path().join("whole.npy");
    fs::write(&whole, npy("<i4", "False", "(1,)", &[1, 0, 0, 0])).unwrap();
    let mut options = ConvertOptions::default();
    options.damage = DamageChoice::Missing;
    let inputs = [input.clone(), whole];
    let report = tet_convert::convert_merged(&inputs, &output, &options).unwrap();
    let note = texts(&report).concat();
    for part in [
        "\"tas\": time 3..5 cannot be read",
        "int32 without _FillValue has no missing value): left out",
        "--dtype 'tas=float64'",
        "-s 'time#0:3' or -s 'time#6:12'",
    ] {
        assert!(note.contains(part), "{part}: {note}");
    }
    let names: Vec<&str> = report.datasets.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["whole"]);
    let mut options = ConvertOptions::default();
    options.dtypes = vec![DTypeRule { dataset: None, dtype: DType::Float64 }];
    salvaged(&input, &output, options).unwrap();
    let all = read(&opened(&output), "tas");
    let all = all.as_slice::<f64>().unwrap();
    assert!(all[12..24].iter().all(|it| it.is_nan()));
    assert_eq!((all[11], all[24]), (11.0, 24.0));
    let mut options = ConvertOptions::default();
    options.tet.attrs = attribute(Some("-1")).into_iter().collect();
    salvaged(&input, &folder.path().join("out.nc"), options).unwrap();
    let all = read(&opened(&folder.path().join("out.nc")), "tas");
    assert_eq!(all.as_slice::<i32>().unwrap()[11..13], [11, -1]);
    let mut options = ConvertOptions::default();
    options.select = Some("time#6:12".to_owned());
    convert(&input, &folder.path().join("rest.npz"), &options).unwrap();
    let rest = read(&opened(&folder.path().join("rest.npz")), "tas");
    assert_eq!(rest.as_slice::<i32>().unwrap(), (24..48).collect::<Vec<i32>>());
}

#[test]
fn a_selection_without_damage_has_no_note() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (sample(folder.path(), "h5", "<f4", None), folder.path().join("out.npz"));
    damage(&input, &[1]);
    let mut options = ConvertOptions::default();
    options.select = Some("time#0:3".to_owned());
    let report = salvaged(&input, &output, options.clone()).unwrap();
    assert_eq!(texts(&report), [""; 0]);
    options.select = Some("time#2:4".to_owned());
    let report = salvaged(&input, &output, options).unwrap();
    assert_eq!(texts(&report).len(), 1);
    let all = floats(&output);
    assert_eq!(all[..4], [8.0, 9.0, 10.0, 11.0]);
    assert!(all[4..].iter().all(|it| it.is_nan()));
}

#[test]
fn what_cannot_be_read_at_all_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (sample(folder.path(), "h5", "<i4", None), folder.path().join("out.npz"));
    damage(&input, &[0, 1, 2, 3]);
    // Nothing else is in the file.
    let refused = salvaged(&input, &output, ConvertOptions::default()).unwrap_err();
    assert!(matches!(refused, Error::Query(_)), "{refused}");
    let other = sample(folder.path(), "tet", "<i4", None);
    let both = folder.path().join("both.nc");
    let mut options = ConvertOptions::default();
    options.renames = vec![("tas".to_owned(), "sound".to_owned())];
    convert(&other, &folder.path().join("sound.tet"), &options).unwrap();
    let inputs = [input, folder.path().join("sound.tet")];
    options.renames.clear();
    options.damage = DamageChoice::Missing;
    let report = tet_convert::convert_merged(&inputs, &both, &options).unwrap();
    let note = texts(&report).concat();
    assert!(
        note.starts_with("\"tas\" cannot be read (") && note.ends_with("): left out"),
        "{note}"
    );
    let names: Vec<String> = report.datasets.iter().map(|it| it.name.clone()).collect();
    assert_eq!(names, ["sound"]);
}
