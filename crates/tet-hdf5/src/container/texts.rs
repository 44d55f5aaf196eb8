//! Texts of an HDF5 file: of a fixed length, or in global heaps.

use crate::{Datatype, Hdf5File, rule};
use tet_query::{Error as QueryError, TextElements};

use super::chunks::of_dataset;

/// Makes texts of the elements of a dataset.
pub(super) struct HeapTexts {
    pub(super) file: Hdf5File,
    pub(super) datatype: Datatype,
    /// The dataset, for messages.
    pub(super) name: String,
}

impl TextElements for HeapTexts {
    fn texts(&self, elements: &[u8], _size: usize, len_max: u64) -> tet_query::Result<Vec<String>> {
        let most = usize::try_from(len_max).unwrap_or(usize::MAX);
        match self.file.texts(&self.datatype, elements, most) {
            Ok(texts) => Ok(texts.unwrap_or_default()),
            Err(crate::Error::Fault(fault)) if fault.rule.id == rule::LIMIT_ATTRIBUTES.id => {
                let (what, wanted, limit) = ("bytes of the texts", fault.found, fault.wanted);
                Err(QueryError::Limit { what, wanted, limit })
            }
            Err(error) => Err(of_dataset(&self.name, error)),
        }
    }
}
