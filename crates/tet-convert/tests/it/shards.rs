//! A model in several safetensors files: read as one, written as several, checked as a whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::opened;
use crate::common::world::{World, zip};
use tet_convert::{
    ConvertOptions, Error, ImportReport, Io, OpenOptions, Opened, Result, convert, open, verify,
};
use tet_io::{Progress, Source};
use tet_query::{AttrText, Execution, Hyperslab};
use tet_verify::{Level, VerifyOptions};

/// Name, dtype, shape and elements of every dataset, in the order of the catalog.
type Held = Vec<(String, String, Vec<u64>, Vec<u8>)>;

impl World {
    /// A shard of tensors of bytes.
    fn shard(&self, name: &str, metadata: &str, tensors: &[(&str, &[u8])]) {
        let mut header = format!("{{\"__metadata__\":{metadata}");
        let mut at = 0;
        for (tensor, bytes) in tensors {
            let (len, end) = (bytes.len(), at + bytes.len());
            header += &format!(
                ",\"{tensor}\":{{\"dtype\":\"U8\",\"shape\":[{len}],\"data_offsets\":[{at},{end}]}}"
            );
            at = end;
        }
        header.push('}');
        header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
        let buffer = tensors.iter().flat_map(|(_, bytes)| bytes.to_vec());
        let len = u64::try_from(header.len()).expect("short");
        let bytes = len.to_le_bytes().into_iter().chain(header.into_bytes()).chain(buffer);
        self.put(name, &bytes.collect::<Vec<u8>>());
    }

    /// The model that most tests begin with: `b` and `a` in one shard, `c` in another.
    fn sharded(&self) -> PathBuf {
        self.shard("x-1.safetensors", "{\"format\":\"pt\"}", &[("b", &[1, 2, 3]), ("a", &[4])]);
        self.shard("x-2.safetensors", "{\"format\":\"pt\"}", &[("c", &[5, 6])]);
        self.put("x.safetensors.index.json", INDEX.as_bytes())
    }

    fn convert(&self, from: &Path, to: &str, options: &ConvertOptions) -> Result<ImportReport> {
        convert(from, &self.path(to), options)
    }
}

const INDEX: &str = "{\"metadata\": {\"total_size\": 6, \"made\": [\"by\",\"hand\"]}, \"weight_map\": \
    {\"a\": \"x-1.safetensors\", \"c\": \"x-2.safetensors\", \"b\": \"x-1.safetensors\"}}";

fn held(opened: &Opened) -> Held {
    let datasets = opened.catalog.datasets().iter().filter(|it| it.name != "__metadata__");
    let held = datasets.map(|dataset| {
        let slab = Hyperslab::whole(dataset.shape());
        let array = dataset.read(&slab, &Execution::default());
        let array = array.unwrap_or_else(|error| panic!("{}: {error}", dataset.name));
        let (name, dtype) = (dataset.name.clone(), dataset.dtype_name.clone());
        (name, dtype, dataset.shape().to_vec(), array.bytes().to_vec())
    });
    held.collect()
}

fn sharded(len: u64) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.shard_len = Some(len);
    options
}

/// The codes that `verify` finds, and the shards they are about.
fn found(path: &Path) -> Vec<(&'static str, Option<String>)> {
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let report = verify(&Source::open(path).expect("the index"), &options).expect("looked over");
    report.findings.iter().map(|it| (it.code.id(), it.place.shard.clone())).collect()
}

#[test]
fn shards_are_one_catalog_in_the_order_of_the_map() {
    let world = World::new(&[]);
    let path = world.sharded();
    for io in [Io::Auto, Io::Pread, Io::Mmap] {
        let mut options = OpenOptions::default();
        options.io = io;
        let opened = match open(&path, &options) {
            // Where no leases are granted there is nothing to compare.
            Err(Error::Io(tet_io::Error::NoLease { .. })) => continue,
            opened => opened.expect("it is sound"),
        };
        let names: Vec<(String, Vec<u8>)> =
            held(&opened).into_iter().map(|(name, _, _, bytes)| (name, bytes)).collect();
        let wanted = [("a", &[4][..]), ("c", &[5, 6]), ("b", &[1, 2, 3])];
        assert_eq!(names, wanted.map(|(name, bytes)| (name.to_owned(), bytes.to_vec())));
        assert_eq!(opened.catalog.shards().len(), 2);
    }
    let attrs = opened(&path).catalog.attrs().clone();
    assert_eq!(attrs["format"], AttrText::Text("pt".to_owned()));
    assert_eq!(attrs["safetensors:index"], AttrText::Json("{\"made\":[\"by\",\"hand\"]}".into()));
    assert_eq!(found(&path), []);
}

