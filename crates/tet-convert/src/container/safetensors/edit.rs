//! Edits of a safetensors file: another header, and the bytes of the tensors that stay.

use std::collections::BTreeMap;

use serde_json::Value;
use tet_io::{Image, Output};

use super::SafeTensors;
use super::attrs::ATTRS_KEY;
use super::canonical::{Entry, header_of};
use super::header::{self, LEN_MAX, METADATA_KEY, Tensor};
use crate::container::editor::{EditKind, EditOptions, Editor, FileEdit};
use crate::read::opened::{Opened, path_of};
use crate::{Error, Format, Result};

impl Editor for SafeTensors {
    fn can(&self) -> &'static [EditKind] {
        &[EditKind::Rename, EditKind::Drop, EditKind::FileAttr]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64> {
        let source = opened.catalog.source();
        let header = header::read(source, &mut |_| {})?;
        let foreign =
            |fault| Error::Foreign { path: path_of(source), format: Format::SAFETENSORS, fault };
        let header = header.map_err(foreign)?;
        let mut metadata = header.metadata;
        let mut tensors: Vec<Option<Tensor>> = header.tensors.into_iter().map(Some).collect();
        let mut names = BTreeMap::new();
        for tensor in tensors.iter().flatten() {
            names.insert(tensor.name.clone(), Some(tensor.name.clone()));
        }
        for edit in edits {
            apply(edit, opened, &mut tensors, &mut metadata, &mut names)?;
        }
        rename_attrs(&mut metadata, &names);
        let mut kept: Vec<Tensor> = tensors.into_iter().flatten().collect();
        kept.sort_by_key(|tensor| tensor.offsets);
        let entries = kept.iter().map(entry).collect::<Result<Vec<Entry>>>()?;
        let text = header_of(&metadata, entries.iter());
        let text_len = text.len() as u64;
        if LEN_MAX < text_len {
            let what = "bytes of the header";
            return Err(tet_query::Error::Limit { what, wanted: text_len, limit: LEN_MAX }.into());
        }
        let mut image = Image::default();
        image.append(text_len.to_le_bytes());
        image.append(text.into_bytes());
        kept.iter().for_each(|tensor| image.append_span(source, tensor.stored));
        let publisher = output.begin(source, &options.publish)?;
        publisher.commit_image(&image, source, &options.progress)
    }
}

/// Makes one edit; `names` has the new name of each old one.
fn apply(
    edit: &FileEdit,
    opened: &Opened,
    tensors: &mut [Option<Tensor>],
    metadata: &mut Vec<(String, String)>,
    names: &mut BTreeMap<String, Option<String>>,
) -> Result<()> {
    let old = |at: usize| opened.catalog.datasets().get(at).map(|it| it.name.clone());
    match edit {
        FileEdit::Rename { dataset, to } if to == METADATA_KEY => {
            let dataset = old(*dataset).unwrap_or_default();
            return Err(Error::Reserved { dataset, encoding: "safetensors" });
        }
        FileEdit::Rename { dataset, to } => {
            if let Some(Some(tensor)) = tensors.get_mut(*dataset) {
                tensor.name.clone_from(to);
            }
            names.extend(old(*dataset).map(|name| (name, Some(to.clone()))));
        }
        FileEdit::Drop { dataset } => {
            tensors.get_mut(*dataset).map(Option::take);
            names.extend(old(*dataset).map(|name| (name, None)));
        }
        FileEdit::Attr { dataset: None, key, value } => {
            let held = metadata.iter_mut().find(|(held, _)| held == key);
            match (held, value) {
                (Some((_, held)), Some(value)) => value.text().clone_into(held),
                (None, Some(value)) => metadata.push((key.clone(), value.text().to_owned())),
                (_, None) => metadata.retain(|(held, _)| held != key),
            }
        }
        _ => {}
    }
    Ok(())
}

/// Attributes of tensors are stored under their names.
fn rename_attrs(metadata: &mut [(String, String)], names: &BTreeMap<String, Option<String>>) {
    let held = metadata.iter_mut().find(|(key, _)| key == ATTRS_KEY);
    let Some((_, text)) = held else { return };
    let Ok(entries) = serde_json::from_str::<BTreeMap<String, Value>>(text) else { return };
    let renamed = entries.into_iter().filter_map(|(name, value)| match names.get(&name) {
        Some(to) => Some((to.clone()?, value)),
        None => Some((name, value)),
    });
    let renamed: BTreeMap<String, Value> = renamed.collect();
    *text = Value::Object(renamed.into_iter().collect()).to_string();
}

fn entry(tensor: &Tensor) -> Result<Entry> {
    let Some(stored) = tensor.stored_type() else {
        let (dataset, dtype) = (tensor.name.clone(), tensor.dtype.clone());
        return Err(Error::NoSuchDType { dataset, dtype, encoding: "safetensors" });
    };
    let (name, shape) = (tensor.name.clone(), tensor.shape.clone());
    Ok(Entry { name, stored, shape, len: tensor.stored.len() })
}
