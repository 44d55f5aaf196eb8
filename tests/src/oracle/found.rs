//! Results of the engine for a document.

use std::fmt;

use tet_document::{Ask, Query, Resolved};
use tet_query::{Catalog, Details, Execution, Hyperslab, LazyArray, Scalar};

/// The answer to a document.
#[derive(Clone, Debug)]
pub(super) enum QueryOutcome {
    /// Values.
    Values {
        /// The extents of the result.
        shape: Vec<u64>,
        /// The values, row-major.
        values: Vec<Scalar>,
        /// The type of an array.
        dtype: Option<&'static str>,
        /// Further results.
        details: Details,
    },
    /// An error.
    Error(String),
}

impl QueryOutcome {
    /// Result of a document.
    pub(super) fn for_document(catalog: &Catalog, document: &str, how: &Execution) -> QueryOutcome {
        let query = match Query::from_json(document) {
            Ok(query) => query,
            Err(error) => return QueryOutcome::Error(error.to_string()),
        };
        answer(catalog, &query, how).unwrap_or_else(|error| QueryOutcome::Error(error.to_string()))
    }
}

fn answer(
    catalog: &Catalog,
    query: &Query,
    how: &Execution,
) -> Result<QueryOutcome, tet_document::Error> {
    let Resolved { dataset, slab, ask, .. } = query.resolve(catalog, how)?;
    match ask {
        Ask::Reduce(reduction) => {
            let reduced = dataset.reduce(&slab, &reduction, how)?.value;
            let values = (0..reduced.values.len()).filter_map(|at| reduced.values.get(at));
            Ok(QueryOutcome::Values {
                shape: reduced.shape.clone(),
                values: values.collect(),
                dtype: None,
                details: reduced.details,
            })
        }
        Ask::Values(choice) => array(&LazyArray::new(&dataset, &slab, choice, None, how)?, how),
        Ask::Transform(choice, transform) => {
            array(&LazyArray::new(&dataset, &slab, choice, Some(transform), how)?, how)
        }
        Ask::Align(_) => Ok(QueryOutcome::Error("no case asks for an alignment".to_owned())),
    }
}

/// All of an array result.
fn array(lazy: &LazyArray, how: &Execution) -> Result<QueryOutcome, tet_document::Error> {
    let array = lazy.read(&Hyperslab::whole(lazy.shape()), how)?;
    Ok(QueryOutcome::Values {
        shape: array.shape().to_vec(),
        values: (0..array.len()).filter_map(|at| array.get(at)).collect(),
        dtype: Some(array.dtype().name()),
        details: Details::None,
    })
}

impl fmt::Display for QueryOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryOutcome::Error(error) => write!(f, "the error: {error}"),
            QueryOutcome::Values { shape, values, dtype, details } => {
                write!(f, "{} {shape:?}", dtype.unwrap_or("cells"))?;
                for value in values {
                    match *value {
                        Scalar::Null => write!(f, " -")?,
                        Scalar::Bool(truth) => write!(f, " {}", if truth { "T" } else { "F" })?,
                        Scalar::Int(integer) => write!(f, " {integer}")?,
                        other => write!(f, " {:?}", other.to_f64().unwrap_or(f64::NAN))?,
                    }
                }
                match details {
                    Details::Histogram { edges, below, above } => {
                        write!(f, " edges {edges:?} outside [{below:?}, {above:?}]")
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}
