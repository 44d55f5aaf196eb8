//! Files whose datasets are stored in another way, and files that are stacked: the elements are the same.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::made::{Made, check_sound, contents, write};
use crate::common::world::World;
use crate::common::{opened, read};
use tet_convert::{
    AxisAppend, CodecRule, ConvertOptions, EditMode, EditOptions, EditReport, Error, Filter,
    Packing, PayloadCodec, Repack, Storage, StorageRule, append, convert, convert_merged, repack,
};
use tet_file::DigestChoice;
use tet_format::DType;
use tet_io::Overwrite;
use tet_query::{Dataset, Execution};
use tet_ztensor::{Checksum, ZTensorFile};

/// Containers whose datasets are stored anew, each with a codec other than raw.
const CODECS: [(&str, PayloadCodec); 3] =
    [("zt", PayloadCodec::Zstd), ("tgm", PayloadCodec::Zstd), ("npz", PayloadCodec::Gzip)];

/// A `.tet` file of `a.w` and `b.w` (float64), and `time`; all elements grow by `by`.
fn model(path: &Path, by: u64) {
    let array = |name, shape: Vec<u64>| Made {
        name,
        dtype: DType::Float64,
        shape,
        dims: &[],
        element: Box::new(move |at| ((at.iter().sum::<u64>() + by) as f64).to_le_bytes().to_vec()),
    };
    write(
        path,
        &[array("a.w", vec![90, 40]), array("b.w", vec![70, 4]), array("time", vec![9])],
        None,
    );
}

impl World {
    fn model(&self, name: &str, suffix: &str, by: u64) -> PathBuf {
        let tet = self.path(&format!("{name}.tet"));
        model(&tet, by);
        let path = tet.with_extension(suffix);
        let mut options = ConvertOptions::default();
        options.tet.overwrite = Overwrite::Replace;
        convert(&tet, &path, &options).expect("converted");
        path
    }
}

fn codec(dataset: &str, codec: PayloadCodec, level: Option<i32>) -> Repack {
    let rule = CodecRule { dataset: dataset.to_owned(), codec: Some(codec), level };
    Repack { codecs: vec![rule], ..Repack::default() }
}

fn storage(dataset: &str, storage: Storage) -> Repack {
    let rule = StorageRule { dataset: dataset.to_owned(), storage };
    Repack { storage: vec![rule], ..Repack::default() }
}

fn repacked(path: &Path, how: &Repack) -> Result<EditReport, Error> {
    repack(&opened(path), None, how, &EditOptions::default())
}

fn changed(report: &EditReport) -> Vec<&str> {
    report.changes.iter().map(|it| it.dataset()).collect()
}

#[test]
fn datasets_get_another_codec_and_keep_their_elements() {
    let world = World::new(&[]);
    for (suffix, packed) in CODECS {
        let path = world.model("model", suffix, 0);
        let (old, raw_len) = (contents(&path), fs::metadata(&path).expect("it").len());
        let plan = EditOptions { mode: EditMode::Plan, ..EditOptions::default() };
        let report = repack(&opened(&path), None, &codec("*.w", packed, None), &plan);
        let report = report.unwrap_or_else(|error| panic!("{suffix}: {error}"));
        assert_eq!((changed(&report), report.file_len), (vec!["a.w", "b.w"], None), "{suffix}");
        assert_eq!(raw_len, fs::metadata(&path).expect("it").len());
        let report = repacked(&path, &codec("*.w", packed, None)).expect("it is stored anew");
        assert_eq!(
            (changed(&report), &report.kept[..]),
            (vec!["a.w", "b.w"], &["time".to_owned()][..])
        );
        let packed_len = fs::metadata(&path).expect("it").len();
        assert_eq!(report.file_len, Some(packed_len), "{suffix}");
        assert!(packed_len < raw_len / 3, "{suffix}: {packed_len} of {raw_len}");
        check_sound(&path);
        assert!(contents(&path) == old, "{suffix}");
        // What is stored so already is copied, unless a level is asked for.
        let report = repacked(&path, &codec("*.w", packed, None)).expect("it stays");
        assert_eq!(changed(&report), [""; 0], "{suffix}");
        let report = repacked(&path, &codec("b.w", packed, Some(9))).expect("a level");
        assert_eq!(changed(&report), ["b.w"], "{suffix}");
        let report = repacked(&path, &codec("*", PayloadCodec::Raw, None)).expect("raw again");
        assert_eq!(changed(&report), ["a.w", "b.w"], "{suffix}");
        check_sound(&path);
        assert!(contents(&path) == old, "{suffix}");
        assert!(fs::metadata(&path).expect("it").len().abs_diff(raw_len) < 128, "{suffix}");
        let report = repacked(&path, &codec("*", packed, None)).expect("nothing is copied");
        assert_eq!((report.changes.len(), report.kept_len), (3, 0), "{suffix}");
        check_sound(&path);
        assert!(contents(&path) == old, "{suffix}");
    }
}

