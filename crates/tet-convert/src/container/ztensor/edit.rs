//! Edits of zTensor files, which `tet-ztensor` makes.

use tet_io::Output;
use tet_ztensor::Limits;
use tet_ztensor::edit::Draft;

use super::ZTensor;
use super::attrs::escaped;
use crate::Result;
use crate::container::editor::{Edit, EditKind, EditOptions, Editor};
use crate::model::item::field;
use crate::read::opened::Opened;

impl Editor for ZTensor {
    fn can(&self) -> &'static [EditKind] {
        &[EditKind::Rename, EditKind::Drop, EditKind::Attr, EditKind::Compact]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[Edit],
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
                Edit::Rename { dataset, to } => draft.rename(&named(*dataset), to)?,
                Edit::Drop { dataset } => draft.remove(&named(*dataset))?,
                Edit::Attr { dataset: Some(at), key, value: Some(value) } => {
                    draft.set(&named(*at), &escaped(key), &field(value))?;
                }
                Edit::Attr { dataset: Some(at), key, value: None } => {
                    draft.unset(&named(*at), &escaped(key))?;
                }
                Edit::Compact => draft.compact(),
                Edit::Attr { dataset: None, .. } | Edit::Dims { .. } | Edit::Labels { .. } => {}
            }
        }
        Ok(draft.save(output, &options.publish)?.file_len)
    }
}
