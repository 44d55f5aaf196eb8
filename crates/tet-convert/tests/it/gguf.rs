//! GGUF files: those of the reference library, every version, and every byte changed.

use crate::common::{fixture, opened, read};
use tet_convert::{Format, OpenOptions, open_source, verify};
use tet_format::DType;
use tet_io::Source;
use tet_query::{AttrText, DiffBlock, Execution, Hyperslab, Tolerance};
use tet_verify::VerifyOptions;

fn element(at: usize) -> f64 {
    ((at * 37 + 11) % 101) as f64 - 50.0
}

#[test]
fn files_of_the_gguf_library_are_read() {
    for name in ["little.gguf", "big.gguf"] {
        let file = opened(&fixture(name));
        assert_eq!(file.format, Format::GGUF);
        for (code, dtype) in [
            ("f4", DType::Float32),
            ("f2", DType::Float16),
            ("f8", DType::Float64),
            ("i1", DType::Int8),
            ("i2", DType::Int16),
            ("i4", DType::Int32),
            ("i8", DType::Int64),
            ("bf16", DType::BFloat16),
        ] {
            let name = format!("plain.{code}");
            let found = read(&file, &name);
            let dataset = file.catalog.find(&name).unwrap();
            let shape: &[u64] = if code == "bf16" { &[2, 32] } else { &[3, 4] };
            assert_eq!((dataset.shape(), dataset.dtype), (shape, Some(dtype)), "{name}");
            // The library does not swap the bytes of values that are given as bits.
            if code == "bf16" && file.catalog.attrs().contains_key("general.alignment") {
                continue;
            }
            for at in 0..usize::try_from(shape.iter().product::<u64>()).unwrap() {
                assert_eq!(found.get(at).unwrap().to_f64(), Some(element(at)), "{name} {at}");
            }
        }
        for (kind, step) in [("Q4_0", 50.0 / 8.0), ("Q8_0", 50.0 / 127.0)] {
            let block_name = format!("blocks.{kind}");
            let dataset = file.catalog.find(&block_name).unwrap();
            assert_eq!((dataset.shape(), dataset.dtype_name.as_str()), (&[2, 32][..], kind));
            assert_eq!(dataset.dtype, Some(DType::Float32));
            // The library does not swap the scales of blocks.
            let is_little = !file.catalog.attrs().contains_key("general.alignment");
            let found = read(&file, &block_name);
            for at in (0..64).filter(|_| is_little) {
                let value = found.get(at).unwrap().to_f64().unwrap();
                assert!((value - element(at)).abs() <= step, "{kind} {at}: {value}");
            }
        }
        let attrs = file.catalog.attrs();
        let json = |dtype, json: &str| AttrText::Numbers { dtype, json: json.to_owned() };
        assert_eq!(attrs["general.name"], AttrText::Text("a small model".to_owned()));
        assert_eq!(attrs["count"], json(DType::UInt64, "9223372036854775809"));
        assert_eq!(attrs["scale"], json(DType::Float32, "0.1"));
        assert_eq!(attrs["is.small"], AttrText::Json("true".to_owned()));
        assert_eq!(attrs["tokens"], AttrText::Json("[\"<s>\",\"a\\\"b\",\"\u{e9}\"]".to_owned()));
        assert_eq!(attrs["scores"], json(DType::Float32, "[0.5,-1.0,2.25]"));
        assert_eq!(attrs["long"], AttrText::Text("(a list of 2000 int32)".to_owned()));
        let report = verify(file.catalog.source(), &VerifyOptions::default()).unwrap();
        assert!(report.is_ok());
        assert_eq!(codes(&std::fs::read(fixture(name)).unwrap()), ["GG-N4"]);
    }
}

/// A file with a tensor `t` of two rows of the type of this number, whose blocks are these bytes.
fn quantized(tag: u32, shape: [u64; 2], blocks: &[u8]) -> Vec<u8> {
    let mut out = b"GGUF".to_vec();
    out.extend(3_u32.to_le_bytes());
    [1_u64, 0, 1].iter().for_each(|number| out.extend(number.to_le_bytes()));
    out.extend(b"t");
    out.extend(2_u32.to_le_bytes());
    shape.iter().rev().for_each(|extent| out.extend(extent.to_le_bytes()));
    out.extend(tag.to_le_bytes());
    out.extend(0_u64.to_le_bytes());
    out.resize(out.len().next_multiple_of(32), 0);
    out.extend(blocks);
    out
}

fn in_memory(bytes: &[u8]) -> tet_convert::Opened {
    open_source(Source::from_bytes(bytes), &OpenOptions::default()).expect("it is read")
}

/// Bytes of random blocks, whose scales are finite: the exponents of their float16 are not all ones.
fn random_blocks(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at.wrapping_mul(2_654_435_761) >> 7) as u8 & 0xbb).collect()
}

