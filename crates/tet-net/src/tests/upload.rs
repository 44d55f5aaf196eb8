//! Uploads, with one request after the other that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tet_io::{Error, Progress, PutMode, Source, UrlStore};

use super::bucket::{BucketFault, ObjectStore};
use super::{bytes, settings};
use crate::{Lookup, Servers, Settings};

/// One object, as named at S3, at Azure and, with a token, at Google.
const URLS: [&str; 3] = ["s3://bucket/key.tet", "az://bucket/key.tet", "gs://bucket/key.tet"];
const PATH: &str = "/bucket/key.tet";
/// One request, and three parts.
const LENS: [usize; 2] = [100_000, 17 << 20];

fn servers(store: &ObjectStore) -> Servers {
    let endpoint = store.endpoint().to_owned();
    let lookup = Lookup::new(move |name| match name {
        "AWS_ENDPOINT_URL" | "AZURE_ENDPOINT_URL" | "GS_ENDPOINT_URL" => Some(endpoint.clone()),
        "CLOUDSDK_AUTH_ACCESS_TOKEN" => Some("token".to_owned()),
        "AZURE_STORAGE_SAS_TOKEN" => Some("sv=2019-12-12&sig=hidden".to_owned()),
        "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("key".to_owned()),
        _ => None,
    });
    Servers::new(Settings {
        lookup,
        // Every answer comes, or its connection is closed; a busy machine may take long.
        read_timeout: std::time::Duration::from_secs(30),
        ..settings()
    })
}

fn write(store: &ObjectStore, url: &str, content: &[u8], replace: bool) -> tet_io::Result<()> {
    let servers = servers(store);
    servers.check_target(url, replace)?;
    let replace = if replace { PutMode::Overwrite } else { PutMode::Create };
    servers.write(url, &Source::from_bytes(content.to_vec()), replace)
}

#[test]
fn an_object_is_the_old_one_or_the_new_one() {
    use BucketFault::{AnswerLost, Lost, Nonsense, Status};
    let lens = || LENS.into_iter().flat_map(|len| [false, true].map(|replace| (len, replace)));
    for (url, (len, replace)) in URLS.into_iter().flat_map(|url| lens().map(move |it| (url, it))) {
        let (old, new) = (vec![1; 10], bytes(len));
        let quiet = ObjectStore::with(|_| None);
        write(&quiet, url, &new, replace).unwrap();
        assert!(quiet.get(PATH).as_ref() == Some(&new) && quiet.pending() == 0);
        for fault in [Status(503), Lost, AnswerLost, Nonsense, Status(403), Status(409)] {
            for at in 0..quiet.requests() {
                let store = ObjectStore::with(move |nth| (nth == at).then_some(fault));
                let before = replace.then(|| old.clone());
                before.iter().for_each(|old| store.put(PATH, old));
                let outcome = write(&store, url, &new, replace);
                let about =
                    format!("{url} {fault:?} at {at}, {len} bytes, {replace:?}: {outcome:?}");
                let expected = if outcome.is_ok() { Some(&new) } else { before.as_ref() };
                assert!(store.get(PATH).as_ref() == expected, "{about}");
                let is_passing = matches!(fault, Status(503 | 409) | Lost | AnswerLost);
                assert!(outcome.is_ok() || !is_passing || at == 0, "{about}");
                // An upload whose name was lost is not known, and is not visible.
                let is_unknown = matches!(fault, AnswerLost | Nonsense);
                assert!(store.pending() == 0 || is_unknown, "{about}: {}", store.pending());
                let is_clean = store.paths().iter().all(|path| path == PATH);
                assert!(is_clean, "{about}: {:?}", store.paths());
            }
        }
    }
}

#[test]
fn an_object_that_may_not_be_replaced_stays() {
    let cases = || URLS.into_iter().flat_map(|url| LENS.map(|len| (url, len)));
    for (url, len) in cases() {
        let store = ObjectStore::with(|_| None);
        store.put(PATH, &[1, 2]);
        let found = write(&store, url, &bytes(len), false);
        assert!(matches!(found, Err(Error::Exists { .. })), "{found:?}");
        assert_eq!(store.requests(), 1, "it is refused before anything is written");
        assert_eq!(store.get(PATH), Some(vec![1, 2]));
    }
    // It appears while the file is written: only the server can know.
    for (url, len) in cases() {
        let store = ObjectStore::with(|_| None);
        let servers = servers(&store);
        servers.check_target(url, false).unwrap();
        store.put(PATH, &[1, 2]);
        let found = servers.write(url, &Source::from_bytes(bytes(len)), PutMode::Create);
        assert!(matches!(found, Err(Error::Exists { .. })), "{found:?}");
        assert_eq!((store.get(PATH), store.pending()), (Some(vec![1, 2]), 0));
    }
}