/// A storage that a container does not have is an error, and nothing is written.
#[test]
fn what_a_container_has_not_is_refused() {
    let world = World::new(&[]);
    let shuffle = Storage { filter: Some(Filter::Shuffle), ..Storage::default() };
    let sum = Storage { checksum: Some(tet_convert::Checksum::None), ..Storage::default() };
    let chunks = Repack { chunks: tet_convert::ChunkChoice::Auto.into(), ..Repack::default() };
    let zstd = codec("*", PayloadCodec::Zstd, None);
    for (suffix, how, word) in [
        ("zt", codec("*", PayloadCodec::Lz4, None), "lz4"),
        ("zt", codec("none", PayloadCodec::Raw, None), "none"),
        ("zt", storage("*", shuffle), "filter"),
        ("zt", chunks.clone(), "chunks"),
        ("tgm", codec("*", PayloadCodec::Gzip, None), "gzip"),
        ("tgm", storage("*", sum.clone()), "checksum"),
        ("npz", zstd.clone(), "zstd"),
        ("npz", codec("*", PayloadCodec::Gzip, Some(10)), "10"),
        ("npz", chunks, "chunks"),
        ("safetensors", zstd.clone(), "nothing to repack"),
        ("nc", zstd, "repacking"),
        ("tet", storage("*", sum), "checksum"),
    ] {
        let path = if suffix == "tet" {
            world.model("model", "zt", 0).with_extension("tet")
        } else {
            world.model("model", suffix, 0)
        };
        let before = fs::read(&path).expect("a file");
        let error = repacked(&path, &how).expect_err(word).to_string();
        assert!(error.contains(word), "{suffix}: {error}");
        assert!(before == fs::read(&path).expect("a file"), "{suffix}");
    }
}

#[test]
fn checksums_of_ztensor_files_change_and_stay_with_what_stays() {
    let world = World::new(&[]);
    let path = world.model("model", "zt", 0);
    let sums = |path: &Path| {
        let source = tet_io::Source::open(path).expect("a file");
        let file = ZTensorFile::open(source, &tet_ztensor::Limits::default()).expect("sound");
        // The tensors borrow the file, which ends here.
        Vec::from_iter(file.tensors().map(|it| it.checksum()))
    };
    let before = sums(&path);
    assert!(matches!(before[0], Some(Checksum::Crc32c(_))));
    let change = |checksum| Storage { checksum: Some(checksum), ..Storage::default() };
    repacked(&path, &storage("a.w", change(tet_convert::Checksum::Sha256)))
        .expect("another checksum");
    let after = sums(&path);
    assert!(matches!(after[0], Some(Checksum::Sha256(_))) && after[1..] == before[1..]);
    repacked(&path, &storage("b.w", change(tet_convert::Checksum::None))).expect("no checksum");
    assert_eq!((sums(&path)[0], sums(&path)[1]), (after[0], None));
    check_sound(&path);
}

/// The values of a dataset of doubles.
fn doubles(path: &Path, name: &str) -> Vec<f64> {
    let bytes = read(&opened(path), name).bytes().to_vec();
    bytes.as_chunks::<8>().0.iter().map(|it| f64::from_le_bytes(*it)).collect()
}

