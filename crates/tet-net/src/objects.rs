//! What a store has below a prefix, and objects removed.

use std::io::ErrorKind;

use tet_io::{PendingUpload, Result, Step, UrlList};

use crate::object::{Markers, Object};
use crate::ranges::RangeFailure;
use crate::retry;
use crate::settings::Settings;

/// Uploads that are listed.
const UPLOADS_MAX: usize = 100_000;

/// What is directly below a prefix, a page a request.
pub(crate) fn list(object: &dyn Object, count_max: usize, settings: &Settings) -> Result<UrlList> {
    let (mut found, mut next) = (UrlList::default(), None::<String>);
    loop {
        let page = || object.list(next.as_deref());
        let (page, token) = retry::repeated(object.name(), Step::Read, settings, page)?;
        found.files.extend(page.files);
        found.folders.extend(page.folders);
        let count = found.files.len().saturating_add(found.folders.len());
        match token {
            Some(token) if count <= count_max && next.as_ref() != Some(&token) => {
                next = Some(token);
            }
            rest => {
                found.is_cut = rest.is_some() || count_max < count;
                found.files.truncate(count_max);
                found.folders.truncate(count_max - found.files.len());
                return Ok(found);
            }
        }
    }
}

/// The uploads directly below a prefix; none where the server does not list them.
pub(crate) fn uploads(object: &dyn Object, settings: &Settings) -> Result<Vec<PendingUpload>> {
    let (mut found, mut next) = (Vec::new(), None::<Markers>);
    loop {
        let page = || match object.uploads(next.as_ref()) {
            Err(RangeFailure::Final(error)) if error.kind() == ErrorKind::Unsupported => {
                Ok((Vec::new(), None))
            }
            outcome => outcome,
        };
        let (page, markers) = retry::repeated(object.name(), Step::Read, settings, page)?;
        found.extend(page);
        match markers {
            Some(markers) if found.len() <= UPLOADS_MAX && next.as_ref() != Some(&markers) => {
                next = Some(markers);
            }
            _ => return Ok(found),
        }
    }
}

/// Gives up an upload; one that is not there is given up.
pub(crate) fn abort(object: &dyn Object, id: &str, settings: &Settings) -> Result<()> {
    retry::repeated(object.name(), Step::Remove, settings, || gone(object.abort(id)))
}

/// Removes an object; one that is not there is removed.
pub(crate) fn remove(object: &dyn Object, settings: &Settings) -> Result<()> {
    retry::repeated(object.name(), Step::Remove, settings, || gone(object.remove()))
}

/// What is not there need not be removed.
fn gone(removed: Result<(), RangeFailure>) -> Result<(), RangeFailure> {
    match removed {
        Err(RangeFailure::Final(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}
