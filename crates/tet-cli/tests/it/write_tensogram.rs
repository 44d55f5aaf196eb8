//! `tet convert` to `.tgm` and back: masks, metadata, provenance, packing, and refused inputs.

use std::fs;
use std::path::Path;

use crate::tgm::{ReadDataset, bits_of, done, held, message, samples};
use tet_cli::Exit;
use tet_format::DType;
use tet_tensogram as tg;

use crate::fixtures::tet_in;

use crate::{fixtures, tgm};

/// Runs a command that must be refused as wrong usage; returns its error.
fn refused(folder: &Path, args: &[&str]) -> String {
    let (exit, _, err) = tet_in(folder, args);
    assert_eq!(exit, Exit::Usage, "{args:?}: {err}");
    let is_left = args.iter().all(|it| !it.starts_with("new.") || !folder.join(it).exists());
    assert!(is_left, "{args:?} leaves a file");
    err
}

/// Elements that masks restore bit for bit are masked; others are stored unmasked, with a note.
#[test]
fn elements_that_are_not_finite_keep_their_bits() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plain = [1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(f32::to_le_bytes).concat();
    let odd = [2.0, f32::from_bits(0xFFC0_0001), 3.0, f32::INFINITY].map(f32::to_le_bytes).concat();
    let recipe = tg::Recipe {
        nan: tg::NonFinite::Kept,
        infinity: tg::NonFinite::Kept,
        ..tg::Recipe::default()
    };
    let object = |name: &str, elements| {
        let encoded = tg::encode(DType::Float32, &[4], elements, &recipe).unwrap();
        (name.to_owned(), encoded, vec![])
    };
    let bytes = message(vec![object("plain", &plain), object("odd", &odd)], &[]);
    fs::write(folder.join("in.tgm"), bytes).unwrap();
    let wanted = held(&folder.join("in.tgm"));
    let masks = |path: &str| -> Vec<usize> {
        tgm::descriptors(&folder.join(path)).iter().map(|it| it.masks().len()).collect()
    };
    let text = done(folder, &["convert", "in.tgm", "a.tgm"]);
    assert!(text.contains("\"odd\": 2 elements that are not finite are stored without masks"));
    assert!(!text.contains("\"plain\""), "{text}");
    assert_eq!((masks("a.tgm"), held(&folder.join("a.tgm"))), (vec![3, 0], wanted.clone()));
    done(folder, &["convert", "in.tgm", "b.tgm", "--masks", "none"]);
    assert_eq!((masks("b.tgm"), held(&folder.join("b.tgm"))), (vec![0, 0], wanted.clone()));
    let text = done(folder, &["convert", "in.tgm", "c.tgm", "--masks", "all", "--json"]);
    assert!(text.contains("\\\"odd\\\": 1 elements under masks become plain NaN"), "{text}");
    assert_eq!(masks("c.tgm"), [3, 2]);
    let changed = &held(&folder.join("c.tgm"))[1];
    assert_eq!(changed.elements[4..8], f32::NAN.to_le_bytes());
    // Bits that were changed once are plain from then on.
    done(folder, &["convert", "c.tgm", "d.tgm"]);
    assert_eq!(masks("d.tgm"), [3, 2]);
}

