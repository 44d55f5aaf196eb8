//! Edits of zTensor files, which `tet-ztensor` makes.

use tet_io::Output;
use tet_ztensor::Limits;
use tet_ztensor::edit::Draft;

use super::ZTensor;
use super::attrs::escaped;
use crate::Result;
use crate::container::editor::{EditKind, EditOptions, Editor, FileEdit};
use crate::model::item::field;
use crate::read::opened::Opened;

impl Editor for ZTensor {
    fn can(&self) -> &'static [EditKind] {
        &[EditKind::Rename, EditKind::Drop, EditKind::Attr, EditKind::Compact]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64> {
        let datasets = opened.catalog.datasets();
        // A position, unless a tensor has that name.
        let named = |at: usize| {
            let number = format!("#{at}");
            let name = datasets.get(at).map_or("", |it| it.name.as_str());
            if datasets.iter().any(|it| it.name == number) { name.to_owned() } else { number }
        };
        let mut draft = Draft::open(opened.catalog.source(), &Limits::default())?;
        for edit in edits {
            match edit {
                FileEdit::Rename { dataset, to } => draft.rename(&named(*dataset), to)?,
                FileEdit::Drop { dataset } => draft.remove(&named(*dataset))?,
                FileEdit::Attr { dataset: Some(at), key, value: Some(value) } => {
                    draft.set(&named(*at), &escaped(key), &field(value))?;
                }
                FileEdit::Attr { dataset: Some(at), key, value: None } => {
                    draft.unset(&named(*at), &escaped(key))?;
                }
                FileEdit::Compact => draft.compact(),
                FileEdit::Attr { dataset: None, .. }
                | FileEdit::Dims { .. }
                | FileEdit::Labels { .. } => {}
            }
        }
        Ok(draft.save(output, &options.publish)?.file_len)
    }
}
