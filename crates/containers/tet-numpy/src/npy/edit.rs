//! A `.npy` file that grows: its array is written anew, in row-major order.

use std::io::{BufWriter, Write};

use tet_io::Output;

use super::header::Header;
use super::{Npy, write_like};
use tet_container::EditKind;
use tet_container::read::opened::{Opened, path_of};
use tet_container::read::spool::SourceReader;
use tet_container::write::{file, stream};
use tet_container::{EditMode, EditOptions, Editor, FileEdit, RewriteOptions};
use tet_container::{Error, Result};
use tet_container::{Rewrite, Rewritten, check_unchanged};

impl Editor for Npy {
    fn can(&self) -> &'static [EditKind] {
        &[EditKind::Append]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        _output: Output<'_>,
        _options: &EditOptions,
    ) -> Result<u64> {
        Err(refused(opened, edits.first().map_or(EditKind::Rename, FileEdit::kind)))
    }

    fn rewrite(
        &self,
        opened: &Opened,
        rewrites: &[Rewrite<'_>],
        output: Output<'_>,
        options: RewriteOptions<'_>,
    ) -> Result<Option<Rewritten>> {
        let source = opened.catalog.source();
        let Some(view) = rewrites.first().and_then(|rewrite| rewrite.view) else {
            return Err(refused(opened, EditKind::Repack));
        };
        let header = Header::read(&mut SourceReader::new(source, 0));
        let header = header.map_err(|fault| Error::Array { array: view.name.clone(), fault })?;
        let lazy = stream::whole(view)?;
        if options.edit.mode == EditMode::Plan {
            return Ok(None);
        }
        let mut publisher = output.begin(source, &options.edit.publish)?;
        publisher.file().mark_final(0..u64::MAX);
        let mut out = BufWriter::with_capacity(1 << 20, publisher.file());
        let written = write_like(&header, &lazy, options.execution, &mut out);
        let written = written.and_then(|()| out.flush().map_err(Error::Write));
        drop(out);
        written.map_err(|error| file::of_file(&publisher, error))?;
        let len = std::io::Seek::stream_position(&mut publisher.file());
        let len = len.map_err(|error| publisher.write_fault(error))?;
        check_unchanged(opened, rewrites)?;
        options.execution.progress.check()?;
        publisher.commit()?;
        Ok(Some(Rewritten::new(len)))
    }
}

/// The error for an edit that such a file has no place for.
fn refused(opened: &Opened, kind: EditKind) -> Error {
    let path = path_of(opened.catalog.source());
    Error::NotEditable { path, format: opened.format, kind, suffixes: String::new() }
}
