//! Random files, split and put together again: joined, appended, stacked and merged files have what the whole has, its
//! metadata included.
//!
//! ```text
//!   whole.zarr --select--> parts of any container --concat, append, merge, stack--> OUT   =   whole.zarr --convert--> OUT
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use tet_convert::{
    AxisAppend, ConvertOptions, EditOptions, Opened, append, catalog_diff, concat, convert,
    convert_merged, open,
};
use tet_query::{DatasetDiff, Execution, Hyperslab, Tolerance};

/// Containers that hold numbers with attributes.
const SUFFIXES: [&str; 7] = ["tet", "zt", "tgm", "zarr", "h5", "nc", "nc3"];
const SEEDS: std::ops::Range<u64> = 1..13;

/// Numbers that are the same in every run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::try_from(self.below(items.len() as u64)).unwrap()]
    }
}

/// Writes an array of a Zarr 2 hierarchy in one chunk.
fn array(folder: &Path, dtype: &str, bytes: &[u8], dims: &[(&str, u64)], attrs: &[(&str, &str)]) {
    fs::create_dir_all(folder).unwrap();
    let shape: Vec<u64> = dims.iter().map(|(_, extent)| *extent).collect();
    let chunk: Vec<u64> = shape.iter().map(|extent| (*extent).max(1)).collect();
    let document = format!(
        r#"{{"zarr_format":2,"shape":{shape:?},"chunks":{chunk:?},"dtype":"{dtype}","compressor":null,"fill_value":null,"order":"C","filters":null}}"#
    );
    fs::write(folder.join(".zarray"), document).unwrap();
    let names: Vec<&str> = dims.iter().map(|(name, _)| *name).collect();
    let attrs = attrs.iter().map(|(key, json)| format!(",\"{key}\":{json}")).collect::<String>();
    fs::write(folder.join(".zattrs"), format!("{{\"_ARRAY_DIMENSIONS\":{names:?}{attrs}}}"))
        .unwrap();
    let key = vec!["0"; shape.len().max(1)].join(".");
    fs::write(folder.join(key), bytes).unwrap();
}

/// Attributes of which no container loses the type.
const ATTRS: [(&str, &str, &str); 12] = [
    ("scale_factor", "0.009999999776482582", "float32"),
    ("add_offset", "273.15", ""),
    ("nan", "\"NaN\"", "float64"),
    ("narrow_nan", "\"NaN\"", "float32"),
    ("infinite", "[\"-Infinity\",1.0]", "float32"),
    ("word", "\"NaN\"", ""),
    ("digits", "\"5\"", ""),
    ("flag_values", "[0,1,2]", "int8"),
    ("version", "3", "int16"),
    ("count", "9007199254740993", "int64"),
    ("truth", "true", "bool"),
    ("units", "\"m s-1\"", ""),
];

fn attrs_of(rng: &mut Rng, is_float: bool) -> Vec<(String, String)> {
    let mut types = Vec::new();
    let mut attrs = Vec::new();
    for (key, json, dtype) in ATTRS {
        if rng.below(3) != 0 {
            continue;
        }
        attrs.push((key.to_owned(), json.to_owned()));
        if !dtype.is_empty() {
            types.push(format!("\\\"{key}\\\":\\\"{dtype}\\\""));
        }
    }
    if is_float && rng.below(2) == 0 {
        attrs.push(("_FillValue".to_owned(), "\"NaN\"".to_owned()));
    }
    if !types.is_empty() {
        attrs.push(("tet:types".to_owned(), format!("\"{{{}}}\"", types.join(","))));
    }
    attrs
}

