//! Edits of Tensogram files, which `tet-tensogram` makes: names and attributes are metadata of objects.

mod anew;
mod recipe;

use std::collections::BTreeMap;

use crate::edit::{Draft, Image, Key, check_sound};
use crate::{Descriptor, Limits, ObjectAt, TensogramFile, Value};
use tet_io::{Output, Source};
use tet_query::Dataset;

use self::anew::Old;
use self::recipe::recipe_of;
use super::Tensogram;
use super::keys::{NAME_KEY, escaped};
use tet_container::EditKind;
use tet_container::Result;
use tet_container::axes_fields;
use tet_container::model::axes::{COORDS_KEY, coords_field};
use tet_container::model::item::field;
use tet_container::read::opened::Opened;
use tet_container::write::file::folder_of;
use tet_container::write::storage::{PayloadCodec, Storage};
use tet_container::write::write_option::WriteOption;
use tet_container::{EditMode, EditOptions, Editor, FileEdit, RewriteOptions};
use tet_container::{Rewrite, Rewritten, check_unchanged};

impl Editor for Tensogram {
    fn can(&self) -> &'static [EditKind] {
        use EditKind::{Append, Attr, Dims, Labels, Rename, Repack};
        &[Rename, Attr, Dims, Labels, Append, Repack]
    }

    fn has_nested_keys(&self) -> bool {
        true
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
        let fields = axes_fields(&opened.catalog, edits, Ok)?;
        let (mut image, mut first) = (Image::for_file(&file), 0_usize);
        for message in 0..file.len() {
            let end = first.saturating_add(file.objects(message)?.len());
            let mut within: Vec<_> =
                edits.iter().filter_map(|it| changed(it, first..end)).collect();
            let axes = fields.iter().filter(|(at, ..)| (first..end).contains(at));
            within.extend(
                axes.map(|(at, key, value)| (at - first, (*key).to_owned(), value.clone())),
            );
            first = end;
            if within.is_empty() {
                image.copy(&file, message)?;
                continue;
            }
            let mut draft = Draft::from_message(&file, message)?;
            for (object, key, value) in within {
                let key = Key::parse(&key)?;
                match value {
                    Some(value) => draft.set(Some(object), &key, &value)?,
                    None => drop(draft.unset(Some(object), &key)?),
                }
            }
            let next = message.checked_add(1).filter(|next| *next < file.len());
            let next = next.map(|next| file.span(next)).transpose()?;
            image.push(&draft, next.map(|span| span.start()))?;
        }
        Ok(image.save(output, &options.publish, &options.progress)?)
    }

    fn repack_options(&self) -> &'static [WriteOption] {
        &[
            WriteOption::Codec(PayloadCodec::Raw),
            WriteOption::Codec(PayloadCodec::Zstd),
            WriteOption::Codec(PayloadCodec::Lz4),
            WriteOption::Codec(PayloadCodec::Szip),
            WriteOption::Level,
            WriteOption::Filter,
            WriteOption::Packing,
        ]
    }

    fn changed<'a>(&self, opened: &Opened, rewrites: Vec<Rewrite<'a>>) -> Result<Vec<Rewrite<'a>>> {
        let file = TensogramFile::open(opened.catalog.source().clone(), &Limits::default())?;
        let mut objects = Vec::new();
        for message in 0..file.len() {
            objects.extend(file.objects(message)?);
        }
        let mut changed = Vec::new();
        for rewrite in rewrites {
            let (at, datasets) = (rewrite.dataset, opened.catalog.datasets());
            let (Some(object), Some(dataset)) = (objects.get(at), datasets.get(at)) else {
                continue;
            };
            let descriptor = descriptor_of(&file, object)?;
            let old = recipe_of(&dataset.name, &descriptor, &Storage::default());
            let new = recipe_of(&dataset.name, &descriptor, &rewrite.storage)?;
            if old.map_or(true, |old| old != new) {
                changed.push(rewrite);
            }
        }
        Ok(changed)
    }

    fn rewrite(
        &self,
        opened: &Opened,
        rewrites: &[Rewrite<'_>],
        output: Output<'_>,
        how: RewriteOptions<'_>,
    ) -> Result<Option<Rewritten>> {
        let source = opened.catalog.source().clone();
        let file = TensogramFile::open(source, &Limits::default())?;
        check_sound(&file)?;
        let places: BTreeMap<usize, &Rewrite<'_>> =
            rewrites.iter().map(|rewrite| (rewrite.dataset, rewrite)).collect();
        let folder = match output {
            Output::InPlace(path) | Output::NewFile(path) => folder_of(path),
        };
        let (mut image, mut first, mut notes) = (Image::for_file(&file), 0_usize, Vec::new());
        for message in 0..file.len() {
            let objects = file.objects(message)?;
            let end = first.saturating_add(objects.len());
            let mut within = places.range(first..end).peekable();
            if within.peek().is_none() {
                image.copy(&file, message)?;
            } else {
                let mut draft = Draft::from_message(&file, message)?;
                for (&dataset, rewrite) in within {
                    let number = dataset.saturating_sub(first);
                    let view = rewrite.view.or(opened.catalog.datasets().get(dataset));
                    let (Some(object), Some(view)) = (objects.get(number), view) else { continue };
                    let descriptor = descriptor_of(&file, object)?;
                    let old = Old { descriptor: &descriptor, is_hashed: draft.is_hashed(number) };
                    let written = anew::scratch(view, &old, &rewrite.storage, &folder, how)?;
                    let Some((scratch, lacks)) = written else { continue };
                    notes.extend(lacks);
                    replace_object(&mut draft, number, scratch, rewrite.view)?;
                }
                let next = message.checked_add(1).filter(|next| *next < file.len());
                let next = next.map(|next| file.span(next)).transpose()?;
                image.push(&draft, next.map(|span| span.start()))?;
            }
            first = end;
        }
        if how.edit.mode == EditMode::Plan {
            return Ok(None);
        }
        // The elements are in scratch files from here on.
        check_unchanged(opened, rewrites)?;
        let file_len = image.save(output, &how.edit.publish, &how.edit.progress.silent())?;
        Ok(Some(Rewritten { file_len, notes }))
    }
}

/// Replaces an object of a message by that of a scratch file; `view` is the dataset with new labels.
fn replace_object(
    draft: &mut Draft,
    number: usize,
    scratch: Source,
    view: Option<&Dataset>,
) -> Result<()> {
    let scratch = TensogramFile::open(scratch, &Limits::default())?;
    draft.replace(number, Draft::from_message(&scratch, 0)?)?;
    if let Some(view) = view.filter(|view| !view.coords.is_empty()) {
        draft.set(Some(number), &Key::parse(COORDS_KEY)?, &coords_field(view))?;
    }
    Ok(())
}

fn descriptor_of(file: &TensogramFile, object: &ObjectAt) -> Result<Descriptor> {
    let bytes = file.read_descriptor(object)?;
    Ok(Descriptor::read(&bytes, object.descriptor.start(), file.limits())?)
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
