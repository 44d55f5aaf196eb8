//! Zarr hierarchies of which something cannot be read: it is listed or refused, and never taken as absent.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::common::opened;
use tet_convert::{document_of, verify};
use tet_io::{Kind, Source};
use tet_query::{Dataset, Error, Execution, Hyperslab};
use tet_verify::{Level, Severity, VerifyOptions};

const V2: &str = r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<u2","compressor":null,
    "fill_value":0,"filters":null,"order":"C"}"#;
const V3: &str = r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"uint16",
    "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
    "chunk_key_encoding":{"name":"default"},"fill_value":0,
    "codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}"#;
const GROUP: &str = r#"{"zarr_format":3,"node_type":"group","attributes":{}}"#;
const CHUNKS: [&[u8]; 2] = [b"\x01\0\x02\0", b"\x03\0\x04\0"];

/// Objects of a hierarchy, in the order of their keys.
type Objects = Vec<(String, Vec<u8>)>;

/// A group of version 2 or 3 with the arrays `a` and `b`, of which `a` has this document.
fn group(format: u32, document: &str) -> Objects {
    let mut objects = Vec::new();
    let mut add = |key: &str, bytes: &[u8]| objects.push((key.to_owned(), bytes.to_vec()));
    if format == 2 {
        add(".zgroup", br#"{"zarr_format":2}"#);
    } else {
        add("zarr.json", GROUP.as_bytes());
    }
    for name in ["a", "b"] {
        let (key, chunk, usual) = match format {
            2 => (".zarray", "", V2),
            _ => ("zarr.json", "c/", V3),
        };
        let document = if name == "a" { document } else { usual };
        add(&format!("{name}/{key}"), document.as_bytes());
        for (at, bytes) in CHUNKS.iter().enumerate() {
            add(&format!("{name}/{chunk}{at}"), bytes);
        }
    }
    objects
}

fn write_folder(path: &Path, objects: &Objects) {
    for (key, bytes) in objects {
        let file = path.join(key);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
}

fn write_zip(path: &Path, objects: &Objects, method: zip::CompressionMethod) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    let how = zip::write::SimpleFileOptions::default().compression_method(method);
    for (key, bytes) in objects {
        zip.start_file(key, how).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

/// The objects as references of kerchunk.
fn write_references(path: &Path, objects: &Objects) {
    let texts = objects.iter().filter_map(|(key, bytes)| {
        Some((key.clone(), serde_json::json!(std::str::from_utf8(bytes).ok()?)))
    });
    let references: serde_json::Map<String, serde_json::Value> = texts.collect();
    fs::write(path, serde_json::Value::Object(references).to_string()).unwrap();
}

/// The objects with the metadata of version 3 in one document too.
fn consolidated(objects: &Objects) -> Objects {
    let document = |bytes: &[u8]| -> serde_json::Value {
        serde_json::from_slice(bytes).unwrap_or_else(|_| serde_json::json!("damaged"))
    };
    let mut metadata = serde_json::Map::new();
    for (key, bytes) in objects {
        if let Some(path) = key.strip_suffix("/zarr.json") {
            metadata.insert(path.to_owned(), document(bytes));
        }
    }
    let root = serde_json::json!({"zarr_format": 3, "node_type": "group",
        "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": metadata}});
    let mut objects = objects.clone();
    objects[0].1 = root.to_string().into_bytes();
    objects
}

fn sum(dataset: &Dataset) -> tet_query::Result<f64> {
    let slab = Hyperslab::whole(dataset.shape());
    let array = dataset.read(&slab, &Execution::default())?.value;
    Ok((0..array.len()).map(|at| array.get(at).unwrap().to_f64().unwrap()).sum())
}

/// The ids of the errors and warnings that a check finds.
fn found(path: &Path) -> Vec<(String, Severity)> {
    let source = Source::open(document_of(path)).unwrap();
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let findings = verify(&source, &options).unwrap().findings;
    findings.iter().map(|it| (it.code.id().to_owned(), it.severity)).collect()
}

#[test]
fn what_cannot_be_read_is_listed_in_every_store() {
    let folder = tempfile::tempdir().unwrap();
    let changed = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let cases: [(u32, String, bool); 8] = [
        (2, "{".to_owned(), false),
        (2, changed(V2, r#""fill_value":0"#, r#""fill_value":70000"#), true),
        (2, changed(V2, r#""order":"C""#, r#""order":"X""#), true),
        (3, "{".to_owned(), false),
        (3, changed(V3, "regular", "rectilinear"), true),
        (3, changed(V3, r#""fill_value":0"#, r#""fill_value":7.5"#), true),
        (3, changed(V3, r#""node_type":"array""#, r#""node_type":"arraz""#), true),
        (3, changed(V3, r#""codecs""#, r#""extra":1,"codecs""#), true),
    ];
    for (nth, (format, document, has_shape)) in cases.iter().enumerate() {
        let objects = group(*format, document);
        let mut paths: Vec<PathBuf> = Vec::new();
        let at = |suffix: &str| folder.path().join(format!("{nth}{suffix}"));
        write_folder(&at(".zarr"), &objects);
        write_zip(&at(".zarr.zip"), &objects, zip::CompressionMethod::Stored);
        write_references(&at(".json"), &objects);
        paths.extend([at(".zarr"), at(".zarr.zip"), at(".json")]);
        if *format == 3 {
            write_folder(&at("c.zarr"), &consolidated(&objects));
            paths.push(at("c.zarr"));
        }
        for path in paths {
            let opened = opened(&path);
            let datasets = opened.catalog.datasets();
            let names: Vec<&str> = datasets.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, ["a", "b"], "{path:?}");
            assert!(datasets[0].why().is_some(), "{path:?}: {document}");
            assert_eq!(datasets[0].has_shape, *has_shape, "{path:?}: {document}");
            assert_eq!(sum(&datasets[1]).unwrap(), 10.0, "{path:?}");
            let output = folder.path().join("out.npz");
            let how = tet_convert::ConvertOptions::default();
            assert!(tet_convert::convert(&path, &output, &how).is_err(), "{path:?}");
            let errors = found(&path);
            assert!(errors.iter().any(|it| it.1 == Severity::Error), "{path:?}: {errors:?}");
        }
    }
}

#[test]
fn numbers_as_text_are_fill_values() {
    let folder = tempfile::tempdir().unwrap();
    for (format, document) in [(2, V2), (3, V3)] {
        let path = folder.path().join(format!("{format}.zarr"));
        let mut objects =
            group(format, &document.replace(r#""fill_value":0"#, r#""fill_value":"7""#));
        objects.retain(|(key, _)| key != "a/1" && key != "a/c/1");
        write_folder(&path, &objects);
        let catalog = opened(&path).catalog;
        assert_eq!(sum(&catalog.datasets()[0]).unwrap(), 17.0, "{format}");
    }
}

#[test]
fn without_a_fill_value_absent_chunks_have_no_elements() {
    let folder = tempfile::tempdir().unwrap();
    for (nth, fill) in [r#""fill_value":null,"#, ""].iter().enumerate() {
        let path = folder.path().join(format!("{nth}.zarr"));
        let mut objects = group(3, &V3.replace(r#""fill_value":0,"#, fill));
        write_folder(&path, &objects);
        assert_eq!(sum(&opened(&path).catalog.datasets()[0]).unwrap(), 10.0);
        assert!(found(&path).iter().any(|it| it.0 == "ZR-M16"));
        fs::remove_file(path.join("a/c/1")).unwrap();
        let error = sum(&opened(&path).catalog.datasets()[0]).unwrap_err();
        assert!(error.to_string().contains("ZR-M16"), "{error}");
        objects.clear();
    }
}
#[test]
fn a_chunk_that_is_no_file_is_not_absent() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    write_folder(&path, &group(3, V3));
    fs::write(folder.path().join("secret"), b"\x01\0\x02\0").unwrap();
    let chunk = path.join("a/c/1");
    let check = |what: &str| {
        let opened = opened(&path);
        let error = sum(&opened.catalog.datasets()[0]).unwrap_err();
        assert_eq!(error.kind(), Kind::Io, "{what}: {error}");
        assert!(error.to_string().contains("a/c/1"), "{what}: {error}");
        assert_eq!(sum(&opened.catalog.datasets()[1]).unwrap(), 10.0, "{what}");
        assert!(found(&path).iter().any(|it| it.0 == "ZR-K5"), "{what}: {:?}", found(&path));
        fs::remove_file(&chunk).or_else(|_| fs::remove_dir(&chunk)).unwrap();
    };
    fs::remove_file(&chunk).unwrap();
    symlink(".git/annex/objects/key", &chunk).unwrap();
    check("a link to nothing");
    symlink("../../../secret", &chunk).unwrap();
    check("a link out of the folder");
    symlink("/dev/zero", &chunk).unwrap();
    check("a device");
    fs::create_dir(&chunk).unwrap();
    check("a folder");
    assert_eq!(sum(&opened(&path).catalog.datasets()[0]).unwrap(), 3.0, "now it is absent");
    symlink("../c/0", &chunk).unwrap();
    assert_eq!(sum(&opened(&path).catalog.datasets()[0]).unwrap(), 6.0, "a link inside");
}
#[test]
fn a_link_in_a_group_is_listed_and_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    write_folder(&path, &group(2, V2));
    std::os::unix::fs::symlink("/", path.join("root")).unwrap();
    std::os::unix::fs::symlink(".", path.join("loop")).unwrap();
    let catalog = opened(&path).catalog;
    let names: Vec<&str> = catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "loop", "root"]);
}

#[test]
fn members_of_a_zip_file_match_their_checksums_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr.zip");
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        write_zip(&path, &group(3, V3), method);
        assert_eq!(sum(&opened(&path).catalog.datasets()[0]).unwrap(), 10.0);
        assert!(found(&path).is_empty());
    }
    write_zip(&path, &group(3, V3), zip::CompressionMethod::Stored);
    let whole = fs::read(&path).unwrap();
    let find = |bytes: &[u8]| whole.windows(bytes.len()).position(|it| it == bytes).unwrap();
    let mut damaged = whole.clone();
    damaged[find(CHUNKS[1])] ^= 0x10;
    fs::write(&path, &damaged).unwrap();
    let error = sum(&opened(&path).catalog.datasets()[0]).unwrap_err();
    assert!(error.to_string().contains("ZR-Z7"), "{error}");
    assert!(found(&path).iter().any(|it| it.0 == "ZR-Z7"));
    // The name of a chunk in the directory, behind all members.
    let at = whole.len() - whole.iter().rev().count().min(whole.len());
    let name = b"a/c/1";
    let last = (at..whole.len() - name.len()).rfind(|&at| whole[at..].starts_with(name)).unwrap();
    let mut renamed = whole.clone();
    renamed[last + 4] = b'9';
    fs::write(&path, &renamed).unwrap();
    let error = sum(&opened(&path).catalog.datasets()[0]).unwrap_err();
    assert!(error.to_string().contains("ZR-Z8"), "{error}");
    assert!(found(&path).iter().any(|it| it.0 == "ZR-Z8"));
}

#[test]
fn a_name_that_is_damaged_in_the_directory_of_a_zip_file_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr.zip");
    let attributes = |format| {
        let mut objects = group(format, if format == 2 { V2 } else { V3 });
        if format == 2 {
            objects.push(("a/.zattrs".to_owned(), br#"{"units":"K"}"#.to_vec()));
        }
        objects
    };
    // Of an array, of its attributes, of the group, and of an array that gets the name of the other.
    let renamed: [(u32, &str, &str); 6] = [
        (3, "a/zarr.json", "a/zars.json"),
        (2, "a/.zarray", "a/.zarraz"),
        (2, "a/.zattrs", "a/.zattrt"),
        (2, "a/.zattrs", "c/.zattrs"),
        (3, "a/zarr.json", "b/zarr.json"),
        (2, "a/.zarray", "\u{7f}/.zarray"),
    ];
    for (format, from, to) in renamed {
        write_zip(&path, &attributes(format), zip::CompressionMethod::Stored);
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.windows(from.len()).rposition(|it| it == from.as_bytes()).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        fs::write(&path, &bytes).unwrap();
        let opened = opened(&path);
        let told: Vec<String> = opened.warnings().map(ToString::to_string).collect();
        let names = opened.catalog.datasets().iter().filter(|it| it.fault.is_some());
        let names: Vec<&str> = names.map(|it| it.name.as_str()).collect();
        let is_told = names.contains(&"a") || told.iter().any(|it| it.contains("ZR-Z8"));
        assert!(is_told, "{from} -> {to}: {told:?}, {names:?}");
        assert!(found(&path).iter().any(|it| it.0 == "ZR-Z8"), "{from} -> {to}");
    }
}

#[test]
fn a_folder_with_files_and_no_document_is_told() {
    for (format, document) in [(2, V2), (3, V3)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zarr");
        let mut objects = group(format, document);
        objects.retain(|(key, _)| !["a/.zarray", "a/zarr.json"].contains(&key.as_str()));
        write_folder(&path, &objects);
        let opened = opened(&path);
        let told: Vec<String> = opened.warnings().map(ToString::to_string).collect();
        assert!(
            told.len() == 1 && told[0].contains("ZR-K6") && told[0].contains("\"a\""),
            "{told:?}"
        );
    }
}

#[test]
fn members_that_a_document_lacks_or_has_too_many_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    write_folder(&path, &group(2, &V2.replace("fill_value", "fill_walue")));
    assert_eq!(found(&path), [("ZR-M20".to_owned(), Severity::Warning)]);
    fs::remove_dir_all(&path).unwrap();
    write_folder(&path, &group(3, V3));
    fs::write(path.join("zarr.json"), GROUP.replace("attributes", "attribuves")).unwrap();
    assert_eq!(found(&path), [("ZR-M12".to_owned(), Severity::Error)]);
}

#[test]
fn a_replaced_hierarchy_is_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut sparse = group(3, V3);
    sparse.retain(|(key, _)| key != "a/c/1");
    write_folder(&at("x.zarr"), &sparse);
    let catalog = opened(&at("x.zarr")).catalog;
    assert_eq!(sum(&catalog.datasets()[0]).unwrap(), 3.0);
    let changed = |what: &str| {
        let error = sum(&catalog.datasets()[0]).unwrap_err();
        assert!(matches!(error, Error::Io(tet_io::Error::Changed { .. })), "{what}: {error}");
    };
    let document = at("x.zarr/a/zarr.json");
    fs::write(&document, V3.replace(r#""fill_value":0"#, r#""fill_value":9"#)).unwrap();
    changed("another document");
    fs::write(&document, V3).unwrap();
    assert_eq!(sum(&catalog.datasets()[0]).unwrap(), 3.0, "the same bytes at another time");
    fs::rename(at("x.zarr"), at("old.zarr")).unwrap();
    changed("gone");
    write_folder(&at("x.zarr"), &sparse);
    changed("another folder");
}

#[test]
fn the_width_that_a_document_declares_takes_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    let array =
        V2.replace("<u2", "|S2147483647").replace(r#""fill_value":0"#, r#""fill_value":"""#);
    let mut references = serde_json::Map::new();
    references.insert(".zgroup".to_owned(), serde_json::json!(r#"{"zarr_format":2}"#));
    // With 2 GiB for each this would end the program.
    for nth in 0..1000 {
        references.insert(format!("a{nth}/.zarray"), serde_json::json!(array));
    }
    fs::write(&path, serde_json::Value::Object(references).to_string()).unwrap();
    assert_eq!(opened(&path).catalog.datasets().len(), 1000);
}

#[test]
fn consolidated_metadata_that_is_stale_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    write_folder(&path, &consolidated(&group(3, V3)));
    assert_eq!(found(&path), []);
    fs::write(path.join("a/zarr.json"), V3.replace("[4]", "[6]")).unwrap();
    assert_eq!(found(&path), [("ZR-M18".to_owned(), Severity::Warning)]);
    fs::write(path.join("a/zarr.json"), "{").unwrap();
    assert_eq!(found(&path), [("ZR-M2".to_owned(), Severity::Error)]);
    fs::write(path.join("a/zarr.json"), V3).unwrap();
    fs::create_dir(path.join("new")).unwrap();
    fs::write(path.join("new/zarr.json"), V3).unwrap();
    assert_eq!(found(&path), [("ZR-M19".to_owned(), Severity::Warning)]);
}

#[test]
fn verify_keeps_the_limit_of_decoded_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr.zip");
    write_zip(&path, &group(3, V3), zip::CompressionMethod::Deflated);
    let source = Source::open(&path).unwrap();
    let within = |decoded_max| {
        let decoded_max = Some(decoded_max);
        let options = VerifyOptions { level: Level::Deep, decoded_max, ..VerifyOptions::default() };
        verify(&source, &options).map(drop)
    };
    within(1 << 20).unwrap();
    assert_eq!(within(16).unwrap_err().kind(), Kind::Limit);
}