/// A caller that asks to stop after any part: there is no object, and nothing is left of the upload.
#[test]
fn an_upload_is_reported_and_canceled() {
    let len = 33_u64 << 20;
    let stops = [1, 9 << 20, 17 << 20, 33 << 20, u64::MAX];
    for (url, stop_at) in URLS.into_iter().flat_map(|url| stops.map(|stop_at| (url, stop_at))) {
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
        servers.settings.progress = progress.with_cancel(cancel);
        let content = Source::from_bytes(bytes(usize::try_from(len).unwrap()));
        let outcome = servers.write(url, &content, PutMode::Create);
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
    let servers = Servers::new(settings());
    for url in ["https://host/a.tet", "http://host/a.tet"] {
        let found = servers.check_target(url, true);
        assert!(matches!(found, Err(Error::UrlOutput { .. })), "{found:?}");
    }
    let found = servers.check_target("s3://bucket", true);
    assert!(matches!(found, Err(Error::Io { .. })), "{found:?}");
}

#[test]
fn an_object_takes_the_place_of_the_version_that_was_read() {
    for (url, len) in URLS.into_iter().flat_map(|url| LENS.map(|len| (url, len))) {
        let store = ObjectStore::with(|_| None);
        store.put(PATH, &[1; 10]);
        let servers = servers(&store);
        let old = servers.open(url).unwrap();
        let version = PutMode::Update(old.version().unwrap());
        servers.write(url, &Source::from_bytes(bytes(len)), version).unwrap();
        assert!(store.get(PATH) == Some(bytes(len)));
        // It is another version now.
        let found = servers.write(url, &Source::from_bytes(vec![2; 10]), version);
        assert!(matches!(found, Err(Error::Changed { .. })), "{found:?}");
        assert!(store.get(PATH) == Some(bytes(len)) && store.pending() == 0);
    }
}

/// A try is done and its answer is lost; then another program writes: whose object is the older one is not known.
#[test]
fn a_lost_answer_and_a_later_object_are_no_success() {
    for url in URLS {
        let store = ObjectStore::with(|nth| match nth {
            // Behind the two requests that open it.
            2 => Some(BucketFault::AnswerLost),
            3 => Some(BucketFault::Overtaken),
            _ => None,
        });
        store.put(PATH, &[1; 10]);
        let servers = servers(&store);
        let old = servers.open(url).unwrap();
        store.take_log();
        let version = PutMode::Update(old.version().unwrap());
        let found = servers.write(url, &Source::from_bytes(bytes(100)), version);
        assert!(matches!(found, Err(Error::Unsure { .. })), "{found:?} {:?}", store.take_log());
        assert_eq!(store.get(PATH).as_deref(), Some(&b"overtaken"[..]));
    }
}

#[test]
fn what_is_below_a_url_is_listed_and_removed() {
    for scheme in ["s3", "az"] {
        let at = |path: &str| format!("{scheme}://bucket/{path}");
        let store = ObjectStore::with(|_| None);
        for name in ["a", "b c", "d/e", "d/f", "g", "h", "i/j"] {
            store.put(&format!("/bucket/x.tets/{name}"), &[7; 5]);
        }
        store.put("/bucket/x.tetsy", b"beside");
        store.age(3 * 3600);
        let servers = servers(&store);
        let list = servers.list(&at("x.tets"), 100).unwrap();
        let names: Vec<_> = list.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!((names, list.is_cut), (vec!["a", "b c", "g", "h"], false));
        assert_eq!(list.folders, ["d", "i"]);
        let hours = Some(std::time::Duration::from_secs(3 * 3600));
        assert!(list.files.iter().all(|file| file.len == 5 && file.age == hours), "{list:?}");
        let cut = servers.list(&at("x.tets/"), 4).unwrap();
        assert!(cut.is_cut && cut.files.len() + cut.folders.len() == 4, "{cut:?}");
        assert_eq!(servers.list(&at("nothing"), 9).unwrap(), tet_io::UrlList::default());
        servers.remove(&at("x.tets/b c")).unwrap();
        servers.remove(&at("x.tets/b c")).unwrap();
        assert_eq!(servers.list(&at("x.tets"), 100).unwrap().files.len(), 3);
        let found = servers.list("https://host/x.tets", 9);
        assert!(matches!(found, Err(Error::UrlFolder { .. })), "{found:?}");
    }
}

/// Two programs write the same blob of Azure: the blocks of the first that ends are all that stay, and the other knows.
#[test]
fn an_upload_takes_no_blocks_of_another() {
    let store = ObjectStore::with(|_| None);
    let servers = servers(&store);
    let url = URLS[1];
    let contents = [1, 2].map(|byte| Source::from_bytes(vec![byte; LENS[1]]));
    let parts = tet_io::UrlPart::all_of(contents[0].len());
    let begin = || servers.begin_upload(url, PutMode::Overwrite).unwrap();
    let [one, two] = [begin(), begin()];
    one.send(&contents[0], parts[0]).unwrap();
    two.send(&contents[1], parts[0]).unwrap();
    two.finish(&contents[1], &parts[1..]).unwrap();
    let found = one.finish(&contents[0], &parts[1..]);
    let text = found.unwrap_err().to_string();
    assert!(text.contains("another program wrote this file"), "{text}");
    assert!(store.get(PATH) == Some(vec![2; LENS[1]]));
}

/// A part that the server copies; then the object that it is of is another one.
#[test]
fn a_part_is_copied_of_the_version_that_was_opened() {
    let part = tet_io::UrlPart::all_of(LENS[1] as u64)[1];
    let schemes = ["s3", "az"].into_iter();
    let cases = schemes.flat_map(|it| [(it, false, "x y+z.tet"), (it, true, "x.tet")]);
    for (scheme, is_overtaken, key) in cases {
        let store = ObjectStore::with(|_| None);
        let servers = servers(&store);
        let (from, path) = (bytes(40 << 20), format!("/bucket/{key}"));
        let plain = if scheme == "s3" { path.replace('+', "%2B") } else { path };
        let to = format!("{scheme}://bucket/key.tet");
        store.put(&plain, &from);
        let other = servers.open(&format!("{scheme}://bucket/{key}")).unwrap();
        let new = bytes(LENS[1]);
        let content = Source::from_bytes(new.clone());
        let upload = servers.begin_upload(&to, PutMode::Overwrite).unwrap();
        store.take_log();
        assert!(upload.copy(part, &other, 1 << 20));
        assert_eq!(store.take_log(), [format!("COPY {PATH}")]);
        // The part before is sent later, and takes the place of what was copied.
        let first = tet_io::UrlPart::all_of(LENS[1] as u64)[0];
        assert!(upload.copy(first, &other, 0));
        if is_overtaken {
            store.put(&plain, &bytes(40 << 20));
            assert!(!upload.copy(part, &other, 1 << 20), "of another version");
        }
        let parts = tet_io::UrlPart::all_of(content.len());
        let found = upload.finish(&content, &[parts[0], parts[2]]);
        if is_overtaken {
            assert!(matches!(&found, Err(Error::Changed { path }) if path.ends_with(key)));
            assert_eq!(store.get(PATH), None);
            continue;
        }
        found.unwrap();
        let middle = &from[1 << 20..][..part.span.len() as usize];
        let copied = [&new[..8 << 20], middle, &new[16 << 20..]].concat();
        assert!(store.get(PATH) == Some(copied));
    }
}

/// Objects of another server are not copied, and take no request.
#[test]
fn bytes_of_elsewhere_are_not_copied() {
    let store = ObjectStore::with(|_| None);
    let servers = servers(&store);
    let content = bytes(9 << 20);
    store.put("/bucket/other", &content);
    let part = tet_io::UrlPart::all_of(content.len() as u64)[0];
    let [s3, az] = ["s3", "az"].map(|it| servers.open(&format!("{it}://bucket/other")).unwrap());
    let memory = Source::from_bytes(content);
    for (url, others) in [(URLS[0], [&az, &memory]), (URLS[1], [&memory, &s3])] {
        let upload = servers.begin_upload(url, PutMode::Overwrite).unwrap();
        store.take_log();
        assert!(!others.into_iter().any(|other| upload.copy(part, other, 0)));
        assert!(store.take_log().is_empty());
    }
}

/// A server that is done with an upload when its answer is lost, and refuses to end it again, as one that it does not know.
#[test]
fn a_second_try_that_is_refused_is_compared_with_what_is_there() {
    let content = bytes(LENS[1]);
    let quiet = ObjectStore::with(|_| None);
    write(&quiet, URLS[0], &content, true).unwrap();
    let last = quiet.requests() - 1;
    let store = ObjectStore::with(move |nth| match nth.checked_sub(last) {
        Some(0) => Some(BucketFault::AnswerLost),
        Some(1) => Some(BucketFault::Status(403)),
        _ => None,
    });
    write(&store, URLS[0], &content, true).unwrap();
    assert!(store.get(PATH).as_ref() == Some(&content));
    // A lost answer is requested again; the state is unknown if all are lost.
    for (lost, is_known) in [(1, true), (usize::MAX, false)] {
        let store = ObjectStore::with(move |nth| match nth.checked_sub(last) {
            Some(0) => Some(BucketFault::AnswerLost),
            Some(1) => Some(BucketFault::Status(403)),
            Some(more) if more - 2 < lost => Some(BucketFault::Lost),
            _ => None,
        });
        let outcome = write(&store, URLS[0], &content, true);
        assert!(store.get(PATH).as_ref() == Some(&content));
        match outcome {
            Ok(()) => assert!(is_known),
            Err(error) => {
                assert!(!is_known && matches!(error, tet_io::Error::Unsure { .. }), "{error}")
            }
        }
    }
}

/// A file that is opened in a work that is canceled is read by later ones, and one that is canceled reads nothing.
#[test]
fn a_file_outlives_the_work_that_opened_it() {
    let store = ObjectStore::with(|_| None);
    store.put(PATH, &bytes(1 << 20));
    let (servers, cancel) = (servers(&store), Arc::new(AtomicBool::new(false)));
    let progress = Progress::default().with_cancel(Arc::clone(&cancel));
    let source = progress.during(|| servers.open(URLS[0])).unwrap();
    cancel.store(true, Ordering::Relaxed);
    let read = || source.read_vec(300 << 10, 100);
    let found = progress.during(read);
    assert!(found.unwrap_err().to_string().contains("canceled"));
    assert_eq!(read().unwrap(), bytes(1 << 20)[300 << 10..][..100]);
}
