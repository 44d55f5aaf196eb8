//! Written files are read back.

use proptest::prelude::*;
use tet_cbor::Value;
use tet_format::DType;
use tet_io::Source;

use super::*;
use crate::Level;
use crate::Places;
use crate::Severity;
use crate::check::{VerifyOptions, verify};
use crate::limits::Limits;
use crate::open::ZTensorFile;
use crate::stored::Check;
use crate::words::{DTYPES, Layout};

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(Value::Undefined),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| Value::Int(number.into())),
        any::<u64>().prop_map(|number| Value::Int(number.into())),
        any::<f64>().prop_filter("NaN is not itself", |it| !it.is_nan()).prop_map(Value::Float),
        any::<f32>()
            .prop_filter("NaN is not itself", |it| !it.is_nan())
            .prop_map(|it| Value::Float(it.into())),
        ".{0,30}".prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..30).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            (any::<u64>(), inner.clone()).prop_map(|(tag, it)| Value::Tag(tag, Box::new(it))),
            prop::collection::btree_map("[a-z]{0,3}", inner, 0..4).prop_map(|pairs| {
                let mut pairs: Vec<_> =
                    pairs.into_iter().map(|(key, it)| (Value::Text(key), it)).collect();
                pairs.sort_by_key(|(key, _)| key.as_text().map_or(0, str::len));
                Value::Map(pairs)
            }),
        ]
    })
}

fn options() -> impl Strategy<Value = WriteOptions> {
    let encodings = prop_oneof![
        Just(EncodingChoice::Raw),
        (-3..=6_i32).prop_map(|level| EncodingChoice::Zstd { level }),
    ];
    let checksums = [ChecksumChoice::Crc32c, ChecksumChoice::Sha256, ChecksumChoice::Left];
    let aligns = [Align::Line, Align::Page, Align::LargePage];
    let all = (encodings, 0..3_usize, 0..3_usize, prop_oneof![Just(0), Just(100_u64)]);
    all.prop_map(move |(encoding, checksum, align, align_len_min)| WriteOptions {
        encoding,
        checksum: checksums[checksum],
        align: aligns[align],
        align_len_min,
        ..WriteOptions::default()
    })
}

fn declarations() -> impl Strategy<Value = Vec<Declaration>> {
    let shape = prop::collection::vec(0..9_u64, 0..5);
    let custom = prop::collection::btree_map("[b-d_]{1,6}", values(), 0..4);
    let one = (0..DTYPES.len(), shape, custom).prop_map(|(dtype, shape, custom)| {
        let mut one = Declaration::new("", DTYPES[dtype], shape);
        one.custom = custom.into_iter().collect();
        one
    });
    prop::collection::vec(one, 0..8).prop_map(|mut all| {
        for (at, one) in all.iter_mut().enumerate() {
            one.name = format!("tensor {at}/\u{e9}\u{1f600}");
        }
        all
    })
}

/// Elements of a tensor; a bool is 0 or 1.
fn elements_of(declaration: &Declaration) -> Vec<u8> {
    let mut elements = elements(usize::try_from(declaration.decoded_len().unwrap()).unwrap());
    if declaration.dtype == DType::Bool {
        elements.iter_mut().for_each(|byte| *byte &= 1);
    }
    elements
}

fn open(bytes: Vec<u8>) -> ZTensorFile {
    ZTensorFile::open(Source::from_bytes(bytes), &Limits::default()).unwrap()
}

