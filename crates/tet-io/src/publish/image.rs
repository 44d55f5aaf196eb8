//! Publishes a new file whose content is known before it is written.

use super::{Output, Publish, Publisher};
use crate::error::{Error, Operation, Result};
use crate::image::Image;
use crate::progress::{Canceled, Progress};
use crate::source::Source;

impl Image {
    /// Publishes an image that is an edited copy of `source`: writes it, reads it back, lets
    /// `check` examine it, and renames it if `source` has not changed. `progress` counts the bytes
    /// that were written or compared, twice the length of the image in total.
    ///
    /// # Errors
    ///
    /// Errors of reading, writing and `check`, [`Canceled`], and [`Error::NotWritten`] when the new
    /// file differs when it is read back. The target is unchanged then.
    pub fn publish<T, E: From<Error> + From<Canceled>>(
        &self,
        source: &Source,
        output: Output<'_>,
        publish: &Publish,
        progress: &Progress,
        check: impl FnOnce(&Source) -> Result<T, E>,
    ) -> Result<T, E> {
        let progress = progress.begin(self.len().saturating_mul(2));
        let mut publisher = output.begin(source, publish)?;
        publisher.write_image::<E>(self, &progress)?;
        let planned = self.to_source();
        let written = publisher.check_written::<E>(&planned, &progress)?.unwrap_or(planned);
        let checked = check(&written)?;
        source.check_unchanged()?;
        publisher.commit()?;
        Ok(checked)
    }
}

impl Publisher {
    /// Writes an image that is an edited copy of `source`, and publishes it if that has not changed. Returns its
    /// length, which `progress` counts.
    ///
    /// # Errors
    ///
    /// As [`Publisher::write_image`], and [`Error::Changed`]. The target is unchanged then.
    pub fn commit_image<E: From<Error> + From<Canceled>>(
        mut self,
        image: &Image,
        source: &Source,
        progress: &Progress,
    ) -> Result<u64, E> {
        self.file().mark_final(0..u64::MAX);
        self.write_image::<E>(image, &progress.begin(image.len()))?;
        source.check_unchanged()?;
        self.commit()?;
        Ok(image.len())
    }

    /// Writes all bytes of an image. Spans of files are copied inside the kernel.
    ///
    /// # Errors
    ///
    /// Errors of reading the image and of writing the file, and [`Canceled`].
    pub fn write_image<E: From<Error> + From<Canceled>>(
        &mut self,
        image: &Image,
        progress: &Progress,
    ) -> Result<(), E> {
        let target = self.target().to_path_buf();
        let fault = |error| Error::io(Operation::Write, &target, error);
        image.write(0, self, fault, progress, |publisher, source, span| {
            publisher.copy_from(source, span)
        })
    }

    /// Reads the written file back, compares it with `image`, and returns it; `None` without a
    /// comparison if the file system cannot read a file without a name.
    ///
    /// # Errors
    ///
    /// [`Error::NotWritten`] with the first byte that differs, what reading returns, and [`Canceled`].
    pub fn check_written<E: From<Error> + From<Canceled>>(
        &mut self,
        image: &Source,
        progress: &Progress,
    ) -> Result<Option<Source>, E> {
        let Some(written) = self.read_back()? else { return Ok(None) };
        let differs = |at| E::from(Error::NotWritten { path: self.target().to_path_buf(), at });
        if written.len() != image.len() {
            return Err(differs(written.len().min(image.len())));
        }
        written.for_windows(0..written.len(), &mut Vec::new(), |start, window| {
            progress.advance(window.len() as u64)?;
            let planned = image.read_vec(start, window.len() as u64)?;
            let at = window.iter().zip(&planned).position(|(found, wanted)| found != wanted);
            at.map_or(Ok(true), |at| Err(differs(start.saturating_add(at as u64))))
        })?;
        Ok(Some(written))
    }
}