/// A hierarchy of a time axis, and the names of the arrays along it.
fn whole(folder: &Path, rng: &mut Rng) -> (PathBuf, u64) {
    let root = folder.join("whole.zarr");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join(".zgroup"), r#"{"zarr_format":2}"#).unwrap();
    fs::write(
        root.join(".zattrs"),
        r#"{"title":"A year","limit":"NaN","tet:types":"{\"limit\":\"float32\"}"}"#,
    )
    .unwrap();
    let (steps, lat) = (2 + rng.below(9), 1 + rng.below(4));
    let doubles = |count: u64| -> Vec<u8> {
        (0..u32::try_from(count).unwrap()).flat_map(|at| f64::from(at).to_le_bytes()).collect()
    };
    let days = [("units", "\"days since 2000-01-01\""), ("bounds", "\"time_bnds\"")];
    array(&root.join("time"), "<f8", &doubles(steps), &[("time", steps)], &days);
    let bounds = [("time", steps), ("nv", 2)];
    array(&root.join("time_bnds"), "<f8", &doubles(2 * steps), &bounds, &[]);
    array(&root.join("lat"), "<f8", &doubles(lat), &[("lat", lat)], &[("units", "\"degrees\"")]);
    array(&root.join("height"), "<f8", &doubles(1), &[], &[("units", "\"m\"")]);
    for name in ["a", "b", "c"].iter().take(usize::try_from(1 + rng.below(3)).unwrap()) {
        let (dtype, size) = rng.pick(&[("<f4", 4), ("<f8", 8), ("<i2", 2), ("<i4", 4), ("|i1", 1)]);
        let dims = [("time", steps), ("lat", lat)];
        let dims = if rng.below(2) == 0 { dims } else { [dims[1], dims[0]] };
        let bytes: Vec<u8> =
            (0..steps * lat * size).map(|_| u8::try_from(rng.below(256)).unwrap()).collect();
        let attrs = attrs_of(rng, dtype.contains('f'));
        let attrs: Vec<(&str, &str)> =
            attrs.iter().map(|(key, json)| (key.as_str(), json.as_str())).collect();
        array(&root.join(name), dtype, &bytes, &dims, &attrs);
    }
    (root, steps)
}

fn opened(path: &Path) -> Opened {
    open(path, &Default::default()).unwrap()
}

/// Checks that two files have the same datasets, with the same metadata and elements.
fn check_same(found: &Path, wanted: &Path, context: &str) {
    let [found, wanted] = [found, wanted].map(opened);
    let diff = catalog_diff(&found.catalog, &wanted.catalog, &tet_convert::NameMap::default());
    let only: Vec<&String> = diff.only.iter().flatten().map(|it| &it.name).collect();
    assert!(only.is_empty(), "{context}: only in one: {only:?}");
    assert!(diff.attrs.is_empty(), "{context}: {:?}", diff.attrs);
    let exact = Tolerance { nan_equal: true, ..Tolerance::default() };
    for [a, b] in &diff.both {
        let slabs = [a, b].map(|it| Hyperslab::whole(it.shape()));
        let pair = [(&found.catalog, a), (&wanted.catalog, b)];
        let how = Execution::default();
        let diff = DatasetDiff::compare(pair, [&slabs[0], &slabs[1]], Some(&exact), &how).unwrap();
        assert!(diff.is_same(), "{context}: {}: {:?} {:?}", a.name, diff.metadata, diff.why());
        // Types too, where both have them.
        assert_eq!(a.attrs, b.attrs, "{context}: {}", a.name);
    }
}

fn part(whole: &Path, output: &Path, select: &str) -> PathBuf {
    let mut options = ConvertOptions::default();
    options.select = Some(select.to_owned());
    convert(whole, output, &options).unwrap();
    output.to_path_buf()
}

/// The whole in parts along time.
fn split(folder: &Path, whole: &Path, steps: u64, rng: &mut Rng) -> Vec<PathBuf> {
    let (mut start, mut parts) = (0, Vec::new());
    while start < steps {
        let stop = start + 1 + rng.below(steps - start);
        let suffix = rng.pick(&SUFFIXES);
        let path = folder.join(format!("part-{start}.{suffix}"));
        parts.push(part(whole, &path, &format!("time#{start}:{stop}")));
        start = stop;
    }
    parts
}

#[test]
fn joined_parts_are_the_whole() {
    for seed in SEEDS {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (whole, steps) = whole(folder.path(), &mut rng);
        let parts = split(folder.path(), &whole, steps, &mut rng);
        for suffix in SUFFIXES {
            let context = format!("seed {seed}, {parts:?} -> {suffix}");
            let wanted = folder.path().join(format!("wanted.{suffix}"));
            convert(&whole, &wanted, &ConvertOptions::default()).unwrap();
            let output = folder.path().join(format!("joined.{suffix}"));
            concat(&parts, "time", &output, &ConvertOptions::default())
                .unwrap_or_else(|error| panic!("{context}: {error}"));
            check_same(&output, &wanted, &context);
        }
    }
}

