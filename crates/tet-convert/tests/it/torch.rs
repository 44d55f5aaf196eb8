//! PyTorch checkpoints: every kind of tensor and value, every rule, and every byte changed.

use crate::common::{codes, deep};
use std::io::{Cursor, Write};

use tet_convert::{Format, OpenOptions, Opened, open_source, verify};
use tet_format::{DType, Integrity};
use tet_io::Source;
use tet_query::AttrText;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// A zip archive of stored members.
fn archive(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in members {
        zip.start_file(*name, options).expect("a member");
        zip.write_all(bytes).expect("memory");
    }
    zip.finish().expect("an archive").into_inner()
}

/// A checkpoint of this pickle and the storage `0`.
fn file(pickle: &[u8], storage: &[u8]) -> Vec<u8> {
    let members = [("m/data.pkl", pickle), ("m/byteorder", b"little"), ("m/data/0", storage)];
    archive(&members, CompressionMethod::Stored)
}

fn text(text: &str) -> Vec<u8> {
    [&b"X"[..], &u32::try_from(text.len()).expect("a short text").to_le_bytes(), text.as_bytes()]
        .concat()
}

fn tuple(numbers: &[u8]) -> Vec<u8> {
    let numbers = numbers.iter().flat_map(|&number| [b'K', number]);
    [vec![b'('], numbers.collect(), vec![b't']].concat()
}

/// A function that rebuilds tensors.
fn rebuild(kind: &str) -> Vec<u8> {
    format!("c{}\n_rebuild_{kind}\n", concat!("torch._util", "s")).into_bytes()
}

/// A tensor in the storage `0` of a class that has 6 elements.
fn tensor(class: &str, offset: u8, shape: &[u8], strides: &[u8]) -> Vec<u8> {
    let class = format!("ctorch\n{class}\n").into_bytes();
    let storage =
        [&b"("[..], &text("storage"), &class, &text("0"), &text("cpu"), b"K\x06tQ"].concat();
    let place = [vec![b'K', offset], tuple(shape), tuple(strides)].concat();
    let hooks = b"\x89ccollections\nOrderedDict\n)RtR";
    [&rebuild("tensor_v2")[..], b"(", &storage, &place, hooks].concat()
}

/// A pickle of a map.
fn map(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let entries = entries.iter().flat_map(|(key, value)| [text(key), value.clone()].concat());
    [b"\x80\x02}(".to_vec(), entries.collect(), b"u.".to_vec()].concat()
}

pub(super) fn sound() -> Vec<u8> {
    let group = [&b"}"[..], &text("lr"), &b"G\x3f\xe0\0\0\0\0\0\0s"[..]].concat();
    let list = [&b"](K\x01K\x02"[..], &text("x"), b"e"].concat();
    map(&[
        ("w", tensor("ShortStorage", 0, &[2, 3], &[3, 1])),
        ("t", tensor("ShortStorage", 0, &[3, 2], &[1, 3])),
        ("inner", [&b"}"[..], &text("b"), &tensor("ShortStorage", 1, &[2], &[2]), b"s"].concat()),
        ("epoch", b"M\x10\x27".to_vec()),
        ("name", text("a model")),
        ("groups", [&b"]"[..], &group, b"a"].concat()),
        ("list", list),
        ("date", b"cdatetime\ndate\n)R".to_vec()),
    ])
}

const STORAGE: [u8; 12] = [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0];

fn opened(bytes: Vec<u8>) -> Opened {
    open_source(Source::from_bytes(bytes), &OpenOptions::default()).expect("it opens")
}

fn numbers(opened: &Opened, name: &str) -> Vec<f64> {
    let array = crate::common::read(opened, name);
    (0..array.len()).map(|at| array.get(at).and_then(|it| it.to_f64()).expect("a number")).collect()
}

