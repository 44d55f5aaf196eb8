//! Folders in a bucket: Zarr by its keys; folders of parts, made, appended to by several programs at once, with one
//! request after the other that fails, and cleared of what is left.

mod google;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tet_convert::{AxisAppend, ConvertOptions, EditOptions, Error, OpenOptions};
use tet_file::write::{ChunkAt, WriteOptions, Writer};
use tet_file::{DatasetMetadata, Metadata};
use tet_format::DType;
use tet_format::write::DatasetSpec;
use tet_io::{Overwrite, Progress, Source};
use tet_net::{Lookup, Settings};
use tet_query::{Execution, Hyperslab};
use tet_tests::bucket::{BucketFault, ObjectStore};
use tet_tests::program;
use tet_tests::server::Server;
use tet_tests::written::{self, Written};
use tet_verify::VerifyOptions;

const URL: &str = "s3://bucket/day.tets";
const MANIFEST: &str = "/bucket/day.tets/series.json";
/// Rows of a file that is appended: chunks have three, so that parts take over rows.
const ROWS: u64 = 4;
/// Numbers in a row: a part of short rows is written with one request, one of long rows with several.
const SHORT: u64 = 200;
const LONG: u64 = 300_000;

/// URLs are opened by one store in a process.
static ONE: Mutex<()> = Mutex::new(());

fn bucket(
    faults: impl Fn(usize) -> Option<BucketFault> + Send + Sync + 'static,
) -> (MutexGuard<'static, ()>, ObjectStore) {
    bucket_by(faults, &[("GS_ACCESS_KEY_ID", "key"), ("GS_SECRET_ACCESS_KEY", "key")])
}

/// A bucket with these variables for Google.
fn bucket_by(
    faults: impl Fn(usize) -> Option<BucketFault> + Send + Sync + 'static,
    google: &'static [(&'static str, &'static str)],
) -> (MutexGuard<'static, ()>, ObjectStore) {
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let store = ObjectStore::with(faults);
    let endpoint = store.endpoint().to_owned();
    let lookup = Lookup::new(move |name| match name {
        "AWS_ENDPOINT_URL" => Some(endpoint.clone()),
        "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("key".to_owned()),
        "GS_ENDPOINT_URL" => Some(endpoint.clone()),
        _ => google.iter().find(|it| it.0 == name).map(|it| it.1.to_owned()),
    });
    let backoff = Duration::from_millis(2);
    tet_net::register(Settings { lookup, backoff, tries: 3, ..Settings::default() });
    (guard, store)
}

/// A file of rows, whose numbers begin with those of the rows before.
fn rows(folder: &Path, nth: u64, row_len: u64) -> PathBuf {
    let spec = DatasetSpec::new("temp", DType::Float64, [ROWS, row_len], [3, row_len]);
    let first = nth * ROWS * row_len;
    let numbers = (0..ROWS * row_len).flat_map(|at| ((first + at) as f64 / 7.0).to_le_bytes());
    let written = Written { spec: spec.clone(), elements: numbers.collect() };
    let path = folder.join(format!("{nth}-{row_len}.tet"));
    let mut writer = Writer::create(&path, vec![spec], &WriteOptions::default()).unwrap();
    let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
        out.extend(written::cut(&written, chunk.coord, chunk.extents));
        Ok(())
    };
    writer.write_dataset(0, fill, &Progress::default()).unwrap();
    let dims = vec!["time".to_owned(), "x".to_owned()];
    let mut about = DatasetMetadata::default();
    about.dim_names = dims;
    let mut metadata = Metadata::new();
    metadata.datasets.insert("temp".to_owned(), about);
    writer.finish(&metadata, &[]).unwrap();
    path
}

/// All bits of the dataset.
fn elements(path: impl AsRef<Path>) -> Vec<u8> {
    let opened = tet_convert::open(path, &OpenOptions::default()).unwrap();
    let dataset = &opened.catalog.datasets()[0];
    let read = dataset.read(&Hyperslab::whole(dataset.shape()), &Execution::default()).unwrap();
    read.value.bytes().to_vec()
}

/// Contents of these files, one after the other.
fn joined(files: &[PathBuf]) -> Vec<u8> {
    files.iter().flat_map(elements).collect()
}

fn convert(from: &Path, to: impl AsRef<Path>, options: &ConvertOptions) -> tet_convert::Result<()> {
    tet_convert::convert(from, to.as_ref(), options).map(drop)
}

