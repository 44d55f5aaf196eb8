//! Every truncation of every accepted file: an error, or the same answers.

use tet_tests::{accept, ask};

#[test]
fn a_cut_file_never_answers_otherwise() {
    for case in accept::cases() {
        for len in 0..case.bytes.len() {
            let Ok(catalog) = ask::open_bytes(&case.bytes[..len]) else { continue };
            let whole = catalog.datasets().len() == case.holds.len();
            assert!(whole, "{}: cut to {len} bytes it lists other datasets", case.name);
            for (answer, holds) in ask::everything(&catalog).iter().zip(&case.holds) {
                let Ok(answer) = answer else { continue };
                assert_eq!(
                    Some(answer),
                    holds.elements.as_ref(),
                    "{}: cut to {len} bytes",
                    case.name
                );
            }
        }
    }
}

#[test]
fn a_cut_structure_never_opens() {
    for case in accept::cases().iter().filter(|case| !case.holds.is_empty()) {
        let word = |at: usize| u64::from_le_bytes(case.bytes[at..at + 8].try_into().unwrap());
        let index_end = usize::try_from(word(16) + word(24)).unwrap();
        for len in 0..index_end {
            assert!(ask::open_bytes(&case.bytes[..len]).is_err(), "{}: {len} bytes", case.name);
        }
    }
}

#[test]
fn bytes_after_the_end_change_no_answer() {
    for case in accept::cases() {
        for more in [1, 15, 16, 64] {
            let bytes = [case.bytes.clone(), vec![0x5a; more]].concat();
            let Ok(catalog) = ask::open_bytes(&bytes) else { continue };
            for (answer, holds) in ask::everything(&catalog).iter().zip(&case.holds) {
                let Ok(answer) = answer else { continue };
                assert_eq!(Some(answer), holds.elements.as_ref(), "{}: {more} more", case.name);
            }
        }
    }
}
