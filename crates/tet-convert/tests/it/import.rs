//! Imports of files NumPy made, element for element.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{DTYPES, elements, fixture, imported, imported_as, npy, read, to_tet, watched};
use tet_convert::{
    Attribute, ChunkChoice, ConvertOptions, DimNames, Error, ImportOptions, Note, Origin,
    PayloadCodec, convert,
};
use tet_io::{Kind, Progress};

fn with(change: impl FnOnce(&mut ImportOptions)) -> ImportOptions {
    let mut options = ImportOptions::default();
    change(&mut options);
    options
}

#[test]
fn every_archive_of_numpy_is_converted_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["stored", "deflated", "fortran", "fortran_deflated", "big_endian"];
    let chunk_shapes = [[5, 3, 4], [2, 3, 4], [1, 2, 3], [2, 2, 2], [9, 9, 9], [5, 1, 1]];
    for name in names {
        for chunk_shape in chunk_shapes {
            for codec in [PayloadCodec::Raw, PayloadCodec::Zstd] {
                let options = with(|options| {
                    options.chunks = ChunkChoice::Shape(chunk_shape.to_vec()).into();
                });
                let input = fixture(&format!("{name}.npz"));
                let opened = imported_as(codec, folder.path(), &input, &options).unwrap();
                assert_eq!(opened.catalog.datasets().len(), DTYPES.len());
                for (code, dtype) in DTYPES {
                    let dataset = opened.catalog.find(code).unwrap();
                    assert_eq!(dataset.dtype_name, dtype);
                    assert_eq!(dataset.grid.chunk_shape()[..], chunk_shape);
                    let array = read(&opened, code);
                    assert_eq!(array.shape()[..], [5, 3, 4]);
                    assert_eq!(array.bytes(), elements(code, 60), "{code} of {name}");
                }
            }
        }
    }
}

#[test]
fn single_arrays_are_named_after_their_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, code, shape) in [
        ("version_1", "i4", &[3, 4][..]),
        ("version_2", "i4", &[3, 4]),
        ("version_3", "i4", &[3, 4]),
        ("fortran_big", "f8", &[4, 6]),
        ("rank_8", "u2", &[2, 1, 3, 1, 2, 1, 2, 2]),
    ] {
        let input = fixture(&format!("{name}.npy"));
        let opened = imported(folder.path(), &input, &ImportOptions::default()).unwrap();
        let array = read(&opened, name);
        assert_eq!(array.shape()[..], *shape);
        let count = shape.iter().product::<u64>() as i64;
        assert_eq!(array.bytes(), elements(code, count), "{name}");
    }
    let options = with(|options| options.name = Some("other".to_owned()));
    let opened = imported(folder.path(), &fixture("version_1.npy"), &options).unwrap();
    assert_eq!(opened.catalog.datasets()[0].name, "other");
}

#[test]
fn streamed_archives_and_odd_members_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let options = ImportOptions::default();
    let opened = imported(folder.path(), &fixture("streamed.npz"), &options).unwrap();
    assert_eq!(read(&opened, "a").bytes(), elements("f8", 30));

    let options = with(|options| options.exclude = vec!["text".to_owned()]);
    let output = folder.path().join("mixed.tet");
    let report = to_tet(&fixture("mixed.npz"), &output, &options).unwrap();
    assert_eq!(report.notes, [Note::LeftOut { member: "notes.txt".to_owned() }]);
    let names = report.datasets.iter().map(|dataset| dataset.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["good", "group/b.npy"]);
}

#[test]
fn nan_payloads_and_signs_are_kept() {
    let bits = [
        0x7FC0_0000_u32,
        0x7FA0_0001,
        0xFFC1_2345,
        0x8000_0000,
        0x7F80_0000,
        0xFF80_0000,
        1,
        0x3F80_0000,
    ];
    let wanted = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<_>>();
    let folder = tempfile::tempdir().unwrap();
    for name in ["bits", "bits_big"] {
        for codec in [PayloadCodec::Raw, PayloadCodec::Zstd] {
            let options = ImportOptions::default();
            let input = fixture(&format!("{name}.npy"));
            let opened = imported_as(codec, folder.path(), &input, &options).unwrap();
            assert_eq!(read(&opened, name).bytes(), wanted, "{name}");
        }
    }
}

