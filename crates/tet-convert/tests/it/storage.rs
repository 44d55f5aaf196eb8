//! Chunk shapes and codecs of single datasets, in every container that has them.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::path::{Path, PathBuf};

use super::common::opened;
use tet_convert::{
    AxisChunk, ChunkChoice, ChunkRule, CodecRule, ConvertOptions, Error, Opened, PayloadCodec,
    convert,
};
use tet_file::metadata::{DatasetMetadata, Metadata};
use tet_file::write::{ChunkAt, DatasetSpec, WriteOptions, Writer};
use tet_format::DType;
use tet_query::{Dataset, Execution, Hyperslab};

const TEMP: [u64; 3] = [40, 30, 50];
const CHUNK: [u64; 3] = [4, 30, 50];

/// `temp` of three axes, `wind` of the same, `land` of two, and the coordinates of their axes.
fn sample(folder: &Path) -> PathBuf {
    let path = folder.join("sample.tet");
    let one = |name: &str, extent: u64| DatasetSpec::new(name, DType::Int32, [extent], [extent]);
    let specs = vec![
        DatasetSpec::new("temp", DType::Float32, TEMP, CHUNK),
        DatasetSpec::new("wind", DType::Float32, TEMP, CHUNK),
        DatasetSpec::new("land", DType::UInt8, [30_u64, 50], [30_u64, 50]),
        one("time", 40),
        one("lat", 30),
        one("lon", 50),
    ];
    let mut writer = Writer::create(&path, specs.clone(), &WriteOptions::default()).unwrap();
    let mut metadata = Metadata::new();
    for (id, spec) in specs.iter().enumerate() {
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            let bytes = (0..chunk.decoded_len).map(|at| ((at / 40) * 7 + chunk.linear) as u8);
            out.extend(bytes);
            Ok(())
        };
        writer.write_dataset(id, fill, &Default::default()).unwrap();
        let dims: &[&str] = match (spec.name.as_str(), spec.shape.rank()) {
            (_, 3) => &["time", "lat", "lon"],
            (_, 2) => &["lat", "lon"],
            (name, _) => &[name],
        };
        let mut about = DatasetMetadata::default();
        about.dim_names = dims.iter().map(|it| (*it).to_owned()).collect();
        metadata.datasets.insert(spec.name.clone(), about);
    }
    writer.finish(&metadata, &[]).unwrap();
    path
}

fn dataset<'o>(opened: &'o Opened, name: &str) -> &'o Dataset {
    opened.catalog.only_named(name).unwrap()
}

fn elements(dataset: &Dataset) -> Vec<u8> {
    let whole = Hyperslab::whole(dataset.shape());
    dataset.read(&whole, &Execution::default()).unwrap().value.bytes().to_vec()
}

fn rule(dataset: Option<&str>, chunks: ChunkChoice) -> ChunkRule {
    ChunkRule { dataset: dataset.map(str::to_owned), chunks }
}

fn along(axes: &[(&str, Option<u64>)]) -> ChunkChoice {
    let axis = |(name, extent): &(&str, Option<u64>)| {
        ((*name).to_owned(), extent.map_or(AxisChunk::Auto, AxisChunk::Extent))
    };
    ChunkChoice::Axes(axes.iter().map(axis).collect())
}

fn shape(extents: &[u64]) -> ChunkChoice {
    ChunkChoice::Shape(extents.to_vec())
}

/// The chunk shapes of `temp`, `wind`, `land` and `time` in a file of this suffix.
fn chunks(rules: Vec<ChunkRule>, suffix: &str) -> Result<Vec<Vec<u64>>, Error> {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (sample(folder.path()), folder.path().join(suffix));
    let mut options = ConvertOptions::default();
    options.tet.chunks = rules;
    // With filters, all of an HDF5 file is in chunks.
    if suffix.ends_with("h5") || suffix.ends_with("nc") {
        options.storage.filter = Some(tet_convert::Filter::Shuffle);
    }
    convert(&input, &output, &options)?;
    let (old, new) = (opened(&input), opened(&output));
    for it in old.catalog.datasets() {
        assert_eq!(elements(it), elements(dataset(&new, &it.name)), "{} in {suffix}", it.name);
    }
    let names = ["temp", "wind", "land", "time"];
    Ok(names.map(|name| dataset(&new, name).grid.chunk_shape().to_vec()).to_vec())
}

#[test]
fn rules_hold_for_the_datasets_that_they_fit() {
    for suffix in ["o.tet", "o.zarr", "o.h5", "o.nc"] {
        let of = |rules: Vec<ChunkRule>| chunks(rules, suffix).unwrap();
        let (kept, land, time) = (CHUNK.to_vec(), vec![30, 50], vec![40]);
        let one = vec![1, 15, 25];
        let all = of(shape(&one).into());
        assert_eq!(all, [one.clone(), one.clone(), land.clone(), time.clone()], "{suffix}");
        let named = of(vec![rule(Some("wind"), shape(&one))]);
        assert_eq!(named, [kept.clone(), one.clone(), land.clone(), time.clone()], "{suffix}");
        let by_axis = of(along(&[("time", Some(8)), ("lat", Some(10))]).into());
        let wide = vec![8, 10, 50];
        assert_eq!(by_axis, [wide.clone(), wide.clone(), vec![10, 50], time.clone()], "{suffix}");
        // Rules with names come after the others, and later ones after earlier ones.
        let several = of(vec![
            rule(Some("t*p"), along(&[("lon", Some(5))])),
            rule(Some("time"), along(&[("time", Some(20))])),
            rule(None, shape(&[2, 30, 50])),
            rule(None, along(&[("lat", Some(3))])),
        ]);
        assert_eq!(several, [vec![2, 3, 5], vec![2, 3, 50], vec![3, 50], vec![20]], "{suffix}");
        let whole = of(vec![rule(Some("#0"), ChunkChoice::Auto)]);
        assert_eq!(whole, [TEMP.to_vec(), kept, land, time], "{suffix}");
    }
}

