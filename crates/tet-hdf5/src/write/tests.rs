//! Written files are read back by the reader: any draft, its data in any order.

use tet_format::{DType, Span};
use tet_io::Source;

use super::*;
use crate::{Class, Described, Hdf5File, ObjectKind, StoredLayout, StoredObject};

/// A generator of numbers that is the same on every machine (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }

    fn bytes(&mut self, len: u64) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

/// A file of a draft whose data is in `data`, behind where the superblock goes.
fn file(draft: &Hdf5Draft, data: &[u8]) -> Hdf5File {
    let rest = draft.encode(SUPERBLOCK_LEN + data.len() as u64).expect("a draft that fits");
    let bytes = [&rest.superblock[..], data, &rest.metadata].concat();
    let file = Hdf5File::open(Source::from_bytes(bytes)).expect("it opens");
    file.check(&mut |fault| panic!("{fault:?}")).expect("it is read");
    assert!(file.findings().is_empty());
    file
}

fn objects(file: &Hdf5File) -> Vec<StoredObject> {
    let (objects, faults) = file.objects().expect("it is read");
    assert!(faults.is_empty(), "{faults:?}");
    objects
}

fn object<'o>(objects: &'o [StoredObject], path: &str) -> &'o StoredObject {
    objects.iter().find(|it| it.path == path).unwrap_or_else(|| panic!("no {path}"))
}

fn described(file: &Hdf5File, path: &str) -> Described {
    file.dataset(object(&objects(file), path).address).expect("it is read")
}

fn bytes(file: &Hdf5File, span: Span) -> Vec<u8> {
    file.source().read_vec(span.start(), span.len()).expect("it is there")
}

fn number(dtype: DType) -> DraftType {
    DraftType::Number(dtype)
}

fn empty(path: &str, shape: &[u64]) -> DraftDataset {
    DraftDataset::new(path, number(DType::Int32), shape, DraftLayout::Contiguous(None))
}

/// A dataset in chunks, some of which are absent; appends what is stored.
fn chunked(random: &mut Random, path: &str, data: &mut Vec<u8>) -> DraftDataset {
    let rank = 1 + random.below(4);
    let shape: Vec<u64> = (0..rank).map(|_| random.below(14)).collect();
    let chunk_shape: Vec<u64> = (0..rank).map(|_| 1 + random.below(5)).collect();
    let grid = shape.iter().zip(&chunk_shape).map(|(it, chunk)| it.div_ceil(*chunk));
    let count: u64 = grid.product();
    let kept = random.below(4);
    let mut chunks = Vec::new();
    for number in (0..count).filter(|it| it % 4 <= kept) {
        let len = 4 * chunk_shape.iter().product::<u64>();
        let span = Span::new(SUPERBLOCK_LEN + data.len() as u64, len).expect("a span");
        data.extend(random.bytes(len));
        chunks.push(DraftChunk { number, span });
    }
    let layout = DraftLayout::Chunked { chunk_shape, filters: Vec::new(), chunks };
    let mut dataset = DraftDataset::new(path, number(DType::Int32), &shape, layout);
    dataset.unlimited = (0..rank).map(|_| random.below(2) == 0).collect();
    dataset.fill = (random.below(2) == 0).then(|| vec![1, 2, 3, 4]);
    dataset
}

