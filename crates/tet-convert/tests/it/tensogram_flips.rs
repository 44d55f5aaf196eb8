//! One flipped bit of a small Tensogram file: what is asked for by name or by position is answered
//! right or not at all, and never with another object.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use tet_convert::{OpenOptions, open_source};
use tet_format::DType;
use tet_io::Source;
use tet_query::{Catalog, DigestPolicy, Execution, Hyperslab};
use tet_tensogram::{Metadata, Recipe, Tensor, Value, WriteOptions, encode, encode_message};

/// The elements of an object; those of two objects differ in every byte.
fn elements(nth: u8) -> Vec<u8> {
    (0..24).map(|at| at * 3 + 80 * nth).collect()
}

/// A message of objects, each with its name or all without.
fn message(objects: &[u8], names: &[&str]) -> Vec<u8> {
    let encoded: Vec<_> = objects
        .iter()
        .map(|&nth| {
            let elements = elements(nth);
            let object = encode(DType::UInt8, &[24], &elements, &Recipe::default()).unwrap();
            (object.descriptor.encode().unwrap(), object.region.into_owned())
        })
        .collect();
    let tensors = encoded
        .iter()
        .map(|(descriptor, region)| Tensor { descriptor, region: region.as_slice().into() });
    let base = names.iter().map(|&name| vec![("name".to_owned(), Value::Text(name.to_owned()))]);
    let said = Metadata { base: base.collect(), ..Metadata::default() };
    encode_message(&said, tensors.collect(), &WriteOptions::default()).unwrap()
}

/// Asks for one dataset: its elements, or `None` where there is an error.
fn ask(catalog: &Catalog, name: &str) -> Option<Vec<u8>> {
    let dataset = catalog.find(name).ok()?;
    let how = Execution { digests: DigestPolicy::Always, threads: 1, ..Execution::default() };
    let array = dataset.read(&Hyperslab::whole(dataset.shape()), &how).ok()?;
    Some(array.bytes().to_vec())
}

/// Flips every bit; counts the answers that are left, and the errors.
fn flipped(what: &str, bytes: &[u8], names: &[&str]) -> (usize, usize) {
    let asked: Vec<(u8, String)> = (0_u8..)
        .zip(names)
        .flat_map(|(nth, name)| [(nth, format!("#{nth}")), (nth, (*name).to_owned())])
        .collect();
    let open = |bytes: Vec<u8>| open_source(Source::from_bytes(bytes), &OpenOptions::default());
    let sound = open(bytes.to_vec()).unwrap();
    for (nth, name) in &asked {
        assert_eq!(ask(&sound.catalog, name), Some(elements(*nth)), "{what}: {name}");
    }
    let (mut answers, mut errors) = (0, 0);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bytes = bytes.to_vec();
            bytes[at] ^= 1 << bit;
            let Ok(opened) = open(bytes) else { continue };
            for (nth, name) in &asked {
                let Some(found) = ask(&opened.catalog, name) else {
                    errors += 1;
                    continue;
                };
                answers += 1;
                // A descriptor may lose elements, and has a hash that is not reported to a reader.
                let others = (0_u8..).zip(names).filter(|(other, _)| other != nth);
                let is_other = |other: u8| {
                    let elements = elements(other);
                    found.iter().any(|byte| elements.contains(byte))
                };
                let other = others.map(|(other, _)| other).find(|&other| is_other(other));
                assert_eq!(other, None, "{what}: byte {at} bit {bit}: {name} is another object");
            }
        }
    }
    (answers, errors)
}

#[test]
fn no_object_answers_for_another() {
    let together = message(&[0, 1, 2], &[]);
    let named = message(&[0, 1, 2], &["alpha", "omega", "tau"]);
    let apart: Vec<u8> = (0..3).flat_map(|nth| message(&[nth], &[])).collect();
    let apart_named: Vec<u8> = (0..)
        .zip(["alpha", "omega", "tau"])
        .flat_map(|(nth, name)| message(&[nth], &[name]))
        .collect();
    for (what, bytes, names) in [
        ("one message", together, ["m0_o0", "m0_o1", "m0_o2"]),
        ("one message, named", named, ["alpha", "omega", "tau"]),
        ("three messages", apart, ["m0_o0", "m1_o0", "m2_o0"]),
        ("three messages, named", apart_named, ["alpha", "omega", "tau"]),
    ] {
        let (answers, errors) = flipped(what, &bytes, &names);
        assert!(answers > errors, "{what}: {answers} answers, {errors} errors");
    }
}
