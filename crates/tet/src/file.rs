//! A file and its datasets; a file checked, and written as another.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tet_convert::{ConvertOptions, Format, Note, OpenOptions, Opened};
use tet_document::{Answered, Query};
use tet_io::Source;
#[cfg(feature = "net")]
use tet_net::Settings;
use tet_query::{AttrText, Catalog, Execution};
use tet_verify::{Report, VerifyOptions};

use crate::dataset::Dataset;
use crate::error::Result;

/// An open file; its clones are cheap.
#[derive(Clone, Debug)]
pub struct File {
    opened: Arc<Opened>,
}

/// Opens a file of any format that is read, known by its content. The path may be a URL, such as
/// `https://host/climate.tet`; credentials and other settings for URLs are set with [`open_urls`] before.
///
/// # Errors
///
/// The file cannot be read, is damaged, or of a format that is not read.
pub fn open(path: impl AsRef<Path>) -> Result<File> {
    let path = path.as_ref();
    know_urls(&[path]);
    let opened = tet_convert::open(path, &OpenOptions::default())?;
    Ok(File { opened: Arc::new(opened) })
}

/// Has URLs opened by the default settings, unless others are set.
#[cfg_attr(not(feature = "net"), allow(unused_variables, reason = "URLs are refused by name"))]
fn know_urls(paths: &[&Path]) {
    #[cfg(feature = "net")]
    if paths.iter().any(|path| tet_io::is_url(path)) && !tet_io::has_url_store() {
        tet_net::register(Settings::default());
    }
}

/// From now on files are read from URLs, and written to those of object stores, with these settings, in this process. Nothing is read from the
/// environment but by [`Settings::lookup`].
///
/// ```
/// use tet::{Lookup, Settings};
///
/// let lookup = Lookup::new(|name| std::env::var(name).ok());
/// tet::open_urls(Settings { lookup, ..Settings::default() });
/// ```
#[cfg(feature = "net")]
pub fn open_urls(settings: Settings) {
    tet_net::register(settings);
}

/// Writes all datasets of `input` to the new file `output`, whose suffix says its format; gives what
/// the output says differently. The output appears complete or not at all.
///
/// # Errors
///
/// The input cannot be read; the output exists, cannot be written, or has no way to keep a dataset.
pub fn convert(input: impl AsRef<Path>, output: impl AsRef<Path>) -> Result<Vec<Note>> {
    let options = ConvertOptions::default();
    let (input, output) = (input.as_ref(), output.as_ref());
    know_urls(&[input, output]);
    Ok(tet_convert::convert(input, output, &options)?.notes)
}

/// Checks every byte of a file. What is wrong with it is no error here: it is in the report.
///
/// # Errors
///
/// The file cannot be read, or is of a format that is not checked.
pub fn verify(path: impl AsRef<Path>) -> Result<Report> {
    know_urls(&[path.as_ref()]);
    Ok(tet_convert::verify(&Source::open(path)?, &VerifyOptions::default())?)
}

impl File {
    /// The format of the file.
    #[must_use]
    pub fn format(&self) -> Format {
        self.opened.format
    }

    /// The attributes of the file.
    #[must_use]
    pub fn attrs(&self) -> &BTreeMap<String, AttrText> {
        self.catalog().attrs()
    }

    /// The datasets, in file order.
    pub fn datasets(&self) -> impl ExactSizeIterator<Item = Dataset> {
        self.catalog().datasets().iter().map(|it| Dataset::new(Arc::clone(&self.opened), it))
    }

    /// The dataset of this name, or the one at position N for `#N`.
    ///
    /// # Errors
    ///
    /// There is no such dataset, or there are several.
    pub fn dataset(&self, name: &str) -> Result<Dataset> {
        Ok(Dataset::new(Arc::clone(&self.opened), self.catalog().find(name)?))
    }

    /// Answers a query document in JSON, as `tet query` does.
    ///
    /// # Errors
    ///
    /// The document is wrong or does not fit the file; what it asks for cannot be read.
    pub fn query(&self, json: &str) -> Result<Answered> {
        let how = Execution::default();
        let query = Query::from_json(json).map_err(tet_document::Error::from)?;
        Ok(query.resolve(self.catalog(), &how)?.answer(&how)?)
    }

    /// The datasets as the query engine has them.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.opened.catalog
    }
}
