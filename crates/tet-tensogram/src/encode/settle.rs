//! Chooses which elements that are not finite go under masks.

use tet_format::DType;

use super::recipe::{NonFinite, Recipe};
use crate::descriptor::MaskKind;
use crate::error::{Error, Result};
use crate::mask::NonFiniteMasks;

/// Counts of the elements of an object that are not finite, by treatment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NonFiniteSeen {
    /// Elements under masks.
    pub masked: u64,
    /// Masked elements that are restored with other bits: NaN with a sign or a payload, and complex
    /// elements of which one part has another value.
    pub changed: u64,
    /// Elements stored unchanged; not counted if the recipe stores all unchanged.
    pub kept: u64,
}

/// Whether the encoding depends on which elements are not finite.
pub(super) fn is_surveyed(dtype: DType, recipe: &Recipe) -> bool {
    let is_kept = (recipe.nan, recipe.infinity) == (NonFinite::Kept, NonFinite::Kept);
    (dtype.is_float() || dtype.is_complex()) && (!is_kept || recipe.packing.is_some())
}

/// Selects the elements for masks. `inexact` counts those that a mask does not restore exactly.
pub(super) fn settle(
    mut found: NonFiniteMasks,
    inexact: [u64; 3],
    recipe: &Recipe,
) -> Result<(NonFiniteMasks, NonFiniteSeen)> {
    let mut seen = NonFiniteSeen::default();
    let is_exact = inexact == [0; 3];
    for (at, kind) in MaskKind::ALL.into_iter().enumerate() {
        let (choice, value) = match kind {
            MaskKind::Nan => (recipe.nan, "NaN"),
            MaskKind::PosInf => (recipe.infinity, "infinity"),
            MaskKind::NegInf => (recipe.infinity, "-infinity"),
        };
        let slots = found.first.get_mut(at).zip(found.bits.get_mut(at));
        let Some((first, bits)) = slots else { continue };
        let Some(element) = *first else { continue };
        let ones = bits.iter().flatten().map(|byte| u64::from(byte.count_ones()));
        let count = ones.fold(0, u64::saturating_add);
        let is_kept = match choice {
            NonFinite::Refused => return Err(Error::NotFinite { element, value }),
            NonFinite::Masked => false,
            NonFinite::Exact => !is_exact,
            NonFinite::Kept => true,
        };
        // NaN and infinities cannot be packed.
        if is_kept && recipe.packing.is_some() {
            return Err(Error::NotFinite { element, value });
        }
        if is_kept {
            (*first, *bits) = (None, None);
            seen.kept = seen.kept.saturating_add(count);
        } else {
            seen.masked = seen.masked.saturating_add(count);
            let changed = inexact.get(at).copied().unwrap_or_default();
            seen.changed = seen.changed.saturating_add(changed);
        }
    }
    Ok((found, seen))
}
