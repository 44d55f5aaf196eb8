//! Who can act on an error.

use std::io;
use std::path::Path;

use tet_io::Kind;

use super::Error;
use crate::npy_fault::NpyFault;
use crate::read::zip::ZipFault;

impl Error {
    /// The error of one of several files, which names it; errors of the system name what they are of themselves.
    pub fn in_file(self, path: &Path) -> Self {
        let is_of_file = matches!(self.kind(), Kind::Format | Kind::Limit);
        let is_named =
            matches!(&self, Self::InFile { .. } | Self::Query(tet_query::Error::InFile { .. }));
        if !is_of_file || is_named || self.to_string().contains(&tet_io::shown(path)) {
            return self;
        }
        Self::InFile { path: path.to_path_buf(), error: Box::new(self) }
    }

    /// The file and the error of the system, where the system refused something.
    #[must_use]
    pub fn system(&self) -> Option<(&std::path::Path, &io::Error)> {
        match self {
            Self::Io(error) => error.system(),
            Self::File(error) => error.system(),
            Self::Query(error) => error.system(),
            Self::Verify(error) => error.system(),
            Self::InFile { error, .. } => error.system(),
            _ => None,
        }
    }

    /// Who can act on the error.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Io(error) => error.kind(),
            Self::File(error) => error.kind(),
            Self::Query(error) => error.kind(),
            Self::Container(fault) => fault.kind(),
            Self::Verify(error) => error.kind(),
            Self::InFile { error, .. } => error.kind(),
            // Damage weighs most, whatever comes first.
            Self::Several { faults, .. } => {
                let is_damage = |it: &&Error| it.kind() == Kind::Format;
                let worst = faults.iter().find(is_damage).or(faults.first());
                worst.map_or(Kind::Usage, Error::kind)
            }
            Self::Foreign { fault, .. }
            | Self::Incomplete { fault, .. }
            | Self::Line { fault, .. }
                if fault.rule.is_limit() =>
            {
                Kind::Limit
            }
            Self::Archive { fault: ZipFault::Read(error), .. }
            | Self::Array { fault: NpyFault::Read(error), .. } => kind_of(error),
            Self::NotReadable { .. }
            | Self::Foreign { .. }
            | Self::Incomplete { .. }
            | Self::Part { .. }
            | Self::Line { .. }
            | Self::NotVerifiable { .. }
            | Self::Array { .. }
            | Self::Parts { .. }
            | Self::NotArrays { .. }
            | Self::Archive { .. } => Kind::Format,
            Self::Memory { .. }
            | Self::Budget { .. }
            | Self::Dense { .. }
            | Self::LongEdges { .. } => Kind::Limit,
            Self::Write(_) => Kind::Io,
            // The others are of the caller's choice.
            _ => Kind::Usage,
        }
    }
}

/// Whether an I/O error of bytes that came through a decoder is the system's.
pub fn is_of_system(error: &io::Error) -> bool {
    kind_of(error) == Kind::Io
}

/// An I/O error of bytes that came through a decoder: the file's fault, unless the system's.
fn kind_of(error: &io::Error) -> Kind {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<tet_io::Error>());
    match (inner, error.kind()) {
        (Some(error), _) => error.kind(),
        (
            None,
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput,
        ) => Kind::Format,
        _ => Kind::Io,
    }
}
