//! Listing a store below a prefix, and removing objects.

use std::io::ErrorKind;

use tet_io::{Operation, PendingUpload, Result, UrlList};

use crate::object::{Markers, Object};
use crate::ranges::RangeFailure;
use crate::retry;
use crate::settings::Settings;

/// Uploads that are listed.
const UPLOADS_MAX: usize = 100_000;
/// Pages that are requested, of which a server chooses the length.
const PAGES_MAX: usize = 10_000;

/// Entries directly below a prefix, a page per request.
pub(crate) fn list(object: &dyn Object, count_max: usize, settings: &Settings) -> Result<UrlList> {
    let mut found = UrlList::default();
    let is_cut = paged(count_max, |next: Option<&String>| {
        let page = || object.list(next.map(String::as_str));
        let (page, token) = retry::repeated(object.name(), Operation::Read, settings, page)?;
        let count = page.files.len().saturating_add(page.folders.len());
        found.files.extend(page.files);
        found.folders.extend(page.folders);
        Ok((count, token))
    })?;
    found.is_cut = is_cut;
    found.files.truncate(count_max);
    found.folders.truncate(count_max - found.files.len());
    Ok(found)
}

/// The uploads directly below a prefix; none where the server does not list them.
pub(crate) fn uploads(object: &dyn Object, settings: &Settings) -> Result<Vec<PendingUpload>> {
    let mut found = Vec::new();
    paged(UPLOADS_MAX, |next: Option<&Markers>| {
        let page = || match object.uploads(next) {
            Err(RangeFailure::Final(error)) if error.kind() == ErrorKind::Unsupported => {
                Ok((Vec::new(), None))
            }
            outcome => outcome,
        };
        let (page, markers) = retry::repeated(object.name(), Operation::Read, settings, page)?;
        let count = page.len();
        found.extend(page);
        Ok((count, markers))
    })?;
    Ok(found)
}

/// Asks for one page after the other, each by what the one before names as the next, until there is none or they have
/// more than `count_max` entries; whether entries may be left. A server may name a next page without end.
fn paged<T: PartialEq>(
    count_max: usize,
    mut page: impl FnMut(Option<&T>) -> Result<(usize, Option<T>)>,
) -> Result<bool> {
    let (mut count, mut next) = (0_usize, None);
    for _ in 0..PAGES_MAX {
        let (found, token) = page(next.as_ref())?;
        count = count.saturating_add(found);
        if token.is_none() || token == next || count_max < count {
            return Ok(token.is_some() || count_max < count);
        }
        next = token;
    }
    Ok(true)
}

/// Gives up an upload; one that is not there is given up.
pub(crate) fn abort(object: &dyn Object, id: &str, settings: &Settings) -> Result<()> {
    retry::repeated(object.name(), Operation::Remove, settings, || gone(object.abort(id)))
}

/// Removes an object; one that is not there is removed.
pub(crate) fn remove(object: &dyn Object, settings: &Settings) -> Result<()> {
    retry::repeated(object.name(), Operation::Remove, settings, || gone(object.remove()))
}

/// Removing an absent object succeeds.
pub(crate) fn gone(removed: Result<(), RangeFailure>) -> Result<(), RangeFailure> {
    match removed {
        Err(RangeFailure::Final(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_end() {
        // Three pages, without and with more entries than are wanted; pages without end; the same page again.
        let asked = |last: usize, entries: usize, count_max: usize| {
            let mut count = 0;
            let is_cut = paged(count_max, |next: Option<&usize>| {
                count += 1;
                let number = next.map_or(0, |number| number + 1);
                Ok((entries, (number < last).then_some(number)))
            });
            (is_cut.unwrap(), count)
        };
        assert_eq!(asked(2, 10, 100), (false, 3));
        assert_eq!(asked(2, 10, 15), (true, 2));
        assert_eq!(asked(usize::MAX, 0, 100), (true, PAGES_MAX));
        assert!(paged(100, |_: Option<&u8>| Ok((0, Some(7)))).unwrap());
    }
}
