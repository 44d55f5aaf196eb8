//! Edits of a safetensors file: another header, and the bytes of the tensors that stay.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::Value;
use tet_io::{Image, Output, Publisher};
use tet_query::Dataset;

use super::SafeTensors;
use super::attrs::ATTRS_KEY;
use super::canonical::{Entry, header_of};
use super::header::{self, Header, LEN_MAX, METADATA_KEY, Tensor};
use tet_container::EditKind;
use tet_container::read::opened::{Opened, path_of};
use tet_container::write::stream;
use tet_container::{EditMode, EditOptions, Editor, FileEdit, RewriteOptions};
use tet_container::{Error, Format, Result};
use tet_container::{Rewrite, Rewritten, check_unchanged};

impl Editor for SafeTensors {
    fn can(&self) -> &'static [EditKind] {
        &[EditKind::Rename, EditKind::Drop, EditKind::FileAttr, EditKind::Append]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64> {
        let source = opened.catalog.source();
        let header = header_of_file(opened)?;
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
        let mut image = Image::default();
        image.append(head(&metadata, &entries)?);
        kept.iter().for_each(|tensor| image.append_span(source, tensor.stored));
        let publisher = output.begin(source, &options.publish)?;
        publisher.commit_image(&image, source, &options.progress)
    }

    fn rewrite(
        &self,
        opened: &Opened,
        rewrites: &[Rewrite<'_>],
        output: Output<'_>,
        how: RewriteOptions<'_>,
    ) -> Result<Option<Rewritten>> {
        let source = opened.catalog.source();
        let header = header_of_file(opened)?;
        let views = rewrites.iter().filter_map(|it| Some((it.dataset, it.view?)));
        let views: BTreeMap<usize, &Dataset> = views.collect();
        let mut parts = Vec::with_capacity(header.tensors.len());
        for (position, tensor) in header.tensors.into_iter().enumerate() {
            let mut entry = entry(&tensor)?;
            let lazy = views.get(&position).map(|view| stream::whole(view)).transpose()?;
            if let Some(lazy) = &lazy {
                (entry.shape, entry.len) = (lazy.shape().to_vec(), stream::len_of(lazy));
                if entry.stored.byte_len(&entry.shape) != Some(entry.len) {
                    let (dataset, encoding) = (entry.name, "safetensors");
                    return Err(Error::NoSuchDType { dataset, dtype: tensor.dtype, encoding });
                }
            }
            parts.push((tensor.offsets, tensor.stored, entry, lazy));
        }
        parts.sort_by_key(|(offsets, ..)| *offsets);
        let entries: Vec<Entry> = parts.iter().map(|(.., entry, _)| entry.clone()).collect();
        let head = head(&header.metadata, &entries)?;
        if how.edit.mode == EditMode::Plan {
            return Ok(None);
        }
        let mut publisher = output.begin(source, &how.edit.publish)?;
        publisher.file().mark_final(0..u64::MAX);
        put(&mut publisher, &head)?;
        for (_, stored, _, lazy) in &parts {
            match lazy {
                None => publisher.copy_from(source, *stored)?,
                Some(lazy) => stream::for_each(lazy, how.execution, &mut |elements| {
                    put(&mut publisher, elements)
                })?,
            }
        }
        let len = entries.iter().map(|it| it.len).fold(head.len() as u64, u64::saturating_add);
        check_unchanged(opened, rewrites)?;
        how.execution.progress.check()?;
        publisher.commit()?;
        Ok(Some(Rewritten::new(len)))
    }
}

fn put(publisher: &mut Publisher, bytes: &[u8]) -> Result<()> {
    let written = publisher.write_all(bytes);
    Ok(written.map_err(|error| publisher.write_fault(error))?)
}

/// The header of the old file.
fn header_of_file(opened: &Opened) -> Result<Header> {
    let source = opened.catalog.source();
    let foreign =
        |fault| Error::Foreign { path: path_of(source), format: Format::SAFETENSORS, fault };
    header::read(source, &mut |_| {})?.map_err(foreign)
}

/// The bytes before the tensors.
fn head(metadata: &[(String, String)], entries: &[Entry]) -> Result<Vec<u8>> {
    let text = header_of(metadata, entries.iter());
    let text_len = text.len() as u64;
    if LEN_MAX < text_len {
        let what = "bytes of the header";
        return Err(tet_query::Error::Limit { what, wanted: text_len, limit: LEN_MAX }.into());
    }
    let mut head = text_len.to_le_bytes().to_vec();
    head.extend(text.into_bytes());
    Ok(head)
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
