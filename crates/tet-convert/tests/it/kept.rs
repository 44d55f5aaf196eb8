//! What must come through other containers as it was: types that they lack, scalars, and the spelling of
//! a model's index.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{npy, opened, read};
use tet_convert::{ConvertOptions, ImportReport, Note, Opened, Result, convert};

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        World { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn go(&self, from: &str, to: &str) -> Result<ImportReport> {
        let _ = fs::remove_file(self.path(to));
        convert(&self.path(from), &self.path(to), &ConvertOptions::default())
    }

    fn opened(&self, name: &str) -> Opened {
        opened(&self.path(name))
    }

    /// An archive of these arrays: a name, a dtype, a shape, and elements.
    fn npz(&self, name: &str, arrays: &[(&str, &str, &str, &[u8])]) {
        let file = fs::File::create(self.path(name)).expect("a file");
        let mut zip = zip::ZipWriter::new(file);
        let how = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        for (array, descr, shape, elements) in arrays {
            zip.start_file(format!("{array}.npy"), how).expect("a member");
            let bytes = npy(descr, "False", shape, elements);
            std::io::Write::write_all(&mut zip, &bytes).expect("written");
        }
        zip.finish().expect("an archive");
    }

    /// A safetensors file of this header.
    fn safetensors(&self, name: &str, header: &str, buffer: &[u8]) {
        let header = format!("{header:<len$}", len = header.len().next_multiple_of(8));
        let len = (header.len() as u64).to_le_bytes();
        fs::write(self.path(name), [&len[..], header.as_bytes(), buffer].concat()).expect("a file");
    }
}

fn pairs(parts: &[f64]) -> Vec<u8> {
    parts.iter().flat_map(|part| part.to_le_bytes()).collect()
}

fn all_are_as_bits(report: &ImportReport, names: &[&str]) {
    let noted: Vec<_> = report
        .notes
        .iter()
        .map(|note| match note {
            Note::AsBits { dataset, .. } => dataset.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(noted, names);
}

#[test]
fn complex_numbers_come_through_every_container() {
    let world = World::new();
    let (scalar, line) = (pairs(&[1.0, 2.0]), pairs(&[3.0, 4.0, 5.0, 6.0]));
    world.npz("a.npz", &[("s", "<c16", "()", &scalar), ("l", "<c16", "(2,)", &line)]);
    all_are_as_bits(&world.go("a.npz", "b.safetensors").unwrap(), &["s", "l"]);
    all_are_as_bits(&world.go("a.npz", "b.zt").unwrap(), &["s", "l"]);
    all_are_as_bits(&world.go("b.safetensors", "c.zt").unwrap(), &["l", "s"]);
    all_are_as_bits(&world.go("b.zt", "c.safetensors").unwrap(), &["s", "l"]);
    assert_eq!(world.go("a.npz", "b.npz").unwrap().notes, []);
    for name in ["b.safetensors", "b.zt", "c.zt", "c.safetensors"] {
        let opened = world.opened(name);
        for (array, shape, bytes) in [("s", &[][..], &scalar), ("l", &[2], &line)] {
            let dataset = opened.catalog.find(array).unwrap();
            assert_eq!((dataset.dtype_name.as_str(), dataset.shape()), ("complex128", shape));
            assert_eq!(read(&opened, array).bytes(), bytes, "{name} {array}");
        }
    }
    assert_eq!(
        fs::read(world.path("b.safetensors")).unwrap(),
        fs::read(world.path("c.safetensors")).unwrap()
    );
}

#[test]
fn what_has_no_elements_keeps_its_type() {
    let world = World::new();
    let entry = |name: &str, shape: &str| {
        format!("\"{name}\":{{\"dtype\":\"F4\",\"shape\":{shape},\"data_offsets\":[0,0]}}")
    };
    let header =
        format!("{{{},{},{}}}", entry("a", "[0]"), entry("b", "[0,3]"), entry("c", "[2,0]"));
    world.safetensors("a.safetensors", &header, &[]);
    world.go("a.safetensors", "b.zt").unwrap();
    world.go("b.zt", "c.safetensors").unwrap();
    for name in ["b.zt", "c.safetensors"] {
        let opened = world.opened(name);
        for (tensor, shape) in [("a", &[0][..]), ("b", &[0, 3]), ("c", &[2, 0])] {
            let dataset = opened.catalog.find(tensor).unwrap();
            let found = (dataset.dtype_name.as_str(), dataset.shape());
            assert_eq!(found, ("float4_e2m1fn", shape), "{name} {tensor}");
        }
    }
    world.npz("e.npz", &[("e", "<f4", "(0, 3)", &[])]);
    let noted = Note::NoElements { dataset: "e".to_owned() };
    assert_eq!(world.go("e.npz", "e.zt").unwrap().notes, []);
    for from in ["e.npz", "e.zt"] {
        assert_eq!(world.go(from, "e.tet").unwrap().notes, std::slice::from_ref(&noted), "{from}");
        world.go("e.tet", "back.npz").unwrap();
        world.go("back.npz", "again.zt").unwrap();
        assert_eq!(world.opened("again.zt").catalog.find("e").unwrap().shape(), [0, 3], "{from}");
    }
}

#[test]
fn an_index_comes_back_letter_by_letter() {
    let world = World::new();
    let metadata = "{\"zz\":\"1\",\"format\":\"pt\"}";
    let tensor = "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}";
    let header = format!("{{\"__metadata__\":{metadata},{tensor}}}");
    world.safetensors("m-00001-of-00001.safetensors", &header, &[7]);
    let index = "{\n  \"metadata\": {\n    \"made\": {\"by\":   [\"h\u{e4}nd\", 1180591620717411303424,\n  \
        1e2]},\n    \"total_size\": 1\n  },\n  \"weight_map\": {\n    \
        \"a\": \"m-00001-of-00001.safetensors\"\n  }\n}\n";
    fs::write(world.path("m.safetensors.index.json"), index).unwrap();
    world.go("m.safetensors.index.json", "m.zt").unwrap();
    let again = world.path("again");
    fs::create_dir(&again).unwrap();
    let to = |name: &str| Path::new("again").join(name).to_string_lossy().into_owned();
    world.go("m.zt", &to("m.safetensors.index.json")).unwrap();
    for name in ["m.safetensors.index.json", "m-00001-of-00001.safetensors"] {
        let [one, other] = [name.to_owned(), to(name)].map(|it| fs::read(world.path(&it)).unwrap());
        assert_eq!(String::from_utf8_lossy(&one), String::from_utf8_lossy(&other), "{name}");
    }
}