/// Packed numbers are rounded once: what is appended is packed in the same way, or refused.
#[test]
fn packed_values_grow_by_values_of_the_same_packing() {
    let world = World::new(&[]);
    let path = world.model("model", "tgm", 0);
    let packed = Storage { packing: Some(Packing::Bits(12)), ..Storage::default() };
    let report = repacked(&path, &storage("a.w", packed)).expect("packed");
    assert_eq!((changed(&report), report.notes.len()), (vec!["a.w"], 1));
    let values = doubles(&path, "a.w");
    assert!(
        values
            .iter()
            .zip(doubles(&world.path("model.tet"), "a.w"))
            .all(|(a, b)| (a - b).abs() < 0.1)
    );
    let grow = |by: u64| {
        let inputs = [world.model("more", "npz", by)];
        let datasets = ["a.w".to_owned()];
        let asked = AxisAppend {
            axis: "0",
            datasets: &datasets,
            inputs: &inputs,
            output: None,
            ..AxisAppend::default()
        };
        append(&path, &asked, &EditOptions::default(), &Execution::default())
    };
    let before = fs::read(&path).expect("a file");
    let error = grow(1000).expect_err("values out of the packing").to_string();
    assert!(error.contains("packing"), "{error}");
    assert!(before == fs::read(&path).expect("a file"));
    grow(0).expect("it grows");
    assert_eq!(doubles(&path, "a.w"), [&values[..], &values].concat());
    check_sound(&path);
    let unpacked = Storage { packing: Some(Packing::None), ..Storage::default() };
    repacked(&path, &storage("*", unpacked)).expect("unpacked");
    assert_eq!(doubles(&path, "a.w"), [&values[..], &values].concat());
    grow(1000).expect("doubles grow by any values");
    assert_eq!(doubles(&path, "a.w")[7200..], doubles(&world.path("more.tet"), "a.w"));
}

/// A run of a model: `temp` (lat, lon) and `lat`, which begins at `offset`.
fn run(world: &World, name: &str, run: u64, offset: u64) -> PathBuf {
    let path = world.path(name);
    let temp = move |at: &[u64]| ((run * 100 + at[0] * 10 + at[1]) as f32).to_le_bytes().to_vec();
    let lat = move |at: &[u64]| ((at[0] + offset) as i64).to_le_bytes().to_vec();
    let arrays = [
        Made {
            name: "temp",
            dtype: DType::Float32,
            shape: vec![3, 4],
            dims: &["lat", "lon"],
            element: Box::new(temp),
        },
        Made {
            name: "lat",
            dtype: DType::Int64,
            shape: vec![3],
            dims: &["lat"],
            element: Box::new(lat),
        },
    ];
    write(&path, &arrays, None);
    path
}

/// Stacks files along the axis `run`.
fn stack(world: &World, inputs: &[PathBuf], output: &str) -> Result<(), Error> {
    let mut options = ConvertOptions::default();
    options.stack = Some("run".to_owned());
    options.tet.overwrite = Overwrite::Replace;
    convert_merged(inputs, &world.path(output), &options).map(drop)
}

/// Runs of one model along a new axis.
#[test]
fn files_with_the_same_datasets_are_stacked_along_a_new_axis() {
    let world = World::new(&[]);
    let tet = [0, 1, 2].map(|number| run(&world, &format!("r{number}.tet"), number, 0));
    let wanted: Vec<u8> = (0..36)
        .flat_map(|at| ((at / 12 * 100 + at / 4 % 3 * 10 + at % 4) as f32).to_le_bytes())
        .collect();
    for suffix in ["tet", "zt", "tgm", "nc", "npz", "safetensors", "zarr"] {
        let output = format!("all.{suffix}");
        stack(&world, &tet, &output).unwrap_or_else(|error| panic!("{output}: {error}"));
        let opened = opened(&world.path(&output));
        let temp: &Dataset = opened.catalog.find("temp").expect("it");
        assert_eq!(temp.shape(), [3, 3, 4], "{output}");
        assert_eq!(read(&opened, "temp").bytes(), wanted, "{output}");
        assert_eq!(opened.catalog.find("lat").expect("it").shape(), [3], "a coordinate: {output}");
        if ["tet", "zt", "tgm"].contains(&suffix) {
            assert_eq!(temp.dims, ["run", "lat", "lon"], "{output}");
            assert_eq!(temp.coords[&0], ["r0", "r1", "r2"], "{output}");
        }
    }
    let npz = tet.map(|path| {
        let npz = path.with_extension("npz");
        convert(&path, &npz, &ConvertOptions::default()).expect("converted");
        npz
    });
    stack(&world, &npz, "plain.npz").expect("arrays without names of axes");
    assert_eq!(opened(&world.path("plain.npz")).catalog.find("lat").expect("it").shape(), [3, 3]);
}

