//! Results of a sound file, and those of the damaged file.

use std::sync::Arc;

use tet_file::{OpenOptions, TetFile};
use tet_io::Source;
use tet_query::{Catalog, DigestPolicy, Error, Execution, Hyperslab, Integrity, Op, Reduction};

use crate::ask;
use crate::meter::Bytes;

/// Reductions of every dataset, beside its values.
const OPS: [Op; 4] = [Op::Sum, Op::Min, Op::Mean, Op::Median];

/// How a file is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Whether its bytes are viewed, as a map's are, or read by position.
    pub viewed: bool,
    /// Which payloads are compared.
    pub digests: DigestPolicy,
}

/// An answer: text, or bytes as text; and whether digests stand behind all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WitnessedText {
    text: String,
    verified: bool,
}

/// A sound file and what it answers.
#[derive(Debug)]
pub struct Witness {
    /// The file.
    pub bytes: Vec<u8>,
    answers: Vec<WitnessedText>,
}

/// Outcomes of the queries of a damaged file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Answers that are errors.
    pub refused: u64,
    /// Answers that are those of the sound file.
    pub same: u64,
    /// Other answers.
    pub wrong: u64,
    /// Other answers of which it is said that digests stand behind them.
    pub wrong_verified: u64,
    /// Whether the file is known to have digests.
    pub protected: bool,
}

impl Witness {
    /// A sound file.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let way = Way { viewed: true, digests: DigestPolicy::Always };
        let answers = answers(bytes, way).unwrap().0.into_iter().map(Result::unwrap);
        Witness { bytes: bytes.to_vec(), answers: answers.collect() }
    }

    /// Asks the same of damaged bytes.
    #[must_use]
    pub fn judge(&self, damaged: &[u8], way: Way) -> Verdict {
        let mut verdict = Verdict::default();
        let Ok((found, protected)) = answers(damaged, way) else {
            verdict.refused = self.answers.len() as u64;
            return verdict;
        };
        verdict.protected = protected;
        if found.len() != self.answers.len() {
            // Another number of datasets is another answer, whatever they hold.
            verdict.wrong = 1;
            return verdict;
        }
        for (found, wanted) in found.iter().zip(&self.answers) {
            match found {
                Err(_) => verdict.refused += 1,
                Ok(found) if found.text == wanted.text => verdict.same += 1,
                Ok(found) => {
                    verdict.wrong += 1;
                    verdict.wrong_verified += u64::from(found.verified);
                }
            }
        }
        verdict
    }
}

/// All that a file is asked: what it says of itself, and each dataset's values and reductions; and
/// whether it is known to have digests.
fn answers(bytes: &[u8], way: Way) -> Result<(Vec<Result<WitnessedText, Error>>, bool), Error> {
    let source = if way.viewed {
        Source::from_bytes(bytes.to_vec())
    } else {
        Source::from_reader(Arc::new(Bytes(bytes.to_vec())))
    };
    let file = TetFile::open(source, &OpenOptions::default())?;
    let has_digests = file.protection().digests().is_some();
    let said = format!("{:?} {:?}", file.metadata(), file.history());
    let catalog = Catalog::from_tet(file)?;
    let mut answers = vec![Ok(WitnessedText { text: said, verified: has_digests })];
    let answer =
        |text, integrity| WitnessedText { text, verified: integrity == Integrity::Verified };
    for dataset in catalog.datasets() {
        let slab = Hyperslab::whole(dataset.shape());
        let how = Execution { digests: way.digests, ..ask::small() };
        let chunk_shape = dataset.grid.chunk_shape();
        let text = format!("{:?} {} {chunk_shape:?}", dataset.name, dataset.dtype_name);
        answers.push(Ok(WitnessedText { text, verified: has_digests }));
        let array = dataset.read(&slab, &how);
        answers.push(array.map(|array| answer(format!("{:?}", array.bytes()), array.integrity)));
        for op in OPS {
            let reduction = Reduction::all(op);
            let reduced = dataset.reduce(&slab, &reduction, &how);
            answers.push(reduced.map(|it| answer(format!("{:?}", it.value), it.integrity)));
        }
    }
    Ok((answers, has_digests))
}
