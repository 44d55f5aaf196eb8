//! Every range of small tensors, against the whole.

use tet_io::Source;

use crate::testing::{Fields, beside_good, open, text, uints, zstd, zstd_bare};
use crate::{Check, Limits, Sparse, ZTensorFile};

fn check(bytes: &[u8]) {
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), bytes).unwrap();
    let sources = [Source::from_bytes(bytes), Source::open(path.path()).unwrap()];
    for source in sources {
        let file = ZTensorFile::open(source, &Limits::default()).unwrap();
        let tensor = file.find("t").unwrap();
        let whole = file.read(tensor, Check::Always).unwrap();
        let count = tensor.element_count().unwrap();
        let size = whole.len() / usize::try_from(count).unwrap().max(1);
        for start in 0..=count {
            for end in start..=count {
                let at = |at: u64| usize::try_from(at).unwrap() * size;
                let mut out = vec![0xEE; at(end) - at(start)];
                file.read_range(tensor, start..end, &mut out, Check::Always).unwrap();
                assert_eq!(out, whole[at(start)..at(end)], "{start}..{end}");
            }
        }
    }
}

#[test]
fn ranges_of_dense_tensors_are_parts_of_the_whole() {
    let blob: Vec<u8> = (0..24).collect();
    for order in ["little", "big"] {
        for (dtype, count) in [("uint8", 24), ("float16", 12), ("int32", 6), ("float64", 3)] {
            let fields = Fields::dense("t", 64, 24, dtype, &[count]);
            check(&beside_good(&blob, &fields.with("data_endianness", text(order))));
        }
    }
    let (a, b) = blob.split_at(10);
    for blob in [zstd(&blob), zstd_bare(&blob), [zstd(a), zstd(b)].concat()] {
        let fields = Fields::dense("t", 64, blob.len() as u64, "int16", &[3, 4]);
        check(&beside_good(&blob, &fields.with("encoding", text("zstd"))));
    }
}

#[test]
fn ranges_of_sparse_tensors_are_parts_of_the_whole() {
    let words: Vec<u8> =
        [0_u64, 2, 2, 3, 1, 3, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    let blob = [words, vec![5, 6, 7]].concat();
    let fields = Fields::dense("t", 64, blob.len() as u64, "uint8", &[3, 4]);
    let bytes = beside_good(&blob, &fields.with("layout", text("sparsecsr")));
    check(&bytes);
    let file = open(&bytes).unwrap();
    let sparse: Sparse = file.read_sparse(file.find("t").unwrap(), Check::Auto).unwrap();
    assert_eq!(sparse.to_dense(12).unwrap(), [0, 5, 0, 6, 0, 0, 0, 0, 7, 0, 0, 0]);
    assert!(sparse.to_dense(11).is_err());
    let fields = Fields::dense("t", 64, 3, "uint8", &[3, 4]).with("layout", text("sparse"));
    let fields = fields.with("sparse_format", text("coo"));
    check(&beside_good(&[5, 6, 7], &fields.with("indices", uints(&[0, 1, 0, 3, 2, 0]))));
}
