//! Shared types for repairs of all containers: a plan first, then a new file.
//!
//! A plan is complete before the first byte is written. Every edit states its rule, its proof, and
//! its losses. The original is never modified, only replaced by a complete new file.

use tet_io::{Canceled, Image, Output, Progress, Publish, Source};

use crate::code::Code;
use crate::finding::Finding;

/// One change of a file. `A` is the action, `L` a loss, `C` the changes of bytes if edits can be
/// applied one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit<A, L, C = ()> {
    /// The broken rule or the note that it corrects.
    pub code: Code,
    /// The region it changes.
    pub region: &'static str,
    /// The offset of the change.
    pub offset: u64,
    /// The length of the change.
    pub len: u64,
    /// The action.
    pub action: A,
    /// Why it is right.
    pub proof: Proof,
    /// Data that is lost by it, or was lost before and is not recovered.
    pub losses: Vec<L>,
    /// The changes of bytes.
    pub changes: C,
}

impl<A, L, C: Default> Edit<A, L, C> {
    /// An edit of bytes from an offset on, which follows from the rest of the file without losses.
    #[must_use]
    pub fn new(code: Code, region: &'static str, offset: u64, len: u64, action: A) -> Self {
        let (proof, losses, changes) = (Proof::Rest, Vec::new(), C::default());
        Edit { code, region, offset, len, action, proof, losses, changes }
    }
}

impl<A, L, C> Edit<A, L, C> {
    /// Replaces the proof.
    #[must_use]
    pub fn proof(self, proof: Proof) -> Self {
        Edit { proof, ..self }
    }

    /// Adds a loss.
    #[must_use]
    pub fn lose(mut self, loss: L) -> Self {
        self.losses.push(loss);
        self
    }

    /// Replaces the losses.
    #[must_use]
    pub fn losses(self, losses: Vec<L>) -> Self {
        Edit { losses, ..self }
    }

    /// Whether it loses something. A change proven by a checksum loses nothing.
    #[must_use]
    pub fn is_lossy(&self) -> bool {
        !self.losses.is_empty() && self.proof != Proof::Digest
    }
}

impl<A, L, X> Edit<A, L, Vec<X>> {
    /// Adds a change.
    #[must_use]
    pub fn change(mut self, change: X) -> Self {
        self.changes.push(change);
        self
    }
}

/// Why an edit is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// The bytes match their checksum afterwards, so they are the original ones.
    Digest,
    /// They follow from the rest of the file.
    Rest,
    /// Unproven: the best possible repair.
    None,
}

impl Proof {
    /// The proof's name, as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Proof::Digest => "digest",
            Proof::Rest => "rest",
            Proof::None => "none",
        }
    }
}

/// All possible repairs of a file. `E` are its edits, `T` is what stays lost, `O` are the options.
#[derive(Clone, Debug)]
pub struct Plan<E, T, O> {
    /// The edits, in this order.
    pub edits: Vec<E>,
    /// Edits with losses that are not applied, according to [`Losses`](tet_format::Losses).
    pub withheld: Vec<E>,
    /// Damage that no edit corrects.
    pub lost: Vec<T>,
    /// Errors that remain after all edits.
    pub remaining: Vec<Finding>,
    /// The number of errors that a check finds after all edits.
    pub error_count: u64,
    /// The options it was made with.
    pub options: O,
    /// The file before the repair.
    pub source: Source,
    /// The file after all edits, if there are any.
    pub image: Image,
}

/// The result of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The number of applied edits.
    pub edit_count: usize,
    /// The length of the new file.
    pub file_len: u64,
    /// The remaining errors.
    pub remaining: Vec<Finding>,
}

impl<E, T, O> Plan<E, T, O> {
    /// A plan without an edit, for a file without damage.
    #[must_use]
    pub fn new(source: &Source, image: Image, options: O) -> Self {
        Plan {
            edits: Vec::new(),
            withheld: Vec::new(),
            lost: Vec::new(),
            remaining: Vec::new(),
            error_count: 0,
            options,
            source: source.clone(),
            image,
        }
    }

    /// Whether there are no edits and no errors.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.edits.is_empty() && self.is_whole()
    }

    /// Whether there are no errors after all edits.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.lost.is_empty() && self.withheld.is_empty() && self.remaining.is_empty()
    }

    /// The file after all edits, as a source; without edits the original file.
    #[must_use]
    pub fn repaired(&self) -> Source {
        if self.edits.is_empty() { self.source.clone() } else { self.image.to_source() }
    }

    /// Applies all edits: writes a new file, compares it with the plan, and publishes it.
    /// `progress` counts the bytes written and compared, twice the length of the new file.
    ///
    /// Without edits, nothing is written.
    ///
    /// # Errors
    ///
    /// The new file cannot be written or differs from the plan, the source changed meanwhile, or
    /// the caller canceled. The target is unchanged then.
    pub fn apply<X: From<tet_io::Error> + From<Canceled>>(
        &self,
        output: Output<'_>,
        publish: &Publish,
        progress: &Progress,
    ) -> Result<Applied, X> {
        let (edit_count, remaining) = (self.edits.len(), self.remaining.clone());
        if edit_count == 0 {
            return Ok(Applied { edit_count, file_len: self.source.len(), remaining });
        }
        self.image.publish::<_, X>(&self.source, output, publish, progress, |_| Ok(()))?;
        Ok(Applied { edit_count, file_len: self.image.len(), remaining })
    }
}

impl<A, L: Clone, C, T: Clone + Into<L>, O> Plan<Edit<A, L, C>, T, O> {
    /// All losses of the edits, and damage that no edit corrects.
    pub fn losses(&self) -> impl Iterator<Item = L> {
        let lost = self.lost.iter().cloned().map(Into::into);
        self.edits.iter().flat_map(|edit| edit.losses.iter().cloned()).chain(lost)
    }
}
