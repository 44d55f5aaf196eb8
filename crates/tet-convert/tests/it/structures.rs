//! Structures: their members are parts, found by name.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use tet_convert::{ConvertOptions, Note, OpenOptions, Opened, convert, open};
use tet_query::{Axis, AxisSlice, Element, Error, Execution, Hyperslab};

fn fixture(name: &str) -> Opened {
    open(crate::common::fixture(name), &OpenOptions::default()).unwrap()
}

fn numbers<T: Element>(opened: &Opened, name: &str) -> Vec<T> {
    let dataset = opened.catalog.find(name).unwrap();
    let slab = Hyperslab::whole(dataset.shape());
    dataset.read_as::<T>(&slab, &Execution::default()).unwrap().value
}

fn texts(opened: &Opened, name: &str) -> Vec<String> {
    let dataset = opened.catalog.find(name).unwrap();
    let slab = Hyperslab::whole(dataset.shape());
    dataset.read_texts(&slab, &Execution::default()).unwrap().value
}

#[test]
fn members_of_hdf5_are_parts() {
    let file = fixture("structures.h5");
    for (name, count) in [("rows", 5), ("table", 7)] {
        let of = |member: &str| format!("{name}.{member}");
        let all = 0..count;
        let t: Vec<f32> = all.clone().map(|at| at as f32 + 0.5).collect();
        assert_eq!(numbers::<f32>(&file, &of("t")), t);
        let x: Vec<i16> = all.clone().collect();
        assert_eq!(numbers::<i16>(&file, &of("at.x")), x);
        let y: Vec<i16> = all.clone().map(|at| -at).collect();
        assert_eq!(numbers::<i16>(&file, &of("at.y")), y);
        let v: Vec<u16> = all.clone().flat_map(|at| [at as u16, 2 * at as u16]).collect();
        assert_eq!(numbers::<u16>(&file, &of("v")), v);
        assert_eq!(file.catalog.find(&of("v")).unwrap().shape(), [count as u64, 2]);
        let names: Vec<String> = all.map(|at| format!("n{at}")).collect();
        assert_eq!(texts(&file, &of("name")), names);
        let z = file.catalog.find(&of("z")).unwrap();
        let read = z.read(&Hyperslab::whole(z.shape()), &Execution::default()).unwrap().value;
        assert_eq!(read.bytes()[8..16], [1.0_f32.to_le_bytes(), (-1.0_f32).to_le_bytes()].concat());
    }
    assert_eq!(texts(&file, "mixed.name"), ["a", "\u{e9}\u{e9}", ""]);
    assert_eq!(numbers::<i32>(&file, "mixed.k"), [1, -2, 3]);
    assert_eq!(numbers::<i16>(&file, "unwritten.a"), [7, 7]);
    assert_eq!(numbers::<i16>(&file, "unwritten.b"), [9, 9]);
}

#[test]
fn a_part_of_a_member_is_that_of_the_whole() {
    let file = fixture("structures.h5");
    for name in ["rows.v", "table.v"] {
        let dataset = file.catalog.find(name).unwrap();
        let whole = numbers::<u16>(&file, name);
        for start in 0..dataset.shape()[0] {
            for column in 0..2 {
                let slice = |start, stop, step| AxisSlice { start, stop, step, axis: Axis::Kept };
                let axes = vec![slice(start, dataset.shape()[0], 2), slice(column, column + 1, 1)];
                let slab = Hyperslab::new(axes, dataset.shape()).unwrap();
                let found = dataset.read_as::<u16>(&slab, &Execution::default()).unwrap().value;
                let rows = (start..dataset.shape()[0]).step_by(2);
                let wanted: Vec<u16> =
                    rows.map(|row| whole[usize::try_from(row * 2 + column).unwrap()]).collect();
                assert_eq!(found, wanted, "{name} {start} {column}");
            }
        }
    }
}

#[test]
fn fields_of_zarr_are_parts() {
    for name in ["texts_v2.zarr.zip", "texts_v3.zarr.zip"] {
        let file = fixture(name);
        assert_eq!(numbers::<i32>(&file, "table.k"), [1, 2], "{name}");
        assert_eq!(texts(&file, "table.s"), ["x", "yz"], "{name}");
        assert_eq!(numbers::<f64>(&file, "table.f"), [0.5, -1.0], "{name}");
    }
}

#[test]
fn a_whole_structure_names_its_members() {
    let file = fixture("structures.h5");
    let rows = file.catalog.find("rows").unwrap();
    assert_eq!(
        rows.dtype_name,
        "compound of t: float32, at: compound of x: int16, y: int16, name: string, v: array of uint16, z: complex64"
    );
    let Some(Error::Compound { members, .. }) = rows.why() else { panic!("{:?}", rows.why()) };
    assert_eq!(members[..3], ["rows.t", "rows.at.x", "rows.at.y"]);
    let listed: Vec<&str> = file.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(listed, ["mixed", "rows", "table", "unwritten"]);
}