fn append(inputs: &[PathBuf]) -> tet_convert::Result<()> {
    let asked = AxisAppend { axis: "time", inputs, ..AxisAppend::default() };
    tet_convert::append(URL.as_ref(), &asked, &EditOptions::default(), &Execution::default())
        .map(drop)
}

fn parts(store: &ObjectStore) -> usize {
    store.paths().iter().filter(|path| path.contains("/part-")).count()
}

#[test]
fn a_folder_in_a_bucket_grows_as_one_on_a_disk() {
    let (_guard, store) = bucket(|_| None);
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..4).map(|nth| rows(folder.path(), nth, SHORT)).collect();
    convert(&files[0], URL, &ConvertOptions::default()).unwrap();
    for file in &files[1..] {
        append(std::slice::from_ref(file)).unwrap();
    }
    assert!(elements(URL) == joined(&files));
    assert!(elements(format!("{URL}/")) == joined(&files));
    let listed = tet_convert::series_parts(URL.as_ref()).unwrap();
    assert_eq!((listed.len(), parts(&store)), (4, 4));
    let source = Source::open(tet_convert::document_of(URL.as_ref())).unwrap();
    let report = tet_convert::verify(&source, &VerifyOptions::default()).unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    let one = folder.path().join("one.tet");
    convert(Path::new(URL), &one, &ConvertOptions::default()).unwrap();
    assert!(elements(&one) == joined(&files));
    // Another one of that name is refused before anything is written, and takes its place where that is asked for.
    store.take_log();
    let found = convert(&files[1], URL, &ConvertOptions::default());
    assert!(matches!(found, Err(Error::Io(tet_io::Error::Exists { .. }))), "{found:?}");
    assert!(store.take_log().iter().all(|asked| asked.starts_with("GET")));
    let mut replaced = ConvertOptions::default();
    replaced.tet.overwrite = Overwrite::Replace;
    convert(&files[1], URL, &replaced).unwrap();
    assert!(elements(URL) == elements(&files[1]));
    // Parts that no manifest names are removed a day later.
    assert_eq!(tet_convert::remove_unused_parts(URL.as_ref()).unwrap(), []);
    store.age(25 * 3600);
    store.put("/bucket/day.tets/part-00000000000000ff.tet", b"of a program that appends now");
    assert_eq!(tet_convert::remove_unused_parts(URL.as_ref()).unwrap().len(), 4);
    assert_eq!(parts(&store), 2);
    assert!(elements(URL) == elements(&files[1]));
}

#[test]
fn parts_that_are_not_needed_cost_no_requests() {
    let (_guard, store) = bucket(|_| None);
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..8).map(|nth| rows(folder.path(), nth, SHORT)).collect();
    append(&files[..1]).unwrap();
    for file in &files[1..] {
        append(std::slice::from_ref(file)).unwrap();
    }
    let requested = |store: &ObjectStore| {
        let log = store.take_log();
        log.iter().filter(|asked| asked.contains("/part-")).cloned().collect::<BTreeSet<_>>().len()
    };
    store.take_log();
    let opened = tet_convert::open(URL, &OpenOptions::default()).unwrap();
    let dataset = &opened.catalog.datasets()[0];
    assert_eq!((dataset.shape()[0], requested(&store)), (8 * ROWS, 1));
    // A row of the fifth file, in one part or two.
    let slab = Hyperslab::whole(dataset.shape()).part(&[17..18, 0..SHORT]);
    let row = dataset.read(&slab, &Execution::default()).unwrap();
    let wanted = elements(&files[4]);
    let row_len = usize::try_from(SHORT * 8).unwrap();
    assert!(row.value.bytes() == &wanted[row_len..2 * row_len]);
    assert_eq!(requested(&store), 1);
    // All parts count, also those that are not open.
    let parts = tet_convert::series_parts(URL.as_ref()).unwrap();
    let len = opened.catalog.source().len() + parts.iter().map(|part| part.len).sum::<u64>();
    assert_eq!(opened.catalog.file_len(), len);
    // One that is missing is an error when it is needed, and names it.
    let lost = parts.last().unwrap();
    tet_io::Folder::open(URL).unwrap().remove(&lost.file).unwrap();
    let whole = Hyperslab::whole(dataset.shape());
    match dataset.read(&whole, &Execution::default()) {
        Err(tet_query::Error::Shard { shard, fault, .. }) => {
            assert_eq!((shard.as_str(), fault.rule.id), (lost.file.as_str(), "TS-P3"));
        }
        other => panic!("{other:?}"),
    }
    let source = Source::open(tet_convert::document_of(URL.as_ref())).unwrap();
    let report = tet_convert::verify(&source, &VerifyOptions::default()).unwrap();
    assert_eq!(report.findings.len(), 1, "{report:?}");
}

