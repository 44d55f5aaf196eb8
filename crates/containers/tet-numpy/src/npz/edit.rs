//! Edits of an `.npz`: members that stay are copied as they are in the archive.

use std::io::{Read, Write};

use tet_io::{Output, Publisher};
use tet_query::Execution;
use zip::CompressionMethod;

use super::Npz;
use super::write::safe;
use crate::npy;
use tet_container::EditKind;
use tet_container::no_codec;
use tet_container::read::opened::{Opened, path_of};
use tet_container::read::zip::{Archive, ZipFault};
use tet_container::write::archive::{self, BUFFER_LEN, NewArchive};
use tet_container::write::file::of_file;
use tet_container::write::storage::{LeveledCodec, PayloadCodec, Storage};
use tet_container::write::stream;
use tet_container::write::write_option::WriteOption;
use tet_container::{EditMode, EditOptions, Editor, FileEdit, RewriteOptions};
use tet_container::{Error, Result};
use tet_container::{Rewrite, Rewritten, check_unchanged};

impl Editor for Npz {
    fn can(&self) -> &'static [EditKind] {
        &[EditKind::Rename, EditKind::Drop, EditKind::Append, EditKind::Repack]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64> {
        let failed = failed(opened);
        let mut old = Archive::open(opened.catalog.source()).map_err(&failed)?;
        old.check_names().map_err(&failed)?;
        let members = names(&mut old, edits).map_err(&failed)?;
        for edit in edits {
            if let FileEdit::Rename { to, .. } = edit
                && safe(to) != *to
            {
                let what = format!("{to:?} is not safe as a name in an archive");
                return Err(tet_file::Error::Edit { what }.into());
            }
        }
        let members = members.into_iter().map(|name| name.map(Member::Copied)).collect();
        let execution = &Execution::default();
        let how = RewriteOptions { edit: options, execution };
        let mut publisher = output.begin(opened.catalog.source(), &options.publish)?;
        let len = OldArchive { opened, archive: old, how }.write(members, &mut publisher)?;
        opened.catalog.source().check_unchanged()?;
        publisher.commit()?;
        Ok(len)
    }

    fn stored_lens(&self, opened: &Opened) -> Result<Vec<u64>> {
        let failed = failed(opened);
        let mut archive = Archive::open(opened.catalog.source()).map_err(&failed)?;
        let arrays = archive.members().map_err(&failed)?.arrays;
        let mut len = |position| Ok(archive.raw(position)?.compressed_size());
        arrays
            .iter()
            .map(|member| len(member.position))
            .collect::<Result<_, ZipFault>>()
            .map_err(failed)
    }

    fn repack_options(&self) -> &'static [WriteOption] {
        &[
            WriteOption::Codec(PayloadCodec::Raw),
            WriteOption::Codec(PayloadCodec::Gzip),
            WriteOption::Level,
        ]
    }

    fn changed<'a>(&self, opened: &Opened, rewrites: Vec<Rewrite<'a>>) -> Result<Vec<Rewrite<'a>>> {
        let failed = failed(opened);
        let mut archive = Archive::open(opened.catalog.source()).map_err(&failed)?;
        let arrays = archive.members().map_err(&failed)?.arrays;
        let mut changed = Vec::new();
        for rewrite in rewrites {
            let Some(array) = arrays.get(rewrite.dataset) else { continue };
            let method = archive.raw(array.position).map_err(&failed)?.compression();
            if (method, None) != compression(&array.name, method, &rewrite.storage)? {
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
        let failed = failed(opened);
        let mut old = Archive::open(opened.catalog.source()).map_err(&failed)?;
        old.check_names().map_err(&failed)?;
        let copied = old.names().map_err(&failed)?.into_iter().map(Member::Copied);
        let mut members: Vec<Option<Member<'_>>> = copied.map(Some).collect();
        let arrays = old.members().map_err(&failed)?.arrays;
        for rewrite in rewrites {
            let name = opened.catalog.datasets().get(rewrite.dataset).map(|it| it.name.as_str());
            compression(name.unwrap_or_default(), CompressionMethod::Stored, &rewrite.storage)?;
            let array = arrays.get(rewrite.dataset);
            if let Some(member) = array.and_then(|array| members.get_mut(array.position)) {
                let name = array.map(|array| format!("{}.npy", array.name)).unwrap_or_default();
                *member = Some(Member::Written(name, rewrite));
            }
        }
        if how.edit.mode == EditMode::Plan {
            return Ok(None);
        }
        let mut publisher = output.begin(opened.catalog.source(), &how.edit.publish)?;
        let len = OldArchive { opened, archive: old, how }.write(members, &mut publisher)?;
        check_unchanged(opened, rewrites)?;
        how.execution.progress.check()?;
        publisher.commit()?;
        Ok(Some(Rewritten::new(len)))
    }
}