/// Nothing is wrong or odd about a file.
fn check_sound(bytes: &[u8]) {
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let report = verify(&Source::from_bytes(bytes), &options).unwrap();
    let findings: Vec<_> =
        report.findings.iter().filter(|it| it.severity != Severity::Note).collect();
    assert!(findings.is_empty(), "{findings:?}");
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        declared in declarations(),
        options in prop::collection::vec(options(), 8),
        piece_len in 1..400_usize,
    ) {
        let mut writer = Writer::new(Vec::new(), &WriteOptions::default()).unwrap();
        for (one, options) in declared.iter().zip(&options) {
            let mut tensor = writer.tensor_as(one.clone(), options).unwrap();
            elements_of(one).chunks(piece_len).for_each(|piece| tensor.write(piece).unwrap());
            tensor.finish().unwrap();
        }
        let (bytes, written) = writer.finish().unwrap();
        prop_assert_eq!(bytes.len() as u64, written.file_len);
        check_sound(&bytes);
        let file = open(bytes);
        prop_assert_eq!(file.len(), declared.len());
        for (one, tensor) in declared.iter().zip(file.tensors()) {
            prop_assert_eq!(tensor.name(), &one.name);
            prop_assert_eq!(tensor.dtype(), Some(one.dtype));
            prop_assert_eq!(tensor.shape(), one.shape.as_slice());
            prop_assert_eq!(&tensor.custom().unwrap(), &one.custom);
            prop_assert!(file.read(tensor, Check::Always).unwrap() == elements_of(one));
        }
    }
}

#[test]
fn long_tensors_are_read_back() {
    let mut writer = Writer::new(Vec::new(), &WriteOptions::default()).unwrap();
    let zstd = WriteOptions { encoding: EncodingChoice::zstd(), ..WriteOptions::default() };
    let declared = Declaration::new("long", DType::UInt16, [1000, 1000]);
    let mut tensor = writer.tensor_as(declared, &zstd).unwrap();
    tensor.write(&elements(2_000_000)).unwrap();
    tensor.finish().unwrap();
    let bytes = writer.finish().unwrap().0;
    check_sound(&bytes);
    let file = open(bytes);
    let long = file.find("long").unwrap();
    assert!(file.read(long, Check::Always).unwrap() == elements(2_000_000));
}

#[test]
fn sparse_tensors_are_read_back() {
    let csr = Places::Csr { indptr: vec![0, 2, 2, 3], indices: vec![0, 3, 1] };
    let coo = Places::Coo { coords: vec![0, 0, 0, 3, 2, 1] };
    let values = [1_u32, 2, 3].map(u32::to_le_bytes).concat();
    let declared = |name| Declaration::new(name, DType::UInt32, [3, 4]);
    for encoding in [EncodingChoice::Raw, EncodingChoice::zstd()] {
        let sparse = SparseChoice::Native;
        let options = WriteOptions { sparse, encoding, ..WriteOptions::default() };
        let mut writer = Writer::new(Vec::new(), &options).unwrap();
        writer.sparse(declared("csr"), &csr, &values).unwrap();
        writer.sparse(declared("coo"), &coo, &values).unwrap();
        let bytes = writer.finish().unwrap().0;
        check_sound(&bytes);
        let file = open(bytes);
        for (name, places, layout) in [("csr", &csr, Layout::Csr), ("coo", &coo, Layout::Coo)] {
            let tensor = file.find(name).unwrap();
            assert_eq!(tensor.layout(), Some(layout));
            let sparse = file.read_sparse(tensor, Check::Always).unwrap();
            assert_eq!((&sparse.places, &sparse.values), (places, &values));
            assert_eq!(tensor.custom_value("nnz").unwrap(), Some(Value::Int(3)));
        }
    }
    let mut writer = Writer::new(Vec::new(), &WriteOptions::default()).unwrap();
    writer.sparse(declared("a").with("unit", Value::Null), &csr, &values).unwrap();
    writer.sparse(declared("b"), &coo, &values).unwrap();
    let file = open(writer.finish().unwrap().0);
    let names: Vec<_> = file.tensors().map(|tensor| tensor.name().to_owned()).collect();
    assert_eq!(names, ["a.indptr", "a.indices", "a.values", "b.coords", "b.values"]);
    let tied = file.find("a.values").unwrap();
    assert_eq!(tied.custom_value("sparse_of").unwrap(), Some(Value::Text("a".to_owned())));
    assert_eq!(tied.custom_value("unit").unwrap(), Some(Value::Null));
    assert!(file.read(tied, Check::Always).unwrap() == values);
}
