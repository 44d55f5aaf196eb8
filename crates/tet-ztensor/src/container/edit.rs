//! Edits of zTensor files, which `tet-ztensor` makes.

use std::collections::BTreeSet;

use crate::edit::Draft;
use crate::{
    Align, Checksum as StoredChecksum, ChecksumChoice, DTYPES, Declaration, Encoding,
    EncodingChoice, Limits, Tensor, WriteOptions, Writer, ZTensorFile,
};
use tet_format::Shape;
use tet_io::{Output, Publisher};
use tet_query::{Dataset, LazyArray};

use super::ZTensor;
use super::attrs::escaped;
use super::options::checksum_choice;
use tet_container::EditKind;
use tet_container::axes_fields;
use tet_container::model::axes::{COORDS_KEY, coords_field};
use tet_container::model::item::field;
use tet_container::model::logical::to_physical;
use tet_container::no_codec;
use tet_container::read::opened::Opened;
use tet_container::write::storage::{Checksum, LeveledCodec, PayloadCodec, Storage};
use tet_container::write::stream;
use tet_container::write::write_option::WriteOption;
use tet_container::{EditMode, EditOptions, Editor, FileEdit, RewriteOptions};
use tet_container::{Error, Result};
use tet_container::{Rewrite, Rewritten, check_unchanged};

impl Editor for ZTensor {
    fn can(&self) -> &'static [EditKind] {
        use EditKind::{Append, Attr, Compact, Dims, Drop, Labels, Rename, Repack};
        &[Rename, Drop, Attr, Dims, Labels, Compact, Append, Repack]
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
        let numbers: BTreeSet<&str> = datasets
            .iter()
            .map(|it| it.name.as_str())
            .filter(|name| name.starts_with('#'))
            .collect();
        let named = |at: usize| {
            let number = format!("#{at}");
            let name = datasets.get(at).map_or("", |it| it.name.as_str());
            if numbers.contains(number.as_str()) { name.to_owned() } else { number }
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
        let stored = |dataset: Dataset| {
            let physical = to_physical(&dataset, "ztensor", |dtype| DTYPES.contains(&dtype));
            // Only complex numbers are stored with another axis.
            Ok(physical.map_or(dataset, |it| it.view))
        };
        for (at, key, value) in axes_fields(&opened.catalog, edits, stored)? {
            match value {
                Some(value) => draft.set(&named(at), key, &value)?,
                None => drop(draft.unset(&named(at), key)?),
            }
        }
        Ok(draft.save(output, &options.publish)?.file_len)
    }

    fn repack_options(&self) -> &'static [WriteOption] {
        &[
            WriteOption::Codec(PayloadCodec::Raw),
            WriteOption::Codec(PayloadCodec::Zstd),
            WriteOption::Level,
            WriteOption::Checksum(Checksum::None),
            WriteOption::Checksum(Checksum::Crc32c),
            WriteOption::Checksum(Checksum::Sha256),
        ]
    }

    fn changed<'a>(&self, opened: &Opened, rewrites: Vec<Rewrite<'a>>) -> Result<Vec<Rewrite<'a>>> {
        let file = ZTensorFile::open(opened.catalog.source().clone(), &Limits::default())?;
        let mut changed = Vec::new();
        for rewrite in rewrites {
            let Some(tensor) = file.tensor(rewrite.dataset) else { continue };
            let (old, new) = (Storage::default(), &rewrite.storage);
            // The level of a tensor is not known.
            let is_other = new.level.is_some() || options(&tensor, &old)? != options(&tensor, new)?;
            changed.extend(is_other.then_some(rewrite));
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
        let file = ZTensorFile::open(opened.catalog.source().clone(), &Limits::default())?;
        let mut draft = Draft::open(opened.catalog.source(), &Limits::default())?;
        let mut tensors = Vec::with_capacity(rewrites.len());
        for rewrite in rewrites {
            draft.replace(rewrite.dataset)?;
            tensors.push(rewritten(opened, &file, rewrite)?);
        }
        if how.edit.mode == EditMode::Plan {
            return Ok(None);
        }
        let (publish, options) = (&how.edit.publish, WriteOptions::default());
        let put = |writer: &mut Writer<Publisher>| {
            for (declaration, options, lazy) in tensors {
                let mut tensor = writer.tensor_as(declaration, &options)?;
                stream::for_each(&lazy, how.execution, &mut |bytes| Ok(tensor.write(bytes)?))?;
                tensor.finish()?;
            }
            check_unchanged(opened, rewrites)?;
            how.execution.progress.check()?;
            Ok::<_, Error>(())
        };
        let ((), written) = draft.save_with(output, publish, &options, put)?;
        Ok(Some(Rewritten::new(written.file_len)))
    }
}

