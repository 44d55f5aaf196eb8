//! NetCDF classic files: every version, type and kind of record, read as a loop over the bytes reads them.

#![allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]

use tet_convert::{Format, OpenOptions, Opened, open_source, verify};
use tet_format::DType;
use tet_io::Source;
use tet_query::{AttrText, AxisSlice, Execution, Hyperslab, Op, Reduction};
use tet_verify::VerifyOptions;

/// A file in the making.
struct Draft {
    version: u8,
    records: u64,
    dims: Vec<(&'static str, u64)>,
    attrs: Vec<(&'static str, u32, Vec<u8>)>,
    variables: Vec<Var>,
}

struct Var {
    name: String,
    dims: Vec<u64>,
    tag: u32,
    /// The elements, big-endian.
    bytes: Vec<u8>,
}

const SIZES: [usize; 12] = [0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8];

impl Draft {
    fn number(&self, out: &mut Vec<u8>, number: u64) {
        if self.version == 5 {
            out.extend(number.to_be_bytes());
        } else {
            out.extend(u32::try_from(number).expect("a small file").to_be_bytes());
        }
    }

    fn name(&self, out: &mut Vec<u8>, name: &str) {
        self.number(out, name.len() as u64);
        out.extend(name.as_bytes());
        out.resize(out.len().next_multiple_of(4), 0);
    }

    fn list(&self, out: &mut Vec<u8>, tag: u32, count: usize) {
        out.extend((if count == 0 { 0 } else { tag }).to_be_bytes());
        self.number(out, count as u64);
    }

    fn attrs(&self, out: &mut Vec<u8>, attrs: &[(&str, u32, Vec<u8>)]) {
        self.list(out, 12, attrs.len());
        for (name, tag, value) in attrs {
            self.name(out, name);
            out.extend(tag.to_be_bytes());
            self.number(out, (value.len() / SIZES[*tag as usize]) as u64);
            out.extend(value);
            out.resize(out.len().next_multiple_of(4), 0);
        }
    }

    fn is_record(&self, var: &Var) -> bool {
        var.dims
            .first()
            .is_some_and(|&dim| self.dims[usize::try_from(dim).expect("a small file")].1 == 0)
    }

    fn part_len(&self, var: &Var) -> u64 {
        let inner =
            var.dims.iter().map(|&dim| self.dims[usize::try_from(dim).expect("a small file")].1);
        inner.filter(|&len| len != 0).product::<u64>() * SIZES[var.tag as usize] as u64
    }

    /// The header with the variables at these offsets.
    fn header(&self, begins: &[u64]) -> Vec<u8> {
        let mut out = vec![b'C', b'D', b'F', self.version];
        self.number(&mut out, self.records);
        self.list(&mut out, 10, self.dims.len());
        for (name, len) in &self.dims {
            self.name(&mut out, name);
            self.number(&mut out, *len);
        }
        self.attrs(&mut out, &self.attrs);
        self.list(&mut out, 11, self.variables.len());
        for (var, begin) in self.variables.iter().zip(begins) {
            self.name(&mut out, &var.name);
            self.number(&mut out, var.dims.len() as u64);
            var.dims.iter().for_each(|&dim| self.number(&mut out, dim));
            self.attrs(&mut out, &[("number", 3, vec![1, 2])]);
            out.extend(var.tag.to_be_bytes());
            self.number(&mut out, self.part_len(var).next_multiple_of(4));
            if self.version == 1 {
                out.extend(u32::try_from(*begin).expect("a small file").to_be_bytes());
            } else {
                out.extend(begin.to_be_bytes());
            }
        }
        out
    }

    fn bytes(&self) -> Vec<u8> {
        let mut begins = vec![0; self.variables.len()];
        let mut at = self.header(&begins).len() as u64;
        for is_record in [false, true] {
            for (begin, var) in begins.iter_mut().zip(&self.variables) {
                if self.is_record(var) == is_record {
                    *begin = at;
                    at += self.part_len(var).next_multiple_of(4);
                }
            }
        }
        let mut out = self.header(&begins);
        for var in self.variables.iter().filter(|var| !self.is_record(var)) {
            out.extend(&var.bytes);
            out.resize(out.len().next_multiple_of(4), 0);
        }
        let parts: Vec<&Var> = self.variables.iter().filter(|var| self.is_record(var)).collect();
        for record in 0..usize::try_from(self.records).expect("a small file") {
            for var in &parts {
                let len = usize::try_from(self.part_len(var)).expect("a small file");
                out.extend(&var.bytes[record * len..(record + 1) * len]);
                if parts.len() != 1 {
                    out.resize(out.len().next_multiple_of(4), 0);
                }
            }
        }
        out
    }
}

/// Elements that differ from their neighbors, big-endian.
fn elements(tag: u32, count: u64) -> Vec<u8> {
    (0..count)
        .flat_map(|at| match tag {
            5 => (at as f32 * 0.5 - 7.0).to_be_bytes().to_vec(),
            6 => (at as f64 * 0.25 - 7.0).to_be_bytes().to_vec(),
            _ => {
                let number = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                number.to_be_bytes()[..SIZES[tag as usize]].to_vec()
            }
        })
        .collect()
}

fn var(draft: &Draft, name: &str, dims: &[u64], tag: u32) -> Var {
    let extent = |&dim: &u64| match draft.dims[usize::try_from(dim).expect("a small file")].1 {
        0 => draft.records,
        len => len,
    };
    let count = dims.iter().map(extent).product();
    Var { name: name.to_owned(), dims: dims.to_vec(), tag, bytes: elements(tag, count) }
}

fn draft(version: u8, records: u64, dims: &[(&'static str, u64)]) -> Draft {
    let attrs = vec![("title", 2, b"a test".to_vec()), ("level", 4, vec![0, 0, 1, 0])];
    Draft { version, records, dims: dims.to_vec(), attrs, variables: Vec::new() }
}

fn opened(bytes: Vec<u8>) -> Opened {
    open_source(Source::from_bytes(bytes), &OpenOptions::default()).expect("sound")
}

fn little(bytes: &[u8], tag: u32) -> Vec<u8> {
    bytes.chunks(SIZES[tag as usize]).flat_map(|it| it.iter().rev().copied()).collect()
}

/// The bytes of some elements.
fn picked(all: &[u8], size: usize, shape: &[u64], slices: &[AxisSlice]) -> Vec<u8> {
    let mut places = vec![0_u64];
    for (slice, extent) in slices.iter().zip(shape) {
        let along =
            (slice.start..slice.stop).step_by(usize::try_from(slice.step).expect("a small file"));
        let along: Vec<u64> = along.collect();
        places =
            places.iter().flat_map(|at| along.iter().map(move |it| at * extent + it)).collect();
    }
    let at = |place: u64| usize::try_from(place).expect("a small file") * size;
    places.iter().flat_map(|&place| all[at(place)..at(place) + size].to_vec()).collect()
}

/// The value of an attribute.
fn numbers(dtype: DType, json: &str) -> AttrText {
    AttrText::Numbers { dtype, json: json.to_owned() }
}

/// Start, stop and step along an axis of an extent.
type Way = fn(u64) -> (u64, u64, u64);

/// All of each variable and parts of it are what the draft has.
fn check(draft: &Draft) {
    let opened = opened(draft.bytes());
    assert_eq!(opened.format, Format::NETCDF3);
    assert_eq!(opened.catalog.datasets().len(), draft.variables.len());
    for (dataset, var) in opened.catalog.datasets().iter().zip(&draft.variables) {
        assert!(dataset.fault.is_none(), "{}: {:?}", var.name, dataset.fault);
        assert_eq!(dataset.name, var.name);
        assert_eq!(dataset.attrs.get("number"), Some(&numbers(DType::Int16, "258")));
        if var.tag == 2 {
            assert_eq!((dataset.dtype, dataset.dtype_name.as_str()), (None, "string"));
        }
        // Texts are characters along the last axis.
        let dataset = dataset.stored();
        let (shape, size) = (dataset.shape(), SIZES[var.tag as usize]);
        let all = little(&var.bytes, var.tag);
        let ways: [Way; 4] = [
            |extent| (0, extent, 1),
            |extent| (extent / 3, extent, 1),
            |extent| (0, extent, 2),
            |extent| (extent / 2, (extent / 2 + 1).min(extent), 1),
        ];
        for way in ways {
            let slice = |&extent: &u64| {
                let (start, stop, step) = way(extent);
                AxisSlice { start, stop, step, axis: Default::default() }
            };
            let slices: Vec<AxisSlice> = shape.iter().map(slice).collect();
            let slab = Hyperslab::new(slices.clone(), shape).expect("inside");
            for threads in [1, 3] {
                let how = Execution { threads, ..Execution::default() };
                let found = dataset.read(&slab, &how).expect("sound").value;
                assert!(
                    found.bytes() == picked(&all, size, shape, &slices),
                    "{} {slices:?}",
                    var.name
                );
            }
        }
    }
}

#[test]
fn every_type_of_every_version_is_read() {
    for version in [1, 2, 5] {
        for records in [0, 1, 5] {
            let mut file = draft(version, records, &[("time", 0), ("y", 3), ("x", 7)]);
            for tag in 1..=(if version == 5 { 11 } else { 6 }) {
                for (dims, kind) in [
                    (&[][..], "scalar"),
                    (&[2], "line"),
                    (&[1, 2], "plane"),
                    (&[0], "times"),
                    (&[0, 1, 2], "cube"),
                ] {
                    file.variables.push(var(&file, &format!("{kind}_{tag}"), dims, tag));
                }
            }
            check(&file);
        }
    }
}

#[test]
fn a_record_variable_that_is_alone_has_no_padding() {
    for tag in [1, 3, 6] {
        let mut file = draft(2, 5, &[("time", 0), ("x", 3)]);
        file.variables = vec![var(&file, "fixed", &[1], 3), var(&file, "alone", &[0, 1], tag)];
        check(&file);
        let one_chunk = opened(file.bytes()).catalog.datasets()[1].grid.chunk_count();
        assert_eq!(one_chunk, 1);
    }
}

#[test]
fn long_and_short_parts_of_many_records_are_read() {
    // Parts of 12 bytes, of 40 kB, and of 4.8 MB that are cut.
    let mut file = draft(2, 40, &[("time", 0), ("x", 3), ("y", 100), ("z", 100)]);
    file.variables = vec![var(&file, "short", &[0, 1], 5), var(&file, "long", &[0, 2, 3], 5)];
    check(&file);
    let sound = opened(file.bytes());
    let chunks = |at: usize| sound.catalog.datasets()[at].grid.chunk_shape().to_vec();
    assert_eq!((chunks(0), chunks(1)), (vec![1, 3], vec![1, 100, 100]));
    // Parts of 12 and 8 bytes in records of 20: many are one chunk.
    let mut file = draft(2, 100_000, &[("time", 0), ("x", 3)]);
    file.variables = vec![var(&file, "a", &[0, 1], 5), var(&file, "b", &[0], 6)];
    check(&file);
    let sound = opened(file.bytes());
    assert_eq!(sound.catalog.datasets()[0].grid.chunk_shape().to_vec(), [52_428, 3]);
    let mut file = draft(5, 3, &[("time", 0), ("x", 1100), ("y", 1100)]);
    file.variables = vec![var(&file, "t", &[0], 6), var(&file, "cut", &[0, 1, 2], 5)];
    check(&file);
    let sound = opened(file.bytes());
    let dataset = &sound.catalog.datasets()[1];
    assert_eq!(dataset.grid.chunk_shape().to_vec(), [1, 953, 1100]);
    let all = Hyperslab::whole(dataset.shape());
    let sum = dataset.reduce(&all, &Reduction::all(Op::Sum), &Execution::default()).unwrap();
    let wanted: f64 = (0..3 * 1100 * 1100).map(|at| f64::from(at) * 0.5 - 7.0).sum();
    assert_eq!(sum.values.get(0).and_then(|sum| sum.to_f64()), Some(wanted));
}

#[test]
fn a_stream_has_as_many_records_as_fit() {
    for version in [1, 2, 5] {
        let mut file = draft(version, 4, &[("time", 0), ("x", 3)]);
        file.variables = vec![var(&file, "a", &[0, 1], 3), var(&file, "b", &[0], 6)];
        let mut bytes = file.bytes();
        let count = if version == 5 { 4..12 } else { 4..8 };
        bytes[count].fill(0xff);
        for cut in [0, 1, 15, 16] {
            let found = opened(bytes[..bytes.len() - cut].to_vec());
            let records = if cut == 0 { 4 } else { 3 };
            assert_eq!(found.catalog.datasets()[0].shape(), [records, 3], "{version}, {cut}");
        }
    }
}

#[test]
fn names_dims_and_attributes_are_kept() {
    let mut file = draft(1, 2, &[("time", 0), ("lat", 3)]);
    file.variables = vec![var(&file, "lat", &[1], 5), var(&file, "t2m", &[0, 1], 5)];
    let found = opened(file.bytes());
    assert_eq!(found.catalog.attrs()["title"], AttrText::Text("a test".to_owned()));
    assert_eq!(found.catalog.attrs()["level"], numbers(DType::Int32, "256"));
    let t2m = found.catalog.find("t2m").expect("a variable");
    assert_eq!(
        (t2m.dims.as_slice(), t2m.dtype),
        (&["time".to_owned(), "lat".to_owned()][..], Some(DType::Float32))
    );
}

/// Element `i` of a variable of the library is `(i * 37 + 11) mod 101 - 50`, plus 50 if it is unsigned.
#[test]
fn files_of_the_netcdf_library_are_read() {
    for (name, count) in [("classic", 11), ("offset", 11), ("data", 21)] {
        let path = format!("{}/tests/data/{name}.nc", env!("CARGO_MANIFEST_DIR"));
        let opened = tet_convert::open(&path, &OpenOptions::default()).expect("sound");
        assert_eq!(opened.catalog.datasets().len(), count);
        for dataset in opened.catalog.datasets() {
            let whole = Hyperslab::whole(dataset.shape());
            if dataset.name == "text" {
                let texts = dataset.read_texts(&whole, &Execution::default()).expect("sound");
                assert_eq!(texts.value, ["abc"]);
                continue;
            }
            let found = dataset.read(&whole, &Execution::default()).expect("sound").value;
            let factors = numbers(DType::Float32, "[0.5,-1e30,\"NaN\"]");
            assert_eq!(dataset.attrs["factors"], factors);
            assert_eq!(dataset.attrs["units"], AttrText::Text("K".to_owned()));
            let is_unsigned = dataset.dtype_name.starts_with('u');
            for at in 0..usize::try_from(dataset.shape().iter().product::<u64>()).unwrap() {
                let wanted = (at * 37 + 11) % 101;
                let wanted = wanted as f64 - if is_unsigned { 0.0 } else { 50.0 };
                let found = found.get(at).and_then(|value| value.to_f64());
                assert_eq!(found, Some(wanted), "{name} {} {at}", dataset.name);
            }
        }
        let report = verify(opened.catalog.source(), &VerifyOptions::default()).unwrap();
        assert!(report.is_ok() && report.findings.is_empty());
    }
}

fn codes(bytes: &[u8]) -> Vec<String> {
    let report = verify(&Source::from_bytes(bytes), &VerifyOptions::default()).expect("it is read");
    report.findings.iter().map(|it| it.code.to_string()).collect()
}

#[test]
fn every_rule_names_its_byte() {
    let mut file = draft(1, 2, &[("time", 0), ("x", 3)]);
    file.variables =
        vec![var(&file, "fixed", &[1], 5), var(&file, "a", &[0, 1], 3), var(&file, "b", &[0], 6)];
    let sound = file.bytes();
    assert!(codes(&sound).is_empty(), "{:?}", codes(&sound));
    let place = |word: &[u8]| sound.windows(word.len()).position(|it| it == word).expect("there");
    let changed = |at: usize, byte: u8| {
        let mut bytes = sound.clone();
        bytes[at] = byte;
        codes(&bytes)
    };
    assert_eq!(codes(&sound[..40]), ["NC-H1"]);
    assert_eq!(codes(&sound[..sound.len() - 1]), ["NC-D1"]);
    assert_eq!(changed(11, 9), ["NC-H2"]);
    let x = place(b"x\0\0\0") + 7;
    assert_eq!(changed(x, 0), ["NC-H4"]);
    let title = place(b"title\0\0\0") + 11;
    assert_eq!(changed(title, 7), ["NC-A1"]);
    // The entry of `fixed`: name, rank, dimension, attributes of 8 + 20 bytes, type, length, begin.
    let fixed = place(b"fixed\0\0\0") + 8;
    assert_eq!(changed(fixed + 7, 9), ["NC-V2", "NC-V5", "NC-V5"]);
    assert_eq!(changed(fixed + 7, 0), ["NC-D1"]);
    let attrs = 8 + 4 + 6 + 2 + 4 + 4 + 4;
    assert_eq!(changed(fixed + 8 + attrs + 3, 7), ["NC-V1", "NC-V5", "NC-V5"]);
    let begin = fixed + 8 + attrs + 8;
    assert_eq!(changed(begin + 3, 0)[0], "NC-D2");
    assert_eq!(changed(begin, 1), ["NC-D1"]);
    let a = place(b"a\0\0\0") + 4;
    let mut same = sound.clone();
    same.copy_within(begin..begin + 4, a + 12 + attrs + 8);
    assert_eq!(codes(&same), ["NC-D3", "NC-D3"]);
    assert_eq!(changed(a + 11, 0), ["NC-V3", "NC-V5"]);
    assert_eq!(changed(place(b"fixed"), 0xff), ["NC-N1"]);
    assert_eq!(changed(place(b"b\0\0\0"), b'a'), ["NC-N2"]);
}

#[test]
fn counts_of_hostile_files_are_not_believed() {
    // Each list claims 2^32 or 2^63 items.
    for version in [1, 2, 5] {
        let wide = version == 5;
        for tag in [10_u32, 11, 12] {
            let mut bytes = vec![b'C', b'D', b'F', version];
            let number = |out: &mut Vec<u8>, number: u64| {
                if wide {
                    out.extend(number.to_be_bytes());
                } else {
                    out.extend((number as u32).to_be_bytes());
                }
            };
            number(&mut bytes, 0);
            for earlier in [10, 12].into_iter().take_while(|&earlier| earlier != tag) {
                if tag == 12 && earlier == 12 {
                    break;
                }
                bytes.extend(0_u32.to_be_bytes());
                number(&mut bytes, 0);
            }
            bytes.extend(tag.to_be_bytes());
            number(&mut bytes, u64::MAX >> 1);
            bytes.extend([0; 64]);
            assert!(!codes(&bytes).is_empty());
            assert!(open_source(Source::from_bytes(bytes), &OpenOptions::default()).is_err());
        }
    }
}

/// A file of a coordinate, numbers and text.
pub(super) fn sound() -> Vec<u8> {
    let mut file = draft(2, 3, &[("time", 0), ("x", 3)]);
    file.variables =
        vec![var(&file, "x", &[1], 5), var(&file, "a", &[0, 1], 3), var(&file, "text", &[0, 1], 2)];
    file.bytes()
}
