//! Which values of packed and masked datasets are used: one rule for all that is shown, computed, drawn, compared and
//! written.
//!
//! ```text
//!   shown, computed with, drawn, compared                decoded
//!   written to a file whose readers decode (.nc, .zarr)  as stored, with the attributes that decode
//!   written to any other file (.csv, .npz, .json)        decoded, without them
//! ```

use tet_query::{Catalog, Dataset, Execution};

use super::{ValidRange, dated, decoded};

/// Which values of packed and masked datasets are used.
///
/// # Examples
///
/// ```
/// assert_eq!(tet_container::ValueChoice::default(), tet_container::ValueChoice::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueChoice {
    /// Decoded ones; in files whose readers decode them, stored ones with their attributes.
    #[default]
    Auto,
    /// Decoded ones.
    Decoded,
    /// Those that are stored.
    Raw,
}

/// How packed and masked values are used.
///
/// # Examples
///
/// ```
/// use tet_container::{Decoding, ValueChoice};
///
/// let raw = Decoding { values: ValueChoice::Raw, ..Decoding::default() };
/// assert_ne!(raw, Decoding::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decoding {
    /// Which values are used.
    pub values: ValueChoice,
    /// Whether elements outside of the valid range are masked where values are decoded.
    pub range: ValidRange,
}

impl Decoding {
    /// The datasets with the values that are shown, computed with, drawn and compared.
    #[must_use]
    pub fn shown(self, catalog: Catalog) -> Catalog {
        if self.values == ValueChoice::Raw { catalog } else { decoded(catalog, self.range) }
    }

    /// The datasets with the values that are compared: those that are shown, but times that are integers stay integers.
    #[must_use]
    pub fn compared(self, catalog: Catalog) -> Catalog {
        let exact = |dataset: Dataset| {
            let Dataset { index, ref meaning, .. } = dataset;
            let meaning = meaning.clone();
            Dataset { index, meaning, ..dataset.with_exact_times().clone() }
        };
        let catalog = self.shown(catalog);
        let parts = catalog.parts().iter().cloned().map(exact).collect();
        catalog.viewed(exact).with_parts(parts)
    }

    /// The datasets with the values that are printed: those that are compared, and times as dates.
    #[must_use]
    pub fn printed(self, catalog: Catalog, how: &Execution) -> Catalog {
        let catalog = self.compared(catalog);
        if self.values == ValueChoice::Raw { catalog } else { dated(catalog, how) }
    }
}
