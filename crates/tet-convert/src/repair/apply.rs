//! Makes the edits of a plan: each file that has any is replaced by a complete new one.

use std::path::Path;

use tet_io::{Image, Output, Publish, Source};
use tet_report::Applied;

use super::plan::{RepairPlan, errors};
use crate::{Error, Result};

/// The error for a folder that is to be repaired in another place than its own.
#[must_use]
pub fn folder_refusal(output: &Path) -> Error {
    let output = tet_io::shown(output);
    Error::Repair(format!("a folder is repaired in its place, and not written to {output}"))
}

impl RepairPlan {
    /// Makes all edits. Of a folder the objects are replaced one after the other: each is the old file or the new one at
    /// any time.
    ///
    /// Without edits, nothing is written.
    ///
    /// # Errors
    /// A new file cannot be written or differs from the plan, a file changed meanwhile, the caller canceled, or a folder is
    /// to be written elsewhere. The file that could not be written is unchanged then.
    pub fn apply(&self, output: Output<'_>, publish: &Publish) -> Result<Applied> {
        let progress = &self.plan.options.progress;
        if self.is_of_one_file() {
            return self.plan.apply(output, publish, progress);
        }
        if let Output::NewFile(path) = output {
            return Err(folder_refusal(path));
        }
        for (number, (file, path)) in self.files.iter().zip(self.paths()).enumerate() {
            let mut image = Image::from_source(file);
            let edits = self.plan.edits.iter().filter(|edit| edit.changes.file == number);
            let count = edits.map(|edit| image.put(edit.changes.at, [edit.changes.byte])).count();
            if count != 0 {
                let output = Output::InPlace(&path);
                image.publish::<_, Error>(file, output, publish, progress, |_| Ok(()))?;
            }
        }
        self.checked()
    }

    /// The errors of the folder that was repaired.
    fn checked(&self) -> Result<Applied> {
        let path = self.plan.source.path().unwrap_or(Path::new(""));
        let remaining = errors(&Source::open(path)?, &self.plan.options)?;
        let (edit_count, file_len) = (self.plan.edits.len(), self.plan.source.len());
        Ok(Applied { edit_count, file_len, remaining })
    }
}
