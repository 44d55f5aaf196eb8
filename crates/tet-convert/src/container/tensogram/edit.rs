//! Edits of Tensogram files, which `tet-tensogram` makes: names and attributes are metadata of objects.

use tet_io::Output;
use tet_tensogram::edit::{Draft, Image, Key, check_sound};
use tet_tensogram::{Limits, TensogramFile, Value};

use super::Tensogram;
use super::keys::{NAME_KEY, escaped};
use crate::Result;
use crate::container::editor::{EditKind, EditOptions, Editor, FileEdit};
use crate::model::item::field;
use crate::read::opened::Opened;

impl Editor for Tensogram {
    fn can(&self) -> &'static [EditKind] {
        &[EditKind::Rename, EditKind::Attr]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64> {
        let source = opened.catalog.source().clone();
        let file = TensogramFile::open(source, &Limits::default())?;
        // Of a sound file the datasets are the objects, in their order.
        check_sound(&file)?;
        let (mut image, mut first) = (Image::new(), 0_usize);
        for message in 0..file.len() {
            let end = first.saturating_add(file.objects(message)?.len());
            let within: Vec<_> = edits.iter().filter_map(|it| changed(it, first..end)).collect();
            first = end;
            if within.is_empty() {
                image.copy(&file, message)?;
                continue;
            }
            let mut draft = Draft::of(&file, message)?;
            for (object, key, value) in within {
                let key = Key::parse(&key)?;
                match value {
                    Some(value) => draft.set(Some(object), &key, &value)?,
                    None => drop(draft.unset(Some(object), &key)?),
                }
            }
            let next = message.checked_add(1).filter(|next| *next < file.len());
            let next = next.map(|next| file.span(next)).transpose()?;
            image.push_before(&draft, next.map(|span| span.start()))?;
        }
        Ok(image.save(output, &options.publish, &options.progress)?)
    }
}

/// The object of a message, and the key and value that it gets; `None` for an edit of another message.
fn changed(
    edit: &FileEdit,
    within: std::ops::Range<usize>,
) -> Option<(usize, String, Option<Value>)> {
    let (dataset, key, value) = match edit {
        FileEdit::Rename { dataset, to } => {
            (*dataset, NAME_KEY.to_owned(), Some(Value::Text(to.clone())))
        }
        FileEdit::Attr { dataset: Some(dataset), key, value } => {
            (*dataset, escaped(key), value.as_ref().map(field))
        }
        _ => return None,
    };
    let object = dataset.checked_sub(within.start).filter(|_| within.contains(&dataset))?;
    Some((object, key, value))
}