/// Every chunk is found at its coordinate, and where there is none, none is.
fn check_chunks(file: &Hdf5File, dataset: &DraftDataset) {
    let DraftLayout::Chunked { chunk_shape, chunks, filters } = &dataset.layout else { return };
    let found = described(file, &dataset.path);
    assert_eq!((&found.fill, &found.filters), (&dataset.fill, filters));
    let max = found.space.max_shape.iter().map(Option::is_none);
    assert_eq!(max.collect::<Vec<_>>(), dataset.unlimited);
    let StoredLayout::Chunked(index) = found.layout else { panic!("no chunks") };
    let counts: Vec<u64> =
        dataset.shape.iter().zip(chunk_shape).map(|(it, chunk)| it.div_ceil(*chunk)).collect();
    for wanted in 0..counts.iter().product() {
        let (mut rest, mut coord) = (wanted, vec![0; counts.len()]);
        for axis in (0..counts.len()).rev() {
            (coord[axis], rest) = (rest % counts[axis], rest / counts[axis]);
        }
        let stored = chunks.iter().find(|chunk| chunk.number == wanted);
        let place = index.find(&coord).expect("a sound index");
        assert_eq!(place.map(|it| it.span), stored.map(|it| it.span), "{coord:?} of {dataset:?}");
    }
    let mut count = 0;
    index
        .each(&mut |_, _| {
            count += 1;
            true
        })
        .expect("a sound index");
    assert_eq!(count, chunks.len());
}

#[test]
fn any_chunks_are_found_again() {
    let mut random = Random(7);
    for _ in 0..200 {
        let (mut data, mut draft) = (Vec::new(), Hdf5Draft::default());
        for name in ["a", "g/b", "g/h/c"] {
            draft.datasets.push(chunked(&mut random, name, &mut data));
        }
        let file = file(&draft, &data);
        draft.datasets.iter().for_each(|dataset| check_chunks(&file, dataset));
    }
}

#[test]
fn trees_of_several_levels_have_all_chunks() {
    // 64 children fill a node: one, two and three levels, and the counts around them.
    for count in [1, 63, 64, 65, 4096, 4097, 10_000] {
        let span = |number: u64| Span::new(SUPERBLOCK_LEN + number * 4, 4).expect("a span");
        let chunks = (0..count).map(|number| DraftChunk { number, span: span(number) }).collect();
        let layout = DraftLayout::Chunked { chunk_shape: vec![1, 1], filters: Vec::new(), chunks };
        let dataset = DraftDataset {
            unlimited: vec![true, false],
            ..DraftDataset::new("x", number(DType::Int32), &[count, 1], layout)
        };
        let draft = Hdf5Draft { datasets: vec![dataset], ..Hdf5Draft::default() };
        let file = file(&draft, &vec![0; usize::try_from(count).expect("few") * 4]);
        check_chunks(&file, &draft.datasets[0]);
    }
}

#[test]
fn attributes_come_back_with_their_types() {
    let attribute = |name: &str, value| DraftAttribute { name: name.to_owned(), value };
    let long = "\u{e4}".repeat(40_000);
    let texts = vec!["a".to_owned(), String::new(), "\u{20ac}".to_owned()];
    let one =
        |dtype, bytes: &[u8]| DraftValue::Numbers { dtype, bytes: bytes.into(), is_list: false };
    let attributes = vec![
        attribute("z", DraftValue::Text("K".to_owned())),
        attribute("empty", DraftValue::Text(String::new())),
        attribute("gr\u{fc}n", DraftValue::Text("\u{e4}".to_owned())),
        attribute("long", DraftValue::LongText(long.clone())),
        attribute("no", DraftValue::LongText(String::new())),
        attribute("texts", DraftValue::Texts(texts.clone())),
        attribute("f16", one(DType::Float16, &[0, 0x3c])),
        attribute("bool", one(DType::Bool, &[1])),
        attribute(
            "list",
            DraftValue::Numbers { dtype: DType::UInt64, bytes: vec![255; 24], is_list: true },
        ),
    ];
    let mut dataset = empty("g/x", &[2]);
    dataset.attributes.clone_from(&attributes);
    let group = DraftGroup { path: "g".to_owned(), attributes: attributes.clone() };
    let other = DraftGroup { path: "no/data".to_owned(), attributes: attributes.clone() };
    let draft = Hdf5Draft {
        datasets: vec![dataset],
        attributes,
        groups: vec![group, other],
        types: Vec::new(),
    };
    let file = file(&draft, &[]);
    for path in ["", "g", "g/x", "no/data"] {
        let (found, faults) =
            file.attributes(object(&objects(&file), path).address).expect("it is read");
        assert!(faults.is_empty(), "{faults:?}");
        let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        let wanted = ["z", "empty", "gr\u{fc}n", "long", "no", "texts", "f16", "bool", "list"];
        assert_eq!(names, wanted, "in the order of their creation");
        let texts_of = |at: usize| {
            file.texts(&found[at].datatype, &found[at].bytes, 1 << 20).expect("it is read")
        };
        assert_eq!(texts_of(0), Some(vec!["K".to_owned()]));
        assert!(found[1].space.is_null, "a text of no bytes is null, as NetCDF-4 has it");
        assert_eq!(texts_of(2), Some(vec!["\u{e4}".to_owned()]));
        assert_eq!(texts_of(3), Some(vec![long.clone()]));
        assert_eq!(texts_of(4), Some(vec![String::new()]));
        assert_eq!(texts_of(5), Some(texts.clone()));
        assert_eq!((found[6].bytes.as_slice(), found[6].datatype.size), (&[0, 0x3c][..], 2));
        assert!(matches!(found[7].datatype.class, Class::Enum { .. }));
        assert_eq!((found[8].space.shape.as_slice(), found[8].bytes.len()), (&[3][..], 24));
    }
}

