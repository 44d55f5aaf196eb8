//! `tet convert --stack`: fields of one name, message by message, as one.

use std::fs;

use tet_cli::Exit;
use tet_format::DType;
use tet_tensogram as tg;

use super::{
    ReadDataset, bits_of, descriptors, done, held, message, metadata, opened, owned, samples,
    values,
};
use crate::fixtures::tet_in;

/// A message with the field of a step, packed with `bits` bits unless that is 64, and a fixed field.
fn step(number: i32, bits: u32) -> Vec<u8> {
    let doubles: Vec<f64> = (0..6).map(|at| f64::from(number * 10 + at)).collect();
    let fit = tg::PackingFit::Bits { bits, decimal_scale: 0 };
    let recipe = tg::Recipe { packing: (bits != 64).then_some(fit), ..tg::Recipe::default() };
    let field =
        owned(tg::encode(DType::Float64, &[2, 3], &bits_of(&doubles), &recipe).expect("an object"));
    let text = |text: &str| tg::Value::Text(text.to_owned());
    let metadata = vec![
        ("time".to_owned(), tg::Value::Int(number.into())),
        ("units".to_owned(), text("K")),
        ("dims".to_owned(), tg::Value::Array(vec![text("lat"), text("lon")])),
        ("run".to_owned(), text(if number < 2 { "a" } else { "b" })),
    ];
    let mut objects = vec![("t".to_owned(), field, metadata)];
    if number == 0 {
        let lat = tg::encode(DType::Int16, &[2], &[1, 0, 2, 0], &tg::Recipe::default())
            .expect("an object");
        objects.push(("lat".to_owned(), lat, vec![]));
    }
    message(objects, &[])
}

#[test]
fn fields_of_one_name_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let wanted: Vec<f64> =
        (0..4).flat_map(|step| (0..6).map(move |at| f64::from(step * 10 + at))).collect();
    // All messages stored in the same way, and each in a different way.
    for bits in [[64; 4], [16; 4], [64, 16, 64, 24]] {
        let steps = (0..4).zip(bits).map(|(number, bits)| step(number, bits));
        fs::write(folder.join("in.tgm"), steps.collect::<Vec<_>>().concat()).unwrap();
        for output in ["out.tet", "out.tgm", "out.zt"] {
            done(folder, &["convert", "in.tgm", output, "--stack", "time", "--force"]);
            let held = held(&folder.join(output));
            let names: Vec<&str> = held.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, ["t", "lat"], "{output}");
            let t = &held[0];
            assert_eq!(
                (&t.shape[..], &t.dims[..]),
                (&[4, 2, 3][..], &["time", "lat", "lon"].map(String::from)[..])
            );
            assert_eq!(t.coords[&0], ["0", "1", "2", "3"]);
            let off = t.elements.as_chunks::<8>().0.iter().zip(&wanted);
            let off = off.map(|(one, other)| (f64::from_le_bytes(*one) - other).abs());
            assert!(off.fold(0.0, f64::max) < 0.01, "{output}");
            assert!(t.attrs["units"].contains('K'));
            assert!(t.attrs["run"].contains(r#"[\"a\",\"a\",\"b\",\"b\"]"#), "{:?}", t.attrs);
        }
    }
    let only = ["convert", "in.tgm", "o.tet", "--stack", "time", "--dataset", "t"];
    done(folder, &only);
    assert_eq!(held(&folder.join("o.tet")).len(), 1);
}

/// A changed byte in any of the messages is found, as without a stack.
#[test]
fn fields_that_do_not_match_their_hash_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The grid of the file, and a different one for the stack.
    for bits in [[64; 3], [16; 3], [64, 16, 24]] {
        for damaged in 0..3 {
            let steps = (0..3).zip(bits).map(|(number, bits)| step(number, bits));
            let mut bytes = steps.collect::<Vec<_>>().concat();
            let path = folder.join("in.tgm");
            fs::write(&path, &bytes).unwrap();
            let place = opened(&path).object(damaged, 0).unwrap().region;
            bytes[place.start() as usize] ^= 1;
            fs::write(&path, &bytes).unwrap();
            let convert = ["convert", "in.tgm", "new.tet", "--stack", "time"];
            let (exit, _, err) = tet_in(folder, &convert);
            assert_eq!(exit, Exit::Format, "{err}");
            assert!(err.contains("TGM-F10"), "{err}");
            assert!(!folder.join("new.tet").exists());
        }
    }
}

#[test]
fn fields_that_differ_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let one = |dtype, shape: &[u64]| {
        let elements = values(dtype, shape);
        let recipe = tg::Recipe { nan: tg::NonFinite::Kept, ..tg::Recipe::default() };
        let encoded = tg::encode(dtype, shape, &elements, &recipe).unwrap();
        let other = tg::encode(DType::UInt8, &[1], &[7], &recipe).unwrap();
        message(vec![("v".into(), encoded, vec![]), ("w".into(), other, vec![])], &[])
    };
    let cases = [
        (one(DType::Int16, &[2]), one(DType::Int16, &[3]), "its shapes are [2] and [3]"),
        (one(DType::Int16, &[2]), one(DType::UInt16, &[2]), "its types are int16 and uint16"),
        (one(DType::Bitmask, &[8]), one(DType::Bitmask, &[8]), "its elements are bits"),
    ];
    for (one, other, wanted) in cases {
        fs::write(folder.join("in.tgm"), [one, other].concat()).unwrap();
        let (exit, _, err) = tet_in(folder, &["convert", "in.tgm", "new.tet", "--stack", "time"]);
        assert_eq!(exit, Exit::Usage);
        assert!(err.contains(wanted) && err.contains("--exclude \"v\""), "{err}");
        let args = ["convert", "in.tgm", "o.tet", "--stack", "time", "--exclude", "v", "--force"];
        done(folder, &args);
        assert_eq!(held(&folder.join("o.tet"))[0].shape, [2, 1]);
    }
}

#[test]
fn messages_of_others_are_stacked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let paths = samples();
    let sample = paths.iter().find(|it| it.ends_with("multi_message_3.tgm")).unwrap();
    let single = held(sample);
    let bytes = fs::read(sample).unwrap();
    fs::write(folder.join("in.tgm"), &bytes).unwrap();
    done(folder, &["convert", "in.tgm", "out.tgm", "--stack", "step"]);
    let stacked = held(&folder.join("out.tgm"));
    let all = |held: &[ReadDataset]| held.iter().map(|it| it.elements.len()).sum::<usize>();
    assert_eq!(all(&stacked), all(&single));
    assert_eq!(descriptors(&folder.join("out.tgm")).len(), stacked.len());
    assert_eq!(metadata(&folder.join("out.tgm")).base.len(), stacked.len());
}

#[test]
fn duplicate_names_are_numbered_if_they_must_differ() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("in.tgm"), [step(0, 64), step(1, 64), step(2, 16)].concat()).unwrap();
    let names = |path: &str| -> Vec<String> {
        held(&folder.join(path)).into_iter().map(|it| it.name).collect()
    };
    done(folder, &["convert", "in.tgm", "same.tgm"]);
    assert_eq!(names("same.tgm"), ["t", "lat", "t", "t"]);
    let text = done(folder, &["convert", "in.tgm", "new.tet"]);
    assert!(text.contains("several are named \"t\"") && text.contains(".1 to .2"), "{text}");
    assert_eq!(names("new.tet"), ["t", "lat", "t.1", "t.2"]);
}
