//! Of several files an error names the one whose bytes were read, and never the output.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::made::{Made, write};
use tet_convert::{
    AxisAppend, ChunkChoice, ChunkRule, ConvertOptions, EditOptions, Error, PayloadCodec,
    RefsOptions, append, concat, convert, convert_merged, write_references,
};
use tet_format::DType;
use tet_query::Execution;

/// A file of one dataset over `t` and `x`, whose elements are 1.5.
fn rows(path: &Path, name: &'static str, count: u64) -> PathBuf {
    let tet = path.with_extension("tet");
    let element = Box::new(|_: &[u64]| 1.5_f64.to_le_bytes().to_vec());
    let (dtype, shape, dims) = (DType::Float64, vec![count, 3], &["t", "x"][..]);
    write(&tet, &[Made { name, dtype, shape, dims, element }], None);
    if tet != path {
        let mut options = ConvertOptions::default();
        options.storage.codec = Some(PayloadCodec::Raw);
        convert(&tet, path, &options).unwrap();
    }
    path.to_path_buf()
}

/// Changes a byte of the elements, or cuts the file within them.
fn damaged(path: PathBuf, is_cut: bool) -> PathBuf {
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(8).position(|it| it == 1.5_f64.to_le_bytes()).unwrap();
    bytes[at + 2] ^= 1;
    if is_cut {
        bytes.truncate(at + 4);
    }
    fs::write(&path, bytes).unwrap();
    path
}

fn appended(file: &Path, inputs: &[PathBuf]) -> Result<(), Error> {
    let asked = AxisAppend { axis: "t", inputs, ..AxisAppend::default() };
    append(file, &asked, &EditOptions::default(), &Execution::default()).map(drop)
}

#[test]
fn an_error_of_several_files_names_the_one_that_was_read() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    for (kind, is_cut) in [("tet", false), ("tet", true), ("zt", false), ("npz", true)] {
        let bad = damaged(rows(&at(&format!("bad.{kind}")), "a", 2), is_cut);
        let good = [rows(&at("one.tet"), "a", 2), rows(&at("two.tet"), "b", 2)];
        let more = [rows(&at("three.tet"), "a", 2), bad.clone()];
        let folder = at("folder.tets");
        let _ = fs::remove_dir_all(&folder);
        convert(&good[0], &folder, &ConvertOptions::default()).unwrap();
        let merged = [good[1].clone(), bad.clone()];
        let options = ConvertOptions::default();
        let mut stacking = options.clone();
        stacking.stack = Some("run".to_owned());
        let refs = RefsOptions { concat: Some("t".to_owned()), ..RefsOptions::default() };
        let outcomes = [
            ("append to a file", appended(&good[0], &more)),
            ("append to a folder", appended(&folder, &more)),
            ("append to a new folder", appended(&at("new.tets"), &more)),
            ("concat", concat(&more, "t", &at("out.tet"), &options).map(drop)),
            ("merge", convert_merged(&merged, &at("out.npz"), &options).map(drop)),
            ("stack", convert_merged(&more, &at("out.tet"), &stacking).map(drop)),
        ];
        for (verb, outcome) in outcomes {
            let text = outcome.expect_err(verb).to_string();
            assert!(text.contains(&tet_io::shown(&bad)), "{kind}, {verb}: {text}");
            let is_other = ["one.tet", "two.tet", "three.tet", "out.", "new.tets", "folder.tets"];
            assert!(!is_other.iter().any(|name| text.contains(name)), "{kind}, {verb}: {text}");
        }
        // References take the places alone: what is cut off is an error, a changed byte is none.
        let outcome = write_references(&more, &at("refs.json"), &refs).map(drop);
        if is_cut {
            let text = outcome.expect_err("cut").to_string();
            assert!(text.contains(&tet_io::shown(&bad)), "{kind}, refs: {text}");
        }
        for output in ["out.tet", "out.npz", "new.tets"] {
            assert!(!at(output).exists(), "{kind}: {output}");
        }
        let _ = fs::remove_file(at("refs.json"));
    }
}

#[test]
fn a_damaged_file_that_grows_is_the_one_that_is_named() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let (good, bad) = (rows(&at("good.tet"), "a", 2), rows(&at("bad.tet"), "a", 2));
    let folder = at("bad.tets");
    let mut options = ConvertOptions::default();
    // The chunk at the end is not whole, and is read.
    let rows = ChunkRule { dataset: None, chunks: ChunkChoice::Shape(vec![4, 3]) };
    options.tet.chunks = vec![rows];
    options.storage.codec = Some(PayloadCodec::Raw);
    convert(&bad, &folder, &options).unwrap();
    let bad = at("chunked.tet");
    convert(&at("bad.tet"), &bad, &options).unwrap();
    let mut parts = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
    let part = parts.find(|it| it.extension() == Some("tet".as_ref())).unwrap();
    damaged(bad.clone(), false);
    damaged(part, false);
    for file in [bad, folder] {
        let error = appended(&file, std::slice::from_ref(&good));
        let text = error.expect_err("damaged").to_string();
        assert!(text.contains(&tet_io::shown(&file)) && !text.contains("good"), "{text}");
    }
}
