//! Uploads, with one request after the other that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tet_io::{Error, Progress, Source, UrlStore};

use super::object_store::{ObjectStore, WriteFault};
use super::{bytes, settings};
use crate::{Lookup, Servers, Settings};

const URL: &str = "s3://bucket/key.tet";
const PATH: &str = "/bucket/key.tet";
/// One request, and three parts.
const LENS: [usize; 2] = [100_000, 17 << 20];

fn servers(store: &ObjectStore) -> Servers {
    let endpoint = store.endpoint().to_owned();
    let lookup = Lookup::new(move |name| match name {
        "AWS_ENDPOINT_URL" => Some(endpoint.clone()),
        "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("key".to_owned()),
        _ => None,
    });
    Servers(Settings { lookup, ..settings() })
}

fn write(store: &ObjectStore, content: &[u8], replace: bool) -> tet_io::Result<()> {
    let servers = servers(store);
    servers.check_target(URL, replace)?;
    servers.write(URL, &Source::from_bytes(content.to_vec()), replace)
}

#[test]
fn an_object_is_the_old_one_or_the_new_one() {
    use WriteFault::{AnswerLost, Lost, Nonsense, Status};
    for (len, replace) in
        LENS.into_iter().flat_map(|len| [false, true].map(|replace| (len, replace)))
    {
        let (old, new) = (vec![1; 10], bytes(len));
        let quiet = ObjectStore::with(|_| None);
        write(&quiet, &new, replace).unwrap();
        assert!(quiet.get(PATH).as_ref() == Some(&new) && quiet.pending() == 0);
        for fault in [Status(503), Lost, AnswerLost, Nonsense, Status(403), Status(409)] {
            for at in 0..quiet.requests() {
                let store = ObjectStore::with(move |nth| (nth == at).then_some(fault));
                let before = replace.then(|| old.clone());
                before.iter().for_each(|old| store.put(PATH, old));
                let outcome = write(&store, &new, replace);
                let about = format!("{fault:?} at {at}, {len} bytes, {replace:?}: {outcome:?}");
                let expected = if outcome.is_ok() { Some(&new) } else { before.as_ref() };
                assert!(store.get(PATH).as_ref() == expected, "{about}");
                let is_passing = matches!(fault, Status(503 | 409) | Lost | AnswerLost);
                assert!(outcome.is_ok() || !is_passing || at == 0, "{about}");
                // An upload whose name was lost is not known, and is not visible.
                let is_unknown = matches!(fault, AnswerLost | Nonsense);
                assert!(store.pending() == 0 || is_unknown, "{about}: {}", store.pending());
            }
        }
    }
}

#[test]
fn an_object_that_may_not_be_replaced_stays() {
    for len in LENS {
        let store = ObjectStore::with(|_| None);
        store.put(PATH, &[1, 2]);
        let found = write(&store, &bytes(len), false);
        assert!(matches!(found, Err(Error::Exists { .. })), "{found:?}");
        assert_eq!(store.requests(), 1, "it is refused before anything is written");
        assert_eq!(store.get(PATH), Some(vec![1, 2]));
    }
    // It appears while the file is written: only the server can know.
    for len in LENS {
        let store = ObjectStore::with(|_| None);
        let servers = servers(&store);
        servers.check_target(URL, false).unwrap();
        store.put(PATH, &[1, 2]);
        let found = servers.write(URL, &Source::from_bytes(bytes(len)), false);
        assert!(matches!(found, Err(Error::Exists { .. })), "{found:?}");
        assert_eq!((store.get(PATH), store.pending()), (Some(vec![1, 2]), 0));
    }
}

/// A caller that asks to stop after any part: there is no object, and nothing is left of the upload.
#[test]
fn an_upload_is_reported_and_canceled() {
    let len = 33_u64 << 20;
    for stop_at in [1, 9 << 20, 17 << 20, 33 << 20, u64::MAX] {
        let store = ObjectStore::with(|_| None);
        let (cancel, most) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stop, seen) = (Arc::clone(&cancel), Arc::clone(&most));
        let progress = Progress::new(move |done, all| {
            assert_eq!(all, len);
            seen.fetch_max(done, Ordering::Relaxed);
            if stop_at <= done {
                stop.store(true, Ordering::Relaxed);
            }
        });
        let mut servers = servers(&store);
        servers.0.progress = progress.with_cancel(cancel);
        let content = Source::from_bytes(bytes(usize::try_from(len).unwrap()));
        let outcome = servers.write(URL, &content, false);
        assert_eq!(store.pending(), 0, "{stop_at}");
        if stop_at == u64::MAX {
            outcome.unwrap();
            assert_eq!(most.load(Ordering::Relaxed), len);
            assert!(store.get(PATH).is_some());
        } else {
            assert!(outcome.unwrap_err().to_string().ends_with("canceled"));
            assert_eq!(store.get(PATH), None);
        }
    }
}

#[test]
fn servers_of_files_take_none() {
    let servers = Servers(settings());
    for url in ["https://host/a.tet", "http://host/a.tet"] {
        let found = servers.check_target(url, true);
        assert!(matches!(found, Err(Error::UrlOutput { .. })), "{found:?}");
    }
    let found = servers.check_target("s3://bucket", true);
    assert!(matches!(found, Err(Error::Io { .. })), "{found:?}");
}
