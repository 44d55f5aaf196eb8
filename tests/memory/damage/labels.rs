//! Every bit of a coordinate dataset, whose elements are labels.

use crate::ALLOCATOR;
use tet_query::{CatalogLabels, Error, Execution, LabelLookup, Labels};
use tet_tests::ask;
use tet_tests::assemble::{Dataset, Sheet};

#[test]
fn labels_that_changed_are_not_used() {
    let _alone = ALLOCATOR.alone();
    let named = r#"{"metadata":{"datasets":{"a":{"dim_names":["t","x"]}}}}"#;
    let datasets = [Dataset::new("a", 1, 4, &[4, 3]), Dataset::new("t", 2, 8, &[4]).chunked(&[2])];
    let file = Sheet::new(&datasets).footer(named).sealed().assemble();
    let labels = |bytes: &[u8]| {
        let catalog = ask::open_bytes(bytes).unwrap();
        let labels = CatalogLabels::new(&catalog, &catalog.datasets()[0], &Execution::default());
        labels.labels(0).map(|labels| labels.is_some())
    };
    assert!(labels(&file.bytes).unwrap(), "there are labels");
    for &(start, len) in &file.marks.payloads[1..] {
        for bit in start * 8..(start + len) * 8 {
            let mut damaged = file.bytes.clone();
            damaged[usize::try_from(bit / 8).unwrap()] ^= 1 << (bit % 8);
            assert!(labels(&damaged).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn labels_are_read_once_and_as_the_caller_wants() {
    let _alone = ALLOCATOR.alone();
    let named = r#"{"metadata":{"datasets":{"a":{"dim_names":["t"]}}}}"#;
    let datasets = [Dataset::new("a", 1, 4, &[4]), Dataset::new("t", 2, 8, &[4])];
    let file = Sheet::new(&datasets).footer(named).assemble();
    let catalog = ask::open_bytes(&file.bytes).unwrap();
    let dataset = &catalog.datasets()[0];
    let labels = CatalogLabels::new(&catalog, dataset, &Execution::default());
    let place = || match labels.labels(0).unwrap() {
        Some(Labels::Floats { values, .. }) => values.as_ptr(),
        other => panic!("{other:?}"),
    };
    assert_eq!(place(), place());
    let bounded = Execution { result_max: 8, ..Execution::default() };
    let labels = CatalogLabels::new(&catalog, dataset, &bounded);
    assert!(matches!(labels.labels(0), Err(Error::Limit { .. })), "four labels of eight bytes");
}