#[test]
fn parts_of_rows_of_blocks_are_those_of_the_whole() {
    let blocks = random_blocks(2 * 3 * 144);
    let opened = in_memory(&quantized(12, [2, 768], &blocks));
    let dataset = opened.catalog.find("t").unwrap();
    let whole = read(&opened, "t");
    let mut wanted = vec![0; 2 * 768 * 4];
    let number = tet_codec::NumberBlock::from_name("Q4_K").unwrap();
    number.decode(&blocks, 0, &mut wanted).unwrap();
    assert_eq!(whole.bytes(), wanted);
    for (rows, columns, step) in [
        (0..2, 0..1, 1),
        (1..2, 255..258, 1),
        (0..2, 3..768, 7),
        (0..1, 500..501, 1),
        (0..2, 10..700, 300),
    ] {
        let slice = |range: &std::ops::Range<u64>, step| tet_query::AxisSlice {
            start: range.start,
            stop: range.end,
            step,
            axis: tet_query::Axis::Kept,
        };
        let axes = vec![slice(&rows, 1), slice(&columns, step)];
        let slab = Hyperslab::new(axes, dataset.shape()).unwrap();
        let part = dataset.read(&slab, &Execution::default()).unwrap().value;
        let places = rows.flat_map(|row| {
            columns.clone().step_by(step as usize).map(move |column| (row * 768 + column) as usize)
        });
        let wanted: Vec<u8> = places.flat_map(|at| wanted[4 * at..4 * at + 4].to_vec()).collect();
        assert_eq!(part.bytes(), wanted);
    }
}

#[test]
fn blocks_are_compared_by_their_bytes() {
    let compared = |tag: u32, shape: [u64; 2], blocks: [&[u8]; 2], tolerance: Tolerance| {
        let files = blocks.map(|blocks| in_memory(&quantized(tag, shape, blocks)));
        let [left, right] = files.each_ref().map(|file| file.catalog.find("t").unwrap());
        let slab = Hyperslab::whole(left.shape());
        left.diff(&slab, right, &slab, &tolerance, &Execution::default()).unwrap().value
    };
    let exact = Tolerance::default();
    for (tag, count, len) in [(20, 32, 18), (12, 256, 144)] {
        let blocks = random_blocks(6 * len);
        let shape = [2, 3 * count as u64];
        let same = compared(tag, shape, [&blocks, &blocks], exact);
        assert_eq!((same.differing, same.count), (0, 6 * count as u64));
        let mut other = blocks.clone();
        other[4 * len + len - 1] ^= 1;
        let found = compared(tag, shape, [&blocks, &other], exact);
        assert_eq!(found.differing, 1);
        // Where numbers are decoded, it is said how far they are apart.
        let is_decoded = tag == 12;
        assert_eq!(found.max_abs.is_some(), is_decoded);
        assert_eq!(
            found.block,
            (!is_decoded).then_some(DiffBlock { count: count as u64, len: len as u64 })
        );
        let first = found.first.unwrap();
        assert_eq!((first.position[0], first.position[1] / count as u64), (1, 1));
        let near = Tolerance { atol: 1e9, ..exact };
        let found = compared(tag, shape, [&blocks, &other], near);
        assert_eq!(found.differing, u64::from(!is_decoded));
    }
    // A scale of zero makes zeros of all quantized numbers: the bytes differ all the same.
    let zero = [0; 18];
    let mut other = zero;
    other[17] = 1;
    let found = compared(2, [1, 32], [&zero, &other], exact);
    assert_eq!((found.differing, found.block.is_some()), (1, true));
}

fn codes(bytes: &[u8]) -> Vec<String> {
    let report = verify(&Source::from_bytes(bytes), &VerifyOptions::default()).expect("it is read");
    report.findings.iter().map(|it| it.code.to_string()).collect()
}

/// A file of one tensor `t` of the shape (2, 3), and the offsets of the fields that tests change.
fn file(version: u32, tag: u32) -> Vec<u8> {
    let number = |number: u64| {
        let bytes = number.to_le_bytes();
        if version == 1 { bytes[..4].to_vec() } else { bytes.to_vec() }
    };
    let text = |text: &str| [number(text.len() as u64), text.as_bytes().to_vec()].concat();
    let word = |word: u32| word.to_le_bytes().to_vec();
    let mut out = [b"GGUF".to_vec(), word(version), number(2), number(1)].concat();
    out.extend([text("general.alignment"), word(4), word(8)].concat());
    for (name, offset) in [("t", 0_u64), ("u", 24)] {
        out.extend([text(name), word(2), number(3), number(2), word(tag)].concat());
        out.extend(offset.to_le_bytes());
    }
    out.resize(out.len().next_multiple_of(8), 0);
    out.extend((0..48).collect::<Vec<u8>>());
    out
}