#[test]
fn scales_and_datasets_refer_to_each_other() {
    let mut datasets = vec![empty("x", &[3]), empty("g/y", &[2]), empty("g/t", &[3, 2, 5])];
    datasets[0].scale = Some("x".to_owned());
    datasets[1].scale = Some("the y".to_owned());
    datasets[2].scales = vec![Some(0), Some(1), None];
    let file = file(&Hdf5Draft { datasets, ..Hdf5Draft::default() }, &[]);
    let objects = objects(&file);
    let attribute = |path: &str, name: &str| {
        let (found, _) = file.attributes(object(&objects, path).address).expect("it is read");
        found.into_iter().find(|it| it.name == name).unwrap_or_else(|| panic!("no {name}"))
    };
    let text = |path: &str, name: &str| {
        let found = attribute(path, name);
        file.texts(&found.datatype, &found.bytes, 100).expect("it is read").expect("a text")
    };
    assert_eq!(text("x", "CLASS"), ["DIMENSION_SCALE"]);
    assert_eq!(text("g/y", "NAME"), ["the y"]);
    let list = attribute("g/t", "DIMENSION_LIST");
    let scales = list.bytes.chunks(16).map(|it| file.list(it, 8).expect("a list"));
    let address = |path: &str| object(&objects, path).address.to_le_bytes().to_vec();
    assert_eq!(scales.collect::<Vec<_>>(), [address("x"), address("g/y"), Vec::new()]);
    let back = attribute("g/y", "REFERENCE_LIST").bytes;
    assert_eq!((back[..8].to_vec(), &back[8..]), (address("g/t"), &[1, 0, 0, 0, 0, 0, 0, 0][..]));
}

#[test]
fn groups_of_many_objects_keep_their_order() {
    let names: Vec<String> = (0..3000).rev().map(|it| format!("many/n{it}")).collect();
    let datasets = names.iter().map(|name| empty(name, &[])).collect();
    let file = file(&Hdf5Draft { datasets, ..Hdf5Draft::default() }, &[]);
    let objects = objects(&file);
    let found = objects.iter().filter(|it| it.kind == ObjectKind::Dataset);
    assert_eq!(found.map(|it| it.path.clone()).collect::<Vec<_>>(), names);
}

