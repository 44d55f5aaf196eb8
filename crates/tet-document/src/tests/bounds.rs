//! Limits of a document, and the settings of execution.

use super::super::*;

#[test]
fn a_document_past_its_limit_is_a_limit() {
    let text = format!("dataset = 'a' # {}", "x".repeat(LEN_MAX));
    let error = Query::parse(&text).unwrap_err();
    assert_eq!(error.kind(), tet_io::Kind::Limit);
    assert_eq!(error.line(), None);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    for text in ["{\"dataset\": \"a\"}", "dataset = \"a\"\n"] {
        let marked = format!("\u{feff}{text}");
        assert_eq!(Query::parse(&marked).unwrap(), Query::new("a"));
    }
    let error = Query::parse("\u{feff}{\"a\": 1}").unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(1), Some(2)));
    assert!(Query::parse("{\"dataset\": \u{feff}\"a\"}").is_err());
}

#[test]
fn execution_lies_over_the_callers() {
    let base = tet_query::Execution { threads: 3, memory_budget: 77, ..Default::default() };
    let mut asked = QueryExecution::default();
    let over = |asked: &QueryExecution| {
        let execution = asked.over(&base, 1 << 40);
        (execution.threads, execution.memory_budget)
    };
    assert_eq!(over(&asked), (3, 77));
    asked.fold_parallel = Some(false);
    asked.memory_budget_percent_bps = Some(2500);
    assert_eq!(over(&asked), (1, 1 << 38));
    asked.threads = Some(5);
    asked.memory_budget_bytes = Some(99);
    assert_eq!(over(&asked), (5, 99));
    asked.memory_budget_bytes = Some(0);
    assert_eq!(over(&asked), (5, 1 << 38));
    asked.memory_budget_percent_bps = Some(0);
    assert_eq!(over(&asked), (5, 77));
    asked.memory_budget_percent_bps = None;
    assert_eq!(over(&asked), (5, 77));
    asked.device = Some("cuda".to_owned());
    assert_eq!(asked.notes(), ["device \"cuda\" is answered by the cpu"]);
}
