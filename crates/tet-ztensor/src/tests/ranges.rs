//! Every range of small sparse tensors, against the whole.

use crate::testing::{Fields, open, text, uints, with_good};
use tet_sparse::Scattered;

use crate::{Check, Sparse};

fn check(bytes: &[u8]) -> Sparse {
    let file = open(bytes).unwrap();
    let tensor = file.find("t").unwrap();
    let whole = file.read(tensor, Check::Always).unwrap();
    let sparse = file.read_sparse(tensor, Check::Always).unwrap();
    let count = tensor.element_count().unwrap();
    let size = whole.len() / usize::try_from(count).unwrap().max(1);
    for start in 0..=count {
        for end in start..=count {
            let at = |at: u64| usize::try_from(at).unwrap() * size;
            let mut out = vec![0xEE; at(end) - at(start)];
            sparse.scatter(start..end, &mut out);
            assert_eq!(out, whole[at(start)..at(end)], "{start}..{end}");
            out.fill(0xEE);
            Scattered::new(sparse.clone()).scatter(start..end, &mut out);
            assert_eq!(out, whole[at(start)..at(end)], "{start}..{end}");
        }
    }
    sparse
}

#[test]
fn ranges_of_sparse_tensors_are_parts_of_the_whole() {
    let words: Vec<u8> =
        [0_u64, 2, 2, 3, 1, 3, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    let blob = [words, vec![5, 6, 7]].concat();
    let fields = Fields::dense("t", 64, blob.len() as u64, "uint8", &[3, 4]);
    let sparse = check(&with_good(&blob, &fields.with("layout", text("sparsecsr"))));
    let mut dense = [9; 12];
    sparse.scatter(0..12, &mut dense);
    assert_eq!(dense, [0, 5, 0, 6, 0, 0, 0, 0, 7, 0, 0, 0]);
    let fields = Fields::dense("t", 64, 3, "uint8", &[3, 4]).with("layout", text("sparse"));
    let fields = fields.with("sparse_format", text("coo"));
    check(&with_good(&[5, 6, 7], &fields.with("indices", uints(&[0, 1, 0, 3, 2, 0]))));
}