#[test]
fn appended_parts_are_the_whole() {
    for seed in SEEDS {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = Rng(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let (whole, steps) = whole(folder.path(), &mut rng);
        let parts = split(folder.path(), &whole, steps, &mut rng);
        for suffix in ["tet", "zt", "tets"] {
            let context = format!("seed {seed}, {parts:?} -> {suffix}");
            let wanted = folder.path().join(format!("wanted.{suffix}"));
            convert(&whole, &wanted, &ConvertOptions::default()).unwrap();
            let output = folder.path().join(format!("grown.{suffix}"));
            convert(&parts[0], &output, &ConvertOptions::default()).unwrap();
            for more in &parts[1..] {
                let inputs = [more.clone()];
                let asked = AxisAppend { axis: "time", inputs: &inputs, ..AxisAppend::default() };
                append(&output, &asked, &EditOptions::default(), &Execution::default())
                    .unwrap_or_else(|error| panic!("{context}: {error}"));
            }
            check_same(&output, &wanted, &context);
        }
    }
}

#[test]
fn merged_files_are_the_whole() {
    for seed in SEEDS {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = Rng(seed.wrapping_mul(0x9e6c_63d0_876a_68de));
        let (whole, _) = whole(folder.path(), &mut rng);
        let names: Vec<String> =
            opened(&whole).catalog.datasets().iter().map(|it| it.name.clone()).collect();
        let mut files = [Vec::new(), Vec::new()];
        for name in names {
            // A dataset in both files is written once.
            match rng.below(3) {
                0 => files[0].push(name),
                1 => files[1].push(name),
                _ => files.iter_mut().for_each(|file| file.push(name.clone())),
            }
        }
        let mut inputs = Vec::new();
        for (number, names) in files.into_iter().enumerate().filter(|(_, names)| !names.is_empty())
        {
            let path = folder.path().join(format!("file-{number}.{}", rng.pick(&SUFFIXES)));
            let mut options = ConvertOptions::default();
            options.tet.include = names;
            convert(&whole, &path, &options).unwrap();
            inputs.push(path);
        }
        for suffix in SUFFIXES {
            let context = format!("seed {seed}, {inputs:?} -> {suffix}");
            let wanted = folder.path().join(format!("wanted.{suffix}"));
            convert(&whole, &wanted, &ConvertOptions::default()).unwrap();
            let output = folder.path().join(format!("merged.{suffix}"));
            convert_merged(&inputs, &output, &ConvertOptions::default())
                .unwrap_or_else(|error| panic!("{context}: {error}"));
            check_same(&output, &wanted, &context);
        }
    }
}

#[test]
fn stacked_files_are_slices() {
    for seed in SEEDS {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = Rng(seed.wrapping_mul(0xd134_2543_de82_ef95));
        let (whole, _) = whole(folder.path(), &mut rng);
        let names = ["one", "two", "three"];
        let inputs: Vec<PathBuf> = names
            .iter()
            .map(|name| {
                let path = folder.path().join(format!("{name}.{}", rng.pick(&SUFFIXES)));
                convert(&whole, &path, &ConvertOptions::default()).unwrap();
                path
            })
            .collect();
        let mut options = ConvertOptions::default();
        options.stack = Some("run".to_owned());
        for suffix in SUFFIXES {
            let context = format!("seed {seed}, {inputs:?} -> {suffix}");
            let wanted = folder.path().join(format!("wanted.{suffix}"));
            convert(&whole, &wanted, &ConvertOptions::default()).unwrap();
            let output = folder.path().join(format!("stacked.{suffix}"));
            convert_merged(&inputs, &output, &options)
                .unwrap_or_else(|error| panic!("{context}: {error}"));
            let [found, wanted] = [&output, &wanted].map(|it| opened(it));
            for dataset in wanted.catalog.datasets() {
                let stacked = found.catalog.only_named(&dataset.name).expect(&context);
                let [one, more] = [dataset, stacked].map(|it| {
                    let slab = Hyperslab::whole(it.shape());
                    let read = it.read(&slab, &Execution::default()).unwrap();
                    read.value.bytes().to_vec()
                });
                let is_coordinate = ["time", "lat"].contains(&dataset.name.as_str());
                let times = if is_coordinate { 1 } else { names.len() };
                assert_eq!(more, one.repeat(times), "{context}: {}", dataset.name);
                let mut attrs = dataset.attrs.clone();
                attrs.remove("tet:scalar");
                assert_eq!(attrs, stacked.attrs, "{context}: {}", dataset.name);
            }
        }
    }
}
