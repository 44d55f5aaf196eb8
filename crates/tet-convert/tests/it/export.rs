//! Exports, read back by our own import and compared with files NumPy made.

use crate::common::{DTYPES, elements, fixture, imported, imported_as, read, watched};
use tet_convert::export::{
    Compression, Encoding, ExportOptions, write_array, write_lazy, write_lazy_file, write_npz_file,
};
use tet_convert::{ChunkChoice, ImportOptions, Opened, PayloadCodec};
use tet_query::{AxisSlice, Execution, Hyperslab, LazyArray, Selection};

fn chunked(shape: &[u64]) -> ImportOptions {
    let mut options = ImportOptions::default();
    options.chunks = ChunkChoice::Shape(shape.to_vec()).into();
    options
}

fn written(opened: &Opened, name: &str, encoding: Encoding, execution: &Execution) -> Vec<u8> {
    let dataset = opened.catalog.find(name).expect("it is there");
    let slab = Hyperslab::whole(dataset.shape());
    let mut out = vec![];
    let lazy = LazyArray::values(dataset, &slab).expect("it can be read");
    write_lazy(&lazy, encoding, execution, &mut out).expect("it can be read");
    out
}

#[test]
fn an_exported_array_is_the_file_numpy_made() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["version_1", "scalar", "rank_8", "bits"] {
        let input = fixture(&format!("{name}.npy"));
        let opened = imported(folder.path(), &input, &ImportOptions::default()).unwrap();
        let found = written(&opened, name, Encoding::Npy, &Execution::default());
        assert_eq!(found, std::fs::read(&input).unwrap(), "{name}");
    }
}

#[test]
fn blocks_of_any_budget_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let opened = imported_as(
        PayloadCodec::Zstd,
        folder.path(),
        &fixture("stored.npz"),
        &chunked(&[2, 2, 3]),
    )
    .unwrap();
    for memory_budget in [16, 17, 40, 100, 300, 1 << 30] {
        let execution = Execution { memory_budget, ..Execution::default() };
        let dataset = opened.catalog.find("f8").unwrap();
        let slab = Hyperslab::whole(dataset.shape());
        let mut out = vec![];
        let lazy = LazyArray::values(dataset, &slab).unwrap();
        let outcome = write_lazy(&lazy, Encoding::Raw, &execution, &mut out);
        // The engine has a floor of its own below which it refuses; never are bytes wrong.
        if outcome.is_ok() {
            assert_eq!(out, elements("f8", 60), "{memory_budget}");
        } else {
            assert!(memory_budget < 1 << 30, "{outcome:?}");
        }
    }
}

#[test]
fn an_array_of_no_elements_opens_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nothing.npy");
    let opened = imported(folder.path(), &fixture("version_1.npy"), &ImportOptions::default());
    let opened = opened.unwrap();
    let dataset = &opened.catalog.datasets()[0];
    let slices = dataset.shape().iter().enumerate().map(|(axis, &extent)| {
        let stop = if axis == 0 { 0 } else { extent };
        AxisSlice { stop, ..AxisSlice::whole(extent) }
    });
    let slab = Hyperslab::new(slices.collect(), dataset.shape()).unwrap();
    let lazy = LazyArray::values(dataset, &slab).unwrap();
    let options = ExportOptions::default();
    write_lazy_file(&opened.catalog, &lazy, Encoding::Npy, &path, &options).unwrap();
    let again = tet_convert::open(&path, &Default::default()).unwrap();
    let found = &again.catalog.datasets()[0];
    assert_eq!(found.shape(), &**lazy.shape());
    assert!(read(&again, "nothing").bytes().is_empty());
    let again = imported(folder.path(), &path, &ImportOptions::default()).unwrap();
    assert_eq!(again.catalog.datasets()[0].shape(), &**lazy.shape());
}