/// A tensor that is written anew: what it is, how it is stored, and its elements.
fn rewritten(
    opened: &Opened,
    file: &ZTensorFile,
    rewrite: &Rewrite<'_>,
) -> Result<(Declaration, WriteOptions, LazyArray)> {
    let dataset = opened.catalog.datasets().get(rewrite.dataset);
    let view = rewrite.view.or(dataset);
    let (Some(view), Some(tensor)) = (view, file.tensor(rewrite.dataset)) else {
        let name = format!("#{}", rewrite.dataset);
        return Err(crate::Error::NoSuchTensor { name }.into());
    };
    let unfit = |why| Error::Unfit { dataset: view.name.clone(), encoding: "zTensor", why };
    if tensor.is_sparse() {
        return Err(unfit("a sparse tensor is not written anew: `tet convert` writes it dense"));
    }
    let physical = to_physical(view, "ztensor", |dtype| DTYPES.contains(&dtype))?;
    if tensor.dtype() != Some(physical.stored) {
        return Err(unfit("its elements are stored as another type"));
    }
    let lazy = stream::whole(&physical.view)?;
    let mut declaration = Declaration::new(&view.name, physical.stored, lazy.shape().clone());
    if tensor.shape().is_empty() {
        declaration.shape = Shape::from([]);
    }
    declaration.custom = tensor.custom()?;
    let coords = declaration.custom.iter_mut().find(|(key, _)| key == COORDS_KEY);
    if let (Some((_, coords)), false) = (coords, view.coords.is_empty()) {
        *coords = coords_field(view);
    }
    Ok((declaration, options(&tensor, &rewrite.storage)?, lazy))
}

/// How a tensor is stored.
fn options(tensor: &Tensor<'_>, change: &Storage) -> Result<WriteOptions> {
    let (name, codec) = (tensor.name(), change.codec);
    let codec = codec.unwrap_or(match tensor.encoding() {
        Some(Encoding::Zstd) => PayloadCodec::Zstd,
        _ => PayloadCodec::Raw,
    });
    let encoding = match (codec, change.level) {
        (PayloadCodec::Raw, None) => EncodingChoice::Raw,
        (PayloadCodec::Zstd, None) => EncodingChoice::zstd(),
        (PayloadCodec::Zstd, Some(level)) => EncodingChoice::Zstd { level },
        (codec, level) => {
            return Err(no_codec(name, "zTensor", LeveledCodec { codec, level }));
        }
    };
    let checksum = change.checksum.map(checksum_choice).unwrap_or(match tensor.checksum() {
        None => ChecksumChoice::Left,
        Some(StoredChecksum::Sha256(_)) => ChecksumChoice::Sha256,
        Some(_) => ChecksumChoice::Crc32c,
    });
    let is_at = |align: &Align| {
        tensor.offset().is_some_and(|at| at != 0 && at.is_multiple_of(align.multiple()))
    };
    let align = [Align::LargePage, Align::Page].into_iter().find(is_at).unwrap_or_default();
    Ok(WriteOptions { encoding, checksum, align, ..WriteOptions::default() })
}