#[test]
fn a_model_goes_through_every_container_and_comes_back() {
    let world = World::new(&[]);
    let path = world.sharded();
    let wanted = held(&opened(&path));
    for between in ["m.zt", "m.tet"] {
        world.convert(&path, between, &ConvertOptions::default()).expect("converted");
        assert_eq!(held(&opened(&world.path(between))), wanted, "{between}");
        let back = format!("{between}.safetensors.index.json");
        let report = world.convert(&world.path(between), &back, &sharded(4)).expect("converted");
        assert_eq!((report.shard_count, report.notes.len()), (2, 0), "{:?}", report.notes);
        let text = fs::read_to_string(world.path(&back)).expect("an index");
        let index: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(index["metadata"], serde_json::json!({"total_size": 6, "made": ["by", "hand"]}));
        assert_eq!(index["weight_map"]["a"], format!("{between}-00001-of-00002.safetensors"));
        assert_eq!(index["weight_map"]["b"], format!("{between}-00002-of-00002.safetensors"));
        let again = opened(&world.path(&back));
        assert_eq!(held(&again), wanted, "order and all");
        assert_eq!(again.catalog.attrs(), opened(&path).catalog.attrs());
        assert_eq!(found(&world.path(&back)), []);
        let lens =
            world.names().into_iter().filter(|name| name.starts_with(&format!("{between}-")));
        let lens = lens.map(|name| fs::metadata(world.path(&name)).expect("a shard").len());
        assert_eq!(
            report.output_len,
            lens.sum::<u64>() + u64::try_from(text.len()).expect("short")
        );
    }
    let report =
        world.convert(&path, "one.safetensors", &ConvertOptions::default()).expect("converted");
    let notes: Vec<String> = report.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["members of the index's metadata (1) are left out"]);
    let mut one = held(&opened(&world.path("one.safetensors")));
    one.sort_by_key(|it| wanted.iter().position(|other| other == it));
    assert_eq!(one, wanted);
    world.convert(&path, "one.npz", &ConvertOptions::default()).expect("converted");
}

#[test]
fn what_fits_one_shard_is_one_file() {
    let world = World::new(&[]);
    let path = world.sharded();
    let report = world.convert(&path, "y.safetensors", &sharded(6)).expect("converted");
    assert_eq!(report.shard_count, 0);
    assert!(world.path("y.safetensors").exists());
    // Asked for by the name of the index, there is one in any case; the name is found either way.
    let report = world.convert(&path, "z.safetensors.index.json", &ConvertOptions::default());
    assert_eq!(report.expect("converted").shard_count, 1);
    assert!(world.path("z-00001-of-00001.safetensors").exists());
    let report = world.convert(&path, "w.safetensors", &sharded(1)).expect("converted");
    assert_eq!(report.shard_count, 3);
    assert!(!world.path("w.safetensors").exists());
    assert_eq!(held(&opened(&world.path("w.safetensors.index.json"))), held(&opened(&path)));
    // Nothing is written over, and nothing new appears.
    let before = world.names();
    fs::remove_file(world.path("w-00001-of-00003.safetensors")).expect("a shard");
    assert!(world.convert(&path, "w.safetensors", &sharded(1)).is_err());
    assert_eq!(world.names().len() + 1, before.len());
    let mut replaced = sharded(4);
    replaced.tet.overwrite = tet_io::Overwrite::Replace;
    assert!(
        world.convert(&path, "x.safetensors.index.json", &replaced).is_err(),
        "it is the input"
    );
}

#[test]
fn what_is_missing_or_damaged_costs_its_tensors() {
    type Damage = fn(&World);
    let cases: [(Damage, &str, &[&str]); 6] = [
        (|world| fs::remove_file(world.path("x-2.safetensors")).unwrap(), "ST-I5", &["c"]),
        (|world| drop(world.put("x-2.safetensors", b"PK\x03\x04")), "ST-I6", &["c"]),
        (
            |world| world.shard("x-2.safetensors", "{\"format\":\"pt\"}", &[("d", &[1])]),
            "ST-I8",
            &["c"],
        ),
        (
            |world| {
                fs::remove_file(world.path("x-2.safetensors")).unwrap();
                fs::hard_link(world.path("x-1.safetensors"), world.path("x-2.safetensors"))
                    .unwrap();
            },
            "ST-I7",
            &["c"],
        ),
        (
            |world| {
                let bytes = fs::read(world.path("x-1.safetensors")).unwrap();
                world.put("x-1.safetensors", &bytes[..bytes.len() - 1]);
            },
            "ST-B1",
            &["a", "b"],
        ),
        (
            |world| {
                fs::remove_file(world.path("x-1.safetensors")).unwrap();
                fs::create_dir(world.path("x-1.safetensors")).unwrap();
            },
            "ST-I6",
            &["a", "b"],
        ),
    ];
    for (damage, code, lost) in cases {
        let world = World::new(&[]);
        let path = world.sharded();
        damage(&world);
        let found = found(&path);
        assert_eq!(found[0].0, code, "{found:?}");
        let shard = if lost.len() == 2 { "x-1.safetensors" } else { "x-2.safetensors" };
        assert_eq!(found[0].1.as_deref(), Some(shard), "{code}");
        let opened = opened(&path);
        for dataset in opened.catalog.datasets() {
            let why = dataset.why().map(ToString::to_string);
            assert_eq!(why.is_some(), lost.contains(&&*dataset.name), "{code}: {why:?}");
            assert!(why.is_none_or(|why| why.contains(shard) && why.contains(code)));
        }
        assert!(world.convert(&path, "out.zt", &ConvertOptions::default()).is_err(), "{code}");
    }
}