#[test]
fn tensors_and_values_of_a_map_have_their_paths() {
    let file = opened(file(&sound(), &STORAGE));
    assert_eq!(file.format, Format::TORCH);
    let names: Vec<&str> = file.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["w", "t", "inner.b"]);
    assert_eq!(numbers(&file, "w"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(numbers(&file, "t"), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(numbers(&file, "inner.b"), [1.0, 3.0]);
    assert_eq!(file.catalog.find("t").unwrap().shape(), [3, 2]);
    let attrs = file.catalog.attrs();
    let json = |dtype, json: &str| AttrText::Numbers { dtype, json: json.to_owned() };
    assert_eq!(attrs["epoch"], json(DType::Int64, "10000"));
    assert_eq!(attrs["groups.0.lr"], json(DType::Float64, "0.5"));
    assert_eq!(attrs["name"], AttrText::Text("a model".to_owned()));
    assert_eq!(attrs["list"], AttrText::Json("[1,2,\"x\"]".to_owned()));
    assert!(!attrs.contains_key("date"));
    let report = verify(file.catalog.source(), &deep()).unwrap();
    assert!(report.is_ok() && report.findings.len() == 1);
    assert_eq!(report.integrity, Integrity::Verified);
    let left: Vec<String> = file.left_out().map(ToString::to_string).collect();
    assert!(left.len() == 1 && left[0].contains("date (datetime.date)"), "{left:?}");
}

/// The storage `0` as a value.
fn storage(class: &str) -> Vec<u8> {
    let class = format!("ctorch\n{class}\n").into_bytes();
    [&b"("[..], &text("storage"), &class, &text("0"), &text("cpu"), b"K\x06tQ"].concat()
}

/// `numpy.dtype(code)` of little-endian elements.
fn numpy_dtype(code: &str) -> Vec<u8> {
    [&b"cnumpy\ndtype\n"[..], &text(code), b"\x89\x88\x87R(K\x03", &text("<"), b"NNNtb"].concat()
}

fn names(file: &Opened) -> Vec<&str> {
    file.catalog.datasets().iter().map(|it| it.name.as_str()).collect()
}

#[test]
fn tensors_of_subclasses_and_with_attributes_are_tensors() {
    // _rebuild_from_type_v2(function, class, arguments, state).
    let plain = tensor("ShortStorage", 0, &[2, 3], &[3, 1]);
    let arguments = plain.strip_suffix(b"R").unwrap().strip_prefix(&rebuild("tensor_v2")[..]);
    let state = [&b"}"[..], &text("tag"), &text("kept"), b"s"].concat();
    let tagged = [
        &b"ctorch._tensor\n_rebuild_from_type_v2\n("[..],
        &rebuild("tensor_v2"),
        b"ctorch\nTensor\n",
        arguments.unwrap(),
        &state,
        b"tR",
    ];
    let file = opened(file(&map(&[("a", tagged.concat())]), &STORAGE));
    assert_eq!(numbers(&file, "a"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(file.catalog.attrs()["a.tag"], AttrText::Text("kept".to_owned()));
    assert_eq!(file.left_out().count(), 0);
}

#[test]
fn keys_that_are_no_texts_name_their_tensors() {
    let short = |offset| tensor("ShortStorage", offset, &[1], &[1]);
    let pair = [&text("user")[..], &text("it's"), b"\x86"].concat();
    let entries = [
        [pair, short(0)].concat(),
        [b"N".to_vec(), short(1)].concat(),
        [b"G\x40\x04\0\0\0\0\0\0".to_vec(), short(2)].concat(),
        [b"\x88".to_vec(), short(3)].concat(),
        [b"cdatetime\ndate\n)R".to_vec(), short(4)].concat(),
    ];
    let pickle = [&b"\x80\x02}("[..], &entries.concat(), b"u."].concat();
    let file = opened(file(&pickle, &STORAGE));
    assert_eq!(names(&file), [r"('user', 'it\'s')", "None", "2.5", "True", "(key 4)"]);
    assert_eq!(numbers(&file, "(key 4)"), [4.0]);
}

#[test]
fn modules_have_the_names_of_their_state_dict() {
    let parameters = |key: &str, value: &[u8]| [&b"}("[..], &text(key), value, b"u"].concat();
    let module = |groups: [Vec<u8>; 3], others: &[u8]| {
        let [parameters, buffers, modules] = groups;
        let state = [
            &text("training")[..],
            b"\x88",
            &text("_parameters"),
            &parameters,
            &text("_buffers"),
            &buffers,
            &text("_modules"),
            &modules,
            others,
        ];
        [&b"cmodels\nNet\n)\x81}("[..], &state.concat(), b"ub"].concat()
    };
    let none = || b"}".to_vec();
    let weight = tensor("ShortStorage", 0, &[2, 3], &[3, 1]);
    let inner = module([parameters("weight", &weight), none(), none()], b"");
    let mean = tensor("ShortStorage", 2, &[2], &[1]);
    let steps = [text("steps"), b"K\x07".to_vec(), text("_hook"), b"N".to_vec()].concat();
    let outer = module(
        [parameters("bias", b"N"), parameters("mean", &mean), parameters("0", &inner)],
        &steps,
    );
    let file = opened(file(&map(&[("model", outer)]), &STORAGE));
    assert_eq!(names(&file), ["model.mean", "model.0.weight"]);
    assert_eq!(numbers(&file, "model.mean"), [2.0, 3.0]);
    assert_eq!(file.catalog.attrs().keys().collect::<Vec<_>>(), ["model.steps"]);
    assert_eq!(codes_of(&file), [""; 0]);
}

fn codes_of(file: &Opened) -> Vec<&'static str> {
    let report = verify(file.catalog.source(), &deep()).unwrap();
    report.findings.iter().map(|it| it.code.id()).collect()
}

#[test]
fn arrays_and_numbers_of_numpy_are_datasets_and_attributes() {
    let raw = |bytes: &str| {
        [&b"c_codecs\nencode\n"[..], &text(bytes), &text("latin1"), b"\x86R"].concat()
    };
    let array = |dtype: &[u8], bytes: &str| {
        let new = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85C\x01b\x87R(K\x01K\x02\x85";
        [&new[..], dtype, b"\x89", &raw(bytes), b"tb"].concat()
    };
    // The bytes 1, 0, 255, 255 are two letters of one byte and two of two bytes.
    let sound = array(&numpy_dtype("i2"), "\x01\0\u{ff}\u{ff}");
    let objects = array(&numpy_dtype("O8"), "");
    let number =
        [&b"cnumpy._core.multiarray\nscalar\n"[..], &numpy_dtype("f4"), b"C\x04\0\0\x20\x40\x86R"];
    let pickle = map(&[("a", sound), ("o", objects), ("lr", number.concat())]);
    let file = opened(file(&pickle, &STORAGE));
    assert_eq!(names(&file), ["a", "o"]);
    assert_eq!(numbers(&file, "a"), [1.0, -1.0]);
    let why = file.catalog.find("o").unwrap().why().unwrap().to_string();
    assert!(why.contains("Python objects"), "{why}");
    let number = AttrText::Numbers { dtype: DType::Float32, json: "2.5".to_owned() };
    assert_eq!(file.catalog.attrs()["lr"], number);
    assert_eq!(codes_of(&file), ["PT-N4", "PT-N5"]);
}

#[test]
fn storages_and_what_unknown_functions_make_of_them_are_listed() {
    let unknown = [&b"cmylib\nmake\n"[..], &storage("ShortStorage"), b"\x85R"].concat();
    let pickle = map(&[("bare", storage("ShortStorage")), ("made", unknown)]);
    let file = opened(file(&pickle, &STORAGE));
    assert_eq!(names(&file), ["bare", "made"]);
    assert_eq!(numbers(&file, "bare"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let made = file.catalog.find("made").unwrap();
    assert!(!made.has_shape);
    assert!(made.why().unwrap().to_string().contains("rebuilt by mylib.make"));
    assert_eq!(codes_of(&file), ["PT-N5"]);
}

#[test]
fn references_to_one_value_take_time_by_their_bytes() {
    let count = 200_000;
    // A list of references to one text, and a list of references to one list of as many.
    let letters = "x".repeat(65_535);
    let refs = |key: u8| [b'h', key].repeat(count);
    let texts = [&text(&letters)[..], b"q\x000](", &refs(0), b"e"].concat();
    let lists = [&b"](N"[..], &b"N".repeat(count), b"eq\x010](", &refs(1), b"e"].concat();
    let file = opened(file(&map(&[("t", texts), ("l", lists)]), &STORAGE));
    let left: Vec<String> = file.left_out().map(ToString::to_string).collect();
    assert!(left[0].contains("t (a list of 200000 values)"), "{left:?}");
}

#[test]
fn nothing_of_a_pickle_is_called() {
    let call = b"\x80\x02cos\nsystem\nX\x04\0\0\0true\x85R.";
    let file = opened(file(call, &STORAGE));
    assert!(file.catalog.datasets().is_empty());
    let state = b"\x80\x02c__main__\nModel\n)\x81}X\x01\0\0\0aK\x01sb.";
    assert!(opened(self::file(state, &STORAGE)).catalog.datasets().is_empty());
}

#[test]
fn every_rule_has_a_file_that_breaks_it() {
    let of = |pickle: &[u8]| codes(&file(pickle, &STORAGE));
    let one = |tensor: Vec<u8>| of(&map(&[("a", tensor)]));
    assert_eq!(of(&sound()), ["PT-N3"]);
    let member = |name, bytes: &[u8]| {
        let members = [("m/data.pkl", &sound()[..]), ("m/data/0", &STORAGE), (name, bytes)];
        codes(&archive(&members, CompressionMethod::Stored))
    };
    assert_eq!(member("m/byteorder", b"middle"), ["PT-A2"]);
    assert_eq!(of(b"\x80\x02N"), ["PT-P1"]);
    assert_eq!(of(b"\x80\x02X\xff\xff\xff\xff."), ["PT-P1"]);
    assert_eq!(of(b"\x80\x02\x99."), ["PT-P2"]);
    assert_eq!(of(b"\x80\x06N."), ["PT-P3"]);
    assert_eq!(of(b"\x80\x02(0."), ["PT-P4"]);
    assert_eq!(of(b"\x80\x02h\x05."), ["PT-P5"]);
    assert_eq!(of(b"\x80\x02)Q."), ["PT-P6"]);
    assert_eq!(of(b"P1\n."), ["PT-P6"]);
    assert_eq!(of(b"I1x\n."), ["PT-P8"]);
    assert_eq!(of(b"Vopen\\u12\n."), ["PT-P8"]);
    assert_eq!(one(tensor("ShortStorage", 0, &[2, 3], &[3])), ["PT-P7"]);
    assert_eq!(of(&vec![b'N'; (32 << 20) + 1]), ["PT-L1"]);
    assert_eq!(of(&vec![b'N'; (4 << 20) + 1]), ["PT-L2"]);
    let missing = archive(&[("m/data.pkl", &sound()[..])], CompressionMethod::Stored);
    assert_eq!(codes(&missing), ["PT-N3", "PT-D1", "PT-D1", "PT-D1"]);
    assert_eq!(one(tensor("ShortStorage", 1, &[2, 3], &[3, 1])), ["PT-D2"]);
    assert_eq!(one(tensor("ShortStorage", 0, &[7], &[1])), ["PT-D2"]);
    assert_eq!(one(tensor("IntStorage", 0, &[6], &[1])), ["PT-D2"]);
    assert_eq!(one(tensor("ShortStorage", 0, &[255; 9], &[0; 9])), ["PT-D3"]);
    let mut damaged = file(&sound(), &STORAGE);
    let at = damaged.windows(12).position(|it| it == STORAGE).unwrap();
    damaged[at + 3] ^= 4;
    assert_eq!(codes(&damaged), ["PT-N3", "PT-D4"]);
    let short = || tensor("ShortStorage", 0, &[1], &[1]);
    assert_eq!(of(&map(&[("a", short()), ("a", short())])), ["PT-N1"]);
    let deep = [vec![b']'; 70], vec![b'a'; 69], b".".to_vec()].concat();
    assert_eq!(of(&[b"\x80\x02", &deep[..]].concat()), ["PT-N2", "PT-N3", "PT-N4"]);
    // A list that contains itself.
    assert_eq!(of(b"\x80\x02]q\x00h\x00a."), ["PT-N2", "PT-N3", "PT-N4"]);
    assert_eq!(of(&map(&[("a", b"M\x10\x27".to_vec())])), ["PT-N4"]);
    assert_eq!(one([&rebuild("sparse_tensor")[..], b")R"].concat()), ["PT-N4", "PT-N5"]);
    let stored = [("m/data.pkl", &sound()[..]), ("m/data/0", &[7; 4000])];
    let mut other = archive(&stored, CompressionMethod::Stored);
    set_method(&mut other, "m/data/0", 12);
    assert_eq!(codes(&other), ["PT-N3", "PT-D5", "PT-D5", "PT-D5"]);
    let mut damaged = archive(&stored, CompressionMethod::Deflated);
    let at = damaged.windows(8).position(|it| it == b"m/data/0").unwrap();
    damaged[at + 9] ^= 0xff;
    assert_eq!(codes(&damaged), ["PT-N3", "PT-D6"]);
}

/// Sets the method of a member in its header and in the directory.
fn set_method(zip: &mut [u8], name: &str, method: u8) {
    let named = zip.windows(name.len()).enumerate();
    let places: Vec<usize> =
        named.filter(|(_, it)| *it == name.as_bytes()).map(|(at, _)| at).collect();
    for at in places {
        let local = at.checked_sub(30).filter(|at| zip[*at..].starts_with(b"PK\x03\x04"));
        let listed = at.checked_sub(46).filter(|at| zip[*at..].starts_with(b"PK\x01\x02"));
        let place = local.map(|at| at + 8).or(listed.map(|at| at + 10)).unwrap();
        zip[place] = method;
    }
}

#[test]
fn members_that_are_deflated_are_read() {
    let storage = [&STORAGE[..], &[0; 4000]].concat();
    let members =
        [("m/data.pkl", &sound()[..]), ("m/byteorder", b"little"), ("m/data/0", &storage)];
    let bytes = archive(&members, CompressionMethod::Deflated);
    assert_eq!(codes(&bytes), ["PT-N3"]);
    let file = opened(bytes);
    assert_eq!(numbers(&file, "t"), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(numbers(&file, "inner.b"), [1.0, 3.0]);
}

#[test]
fn protocols_of_text_are_read() {
    // As pickle.dump writes it with protocol 0: a map of a tensor, numbers and texts.
    let storage = b"('storage', <class 'torch.ShortStorage'>, '0', 'cpu', 6)";
    let tensor = [
        &b"c"[..],
        concat!("torch._util", "s").as_bytes(),
        b"\n_rebuild_tensor_v2\np1\n(P",
        storage,
        b"\nI0\n(I2\nI3\nt(I3\nI1\ntI00\nccollections\nOrderedDict\n(tRtR",
    ]
    .concat();
    let pickle = [
        &b"(dp0\nVw\n"[..],
        &tensor,
        b"sVn\nL1099511627776L\nsS'it\\'s'\nF0.5\nsVe\\u20ac\nI01\ns.",
    ];
    let file = opened(file(&pickle.concat(), &STORAGE));
    assert_eq!(names(&file), ["w"]);
    assert_eq!(numbers(&file, "w"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let attrs = file.catalog.attrs();
    assert_eq!(attrs["n"].text(), "1099511627776");
    assert_eq!(attrs["it's"].text(), "0.5");
    assert_eq!(attrs["e\u{20ac}"].text(), "true");
}

#[test]
fn names_that_are_repeated_by_reference_are_bounded() {
    // A map of one long key, again and again: each level has the key of the last.
    let key = "k".repeat(1 << 20);
    let mut pickle = [b"\x80\x02".to_vec(), text(&key), b"q\x000".to_vec()].concat();
    for _ in 0..60 {
        pickle.extend(b"}h\x00");
    }
    pickle.extend(b"(");
    for _ in 0..1000 {
        pickle.extend(b"]");
    }
    pickle.extend(b"l");
    pickle.extend([b's'; 60]);
    pickle.push(b'.');
    assert_eq!(codes(&file(&pickle, &STORAGE)), ["PT-L3"]);
    // Lists of which each has the one before twice: 2^60 leaves.
    let mut pickle = b"\x80\x02]q\x00".to_vec();
    for _ in 0..60 {
        pickle.extend(b"](h\x00h\x00eq\x00");
    }
    pickle.push(b'.');
    assert_eq!(codes(&file(&pickle, &STORAGE)), ["PT-L3"]);
}

#[test]
fn kinds_of_tensors_that_are_not_read_are_listed_with_the_reason() {
    let sparse = [rebuild("sparse_tensor"), b")R".to_vec()].concat();
    let quantized = tensor("QInt8Storage", 0, &[2], &[1]);
    let file = opened(file(&map(&[("s", sparse), ("q", quantized)]), &STORAGE));
    for (name, word) in [("s", "rebuilt by torch._"), ("q", "QInt8Storage")] {
        let why = file.catalog.find(name).unwrap().why().unwrap().to_string();
        assert!(why.contains(word), "{why}");
    }
    let report = verify(file.catalog.source(), &deep()).unwrap();
    assert!(report.is_ok());
}

#[test]
fn other_archives_are_no_checkpoints() {
    for members in [&[("a.npy", &b""[..])][..], &[("a/b/data.pkl", b"N.")], &[("data.pkl", b"N.")]]
    {
        let file = archive(members, CompressionMethod::Stored);
        let format = tet_convert::sniff(&Source::from_bytes(file)).unwrap();
        assert_eq!(format, Format::NPZ);
    }
}

/// A file of before version 1.6 of this pickle and the storage `0`.
fn legacy(pickle: &[u8], storage: &[u8]) -> Vec<u8> {
    let magic = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
    let keys = [&b"\x80\x02](X\x01\0\0\0"[..], b"0e."].concat();
    let count = (storage.len() as u64 / 2).to_le_bytes();
    [magic, &b"\x80\x02M\xe9\x03."[..], b"\x80\x02}.", pickle, &keys, &count, storage].concat()
}

#[test]
fn files_of_before_version_1_6_are_read() {
    let bytes = legacy(&sound(), &STORAGE);
    let file = opened(bytes.clone());
    assert_eq!(file.format, Format::TORCH);
    assert_eq!(numbers(&file, "w"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(numbers(&file, "t"), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    let report = verify(file.catalog.source(), &deep()).unwrap();
    assert!(report.is_ok() && report.findings.len() == 1);
    assert_eq!(report.integrity, Integrity::Unprotected);
    assert_eq!(codes(&bytes[..bytes.len() - 1]), ["PT-N3", "PT-D1", "PT-D1", "PT-D1"]);
    assert_eq!(codes(&bytes[..60]), ["PT-P1"]);
    // Other protocols write the magic in other ways.
    let number = &bytes[2..14];
    for magic in [
        [b"\x80\x03", number, b"."].concat(),
        [b"\x80\x04\x95\x0d\0\0\0\0\0\0\0", number, b"."].concat(),
    ] {
        let bytes = [&magic, &bytes[15..]].concat();
        assert_eq!(numbers(&opened(bytes), "w"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }
}

/// Files of both layouts.
pub(super) fn files() -> Vec<Vec<u8>> {
    vec![checkpoint(&sound()), legacy(&sound(), &STORAGE)]
}

/// The file of a pickle.
pub(super) fn checkpoint(pickle: &[u8]) -> Vec<u8> {
    file(pickle, &STORAGE)
}
