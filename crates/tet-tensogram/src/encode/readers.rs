//! For whom is written.

/// Which releases of the reference are to read what is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readers {
    /// Those from 0.19 on.
    #[default]
    Since019,
    /// Those of version 3 at all, however built: parameters of simple_packing are written in both
    /// spellings, and up to 64 MiB are one zstd frame, which cannot be read in part.
    All,
}