#[test]
fn what_is_odd_is_told_and_costs_nothing() {
    let world = World::new(&[]);
    let path = world.sharded();
    world.shard("x-2.safetensors", "{\"format\":\"np\"}", &[("c", &[5, 6]), ("a", &[9])]);
    let second = || Some("x-2.safetensors".to_owned());
    assert_eq!(found(&path), [("ST-N6", second()), ("ST-N8", second()), ("ST-N7", None)]);
    let held = held(&opened(&path));
    assert_eq!(held.len(), 3);
    assert_eq!(held[0].3, [4], "the one that the map means");
}

#[test]
fn hostile_indexes_are_refused() {
    let map = |pairs: &str| format!("{{\"weight_map\": {{{pairs}}}}}");
    let shards: Vec<String> = (0..4097).map(|at| format!("\"t{at}\":\"s{at}\"")).collect();
    let cases = [
        ("{\"weight_map\": {}".to_owned(), "ST-I1"),
        ("{\"weight_map\": {}} x".to_owned(), "ST-I1"),
        ("{\"weight_map\": {\"a\": \"x\",}}".to_owned(), "ST-I1"),
        ("{\"weight_map\": {}, \"weight_map\": {}}".to_owned(), "ST-I2"),
        ("{\"weight_map\": {}, \"metadata\": {\"a\": 1, \"a\": 2}}".to_owned(), "ST-I2"),
        (map("\"a\": \"x\", \"\\u0061\": \"x\""), "ST-I2"),
        ("{\"weight_map\": []}".to_owned(), "ST-I3"),
        ("{\"metadata\": {\"weight_map\": {}}}".to_owned(), "ST-I3"),
        (map("\"a\": 1"), "ST-I3"),
        (map("\"a\": \"\""), "ST-I4"),
        (map("\"a\": \"..\""), "ST-I4"),
        (map("\"a\": \"../x-1.safetensors\""), "ST-I4"),
        (map("\"a\": \"./x-1.safetensors\""), "ST-I4"),
        (map("\"a\": \"/etc/passwd\""), "ST-I4"),
        (map("\"a\": \"c:x\""), "ST-I4"),
        (map("\"a\": \"..\\\\x-1.safetensors\""), "ST-I4"),
        (map("\"a\": \"x\\u0000\""), "ST-I4"),
        (map(&shards.join(",")), "ST-L4"),
    ];
    let world = World::new(&[]);
    world.sharded();
    for (text, code) in cases {
        let path = world.put("h.safetensors.index.json", text.as_bytes());
        match open(&path, &OpenOptions::default()) {
            Err(Error::Foreign { fault, .. }) => assert_eq!(fault.rule.id, code, "{text:.80}"),
            other => panic!("{text:.80}: {other:?}"),
        }
        assert_eq!(found(&path)[0].0, code, "{text:.80}");
    }
    // More tensors than are read, and more bytes.
    let tensors: Vec<String> = (0..=1_000_000).map(|at| format!("\"{at}\":\"x\"")).collect();
    let path = world.put("h.safetensors.index.json", map(&tensors.join(",")).as_bytes());
    assert_eq!(found(&path)[0].0, "ST-L5");
    let path = world.put("h.safetensors.index.json", map("").as_bytes());
    let file = fs::OpenOptions::new().write(true).open(&path).expect("a file");
    file.set_len(100_000_001).expect("a longer file");
    assert_eq!(found(&path)[0].0, "ST-L3");
    // An index that is cut anywhere is refused, or no index any more.
    for len in 0..INDEX.len() {
        let path = world.put("h.safetensors.index.json", &INDEX.as_bytes()[..len]);
        assert!(open(&path, &OpenOptions::default()).is_err(), "{len}");
    }
    let bytes = [b"{\"weight_map\": {\"".as_slice(), &[0xff], b"\": \"x\"}}"].concat();
    let path = world.put("h.safetensors.index.json", &bytes);
    assert_eq!(found(&path)[0].0, "ST-I1");
}

