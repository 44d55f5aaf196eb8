//! Inputs: a path, a URL, or an object of Python that reads a file or the files of a folder.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use tet_convert::{ConvertInput, OpenOptions, Opened};
use tet_io::{Error, Folder, Source, UrlStore};

use crate::store::PyStore;

/// A file or a folder that is read: its path or URL, or an object of `tetfile._ranges`.
#[derive(FromPyObject)]
pub(crate) enum Input {
    Path(PathBuf),
    Object(Py<PyAny>),
}

impl Input {
    /// Opens it.
    pub(crate) fn open(&self, options: &OpenOptions) -> tet_convert::Result<Opened> {
        match self {
            Input::Path(path) => tet_convert::open(path, options),
            Input::Object(object) => tet_convert::open_source(source(object)?, options),
        }
    }

    /// As the input of a conversion, which opens a path itself.
    pub(crate) fn to_convert(&self) -> tet_convert::Result<ConvertInput> {
        match self {
            Input::Path(path) => Ok(ConvertInput::Path(path.clone())),
            Input::Object(object) => Ok(ConvertInput::Source(source(object)?)),
        }
    }

    /// The document of a file in several files, or the file.
    pub(crate) fn document(&self) -> tet_convert::Result<Source> {
        match self {
            Input::Path(path) => Ok(Source::open(tet_convert::document_of(path))?),
            Input::Object(object) => source(object),
        }
    }
}

/// The file that an object reads, or the document of the folder whose files it reads.
fn source(object: &Py<PyAny>) -> tet_convert::Result<Source> {
    let store = Arc::new(PyStore::from_object(object)?);
    let document = |url: &str| {
        let folder = Folder::of_store(Arc::clone(&store) as Arc<dyn UrlStore>, url);
        tet_convert::open_document(&folder)
    };
    if store.may_be_folder()
        && let Some(document) = document(store.url())?
    {
        return Ok(document);
    }
    match store.open(store.name()) {
        // Not every folder of a format is named as they usually are.
        Err(error) if is_folder(&error) => {
            let found = document(&format!("{}/", store.name()))?;
            found.ok_or_else(|| error.into())
        }
        opened => Ok(opened?.of_store(store)),
    }
}

fn is_folder(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == ErrorKind::IsADirectory)
}
