//! Edits of `.tet` files, which `tet-file` makes.

use tet_file::edit::FileDraft;
use tet_file::metadata::HistoryRow;
use tet_io::Output;

use super::{Tet, metadata::attr_value};
use crate::Result;
use tet_container::EditKind;
use tet_container::read::opened::Opened;
use tet_container::write::options::Origin;
use tet_container::write::storage::PayloadCodec;
use tet_container::write::write_option::WriteOption;
use tet_container::{EditOptions, Editor, FileEdit};

/// Edits that a row of the history lists, at most.
const LISTED_MAX: usize = 64;
/// Characters of each, at most.
const TEXT_LEN_MAX: usize = 200;

impl Editor for Tet {
    fn can(&self) -> &'static [EditKind] {
        use EditKind::{
            Append, Attr, Compact, Dims, Drop, FileAttr, Labels, Rename, Repack, Reserve,
        };
        &[Rename, Drop, Attr, FileAttr, Dims, Labels, Compact, Append, Repack, Reserve]
    }

    fn repack_options(&self) -> &'static [WriteOption] {
        &[
            WriteOption::Chunks,
            WriteOption::Codec(PayloadCodec::Raw),
            WriteOption::Codec(PayloadCodec::Zstd),
            WriteOption::Level,
            WriteOption::Digests,
        ]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64> {
        let Some(file) = &opened.tet else {
            let what = "it is not open as a .tet file".to_owned();
            return Err(tet_file::Error::Edit { what }.into());
        };
        let mut draft = FileDraft::new(file)?;
        for edit in edits {
            match edit {
                FileEdit::Rename { dataset, to } => draft.rename(*dataset, to)?,
                FileEdit::Drop { dataset } => draft.remove(*dataset)?,
                FileEdit::Attr { dataset, key, value } => {
                    let value = value.as_ref().map(attr_value);
                    draft.set_attr(*dataset, key, value)?;
                }
                FileEdit::Dims { dataset, names } => draft.set_dims(*dataset, names)?,
                FileEdit::Labels { dataset, axis, labels } => {
                    draft.set_labels(*dataset, *axis, labels.clone())?;
                }
                FileEdit::Compact => draft.compact(),
            }
        }
        if let Some(origin) = options.history {
            draft.record(row(opened, edits, origin));
        }
        Ok(draft.save(output, &options.publish, &options.progress)?)
    }
}

/// Operation for the history of the file.
fn row(opened: &Opened, edits: &[FileEdit], origin: Origin) -> HistoryRow {
    let source = opened.catalog.source().path().map(tet_io::file_name).unwrap_or_default();
    let mut row = HistoryRow::new("edit", &source, &origin.at.to_string());
    for (number, edit) in edits.iter().take(LISTED_MAX).enumerate() {
        let text: String = edit.describe(&opened.catalog).chars().take(TEXT_LEN_MAX).collect();
        row.params.insert(format!("edit_{number}"), text);
    }
    row
}