#[test]
fn members_are_written_as_datasets() {
    let folder = tempfile::tempdir().unwrap();
    for output in ["a.h5", "a.zarr", "a.nc", "a.npz"] {
        let path = folder.path().join(output);
        let mut options = ConvertOptions::default();
        options.tet.exclude = vec!["table.t".to_owned()];
        let report = convert(&crate::common::fixture("structures.h5"), &path, &options).unwrap();
        let of = |wanted: &str| {
            report.notes.iter().find_map(|note| match note {
                Note::Members { dataset, parts } if dataset == wanted => Some(parts.clone()),
                _ => None,
            })
        };
        let file = open(&path, &OpenOptions::default()).unwrap();
        let is_text = output != "a.npz";
        assert_eq!(of("rows").unwrap().len(), if is_text { 6 } else { 5 }, "{output}");
        let left = report
            .notes
            .iter()
            .any(|note| matches!(note, Note::LeftBehind { what: "members of structures", .. }));
        assert_eq!(left, !is_text, "{output}");
        let source = fixture("structures.h5");
        for name in ["rows.t", "unwritten.a", "rows.at.x", "table.v"] {
            let wanted = source.catalog.find(name).unwrap();
            let slab = Hyperslab::whole(wanted.shape());
            let read = |dataset: &tet_query::Dataset| {
                dataset.read(&slab, &Execution::default()).unwrap().value.bytes().to_vec()
            };
            let found = file.catalog.find(name).unwrap();
            assert_eq!((found.dtype, read(found)), (wanted.dtype, read(wanted)), "{output} {name}");
        }
        assert!(file.catalog.find("table.t").is_err(), "{output}: it is excluded");
        if is_text {
            assert_eq!(texts(&file, "rows.name"), texts(&source, "rows.name"), "{output}");
        }
    }
}

/// `np.dtype([('id', '>i2'), ('at', [('x', '<f4'), ('v', '<u2', (2,))]), ('name', '<U2'), ('when', '<M8[s]')], align=True)`
const DESCR: &str = "[('id', '>i2'), ('', '|V2'), ('at', [('x', '<f4'), ('v', '<u2', (2,))]), (('the name', \
    'name'), '<U2'), ('', '|V4'), ('when', '<M8[s]')]";

/// A `.npy` file of three such structures.
#[allow(clippy::big_endian_bytes, reason = "a field is big-endian")]
fn structured() -> Vec<u8> {
    let mut elements = Vec::new();
    for at in 0..3_u8 {
        elements.extend(i16::from(at).to_be_bytes());
        elements.extend([9, 9]);
        elements.extend((f32::from(at) + 0.5).to_le_bytes());
        elements.extend([u16::from(at), 2 * u16::from(at)].map(u16::to_le_bytes).concat());
        elements.extend([u32::from(b'a' + at), 0].map(u32::to_le_bytes).concat());
        elements.extend([9; 4]);
        elements.extend((1_600_000_000 + i64::from(at)).to_le_bytes());
    }
    let list = crate::common::npy("DESCR", "False", "(3,)", &elements);
    let (head, header) =
        (&list[..10], String::from_utf8_lossy(&list[10..list.len() - elements.len()]));
    let header = header.replace("'DESCR'", DESCR);
    let len = u16::try_from(header.len()).unwrap().to_le_bytes();
    [&head[..8], &len, header.as_bytes(), &elements].concat()
}

#[test]
fn fields_of_numpy_are_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.npy");
    std::fs::write(&path, structured()).unwrap();
    let file = open(&path, &OpenOptions::default()).unwrap();
    let whole = &file.catalog.datasets()[0];
    assert!(matches!(whole.why(), Some(Error::Compound { members, .. }) if members.len() == 5));
    assert_eq!(numbers::<i16>(&file, "events.id"), [0, 1, 2]);
    assert_eq!(numbers::<f32>(&file, "events.at.x"), [0.5, 1.5, 2.5]);
    assert_eq!(numbers::<u16>(&file, "events.at.v"), [0, 0, 1, 2, 2, 4]);
    assert_eq!(file.catalog.find("events.at.v").unwrap().shape(), [3, 2]);
    assert_eq!(texts(&file, "events.name"), ["a", "b", "c"]);
    assert_eq!(numbers::<i64>(&file, "events.when"), [1_600_000_000, 1_600_000_001, 1_600_000_002]);
    let units = &file.catalog.find("events.when").unwrap().attrs["units"];
    assert_eq!(units.text(), "seconds since 1970-01-01");
    let table = folder.path().join("rows.csv");
    let mut options = ConvertOptions::default();
    options.tet.exclude = vec!["events.at.v".to_owned()];
    convert(&path, &table, &options).unwrap();
    let text = std::fs::read_to_string(&table).unwrap();
    assert_eq!(text.lines().nth(2), Some("1,1.5,b,2020-09-13T12:26:41"), "{text}");
}

#[test]
fn a_selection_of_structures_is_of_all_members() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.npy");
    std::fs::write(&path, structured()).unwrap();
    let mut options = ConvertOptions::default();
    options.select = Some("1:3".to_owned());
    let output = folder.path().join("rows.nc");
    convert(&path, &output, &options).unwrap();
    let rows = open(&output, &OpenOptions::default()).unwrap();
    assert_eq!(numbers::<i16>(&rows, "events.id"), [1, 2]);
    assert_eq!(numbers::<u16>(&rows, "events.at.v"), [1, 2, 2, 4]);
}