/// A member of the new archive, with its name.
enum Member<'r> {
    /// As it is stored.
    Copied(String),
    /// An array that is written anew.
    Written(String, &'r Rewrite<'r>),
}

/// Error of the archive.
fn failed(opened: &Opened) -> impl Fn(ZipFault) -> Error {
    |fault| Error::Archive { path: path_of(opened.catalog.source()), member: None, fault }
}

/// The archive that is rewritten.
struct OldArchive<'o> {
    opened: &'o Opened,
    archive: Archive,
    how: RewriteOptions<'o>,
}

impl OldArchive<'_> {
    /// Writes the members in the order of the archive, but for those that are dropped; the length of the file.
    fn write(mut self, members: Vec<Option<Member<'_>>>, publisher: &mut Publisher) -> Result<u64> {
        let failed = failed(self.opened);
        let progress = self.how.edit.progress.begin(self.opened.catalog.source().len());
        let written = archive::write(publisher.file(), |zip| {
            for (position, member) in members.into_iter().enumerate() {
                match member {
                    None => {}
                    Some(Member::Copied(name)) => {
                        let member = self.archive.raw(position).map_err(&failed)?;
                        let len = member.compressed_size();
                        zip.raw_copy_file_rename(member, name).map_err(archive::fault)?;
                        progress.advance(len)?;
                    }
                    Some(Member::Written(name, rewrite)) => {
                        self.put(position, &name, rewrite, zip)?;
                    }
                }
            }
            Ok(())
        });
        written.map_err(|error| of_file(publisher, error))?;
        let len = std::io::Seek::stream_position(&mut publisher.file());
        Ok(len.map_err(|error| publisher.write_fault(error))?)
    }

    /// Writes an array anew: its new elements, or the bytes of its `.npy` file.
    fn put(
        &mut self,
        position: usize,
        name: &str,
        rewrite: &Rewrite<'_>,
        zip: &mut NewArchive<'_, '_>,
    ) -> Result<()> {
        let execution = self.how.execution;
        let array = name.strip_suffix(".npy").unwrap_or(name);
        let failed = |fault| Error::Archive {
            path: path_of(self.opened.catalog.source()),
            member: Some(array.to_owned()),
            fault,
        };
        let method = self.archive.raw(position).map_err(failed)?.compression();
        let (method, level) = compression(array, method, &rewrite.storage)?;
        let mut member = self.archive.member(position).map_err(failed)?;
        let Some(view) = rewrite.view else {
            let options = archive::member(method, member.len).compression_level(level);
            zip.start_file(name, options).map_err(archive::fault)?;
            let mut buffer = vec![0; BUFFER_LEN];
            loop {
                let len =
                    member.read(&mut buffer).map_err(|error| failed(ZipFault::Read(error)))?;
                if len == 0 {
                    return Ok(());
                }
                zip.write_all(buffer.get(..len).unwrap_or_default()).map_err(Error::Write)?;
                execution.progress.advance(len as u64)?;
            }
        };
        let header = npy::Header::read(&mut member)
            .map_err(|fault| Error::Array { array: array.to_owned(), fault })?;
        drop(member);
        let lazy = stream::whole(view)?;
        let options =
            archive::member(method, npy::len_like(&header, &lazy)).compression_level(level);
        zip.start_file(name, options).map_err(archive::fault)?;
        npy::write_like(&header, &lazy, execution, zip)
    }
}

/// How an array is compressed that was compressed by `method`, and the level.
fn compression(
    array: &str,
    method: CompressionMethod,
    change: &Storage,
) -> Result<(CompressionMethod, Option<i64>)> {
    let method = match change.codec {
        None => method,
        Some(PayloadCodec::Raw) => CompressionMethod::Stored,
        Some(PayloadCodec::Gzip) => CompressionMethod::Deflated,
        Some(codec) => {
            return Err(no_codec(array, "npz", LeveledCodec { codec, level: change.level }));
        }
    };
    match change.level {
        None => Ok((method, None)),
        Some(level) if method == CompressionMethod::Deflated && (0..=9).contains(&level) => {
            Ok((method, Some(level.into())))
        }
        Some(_) => Err(no_codec(
            array,
            "npz",
            LeveledCodec { codec: PayloadCodec::Gzip, level: change.level },
        )),
    }
}

/// The new name of each member, in the order of the archive; `None` for one that is dropped.
fn names(old: &mut Archive, edits: &[FileEdit]) -> Result<Vec<Option<String>>, ZipFault> {
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
