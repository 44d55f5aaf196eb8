//! What of a file is lost, as datasets that cannot be read: nobody is to take a part of it for all.
//!
//! ```text
//!   message 0: t, u | bytes of no message | message 1: t, a broken frame
//!   datasets: t, u, t, and, lost, m1_o1 and lost_at_700
//! ```
//!
//! They stand behind the others, whose positions are those of the objects in the file.

use std::sync::Arc;

use tet_query::Dataset;
use tet_tensogram::{Error as Theirs, Fault, Message, Metadata, TensogramFile};

use super::catalog::{name, unread};

/// Lost datasets of one file, at most: a few bytes may speak of any number.
const LOST_MAX: usize = 1 << 10;

/// What is lost: under which name, and by which fault.
#[derive(Default)]
pub(super) struct Lost {
    parts: Vec<(String, Fault)>,
    /// Faults by which nothing is known to be lost.
    odd: Vec<Fault>,
}

impl Lost {
    /// Takes note of a message whose frames cannot be walked through.
    pub(super) fn message(&mut self, number: usize, fault: Fault) {
        self.push(format!("m{number}"), fault);
    }

    /// Takes note of the objects of a message that stand behind a broken frame.
    pub(super) fn hidden(&mut self, number: usize, walked: &Message, said: &Metadata) {
        let Some(fault) = walked.fault().filter(|_| !walked.is_whole()) else { return };
        // Where nothing says how many objects there are, there may be one more.
        let known = walked.len();
        let stated = if said.base.is_empty() { known.saturating_add(1) } else { said.base.len() };
        if stated <= known {
            self.odd.push(*fault);
        }
        for position in (known..stated).take(LOST_MAX) {
            self.push(name(said, number, position), *fault);
        }
    }

    /// Takes note of what is lost between messages.
    pub(super) fn between(&mut self, file: &TensogramFile) -> Result<(), Theirs> {
        for loss in file.losses()? {
            self.push(format!("lost_at_{}", loss.span.start()), loss.fault);
        }
        Ok(())
    }

    fn push(&mut self, name: String, fault: Fault) {
        if self.parts.len() < LOST_MAX {
            self.parts.push((name, fault));
        }
    }

    /// Puts them behind the datasets of a file, and tells what takes none away.
    pub(super) fn list(self, datasets: &mut Vec<Dataset>, tell: &mut dyn FnMut(Fault)) {
        self.odd.into_iter().for_each(tell);
        for (name, fault) in self.parts {
            let mut dataset = unread(datasets.len(), name);
            let name = dataset.name.clone();
            dataset.fault = Some(Arc::new(tet_query::Error::Foreign { dataset: name, fault }));
            datasets.push(dataset);
        }
    }
}