/// A compressed archive is unpacked into a file without a name: nothing is left of it, however the
/// program ends.
#[cfg(target_os = "linux")]
#[test]
fn an_archive_is_unpacked_without_a_name() {
    let folder = tempfile::tempdir().expect("done");
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/deflated.npz");
    let report_count = Arc::new(AtomicUsize::new(0));
    let (count, path) = (Arc::clone(&report_count), folder.path().to_path_buf());
    let mut options = ConvertOptions::default();
    options.execution.progress = Progress::new(move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        assert_eq!(fs::read_dir(&path).expect("done").count(), 0);
    });
    let out = folder.path().join("out.tet");
    convert(&archive, &out, &options).expect("done");
    assert!(0 < report_count.load(Ordering::Relaxed));
}

/// A checkpoint of one tensor of bytes, as PyTorch writes it.
fn pickled(world: &World, name: &str, tensor: &str, elements: &[u8]) {
    let count = u8::try_from(elements.len()).expect("a short tensor");
    let text = |text: &str| {
        [&[b'X', u8::try_from(text.len()).expect("short"), 0, 0, 0], text.as_bytes()].concat()
    };
    let pickle = [
        &b"\x80\x02}"[..],
        &text(tensor),
        concat!("ctorch._util", "s\n_rebuild_tensor_v2\n((").as_bytes(),
        &text("storage"),
        b"ctorch\nByteStorage\n",
        &text("0"),
        &text("cpu"),
        &[b'K', count],
        b"tQK\x00",
        &[b'K', count, 0x85, b'K', 1, 0x85],
        b"\x89ccollections\nOrderedDict\n)RtRs.",
    ];
    zip(&world.path(name), &[("m/data.pkl", &pickle.concat()[..]), ("m/data/0", elements)]);
}

#[test]
fn an_index_of_pytorch_checkpoints_is_one_model() {
    let world = World::new(&[]);
    pickled(&world, "pytorch_model-00001-of-00002.bin", "a", &[1, 2]);
    pickled(&world, "pytorch_model-00002-of-00002.bin", "b", &[3]);
    let index = r#"{"metadata": {"total_size": 3}, "weight_map": {
        "a": "pytorch_model-00001-of-00002.bin", "b": "pytorch_model-00002-of-00002.bin",
        "c": "pytorch_model-00002-of-00002.bin"}}"#;
    let path = world.put("pytorch_model.bin.index.json", index.as_bytes());
    let opened = opened(&path);
    let names: Vec<&str> = opened.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(crate::common::read(&opened, "a").bytes(), [1, 2]);
    assert_eq!(crate::common::read(&opened, "b").bytes(), [3]);
    let lost = opened.catalog.find("c").expect("it is listed");
    assert!(!lost.has_shape && lost.why().is_some());
    let source = Source::open(&path).expect("a file");
    let report = verify(&source, &VerifyOptions::default()).expect("it is checked");
    let ids: Vec<&str> = report.findings.iter().map(|it| it.code.id()).collect();
    assert_eq!((report.is_ok(), ids), (false, vec!["ST-I8"]));
    let index = r#"{"weight_map": {"a": "pytorch_model-00001-of-00002.bin", "b2": "gone.bin"}}"#;
    let opened = crate::common::opened(&world.put("other.bin.index.json", index.as_bytes()));
    let gone =
        opened.catalog.find("b2").expect("it is listed").why().expect("a reason").to_string();
    assert!(gone.contains("gone.bin"), "{gone}");
}

#[test]
fn one_part_of_a_model_is_called_so() {
    let world = World::new(&[]);
    pickled(&world, "m-00001-of-00002.bin", "a", &[1]);
    world.shard("m-00002-of-00003.safetensors", "{}", &[("b", &[1])]);
    for (name, words) in
        [("m-00001-of-00002.bin", "part 1 of 2"), ("m-00002-of-00003.safetensors", "part 2 of 3")]
    {
        let path = world.path(name);
        let note = opened(&path).part_of().expect("a note").to_string();
        assert!(note.contains(words), "{note}");
        let source = Source::open(&path).expect("a file");
        assert!(tet_convert::part_of(&source).expect("it is read").is_some());
    }
    world.put(".metadata", b"\x80\x02}.");
    let error = open(world.folder(), &OpenOptions::default()).expect_err("no container");
    assert!(error.to_string().contains("torch.distributed.checkpoint"), "{error}");
}
