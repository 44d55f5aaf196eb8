//! A new file of which every byte is known before it is written: an image.

use std::io::Write as _;

use super::Publisher;
use crate::error::{Error, Result};
use crate::source::Source;

impl Publisher {
    /// Writes all bytes of `image`; `tell` is given the length of each piece, and may stop it.
    ///
    /// # Errors
    ///
    /// What reading the image, writing the file and `tell` return.
    pub fn write_image<E: From<Error>>(
        &mut self,
        image: &Source,
        mut tell: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        image.for_windows(0..image.len(), &mut Vec::new(), |_, piece| {
            tell(piece.len() as u64)?;
            self.file.write_all(piece).map_err(|error| self.write_fault(error))?;
            Ok(true)
        })
    }

    /// Reads back what was written, compares it with `image`, and gives it; `None`, and nothing is
    /// compared, where the file system cannot read what has no name yet.
    ///
    /// # Errors
    ///
    /// [`Error::NotWritten`] with the first byte that differs, and what reading and `tell` return.
    pub fn check_written<E: From<Error>>(
        &mut self,
        image: &Source,
        mut tell: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Option<Source>, E> {
        let Some(written) = self.read_back()? else { return Ok(None) };
        let differs = |at| E::from(Error::NotWritten { path: self.target().to_path_buf(), at });
        if written.len() != image.len() {
            return Err(differs(written.len().min(image.len())));
        }
        written.for_windows(0..written.len(), &mut Vec::new(), |start, window| {
            tell(window.len() as u64)?;
            let planned = image.read_vec(start, window.len() as u64)?;
            let at = window.iter().zip(&planned).position(|(found, wanted)| found != wanted);
            at.map_or(Ok(true), |at| Err(differs(start.saturating_add(at as u64))))
        })?;
        Ok(Some(written))
    }
}
