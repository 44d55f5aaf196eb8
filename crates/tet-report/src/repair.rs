//! What the repairs of all containers have in common: a plan first, then a new file.
//!
//! A plan is complete before the first byte is written. Every edit names the rule it is about, why it is
//! right, and what is lost; the original is never changed, only replaced by a whole new file.

use tet_io::{Canceled, Image, Output, Progress, Publish, Source};

use crate::code::Code;
use crate::finding::Finding;

/// One change of a file. `A` is what it does, `L` what may be lost, `C` how the bytes change where the
/// edits of a plan can be made one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit<A, L, C = ()> {
    /// The rule that is broken, or the oddity, that it ends.
    pub code: Code,
    /// The region it changes.
    pub region: &'static str,
    /// Where it starts to change the file.
    pub offset: u64,
    /// How many bytes it is about.
    pub len: u64,
    /// What it does.
    pub action: A,
    /// Why it is right.
    pub proof: Proof,
    /// What is lost by it, or was lost before and is not brought back.
    pub losses: Vec<L>,
    /// What happens to the bytes.
    pub changes: C,
}

impl<A, L, C: Default> Edit<A, L, C> {
    /// An edit of bytes from an offset on, which follows from the rest of the file and loses nothing.
    #[must_use]
    pub fn new(code: Code, region: &'static str, (offset, len): (u64, u64), action: A) -> Self {
        let (proof, losses, changes) = (Proof::Rest, Vec::new(), C::default());
        Edit { code, region, offset, len, action, proof, losses, changes }
    }
}

impl<A, L, C> Edit<A, L, C> {
    /// The same edit with another proof.
    #[must_use]
    pub fn proof(self, proof: Proof) -> Self {
        Edit { proof, ..self }
    }

    /// The same edit, which loses more.
    #[must_use]
    pub fn lose(mut self, loss: L) -> Self {
        self.losses.push(loss);
        self
    }

    /// The same edit with these losses.
    #[must_use]
    pub fn losses(self, losses: Vec<L>) -> Self {
        Edit { losses, ..self }
    }

    /// Whether it loses something: what a checksum proves to be what was written is no loss.
    #[must_use]
    pub fn is_lossy(&self) -> bool {
        !self.losses.is_empty() && self.proof != Proof::Digest
    }
}

impl<A, L, X> Edit<A, L, Vec<X>> {
    /// The same edit, which changes more bytes.
    #[must_use]
    pub fn change(mut self, change: X) -> Self {
        self.changes.push(change);
        self
    }
}

/// Why an edit is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// The bytes match their checksum afterwards: they are those that were written.
    Digest,
    /// They follow from the rest of the file.
    Rest,
    /// Nothing proves it: it is what can be done.
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

/// An object of a damaged message that is in the new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where its frame starts in the old file.
    pub offset: u64,
    /// Whether its bytes match a hash; those of others are as they were found.
    pub is_verified: bool,
}

/// All that can be done for a file. `E` are its edits, `T` is what stays lost, `O` are the options.
#[derive(Clone, Debug)]
pub struct Plan<E, T, O> {
    /// What is changed, in this order.
    pub edits: Vec<E>,
    /// Edits that would lose something and are not made, as [`Losses`](tet_format::Losses) asks for.
    pub withheld: Vec<E>,
    /// What is damaged, and no edit brings back.
    pub lost: Vec<T>,
    /// Errors that keep the file from being whole when all edits are made.
    pub remaining: Vec<Finding>,
    /// How many errors a check finds in the file when all edits are made.
    pub error_count: u64,
    /// The objects of damaged messages that are sound, in the order of the file.
    pub kept: Vec<Kept>,
    /// The options it was made with.
    pub options: O,
    /// The file as it is.
    pub source: Source,
    /// The file when all edits are made, if there are any.
    pub image: Image,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// How many edits were made.
    pub edit_count: usize,
    /// The length of the new file.
    pub file_len: u64,
    /// The errors that keep it from being whole.
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
            kept: Vec::new(),
            options,
            source: source.clone(),
            image,
        }
    }

    /// Whether there is nothing to do and nothing wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.edits.is_empty() && self.is_whole()
    }

    /// Whether nothing is wrong any more when all edits are made.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.lost.is_empty() && self.withheld.is_empty() && self.remaining.is_empty()
    }

    /// The file when all edits are made, to be read; without an edit the file as it is.
    #[must_use]
    pub fn repaired(&self) -> Source {
        if self.edits.is_empty() { self.source.clone() } else { self.image.to_source() }
    }

    /// Makes all edits: writes a new file, compares it with the plan, and publishes it. `progress` is told
    /// the bytes that are written and compared, twice the length of the new file in all.
    ///
    /// Without an edit to make, nothing is written.
    ///
    /// # Errors
    ///
    /// The new file cannot be written or is not what was planned, the source changed meanwhile, or
    /// the caller asked to stop. Nothing is changed then.
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
    /// All that is lost by the edits, and what no edit brings back.
    pub fn losses(&self) -> impl Iterator<Item = L> {
        let lost = self.lost.iter().cloned().map(Into::into);
        self.edits.iter().flat_map(|edit| edit.losses.iter().cloned()).chain(lost)
    }
}