#[test]
fn metadata_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = |text: &str| tg::Value::Text(text.to_owned());
    let list = |texts: &[&str]| tg::Value::Array(texts.iter().map(|it| text(it)).collect());
    let pair = |key: &str, value| (key.to_owned(), value);
    let mars = tg::Value::Map(vec![(text("param"), text("2t")), (text("step"), tg::Value::Int(6))]);
    let array = |base| {
        let encoded = tg::encode(DType::UInt8, &[2, 1], &[1, 2], &tg::Recipe::default()).unwrap();
        (String::new(), encoded, base)
    };
    let objects = vec![
        array(vec![pair("mars", mars), pair("level", tg::Value::Int(1 << 62))]),
        array(vec![pair("units", text("K")), pair("scale", tg::Value::Float(f64::INFINITY))]),
        array(vec![
            pair("name", text("named")),
            pair("dims", list(&["y", "x"])),
            pair("attr:name", text("a name as an attribute")),
            pair("bytes", tg::Value::Bytes(vec![0, 255])),
        ]),
        array(vec![pair("dims", list(&["only one"])), pair("name", tg::Value::Int(5))]),
    ];
    let extra = [pair("title", text("all")), pair("n", tg::Value::Null)];
    fs::write(folder.join("in.tgm"), message(objects, &extra)).unwrap();
    let wanted = tgm::metadata(&folder.join("in.tgm"));
    done(folder, &["convert", "in.tgm", "a.tgm"]);
    done(folder, &["convert", "in.tgm", "b.tet"]);
    done(folder, &["convert", "b.tet", "c.tgm"]);
    for path in ["a.tgm", "c.tgm"] {
        let mut found = tgm::metadata(&folder.join(path));
        found.reserved.clear();
        // A key that would be read as the name is marked as an attribute.
        let last = found.base.last_mut().unwrap();
        last.iter_mut().filter(|it| it.0 == "attr:name").for_each(|it| it.0 = "name".to_owned());
        found.base.iter_mut().for_each(|it| it.sort_by(|one, next| one.0.cmp(&next.0)));
        assert_eq!(found, wanted, "{path}");
        assert_eq!(held(&folder.join(path)), held(&folder.join("in.tgm")));
    }
    let args = ["convert", "in.tgm", "d.tgm", "--attr", "source=here", "--dims", "a,b"];
    done(folder, &args);
    let held = held(&folder.join("d.tgm"));
    assert!(held.iter().all(|it| it.dims == ["a", "b"] && it.attrs["source"].contains("here")));
}

#[test]
fn provenance_is_left_out_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    fixtures::make(folder.path());
    let folder = folder.path();
    for options in [&[][..], &["--no-history"], &["--no-provenance"]] {
        done(folder, &[&["convert", "climate.npz", "a.tgm", "--force"], options].concat());
        let reserved = tgm::metadata(&folder.join("a.tgm")).reserved;
        let has_time = format!("{reserved:?}").contains("2023-11-14T22:13:20Z");
        assert_eq!(has_time, options.is_empty(), "{options:?}: {reserved:?}");
        assert!(options != ["--no-provenance"] || reserved.is_empty(), "{reserved:?}");
    }
}

#[test]
fn doubles_are_packed_as_exactly_as_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let doubles: Vec<f64> = (0..500_i32).map(|at| f64::from(at * at % 977) / 7.0).collect();
    let put = |name: &str, dtype, elements: &[u8]| {
        let shape = [elements.len() as u64 / dtype_size(dtype)];
        let recipe = tg::Recipe { nan: tg::NonFinite::Kept, ..tg::Recipe::default() };
        let encoded = tg::encode(dtype, &shape, elements, &recipe).unwrap();
        let bytes = message(vec![("v".to_owned(), encoded, vec![])], &[]);
        fs::write(folder.join(name), bytes).unwrap();
    };
    put("in.tgm", DType::Float64, &bits_of(&doubles));
    let packing = ["--encoding", "simple_packing"];
    let cases: [(&[&str], f64); 5] = [
        (&["--bits", "16"], 0.002),
        (&["--bits", "24", "--codec", "szip"], 1e-5),
        (&["--max-error", "0.25"], 0.25),
        (&["--max-error", "0.001", "--codec", "szip", "--profile", "universal"], 0.001),
        (&["--max-error", "1e9", "--codec", "szip"], 1e9),
    ];
    for (options, error) in cases {
        let args = [&["convert", "in.tgm", "out.tgm", "--force"], &packing[..], options].concat();
        let text = done(folder, &args);
        assert!(text.contains("values are rounded") || text.contains("become one"), "{text}");
        let found: ReadDataset = held(&folder.join("out.tgm")).remove(0);
        let found = found.elements.as_chunks::<8>().0.iter().map(|it| f64::from_le_bytes(*it));
        let off = found.zip(&doubles).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
        assert!(off <= error, "{options:?}: {off}");
    }
    put("nan.tgm", DType::Float64, &bits_of(&[1.0, f64::NAN, 2.0]));
    put("single.tgm", DType::Float32, &[0; 8]);
    put("ints.tgm", DType::Int32, &[0; 8]);
    let convert = |input, more: &[&str]| {
        refused(folder, &[&["convert", input, "new.tgm"], &packing[..], more].concat())
    };
    let text = convert("nan.tgm", &["--bits", "16"]);
    assert!(text.contains("element 1 is NaN") && text.contains("--masks all"), "{text}");
    for input in ["single.tgm", "ints.tgm"] {
        assert!(convert(input, &["--bits", "16"]).contains("simple_packing takes float64"));
    }
    let args = [&["convert", "nan.tgm", "out.tgm", "--force", "--masks", "all", "--bits", "16"]];
    done(folder, &[&args[0][..], &packing].concat());
    assert!(held(&folder.join("out.tgm"))[0].elements[8..16] == f64::NAN.to_le_bytes());
}