#[test]
fn archives_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    for compression in [Compression::Stored, Compression::Deflated] {
        let opened = imported_as(
            PayloadCodec::Zstd,
            folder.path(),
            &fixture("deflated.npz"),
            &chunked(&[3, 2, 4]),
        );
        let opened = opened.unwrap();
        let (progress, last) = watched();
        let execution = Execution { progress, ..Execution::default() };
        let options = ExportOptions { compression, execution, ..ExportOptions::default() };
        let path = folder.path().join("x.npz");
        let datasets = opened.catalog.datasets().iter().collect::<Vec<_>>();
        write_npz_file(&opened.catalog, &datasets, &path, &options).unwrap();
        let (done, all) = *last.lock().unwrap();
        assert!(done == all && all > 0);
        drop(opened);
        let again = imported(folder.path(), &path, &ImportOptions::default()).unwrap();
        for (code, _) in DTYPES {
            assert_eq!(read(&again, code).bytes(), elements(code, 60), "{code}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_selection_is_exported_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let opened = imported_as(
        PayloadCodec::Zstd,
        folder.path(),
        &fixture("stored.npz"),
        &chunked(&[2, 2, 2]),
    )
    .unwrap();
    let dataset = opened.catalog.find("i4").unwrap();
    let selection = Selection::parse("1:5:3, -1, :").unwrap();
    let slab = selection.resolve(dataset, &tet_query::NoLabels).unwrap();
    let path = folder.path().join("x.csv");
    let lazy = LazyArray::values(dataset, &slab).unwrap();
    let options = ExportOptions::default();
    write_lazy_file(&opened.catalog, &lazy, Encoding::Csv, &path, &options).unwrap();
    let line = |time: i64| {
        let first = time * 12 + 8;
        let values = (first..first + 4).map(|i| ((i * 37 + 11) % 101 - 50).to_string());
        values.collect::<Vec<_>>().join(",") + "\n"
    };
    assert_eq!(std::fs::read_to_string(&path).unwrap(), line(1) + &line(4));
    let array = dataset.read(&slab, &Execution::default()).unwrap();
    let mut out = vec![];
    write_array("i4", &array, Encoding::Csv, &mut out).unwrap();
    assert_eq!(out, std::fs::read(&path).unwrap());
}

#[test]
fn an_output_over_its_input_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let opened =
        imported(folder.path(), &fixture("version_1.npy"), &ImportOptions::default()).unwrap();
    let path = folder.path().join("out.tet");
    let before = std::fs::read(&path).unwrap();
    let options =
        ExportOptions { overwrite: tet_io::Overwrite::Replace, ..ExportOptions::default() };
    let datasets = opened.catalog.datasets().iter().collect::<Vec<_>>();
    let error = write_npz_file(&opened.catalog, &datasets, &path, &options).unwrap_err();
    assert_eq!(error.kind(), tet_io::Kind::Usage, "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_plain_npy_is_read_in_place() {
    let names = [("version_1", "i4"), ("rank_8", "u2"), ("bits", ""), ("scalar", "")];
    for (name, code) in names {
        let path = fixture(&format!("{name}.npy"));
        let opened = tet_convert::open(&path, &tet_convert::OpenOptions::default()).unwrap();
        assert_eq!((opened.format, opened.catalog.format()), (tet_convert::Format::NPY, "npy"));
        assert_eq!(opened.catalog.datasets()[0].name, name);
        let array = read(&opened, name);
        if !code.is_empty() {
            assert_eq!(array.bytes(), elements(code, array.len() as i64), "{name}");
        }
        let found = written(&opened, name, Encoding::Npy, &Execution::default());
        assert_eq!(found, std::fs::read(&path).unwrap(), "{name}");
    }
}

#[test]
fn columns_are_read_in_place_as_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let open = |descr: &str, shape: &str, bytes: &[u8]| {
        std::fs::write(&path, crate::common::npy(descr, "True", shape, bytes)).unwrap();
        tet_convert::open(&path, &tet_convert::OpenOptions::default()).unwrap()
    };
    let little: Vec<u8> = (0..6_u32).flat_map(u32::to_le_bytes).collect();
    let big: Vec<u8> = little.chunks(4).flat_map(|it| it.iter().rev().copied()).collect();
    let wanted: Vec<u8> = [0, 2, 4, 1, 3, 5_u32].into_iter().flat_map(u32::to_le_bytes).collect();
    for (descr, bytes) in [("<u4", &little), (">u4", &big)] {
        let opened = open(descr, "(2, 3)", bytes);
        assert_eq!(read(&opened, "x").bytes(), wanted, "{descr}");
        // It goes wherever others go.
        for suffix in ["zt", "safetensors", "npz", "tet"] {
            let output = folder.path().join(format!("{descr}.{suffix}").replace(['<', '>'], "_"));
            let _ = std::fs::remove_file(&output);
            let options = tet_convert::ConvertOptions::default();
            tet_convert::convert(&path, &output, &options).unwrap();
        }
    }
    // Along one axis columns are rows.
    for shape in ["(6,)", "(1, 6)", "(6, 1)"] {
        assert_eq!(read(&open("<u4", shape, &little), "x").bytes(), little, "{shape}");
    }
}

#[test]
fn a_scalar_in_place_has_no_axes() {
    let path = fixture("scalar.npy");
    let opened = tet_convert::open(&path, &tet_convert::OpenOptions::default()).unwrap();
    let dataset = &opened.catalog.datasets()[0];
    assert_eq!((dataset.shape().len(), dataset.grid.chunk_count()), (0, 1));
    assert_eq!(read(&opened, "scalar").bytes(), 2.5_f32.to_le_bytes());
}

#[test]
fn a_large_npy_in_place_has_every_element_in_its_chunk() {
    // 9 MB: three slabs of auto's choice, the last one clipped.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let bytes = (0..1_125_011_u64).flat_map(u64::to_le_bytes).collect::<Vec<_>>();
    std::fs::write(&path, crate::common::npy("<u8", "False", "(1125011,)", &bytes)).unwrap();
    let opened = tet_convert::open(&path, &tet_convert::OpenOptions::default()).unwrap();
    assert!(opened.catalog.datasets()[0].grid.chunk_count() >= 3);
    assert!(read(&opened, "x").bytes() == bytes);
}
