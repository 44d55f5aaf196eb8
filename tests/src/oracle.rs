//! Cases with answers that `NumPy` gave: arrays, documents about them, and what must come out.
//!
//! ```text
//! case      a line of a file of cases -> an array, or a document and what is wanted
//! found     what the engine answers, value by value
//! compare   what is wanted and what is found -> whether they agree
//! ```
//!
//! The cases are made by `cargo xtask oracle`; a few of them are kept in `tests/data/oracle`.

pub mod case;
mod compare;
mod found;

use std::collections::BTreeMap;
use std::fmt;

use tet_query::{Catalog, Coalesce, Execution};

use self::case::{Line, Question, Subject};
use self::compare::compare;
use self::found::QueryOutcome;

/// How many cases of each sort agreed, and what is known of those that did not.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By operation: cases that agreed, and cases that did not.
    pub by_op: BTreeMap<String, [u64; 2]>,
    /// By form: the same.
    pub by_form: BTreeMap<String, [u64; 2]>,
    /// Every case that did not agree.
    pub mismatches: Vec<Mismatch>,
}

/// A case that did not agree.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Its line in the file of cases.
    pub line: usize,
    /// The document, what is wanted and what is found.
    pub text: String,
    /// The file that was asked.
    pub file: Vec<u8>,
}

impl Tally {
    fn count(&mut self, question: &Question, agreed: Result<(), Mismatch>) {
        let place = usize::from(agreed.is_err());
        self.by_op.entry(question.op.clone()).or_default()[place] += 1;
        self.by_form.entry(question.form.clone()).or_default()[place] += 1;
        self.mismatches.extend(agreed.err());
    }

    /// Cases that agreed.
    #[must_use]
    pub fn agreed(&self) -> u64 {
        self.by_op.values().map(|counts| counts[0]).sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, counts) in self.by_form.iter().chain(&self.by_op) {
            writeln!(f, "{name:<28} {:>7} ok {:>7} failed", counts[0], counts[1])?;
        }
        write!(f, "{} cases agree, {} do not", self.agreed(), self.mismatches.len())
    }
}

/// Answers every case of a file and compares.
///
/// Thousands of threads, budgets and policies are gone through, one with each case.
#[must_use]
pub fn check(text: &str) -> Tally {
    let mut tally = Tally::default();
    let mut about: Option<(Subject, Catalog)> = None;
    for (number, line) in text.lines().enumerate() {
        match case::parse(line) {
            Line::Subject(subject) => {
                let catalog = crate::ask::open_bytes(&subject.file()).unwrap();
                about = Some((subject, catalog));
            }
            Line::Question(question) => {
                let (subject, catalog) = about.as_ref().expect("an array comes first");
                let found =
                    QueryOutcome::for_document(catalog, &question.document, &execution(number));
                let agreed = compare(&question.want, &found).map_err(|why| {
                    let Question { form, document, want, .. } = &*question;
                    let text = format!(
                        "line {}, {form}: {why}\n  {document}\n  of {subject}\n  \
                         found  {found}\n  wanted {want}",
                        number + 1
                    );
                    Mismatch { line: number + 1, text, file: subject.file() }
                });
                tally.count(&question, agreed);
            }
        }
    }
    tally
}

/// A way to carry out the case of this number.
fn execution(number: usize) -> Execution {
    let threads = [1, 2, 3][number % 3];
    let memory_budget = [1 << 20, 1 << 30][number / 3 % 2];
    let coalesce = [Coalesce::DEFAULT, Coalesce::NONE, Coalesce::WIDE][number / 6 % 3];
    Execution { threads, memory_budget, coalesce, ..Execution::default() }
}