#[test]
fn rules_that_hold_for_nothing_are_errors() {
    let fails = |rules: Vec<ChunkRule>| chunks(rules, "o.tet").unwrap_err().to_string();
    let text = fails(shape(&[1, 2, 3, 4]).into());
    assert!(text.contains("has 4 axes, dataset \"temp\" of shape [40, 30, 50] has 3"), "{text}");
    let text = fails(vec![rule(Some("land"), shape(&[1, 2, 3]))]);
    assert!(text.contains("dataset \"land\""), "{text}");
    let text = fails(along(&[("tiem", Some(1))]).into());
    assert!(text.contains("no dataset has an axis \"tiem\""), "{text}");
    assert!(text.contains("lat, lon, time"), "{text}");
    let error = chunks(vec![rule(Some("tmep"), ChunkChoice::Auto)], "o.tet").unwrap_err();
    assert!(
        matches!(&error, Error::Query(tet_query::Error::NoSuchDataset { suggestion: Some(it), .. }) if it == "temp"),
        "{error:?}"
    );
    assert!(matches!(fails(shape(&[1, 0, 3]).into()), text if text.contains("extent of 0")));
}

/// The names of the codecs of `temp`, `wind` and `land` in a file of this suffix.
fn codecs(rules: &[(&str, Option<PayloadCodec>, Option<i32>)], suffix: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (sample(folder.path()), folder.path().join(suffix));
    let mut options = ConvertOptions::default();
    let rule = |&(dataset, codec, level): &(&str, _, _)| CodecRule {
        dataset: dataset.to_owned(),
        codec,
        level,
    };
    options.codecs = rules.iter().map(rule).collect();
    convert(&input, &output, &options).unwrap();
    let (old, new) = (opened(&input), opened(&output));
    let codec = |name: &str| {
        let dataset = dataset(&new, name);
        assert_eq!(elements(dataset), elements(self::dataset(&old, name)), "{name} in {suffix}");
        let whole = Hyperslab::whole(dataset.shape());
        let plan = tet_query::plan(dataset, &whole, tet_query::Coalesce::NONE).unwrap();
        let chunk = &plan.chunks()[0];
        dataset.chunks.decoder(chunk.linear, &chunk.place).full_name().to_owned()
    };
    ["temp", "wind", "land"].map(codec).to_vec()
}

#[test]
fn each_dataset_has_its_codec() {
    use PayloadCodec::{Gzip, Raw, Zstd};
    // The defaults are zstd in .tet and Zarr, and raw elsewhere.
    let named = [("temp", Some(Zstd), Some(19)), ("l*", Some(Raw), None)];
    assert_eq!(codecs(&named, "o.tet"), ["zstd", "zstd", "raw"]);
    assert_eq!(codecs(&[("wind", Some(Zstd), None)], "o.zt"), ["raw", "zstd", "raw"]);
    let found = codecs(&[("wind", Some(Raw), None)], "o.zarr");
    assert!(found[0] == "zstd" && found[1] == "raw" && found[2] == "zstd", "{found:?}");
    let found = codecs(&[("temp", Some(Gzip), None), ("#1", Some(Zstd), None)], "o.h5");
    assert!(found[0].contains("deflate") && found[1].contains("zstd"), "{found:?}");
    assert_eq!(found[2], "raw");
    let found = codecs(&[("land", Some(Zstd), None)], "o.tgm");
    assert_eq!(found, ["raw", "raw", "tensogram"]);
}

#[test]
fn codecs_that_a_container_lacks_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let input = sample(folder.path());
    for (suffix, codec, level) in [
        ("o.tet", PayloadCodec::Gzip, None),
        ("o.tet", PayloadCodec::Raw, Some(3)),
        ("o.tet", PayloadCodec::Zstd, Some(40)),
        ("o.h5", PayloadCodec::Lz4, None),
        ("o.h5", PayloadCodec::Gzip, Some(12)),
        ("o.zarr", PayloadCodec::Szip, None),
        ("o.zt", PayloadCodec::Gzip, None),
        ("o.tgm", PayloadCodec::Gzip, None),
    ] {
        let mut options = ConvertOptions::default();
        options.codecs.push(CodecRule { dataset: "land".to_owned(), codec: Some(codec), level });
        let output = folder.path().join(suffix);
        assert!(convert(&input, &output, &options).is_err(), "{suffix} {codec:?} {level:?}");
        assert!(!output.exists(), "{suffix}");
    }
}