#[test]
fn a_scalar_becomes_one_element_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("x.tet");
    let report = to_tet(&fixture("scalar.npy"), &output, &ImportOptions::default()).unwrap();
    assert_eq!(report.notes, [Note::Scalar { dataset: "scalar".to_owned() }]);
    let opened = tet_convert::open(&output, &tet_convert::OpenOptions::default()).unwrap();
    let dataset = &opened.catalog.datasets()[0];
    assert_eq!(dataset.shape(), [1]);
    assert_eq!(dataset.attrs["tet:scalar"], tet_query::AttrText::Text("1".to_owned()));
    assert_eq!(read(&opened, "scalar").bytes(), 2.5_f32.to_le_bytes());
}

#[test]
fn what_has_no_place_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for (name, words, kind) in [
        ("object", "object", Kind::Format),
        ("string", "string cannot be written", Kind::Usage),
        ("bytes", "string cannot be written", Kind::Usage),
        ("void16", "bfloat16", Kind::Format),
        ("longdouble", "float128", Kind::Format),
    ] {
        let input = fixture(&format!("refused_{name}.npy"));
        let error = imported(folder.path(), &input, &ImportOptions::default()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(words), "{name}: {text}");
        assert_eq!(error.kind(), kind, "{name}: {text}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}: no litter");
    }
    let deep = imported(folder.path(), &fixture("refused_rank_9.npy"), &ImportOptions::default());
    let deep = deep.unwrap_err();
    assert!(deep.to_string().contains("9 axes") && deep.kind() == Kind::Usage, "{deep}");
    let output = folder.path().join("mixed.tet");
    let report = to_tet(&fixture("mixed.npz"), &output, &ImportOptions::default()).unwrap();
    let notes = report.notes.iter().map(Note::to_string).collect::<Vec<_>>();
    assert!(notes.iter().any(|note| note.starts_with("\"text\": texts")), "{notes:?}");
}

#[test]
fn notes_say_what_was_widened() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("x.tet");
    let options = with(|options| options.include = vec!["b1".to_owned(), "i1".to_owned()]);
    let report = to_tet(&fixture("stored.npz"), &output, &options).unwrap();
    let notes = report.notes.iter().map(Note::to_string).collect::<Vec<_>>();
    assert_eq!(
        notes,
        [
            "\"i1\": int8 is stored as int16; every value is kept",
            "\"b1\": bool is written as its uint8 bits",
        ]
    );
}

#[test]
fn names_dims_and_attributes_land_where_they_are_meant() {
    let folder = tempfile::tempdir().unwrap();
    let attr = |dataset: Option<&str>, key: &str, value: &str| Attribute {
        dataset: dataset.map(str::to_owned),
        key: key.to_owned(),
        value: value.into(),
    };
    let options = with(|options| {
        options.include = vec!["f4".to_owned(), "f8".to_owned()];
        options.dims = vec![DimNames {
            dataset: None,
            names: ["time", "lat", "lon"].map(str::to_owned).to_vec(),
        }];
        options.attrs =
            vec![attr(Some("f8"), "units", "m"), attr(None, "units", "K"), attr(None, "x", "y")];
        options.history = Some(Origin { at: 1_700_000_000 });
    });
    let opened = imported(folder.path(), &fixture("stored.npz"), &options).unwrap();
    let units = |name: &str| opened.catalog.find(name).unwrap().attrs["units"].clone();
    assert_eq!(opened.catalog.find("f4").unwrap().dims, ["time", "lat", "lon"]);
    assert_eq!(units("f4"), tet_query::AttrText::Text("K".to_owned()));
    assert_eq!(units("f8"), tet_query::AttrText::Text("m".to_owned()));
    let history = opened.tet.as_ref().unwrap().history();
    assert_eq!(history.len(), 1);
    assert_eq!((&history[0].op[..], &history[0].source[..]), ("convert", "stored.npz"));
    assert_eq!(history[0].at, "1700000000");
}

#[test]
fn wrong_options_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    let text = |text: &str| vec![text.to_owned()];
    let dims = |dataset: Option<&str>, count: usize| DimNames {
        dataset: dataset.map(str::to_owned),
        names: vec!["d".to_owned(); count],
    };
    for (options, words) in [
        (with(|o| o.include = text("f44")), "did you mean \"f4\"?"),
        (with(|o| o.exclude = text("nothing like it")), "no dataset"),
        (with(|o| o.exclude = DTYPES.map(|d| d.0.to_owned()).to_vec()), "all are excluded"),
        (with(|o| o.chunks = ChunkChoice::Shape(vec![2, 2]).into()), "2 axes"),
        (with(|o| o.chunks = ChunkChoice::Shape(vec![2, 0, 2]).into()), "extent of 0"),
        (with(|o| o.dims = vec![dims(None, 2)]), "3 axes"),
        (with(|o| o.dims = vec![dims(Some("f4"), 4)]), "3 axes"),
        (with(|o| o.dims = vec![dims(Some("f5"), 3)]), "did you mean"),
    ] {
        let error = imported(folder.path(), &fixture("stored.npz"), &options).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.kind(), Kind::Usage, "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no litter");
    }
}

