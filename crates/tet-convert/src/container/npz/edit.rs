//! Edits of an `.npz`: members are copied as they are in the archive.

use std::io::{BufWriter, Write};

use tet_io::Output;
use zip::ZipWriter;

use super::Npz;
use super::archive::Archive;
use super::write::safe;
use crate::container::editor::{EditKind, EditOptions, Editor, FileEdit};
use crate::read::opened::{Opened, path_of};
use crate::write::archive::{self, FirstFault};
use crate::{Error, Result};

/// The size of the buffer for writing.
const BUFFER_LEN: usize = 1 << 20;

impl Editor for Npz {
    fn can(&self) -> &'static [EditKind] {
        &[EditKind::Rename, EditKind::Drop]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64> {
        let source = opened.catalog.source();
        let failed = |fault| Error::Archive { path: path_of(source), member: None, fault };
        let mut old = Archive::open(source).map_err(failed)?;
        let members = names(&old, edits).map_err(failed)?;
        for member in members.iter().flatten() {
            let name = member.strip_suffix(".npy").unwrap_or(member);
            let is_new =
                edits.iter().any(|it| matches!(it, FileEdit::Rename { to, .. } if to == name));
            if is_new && safe(name) != name {
                let what = format!("{name:?} is not safe as a name in an archive");
                return Err(tet_file::Error::Edit { what }.into());
            }
        }
        let mut publisher = output.begin(source, &options.publish)?;
        let progress = options.progress.begin(source.len());
        let mut out = FirstFault::new(BufWriter::with_capacity(BUFFER_LEN, publisher.file()));
        let mut zip = ZipWriter::new(&mut out);
        for (position, name) in members.iter().enumerate() {
            let Some(name) = name else { continue };
            let member = old.raw(position).map_err(failed)?;
            let len = member.compressed_size();
            zip.raw_copy_file_rename(member, name).map_err(archive::fault)?;
            progress.advance(len)?;
        }
        zip.finish().map_err(archive::fault)?.flush().map_err(Error::Write)?;
        let fault = out.fault.take();
        drop(out);
        if let Some(error) = fault {
            return Err(publisher.write_fault(error).into());
        }
        let len = std::io::Seek::stream_position(&mut publisher.file());
        let len = len.map_err(|error| publisher.write_fault(error))?;
        source.check_unchanged()?;
        publisher.commit()?;
        Ok(len)
    }
}

/// The new name of each member, in the order of the archive; `None` for one that is dropped.
fn names(old: &Archive, edits: &[FileEdit]) -> Result<Vec<Option<String>>, super::NpzFault> {
    let mut names: Vec<Option<String>> = old.names()?.into_iter().map(Some).collect();
    let arrays = old.members()?.arrays;
    for edit in edits {
        let (dataset, to) = match edit {
            FileEdit::Rename { dataset, to } => (*dataset, Some(format!("{to}.npy"))),
            FileEdit::Drop { dataset } => (*dataset, None),
            _ => continue,
        };
        let member = arrays.get(dataset).and_then(|array| names.get_mut(array.position));
        if let Some(name) = member {
            *name = to;
        }
    }
    Ok(names)
}
