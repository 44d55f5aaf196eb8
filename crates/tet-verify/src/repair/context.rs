//! A file under repair: the image with all edits so far, and the edits.

use tet_format::{Digest, Limits, Losses, Region, Rule};
use tet_io::{Image, Source};
use tet_report::{Code, Proof};

use super::RepairOptions;
use super::edit::{Action, Edit, make, put_edit};
use super::flip::flipped_bit;
use crate::error::Result;

pub(super) struct RepairContext<'a> {
    pub(super) image: Image,
    pub(super) edits: Vec<Edit>,
    /// Edits that would lose something and are not allowed.
    pub(super) withheld: Vec<Edit>,
    pub(super) options: &'a RepairOptions,
}

impl<'a> RepairContext<'a> {
    pub(super) fn new(source: &Source, options: &'a RepairOptions) -> Self {
        let (edits, withheld) = (Vec::new(), Vec::new());
        RepairContext { image: Image::from_source(source), edits, withheld, options }
    }

    pub(super) fn limits(&self) -> &'a Limits {
        &self.options.limits
    }

    /// The file with all edits so far.
    pub(super) fn source(&self) -> Source {
        self.image.to_source()
    }

    /// Applies an edit, unless it has losses and these are refused. Returns whether it did.
    pub(super) fn apply(&mut self, edit: Edit) -> Result<bool> {
        if edit.is_lossy() && self.options.losses == Losses::Refused {
            self.withheld.push(edit);
            return Ok(false);
        }
        make(&edit, &mut self.image, &self.options.limits, &self.options.progress)?;
        self.edits.push(edit);
        Ok(true)
    }

    /// Flips one bit back if that makes the bytes at `at` match their digest.
    pub(super) fn flip(
        &mut self,
        rule: Rule,
        region: Region,
        at: u64,
        bytes: &mut [u8],
        wanted: Digest,
    ) -> Result<bool> {
        let Some(bit) = flipped_bit(bytes, wanted) else { return Ok(false) };
        let Some(byte) = bytes.get_mut(bit.byte) else { return Ok(false) };
        *byte ^= 1 << bit.bit;
        let (at, new) = (at.saturating_add(bit.byte as u64), [*byte]);
        let action = Action::FlipBit { bit: bit.bit };
        let edit = put_edit(Code::Rule(rule), region, at, &new, action).proof(Proof::Digest);
        self.apply(edit)?;
        Ok(true)
    }
}