#[test]
fn the_input_and_existing_files_are_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("x.npy");
    std::fs::copy(fixture("version_1.npy"), &input).unwrap();
    let link = folder.path().join("link.tet");
    std::os::unix::fs::symlink(&input, &link).unwrap();
    let before = std::fs::read(&input).unwrap();
    let force = with(|options| options.overwrite = tet_io::Overwrite::Replace);
    for output in [&input, &link] {
        let error = to_tet(&input, output, &force).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{error}");
        assert!(error.to_string().contains("input"), "{error}");
    }
    let taken = folder.path().join("taken.tet");
    std::fs::write(&taken, "mine").unwrap();
    let error = to_tet(&input, &taken, &ImportOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage, "{error}");
    assert_eq!(std::fs::read(&taken).unwrap(), b"mine");
    to_tet(&input, &taken, &force).unwrap();
    assert_eq!(std::fs::read(&input).unwrap(), before);
    assert_eq!(&std::fs::read(&taken).unwrap()[..4], b"TETR");
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("x");
    for (content, words) in [
        (&b""[..], "an empty file"),
        (b"hello", "no known format"),
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    ] {
        std::fs::write(&at, content).unwrap();
        let error = imported(folder.path(), &at, &ImportOptions::default()).unwrap_err();
        assert!(matches!(error, Error::NotReadable { .. }) && error.to_string().contains(words));
        let error = tet_convert::open(&at, &tet_convert::OpenOptions::default()).unwrap_err();
        assert!(matches!(error, Error::NotReadable { .. }) && error.to_string().contains(words));
    }
    let error = imported(folder.path(), folder.path(), &ImportOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Io, "{error}");
}

#[test]
fn large_arrays_go_through_every_way() {
    // 24 MiB: more than a group, so that tiles take positioned reads, and columns a spool.
    let (height, width) = (1024_u32, 3072_u32);
    let row_major = |i: u32| i.wrapping_mul(2_654_435_761);
    let rows = (0..height * width).flat_map(|i| row_major(i).to_le_bytes());
    let rows = rows.collect::<Vec<_>>();
    let columns = (0..width)
        .flat_map(|column| (0..height).map(move |row| row * width + column))
        .flat_map(|i| row_major(i).swap_bytes().to_le_bytes())
        .collect::<Vec<_>>();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("x.npy");
    for (descr, order, elements) in [("<u4", "False", &rows), (">u4", "True", &columns)] {
        std::fs::write(&input, npy(descr, order, "(1024, 3072)", elements)).unwrap();
        for chunk_shape in [vec![100, 3072], vec![1000, 1000], vec![1024, 7]] {
            let (progress, last) = watched();
            let mut options = ConvertOptions::default();
            options.tet =
                with(|options| options.chunks = ChunkChoice::Shape(chunk_shape.clone()).into());
            options.execution.progress = progress;
            let output = folder.path().join("x.tet");
            convert(&input, &output, &options).unwrap();
            assert_eq!(*last.lock().unwrap(), (rows.len() as u64, rows.len() as u64));
            let opened = tet_convert::open(&output, &tet_convert::OpenOptions::default()).unwrap();
            assert!(read(&opened, "x").bytes() == rows, "{order} by {chunk_shape:?}");
            drop(opened);
            std::fs::remove_file(&output).unwrap();
        }
    }
}

#[test]
fn a_canceled_import_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("x.npy"), folder.path().join("x.tet"));
    let elements: Vec<u8> = vec![7; 4 * 1000 * 1000];
    for order in ["False", "True"] {
        std::fs::write(&input, npy("<f4", order, "(1000, 1000)", &elements)).unwrap();
        for after in [0, 1, 500_000, 3_999_999] {
            let cancel = Arc::new(AtomicBool::new(after == 0));
            let mut options = ConvertOptions::default();
            options.tet =
                with(|options| options.chunks = ChunkChoice::Shape(vec![10, 1000]).into());
            let late = Arc::clone(&cancel);
            let progress = Progress::new(move |done, _| {
                late.fetch_or(after <= done, Ordering::Relaxed);
            });
            options.execution.progress = progress.with_cancel(cancel);
            let outcome = convert(&input, &output, &options);
            assert!(matches!(outcome, Err(Error::Canceled)), "{order} after {after}: {outcome:?}");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the input");
        }
    }
}
