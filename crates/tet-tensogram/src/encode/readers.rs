//! The readers that files are written for.

/// Which releases of the reference implementation must be able to read the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readers {
    /// Releases from 0.19 on.
    #[default]
    Since019,
    /// All releases of version 3: simple_packing parameters are written in both spellings, and up
    /// to 64 MiB form one zstd frame, which cannot be read in part.
    All,
}