#[test]
fn elements_fills_and_texts_are_where_they_were_put() {
    let data = [1_i16, 2, 3].map(i16::to_le_bytes).concat();
    let span = Span::new(SUPERBLOCK_LEN, 6).expect("a span");
    let texts = ["", "a", "\u{20ac}uro"];
    let heap_at = SUPERBLOCK_LEN + 8;
    let encoded = encode_texts(&texts, heap_at);
    let at = heap_at + encoded.heap.len() as u64;
    let text_span = Span::new(at, encoded.elements.len() as u64).expect("a span");
    let layout = |span| DraftLayout::Contiguous(Some(span));
    let mut x = DraftDataset::new("x", number(DType::Int16), &[3], layout(span));
    x.fill = Some(vec![9, 0]);
    let t = DraftDataset::new("t", DraftType::Text, &[3], layout(text_span));
    let draft = Hdf5Draft { datasets: vec![x, t, empty("none", &[0, 4])], ..Hdf5Draft::default() };
    let data = [&data[..], &[0, 0], &encoded.heap, &encoded.elements].concat();
    let file = file(&draft, &data);
    let x = described(&file, "x");
    let StoredLayout::Contiguous(Some(found)) = x.layout else { panic!("no data") };
    assert_eq!((bytes(&file, found), x.fill), (data[..6].to_vec(), Some(vec![9, 0])));
    let t = described(&file, "t");
    let StoredLayout::Contiguous(Some(found)) = t.layout else { panic!("no data") };
    let found = file.texts(&t.datatype, &bytes(&file, found), 100).expect("it is read");
    assert_eq!(found.expect("texts"), texts);
    let none = described(&file, "none");
    assert!(matches!(none.layout, StoredLayout::Contiguous(None)));
}

#[test]
fn what_does_not_fit_is_refused() {
    let one = |dataset| Hdf5Draft { datasets: vec![dataset], ..Hdf5Draft::default() };
    let path = |path: &str| path.to_owned();
    for name in ["", "a//b", "/a", "a/", ".", "a/..", "a\0"] {
        let found = one(empty(name, &[1])).check();
        assert_eq!(found, Err(DraftFault::Path { path: path(name) }), "{name:?}");
    }
    for (names, wanted) in [(["a", "a"], "a"), (["a", "a/b"], "a"), (["a/b", "a"], "a")] {
        let datasets = names.map(|name| empty(name, &[1])).to_vec();
        let found = Hdf5Draft { datasets, ..Hdf5Draft::default() }.check();
        assert_eq!(found, Err(DraftFault::TwoObjects { path: path(wanted) }), "{names:?}");
    }
    let bits = DraftLayout::Contiguous(None);
    let found = one(DraftDataset::new("x", number(DType::Bitmask), &[1], bits)).check();
    assert_eq!(found, Err(DraftFault::Type { path: path("x") }));
    let chunks = |chunk_shape: &[u64], shape: &[u64]| {
        let layout = DraftLayout::Chunked {
            chunk_shape: chunk_shape.to_vec(),
            filters: Vec::new(),
            chunks: Vec::new(),
        };
        one(DraftDataset::new("x", number(DType::Int32), shape, layout)).check()
    };
    assert_eq!(chunks(&[1 << 29, 1], &[1 << 40, 1]), Ok(()));
    let misfit = Err(DraftFault::Chunks { path: path("x") });
    assert_eq!(chunks(&[1 << 30, 1], &[1 << 40, 1]), misfit, "4 GiB of a chunk");
    assert_eq!(chunks(&[0], &[1]), misfit);
    assert_eq!(chunks(&[1], &[1, 1]), misfit);
    assert_eq!(chunks(&[], &[]), misfit, "a scalar has no chunks");
    assert_eq!(one(empty("x", &[1; 32])).check(), Ok(()));
    assert_eq!(one(empty("x", &[1; 33])).check(), misfit);
    assert_eq!(one(empty("x", &[1 << 61])).check(), misfit, "2^63 bytes");
    let mut growing = empty("x", &[1]);
    growing.unlimited = vec![true];
    assert_eq!(one(growing).check(), misfit, "what grows has chunks");
    let text = |len: usize| {
        let value = DraftValue::Text("x".repeat(len));
        let attributes = vec![DraftAttribute { name: path("a"), value }];
        Hdf5Draft { attributes, ..Hdf5Draft::default() }.check()
    };
    assert_eq!(text(65_000), Ok(()));
    let misfit = Err(DraftFault::Attribute { path: path(""), name: path("a") });
    assert_eq!(text(65_535), misfit);
}