#[test]
fn an_append_begins_a_folder_that_is_not_there() {
    let (_guard, _store) = bucket(|_| None);
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..3).map(|nth| rows(folder.path(), nth, SHORT)).collect();
    append(&files).unwrap();
    assert!(elements(URL) == joined(&files));
}

/// Old or new after each fault of each request, with nothing lost; and what is appended next is there once.
#[test]
fn an_append_is_done_or_not_whichever_request_fails() {
    use BucketFault::{AnswerLost, Lost, Nonsense, Status};
    let folder = tempfile::tempdir().unwrap();
    for row_len in [SHORT, LONG] {
        let files: Vec<_> = (0..3).map(|nth| rows(folder.path(), nth, row_len)).collect();
        let (old, new) = (joined(&files[..1]), joined(&files[..2]));
        // How many requests there are is known after the first round.
        let mut count = 1;
        let faults: &[_] = match row_len {
            SHORT => &[Status(503), Status(403), Lost, AnswerLost, Nonsense],
            _ => &[AnswerLost],
        };
        for (fault, at) in std::iter::once((None, 0))
            .chain(faults.iter().flat_map(|fault| (0..40).map(move |at| (Some(*fault), at))))
        {
            if count <= at {
                continue;
            }
            let begun = Arc::new(AtomicUsize::new(usize::MAX));
            let from = Arc::clone(&begun);
            let (_guard, store) = bucket(move |nth| {
                let is_it = nth.checked_sub(from.load(Ordering::SeqCst)) == Some(at);
                fault.filter(|_| is_it)
            });
            convert(&files[0], URL, &ConvertOptions::default()).unwrap();
            begun.store(store.requests(), Ordering::SeqCst);
            let outcome = append(&files[1..2]);
            if fault.is_none() {
                count = store.requests() - begun.load(Ordering::SeqCst);
                assert!((8..40).contains(&count), "{count}");
            }
            begun.store(usize::MAX, Ordering::SeqCst);
            let about = format!("{fault:?} at {at} of {count}: {outcome:?} {:?}", store.paths());
            let now = elements(URL);
            assert!(now == if outcome.is_ok() { &new[..] } else { &old[..] }, "{about}");
            assert!(outcome.is_ok() || fault != Some(Status(503)), "{about}");
            append(&files[2..]).unwrap();
            let mut all = now;
            all.extend(elements(&files[2]));
            assert!(elements(URL) == all, "{about}");
            store.age(30 * 3600);
            tet_convert::remove_unused_parts(URL.as_ref()).unwrap();
            assert!(elements(URL) == all, "{about}");
            let named = tet_convert::series_parts(URL.as_ref()).unwrap().len();
            assert_eq!(parts(&store), named, "{about}");
        }
    }
}

#[test]
fn several_programs_append_at_once_and_no_row_is_lost() {
    let (_guard, store) = bucket(|_| None);
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..9).map(|nth| rows(folder.path(), nth, SHORT)).collect();
    convert(&files[0], URL, &ConvertOptions::default()).unwrap();
    std::thread::scope(|scope| {
        for two in files[1..].chunks(2) {
            scope
                .spawn(move || two.iter().for_each(|it| append(std::slice::from_ref(it)).unwrap()));
        }
    });
    let all = elements(URL);
    let len = elements(&files[0]).len();
    assert_eq!(all.len(), 9 * len);
    let mut found: Vec<_> = all.chunks(len).map(<[u8]>::to_vec).collect();
    let mut expected: Vec<_> = files.iter().map(elements).collect();
    found.sort();
    expected.sort();
    assert!(found == expected);
    // Those who were too late removed what they had written.
    assert_eq!(parts(&store), tet_convert::series_parts(URL.as_ref()).unwrap().len());
}

/// The files below a folder, by their keys.
fn files_below(folder: &Path, key: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let (path, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
        let key = format!("{key}/{}", name.to_str().unwrap());
        if path.is_dir() {
            files_below(&path, &key, found);
        } else {
            found.push((key, std::fs::read(&path).unwrap()));
        }
    }
}