#[test]
fn files_with_other_datasets_are_not_stacked() {
    let world = World::new(&[]);
    let first = run(&world, "r0.tet", 0, 0);
    let refused = |other: PathBuf, word: &str| {
        let files = [first.clone(), other];
        let error = stack(&world, &files, "none.tet").expect_err(word).to_string();
        let mut names = files.iter().filter_map(|it| it.file_name()?.to_str());
        assert!(error.contains(word) && names.all(|it| error.contains(it)), "{error}");
        assert!(!world.path("none.tet").exists());
    };
    refused(run(&world, "moved.tet", 1, 7), "lat");
    refused(world.model("model", "zt", 0), "temp");
    let more = world.path("more.tet");
    let element = Box::new(|_: &[u64]| vec![0]);
    let array = Made { name: "more", dtype: DType::UInt8, shape: vec![2], dims: &[], element };
    write(&more, &[array], None);
    let merged = world.path("grown.tet");
    let inputs = [run(&world, "r1.tet", 1, 0), more];
    convert_merged(&inputs, &merged, &ConvertOptions::default()).expect("merged");
    refused(merged, "more");
}

/// A file gets digests where its payloads are; those of a damaged file would hide the damage.
#[test]
fn digests_are_added_to_sound_files_alone() {
    let world = World::new(&[]);
    let digests = || Repack { digests: Some(DigestChoice::Written), ..Repack::default() };
    let bare = world.path("bare.tet");
    let mut options = ConvertOptions::default();
    options.tet.digests = DigestChoice::Left;
    let zstd =
        || CodecRule { dataset: "*".to_owned(), codec: Some(PayloadCodec::Zstd), level: None };
    options.codecs = vec![zstd()];
    convert(&world.model("model", "zt", 0), &bare, &options).expect("converted");
    let before = fs::read(&bare).expect("a file");
    let index_end = opened(&bare).tet.as_ref().expect("a .tet file").index_end() as usize;
    let damaged = |path: &Path| {
        let mut bytes = before.clone();
        bytes[index_end.next_multiple_of(64) + 20] ^= 1;
        fs::write(path, bytes).expect("a file");
    };
    let with_codec = Repack {
        codecs: vec![CodecRule {
            dataset: "time".to_owned(),
            codec: Some(PayloadCodec::Raw),
            level: None,
        }],
        ..digests()
    };
    for how in [digests(), with_codec] {
        let path = world.path("rotten.tet");
        damaged(&path);
        let rotten = fs::read(&path).expect("a file");
        let error = repacked(&path, &how).expect_err("the file is damaged");
        assert!(matches!(error, Error::Verify(_)), "{error}");
        assert!(fs::read(&path).expect("a file") == rotten, "nothing is changed");
    }
    let history = opened(&bare).tet.as_ref().expect("a .tet file").history().to_vec();
    let report = repacked(&bare, &digests()).expect("repacked");
    assert_eq!(report.file_len, Some(fs::metadata(&bare).expect("a file").len()));
    let after = fs::read(&bare).expect("a file");
    assert!(after[index_end..].starts_with(&before[index_end..index_end + 512]), "payloads stay");
    let tet = opened(&bare).tet.clone().expect("a .tet file");
    assert!(tet.protection().digests().is_some());
    assert_eq!(tet.history().len(), history.len());
    let report = repacked(&bare, &digests()).expect("nothing to do");
    assert_eq!(report.file_len, None);
    assert!(fs::read(&bare).expect("a file") == after);
}