const fn dtype_size(dtype: DType) -> u64 {
    match dtype {
        DType::Float64 => 8,
        _ => 4,
    }
}

#[test]
fn options_that_damage_elements_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fixtures::make(folder.path());
    let folder = folder.path();
    let cases: [(&[&str], &str); 13] = [
        (&["new.tgm", "--encoding", "simple_packing"], "--bits N or --max-error"),
        (&["new.tgm", "--bits", "8"], "add --encoding simple_packing"),
        (&["new.tgm", "--encoding", "none", "--max-error", "1"], "add --encoding simple_packing"),
        (&["new.tgm", "--encoding", "simple_packing", "--bits", "65"], "0 to 64 bits"),
        (&["new.tgm", "--encoding", "simple_packing", "--max-error=-1"], "0 or more"),
        (
            &["new.tgm", "--encoding", "simple_packing", "--bits", "12", "--codec", "szip"],
            "szip damages packed values that are not whole bytes",
        ),
        (
            &["new.tgm", "--encoding", "simple_packing", "--bits", "16", "--filter", "shuffle"],
            "packed values cannot be shuffled",
        ),
        (&["new.tgm", "--level", "3"], "add --codec, or omit --level"),
        (
            &["new.tgm", "--chunks", "1"],
            "--chunks is for .tet, .tets, .h5, .nc, .zarr and .zarr.zip outputs",
        ),
        (&["new.tgm", "--checksum", "sha256"], "--checksum sha256 is for .zt outputs"),
        (&["new.tet", "--codec", "szip"], "--codec szip is for .tgm outputs"),
        (&["new.zt", "--masks", "all"], "--masks is for .tgm outputs"),
        (
            &["new.tgm", "--stack", "time"],
            "only Tensogram messages and several files can be stacked",
        ),
    ];
    for (args, wanted) in cases {
        let text = refused(folder, &[&["convert", "numbers.tet"], args].concat());
        assert!(text.contains(wanted), "{args:?}: {text}");
    }
    let text = refused(folder, &["convert", "numbers.tet", "new.tgm", "--codec", "szip"]);
    assert!(text.contains("\"large\": cannot be written: szip takes samples of up to 32 bits"));
}

/// Every sample of another writer is converted, and its values stay the same.
#[test]
fn samples_of_other_writers_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for path in samples() {
        let input = path.to_str().unwrap();
        if input.contains("blosc2") {
            continue;
        }
        done(folder, &["convert", input, "out.tgm", "--force", "--codec", "zstd"]);
        let (found, mut wanted) = (held(&folder.join("out.tgm")), held(&path));
        // Objects of all messages are in one.
        for (at, (found, wanted)) in found.iter().zip(&mut wanted).enumerate() {
            wanted.attrs.remove("version");
            assert_eq!(found, wanted, "{input} {at}");
        }
        assert_eq!(found.len(), wanted.len());
    }
}