/// Zarr by its keys: in a bucket with and without consolidated metadata, on a web server with it.
#[test]
fn a_zarr_hierarchy_is_read_by_its_keys() {
    let (_guard, store) = bucket(|_| None);
    let folder = tempfile::tempdir().unwrap();
    let file = rows(folder.path(), 0, SHORT);
    let zarr = folder.path().join("a.zarr");
    convert(&file, &zarr, &ConvertOptions::default()).unwrap();
    let mut objects = Vec::new();
    files_below(&zarr, "", &mut objects);
    for (key, bytes) in &objects {
        store.put(&format!("/bucket/a.zarr{key}"), bytes);
    }
    assert!(elements("s3://bucket/a.zarr") == elements(&file));
    let server =
        Server::new(objects.iter().map(|(key, bytes)| (format!("/a.zarr{key}"), bytes.clone())));
    assert!(elements(server.url("/a.zarr")) == elements(&file));
    // Without it the bucket is listed, and a server of files cannot be.
    let root = String::from_utf8(store.get("/bucket/a.zarr/zarr.json").unwrap()).unwrap();
    let at = root.find("\"consolidated_metadata\"").unwrap();
    let mut plain: serde_json::Value = serde_json::from_str(&root).unwrap();
    assert!(plain.as_object_mut().unwrap().remove("consolidated_metadata").is_some(), "{at}");
    let plain = plain.to_string().into_bytes();
    store.put("/bucket/a.zarr/zarr.json", &plain);
    assert!(elements("s3://bucket/a.zarr") == elements(&file));
    let of_server = objects.iter().map(|(key, bytes)| {
        let bytes = if key == "/zarr.json" { plain.clone() } else { bytes.clone() };
        (format!("/a.zarr{key}"), bytes)
    });
    let server = Server::new(of_server);
    let found = tet_convert::open(server.url("/a.zarr"), &OpenOptions::default());
    let found = found.map(drop).unwrap_err();
    assert!(found.to_string().contains("does not list"), "{found}");
}

const ZARR: &str = "s3://bucket/a.zarr";

fn is_visible() -> bool {
    tet_convert::open(ZARR, &OpenOptions::default()).is_ok()
}

fn below_zarr(store: &ObjectStore) -> usize {
    store.paths().iter().filter(|path| path.starts_with("/bucket/a.zarr/")).count()
}

/// Converts to a hierarchy of either version, whose chunks are objects of 600 numbers.
fn to_zarr(file: &Path, version: u32, overwrite: Overwrite) -> tet_convert::Result<()> {
    let mut options = ConvertOptions::default();
    options.storage.variant = Some(version.to_string());
    options.tet.overwrite = overwrite;
    convert(file, ZARR, &options)
}

#[test]
fn a_new_hierarchy_is_visible_with_its_last_document() {
    let folder = tempfile::tempdir().unwrap();
    let file = rows(folder.path(), 0, SHORT);
    for version in [2, 3] {
        let (_guard, store) = bucket(|_| None);
        let mut options = ConvertOptions::default();
        options.storage.variant = Some(version.to_string());
        let made = tet_convert::convert(&file, ZARR.as_ref(), &options).unwrap();
        let log = store.take_log();
        let stored = store.paths().into_iter().filter_map(|path| store.get(&path));
        assert_eq!(made.output_len, stored.map(|bytes| bytes.len() as u64).sum::<u64>());
        let puts: Vec<_> =
            log.iter().filter_map(|it| it.strip_prefix("PUT /bucket/a.zarr/")).collect();
        let last = if version == 2 { ".zmetadata" } else { "zarr.json" };
        assert_eq!((puts[0], *puts.last().unwrap()), (".tet-writing", last), "{log:?}");
        let first_document =
            puts.iter().position(|key| key.contains(".z") || key.ends_with("zarr.json"));
        assert!(
            puts[1..first_document.unwrap()].iter().all(|key| key.contains("temp/")),
            "{log:?}"
        );
        assert_eq!(below_zarr(&store), puts.len() - 1, "the claim is gone");
        assert!(elements(ZARR) == elements(&file));
        let local = folder.path().join(format!("{last}.zarr"));
        let mut options = ConvertOptions::default();
        options.storage.variant = Some(version.to_string());
        convert(&file, &local, &options).unwrap();
        let mut wanted = Vec::new();
        files_below(&local, "", &mut wanted);
        assert_eq!(wanted.len(), puts.len() - 1);
        for (key, bytes) in wanted {
            assert!(store.get(&format!("/bucket/a.zarr{key}")) == Some(bytes), "{key}");
        }
        // It is never replaced.
        for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
            store.take_log();
            let found = to_zarr(&file, version, overwrite);
            let is_kept = matches!(found, Err(Error::Io(tet_io::Error::FolderExists { .. })));
            assert!(is_kept, "{found:?}");
            assert!(store.take_log().iter().all(|asked| asked.starts_with("GET")));
        }
    }
}

