//! Every accepted file holds its values; every rejected one breaks its rule at its byte.

use std::collections::BTreeSet;
use std::ops::Range;

use tet_format::{DType, Limits, NoteCode, Rule};
use tet_io::Source;
use tet_query::Error;
use tet_tests::case::{Accept, Noticed, Reject, Twin};
use tet_tests::{accept, ask, reject};
use tet_verify::{Code, Level, Location, Report, VerifyOptions};

#[test]
fn accepted_files_hold_their_values() {
    for case in accept::cases() {
        check_accept(&case);
    }
}

fn check_accept(case: &Accept) {
    let name = case.name;
    let catalog = ask::open_bytes(&case.bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(catalog.datasets().len(), case.holds.len(), "{name}");
    for (dataset, holds) in catalog.datasets().iter().zip(&case.holds) {
        assert_eq!(dataset.name, holds.name, "{name}");
        assert_eq!(dataset.shape(), holds.shape, "{name}");
        assert_eq!(dataset.dtype.map(DType::name), holds.dtype, "{name}");
        match (ask::read_all(dataset), &holds.elements) {
            (Ok(found), Some(wanted)) => assert_eq!(&found, wanted, "{name}"),
            (Err(error), Some(_)) => panic!("{name}: {error}"),
            (Ok(_), None) => panic!("{name}: {:?} was read", holds.name),
            (Err(_), None) => {}
        }
    }
}

#[test]
fn rejected_files_break_one_rule_at_one_byte() {
    let mut wrong = Vec::new();
    for case in reject::cases() {
        let found = noticed(&case);
        let wanted = match case.noticed {
            Noticed::Verify => None,
            // To a reader, a row outside the grid is a chunk without a row.
            noticed if case.rule == Rule::RowCoord => Some((noticed, Rule::RowUnique, case.at)),
            noticed => Some((noticed, case.rule, case.at)),
        };
        if found != wanted {
            wrong.push(format!("{}: found {found:?}, wanted {wanted:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// When a reader stops, by which rule, and at which byte.
fn noticed(case: &Reject) -> Option<(Noticed, Rule, u64)> {
    let told = |noticed: Noticed, error: &Error| {
        let (rule, at) = ask::broken(error)
            .unwrap_or_else(|| panic!("{}: {error:?} is no broken rule", case.name));
        // Some errors name dataset and chunk but no byte; they are told apart by the rule.
        Some((noticed, rule, at.unwrap_or(case.at)))
    };
    let catalog = match ask::open(Source::from_bytes(case.bytes.clone()), case.limits) {
        Ok(catalog) => catalog,
        Err(error) => return told(Noticed::Open, &error),
    };
    for dataset in catalog.datasets() {
        if let Some(error) = dataset.why() {
            return told(Noticed::Dataset, error);
        }
    }
    for dataset in catalog.datasets() {
        if let Err(error) = ask::read_all(dataset) {
            return told(Noticed::Chunk, &error);
        }
    }
    None
}

#[test]
fn twins_are_read() {
    for case in reject::cases() {
        let twin = case.twin.bytes();
        let catalog = ask::open(Source::from_bytes(twin), case.limits)
            .unwrap_or_else(|error| panic!("the twin of {:?}: {error}", case.name));
        for dataset in catalog.datasets() {
            let read = ask::read_all(dataset);
            assert!(read.is_ok(), "the twin of {:?}: {}", case.name, read.unwrap_err());
        }
    }
}

#[test]
fn twins_differ_in_one_field() {
    for case in reject::cases() {
        let Twin::Field(twin) = &case.twin else { continue };
        assert_eq!(twin.len(), case.bytes.len(), "{}", case.name);
        let differing: Vec<usize> =
            (0..twin.len()).filter(|&at| twin[at] != case.bytes[at]).collect();
        let (first, last) = (differing[0], *differing.last().unwrap());
        assert!(last - first < 32, "{}: bytes {first} to {last} differ", case.name);
    }
}

#[test]
fn verify_finds_each_broken_rule_at_its_byte() {
    let mut wrong = Vec::new();
    for case in &reject::cases() {
        let found = errors(&case.bytes, case.limits);
        if !found.iter().any(|(rule, bytes)| *rule == case.rule && bytes.contains(&case.at)) {
            wrong.push(format!("{}: {found:?} without {:?} {}", case.name, case.rule, case.at));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn verify_finds_nothing_wrong_with_what_is_accepted() {
    for case in accept::cases() {
        let found = errors(&case.bytes, Limits::default());
        // Readers list these datasets and leave them alone.
        let unknown = case.holds.iter().any(|holds| holds.elements.is_none());
        let expected =
            |(rule, _): &(Rule, Range<u64>)| matches!(rule, Rule::DTypeTag | Rule::RowCodec);
        assert!(
            found.is_empty() || unknown && found.iter().all(expected),
            "{}: {found:?}",
            case.name
        );
    }
}

#[test]
fn verify_notes_what_is_odd_and_where() {
    let mut wrong = Vec::new();
    for case in reject::odd::cases() {
        let report = verify(&case.bytes, Limits::default());
        let found: Vec<(Code, Range<u64>)> = report
            .findings
            .iter()
            .map(|finding| (finding.code, bytes_of(&finding.place)))
            .collect();
        // Digests that cannot be used are errors of `verify`, though readers take the file.
        let is_error = matches!(case.code, NoteCode::DigestsStale | NoteCode::DigestsUnknown);
        if report.is_ok() == is_error
            || !found
                .iter()
                .any(|(code, bytes)| *code == Code::Note(case.code) && bytes.contains(&case.at))
        {
            wrong.push(format!("{}: {found:?} without {:?} {}", case.name, case.code, case.at));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The rules that verify finds broken, each with the bytes of the field.
fn errors(bytes: &[u8], limits: Limits) -> Vec<(Rule, Range<u64>)> {
    verify(bytes, limits)
        .findings
        .iter()
        .filter_map(|finding| match finding.code {
            Code::Rule(rule) => Some((rule, bytes_of(&finding.place))),
            _ => None,
        })
        .collect()
}

fn bytes_of(place: &Location) -> Range<u64> {
    place.offset..place.offset + place.len.max(1)
}

fn verify(bytes: &[u8], limits: Limits) -> Report {
    let options = VerifyOptions { limits, level: Level::Deep, ..VerifyOptions::default() };
    tet_verify::verify(&Source::from_bytes(bytes), &options).unwrap()
}

#[test]
fn every_rule_has_a_case() {
    let covered: BTreeSet<Rule> = reject::cases().iter().map(|case| case.rule).collect();
    let missing: Vec<&str> =
        Rule::ALL.iter().filter(|rule| !covered.contains(rule)).map(|rule| rule.id()).collect();
    assert!(missing.is_empty(), "no case breaks {missing:?}");
}

#[test]
fn every_note_has_a_case() {
    let mut covered: BTreeSet<NoteCode> =
        reject::odd::cases().iter().map(|case| case.code).collect();
    // Bytes have no holes, files do: `tet-verify` has its case.
    covered.insert(NoteCode::PayloadHole);
    let missing: Vec<&str> =
        NoteCode::ALL.iter().filter(|code| !covered.contains(code)).map(|code| code.id()).collect();
    assert!(missing.is_empty(), "no case shows {missing:?}");
}

#[test]
fn odd_files_are_read() {
    for case in reject::odd::cases() {
        let catalog = ask::open_bytes(&case.bytes).unwrap();
        for read in ask::everything(&catalog) {
            assert!(read.is_ok(), "{}: {}", case.name, read.unwrap_err());
        }
    }
}