#[test]
fn every_version_is_read() {
    for version in [1, 2, 3] {
        let file = file(version, 26);
        let opened =
            open_source(Source::from_bytes(file.as_slice()), &OpenOptions::default()).unwrap();
        let found = read(&opened, "u");
        assert_eq!(found.bytes(), &file[file.len() - 24..]);
        assert!(codes(&file).is_empty());
    }
}

#[test]
fn every_rule_has_a_file_that_breaks_it() {
    let sound = file(3, 26);
    let place = |word: &[u8]| sound.windows(word.len()).position(|it| it == word).expect("there");
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = sound.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        codes(&file)
    };
    let value = place(b"alignment") + 9;
    let t = place(b"\x01\0\0\0\0\0\0\0t") + 9;
    assert_eq!(codes(&sound[..60]), ["GG-H1"]);
    assert_eq!(changed(4, &[4]), ["GG-H2"]);
    assert_eq!(changed(value, &[13]), ["GG-K1"]);
    assert_eq!(changed(value, &[5]), ["GG-K2"]);
    assert_eq!(changed(value + 4, &[7]), ["GG-K2"]);
    assert_eq!(changed(t + 20, &[99]), ["GG-T1"]);
    assert_eq!(changed(t + 20, &[2]), ["GG-T4"]);
    assert_eq!(changed(t + 11, &[0xff]), ["GG-T3"]);
    assert_eq!(changed(t + 24, &[1]), ["GG-D2"]);
    assert_eq!(changed(t + 24, &[8]), ["GG-D3"]);
    assert_eq!(changed(t + 25, &[1]), ["GG-D1"]);
    assert_eq!(codes(&sound[..sound.len() - 1]), ["GG-D1"]);
    assert_eq!(codes(&[&sound[..], &[0; 64]].concat()), ["GG-D4"]);
    assert_eq!(changed(t - 1, &[0xff]), ["GG-N1"]);
    assert_eq!(changed(t - 1, b"u"), ["GG-N2"]);
    let axes = [&sound[..t], &[5], &sound[t + 1..]].concat();
    let axes = [&axes[..t + 4], &[1; 24], &axes[t + 4..]].concat();
    assert!(codes(&axes).contains(&"GG-T2".to_owned()), "{:?}", codes(&axes));
}

/// A part of a split model: a tensor of four numbers, all of them `number`.
fn part(number: u8, count: u16, tensor_count: i32) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let word = |word: u32| word.to_le_bytes().to_vec();
    let key = |key: &str, tag, value: &[u8]| [text(key), word(tag), value.to_vec()].concat();
    let mut out = [&b"GGUF"[..], &word(3), &1_u64.to_le_bytes(), &4_u64.to_le_bytes()].concat();
    out.extend(key("split.no", 2, &[number, 0]));
    out.extend(key("split.count", 2, &count.to_le_bytes()));
    out.extend(key("split.tensors.count", 5, &tensor_count.to_le_bytes()));
    out.extend(key("general.name", 8, &text("model")));
    let name = text(&format!("t{number}"));
    out.extend([&name[..], &word(1), &4_u64.to_le_bytes(), &word(24), &[0; 8]].concat());
    out.resize(out.len().next_multiple_of(32), 0);
    out.extend([number; 4]);
    out
}

#[test]
fn a_part_of_a_model_opens_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |number: u8| folder.path().join(format!("m-{number:05}-of-00002.gguf"));
    for number in [0, 1] {
        std::fs::write(path(number + 1), part(number, 2, 2)).unwrap();
    }
    for number in [1, 2] {
        let file = opened(&path(number));
        let names: Vec<&str> = file.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["t0", "t1"]);
        assert_eq!(read(&file, "t1").bytes(), [1; 4]);
        assert!(file.catalog.attrs().keys().eq(["general.name"]) && file.findings.is_empty());
        let report = verify(file.catalog.source(), &VerifyOptions::default()).unwrap();
        assert!(report.is_ok() && report.dataset_count == 2);
        assert_eq!(file.left_out().count(), 0);
    }
    let lacks = |words: &str| {
        let file = opened(&path(1));
        assert_eq!(file.catalog.datasets().len(), 1, "{words}");
        assert!(file.findings[0].to_string().contains(words), "{:?}", file.findings);
        assert!(file.catalog.attrs().contains_key("split.count"));
        let note = file.left_out().next().unwrap().to_string();
        assert_eq!(note, "the file is part 1 of 2 of a model");
        assert!(!verify(file.catalog.source(), &VerifyOptions::default()).unwrap().is_ok());
    };
    // Another part than its name tells, and none.
    std::fs::write(path(2), part(0, 2, 2)).unwrap();
    lacks("m-00002-of-00002.gguf");
    std::fs::remove_file(path(2)).unwrap();
    lacks("found 1, wanted 2");
}

/// Files of the kinds that are read.
pub(super) fn files() -> Vec<Vec<u8>> {
    vec![file(1, 0), file(3, 26), quantized(2, [2, 32], &random_blocks(36))]
}