/// Nothing or all after each fault of each request, also if all that follow fail too, as when a program is killed.
#[test]
fn a_new_hierarchy_is_there_or_not_whichever_request_fails() {
    use BucketFault::{AnswerLost, Lost, Nonsense, Status};
    let folder = tempfile::tempdir().unwrap();
    let file = rows(folder.path(), 0, SHORT);
    let all = elements(&file);
    for fault in [Status(503), Status(403), Lost, AnswerLost, Nonsense] {
        for (is_killed, at) in [false, true].iter().flat_map(|it| (0..40).map(move |at| (*it, at)))
        {
            let until = Arc::new(AtomicUsize::new(usize::MAX));
            let end = Arc::clone(&until);
            let (_guard, store) = bucket(move |nth| {
                let is_it = nth == at || is_killed && at < nth && nth < end.load(Ordering::SeqCst);
                is_it.then_some(fault)
            });
            let outcome = to_zarr(&file, 3, Overwrite::Refuse);
            until.store(0, Ordering::SeqCst);
            let about = format!("{fault:?} at {at}, {is_killed}: {outcome:?} {:?}", store.paths());
            if store.requests() <= at {
                assert!(outcome.is_ok(), "{about}");
                continue;
            }
            if outcome.is_ok() {
                assert!(elements(ZARR) == all, "{about}");
                continue;
            }
            if is_visible() {
                // The answer to the last document was lost, and what is there is complete.
                assert!(is_killed && elements(ZARR) == all, "{about}");
                continue;
            }
            assert!(is_killed || below_zarr(&store) == 0, "{about}");
            if below_zarr(&store) != 0 {
                let found = to_zarr(&file, 3, Overwrite::Refuse);
                let is_left = matches!(found, Err(Error::Io(tet_io::Error::Unfinished { .. })));
                assert!(is_left, "{about}: {found:?}");
            }
            to_zarr(&file, 2, Overwrite::Replace).unwrap();
            assert!(elements(ZARR) == all, "{about}");
            assert!(store.paths().iter().all(|path| !path.contains("zarr.json")), "{about}");
        }
    }
}

#[test]
fn of_two_programs_that_write_a_hierarchy_at_most_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..2).map(|nth| rows(folder.path(), nth, SHORT)).collect();
    for _ in 0..40 {
        let (_guard, store) = bucket(|_| None);
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let begin = |file| scope.spawn(move || to_zarr(file, 3, Overwrite::Refuse));
            let writers: Vec<_> = files.iter().map(PathBuf::as_path).map(begin).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        let winner = outcomes.iter().position(std::result::Result::is_ok);
        assert_eq!(is_visible(), winner.is_some(), "{outcomes:?} {:?}", store.paths());
        if let Some(winner) = winner {
            assert!(outcomes[1 - winner].is_err() && elements(ZARR) == elements(&files[winner]));
        }
    }
}

/// Runs the command with the keys of the bucket.
fn tet(store: &ObjectStore, args: &[&str]) -> (i32, String) {
    let mut command = std::process::Command::new(program::tet());
    command.args(args).env("AWS_ENDPOINT_URL", store.endpoint());
    command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "hidden");
    let output = command.output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!said.contains("hidden"), "{said}");
    (output.status.code().unwrap(), said)
}

#[test]
fn the_command_makes_and_edits_what_is_in_a_bucket() {
    let (_guard, store) = bucket(|_| None);
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..3).map(|nth| rows(folder.path(), nth, SHORT)).collect();
    let [a, b, c] = [0, 1, 2].map(|nth: usize| files[nth].to_str().unwrap());
    let one = "s3://bucket/one.tet";
    store.put("/bucket/day.tets/part-00000000000000ff.tet", b"of a program that is gone");
    for (id, name) in
        [("a", "part-00000000000000fe.tet"), ("b", "other"), ("c", "part-00000000000000fd.tet")]
    {
        store.begin_upload(id, &format!("/bucket/day.tets/{name}"));
    }
    store.age(30 * 3600);
    store.begin_upload("young", "/bucket/day.tets/part-00000000000000fc.tet");
    let sum = "s3://bucket/sum.npy";
    let cases: [(&[&str], i32, &str); 22] = [
        (&["convert", a, URL], 0, ""),
        (&["convert", a, URL], 2, "exists"),
        (&["edit", "append", URL, b, c, "--axis", "time"], 0, ""),
        (&["info", URL], 0, "12"),
        (&["query", URL, "temp", "--sum"], 0, ""),
        (&["query", URL, "temp", "--sum", "1", "-o", sum], 0, "of npy to s3://bucket/sum.npy"),
        (&["query", URL, "temp", "--sum", "1", "-o", sum], 2, "exists"),
        (&["info", sum], 0, "(12,)"),
        (&["query", URL, r#"{"dataset": "temp", "spill": "s3://bucket/x.raw"}"#], 2, "outside"),
        (&["verify", URL], 0, ""),
        (&["series", "list", URL], 0, "temp[4:12]"),
        (&["series", "gc", URL], 0, "part-00000000000000ff.tet"),
        (&["series", "gc", URL], 0, "part-00000000000000fe.tet  an upload"),
        (&["series", "gc", URL, "--apply"], 0, "part-00000000000000ff.tet"),
        (&["series", "gc", URL], 0, ""),
        (&["convert", URL, one], 0, ""),
        (&["convert", one, ZARR], 0, ""),
        (&["convert", one, ZARR, "--force"], 2, "remove it, or choose another name"),
        (&["edit", "append", one, a, "--axis", "time"], 0, ""),
        (&["edit", "rename", one, "temp=warmth"], 0, ""),
        (&["info", one], 0, "warmth"),
        (&["info", "s3://bucket/none.tets"], 5, "none.tets"),
    ];
    for (args, code, text) in cases {
        let (found, said) = tet(&store, args);
        assert_eq!(found, code, "{args:?}: {said}");
        assert!(said.contains(text), "{args:?}: {said}");
    }
    assert_eq!((parts(&store), store.pending()), (2, 2), "another's upload stays, and a young one");
    assert!(elements(URL) == joined(&files));
    let grown = [files.clone(), vec![files[0].clone()]].concat();
    assert!(elements(one) == joined(&grown));
}

#[test]
fn a_list_of_datasets_does_not_ask_for_their_chunks() {
    let (_guard, store) = bucket(|_| None);
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..3).map(|nth| rows(folder.path(), nth, SHORT)).collect();
    convert(&files[0], URL, &ConvertOptions::default()).unwrap();
    append(&files[1..]).unwrap();
    convert(Path::new(URL), ZARR, &ConvertOptions::default()).unwrap();
    for (url, texts) in [(URL, ["2 files", " ? "]), (ZARR, ["of metadata", " ? "])] {
        let before = store.requests();
        let (code, printed) = tet(&store, &["info", url]);
        assert_eq!((code, store.requests() - before <= 4), (0, true), "{url}: {printed}");
        assert!(texts.iter().all(|text| printed.contains(text)), "{printed}");
        let (code, printed) = tet(&store, &["info", url, "--chunks", "-n", "0"]);
        assert!(code == 0 && !printed.contains(" ? "), "{printed}");
    }
}

/// Another program replaces the manifest after an append whose answer was lost.
#[test]
fn an_append_that_may_have_been_done_is_not_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..2).map(|nth| rows(folder.path(), nth, SHORT)).collect();
    let puts = Arc::new(AtomicUsize::new(usize::MAX));
    let of_faults = Arc::clone(&puts);
    let (_guard, store) =
        bucket(move |nth| match nth.checked_sub(of_faults.load(Ordering::SeqCst)) {
            Some(0) => Some(BucketFault::AnswerLost),
            Some(1) => Some(BucketFault::Overtaken),
            _ => None,
        });
    convert(&files[0], URL, &ConvertOptions::default()).unwrap();
    let manifest = store.get(MANIFEST).unwrap();
    // The request that replaces the manifest is the last one.
    let before = store.requests();
    append(&files[1..]).unwrap();
    let count = store.requests() - before;
    store.put(MANIFEST, &manifest);
    puts.store(store.requests() + count - 1, Ordering::SeqCst);
    let outcome = append(&files[1..]);
    assert!(matches!(outcome, Err(Error::Io(tet_io::Error::Unsure { .. }))), "{outcome:?}");
    assert_eq!(store.get(MANIFEST).unwrap(), b"overtaken");
}
