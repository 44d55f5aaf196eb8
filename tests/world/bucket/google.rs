//! Google's buckets, with HMAC keys and with a token.

use tet_convert::{AxisAppend, ConvertOptions, EditOptions, Error};
use tet_io::{Overwrite, Source};
use tet_query::Execution;

use super::{LONG, SHORT, URL, bucket, bucket_by, convert, elements, rows};

/// Google ignores conditions: what needs them is refused before anything is written.
#[test]
fn where_conditions_are_ignored_nothing_is_written_that_needs_them() {
    let (_guard, store) = bucket(|_| None);
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = [SHORT, LONG].map(|row_len| rows(folder.path(), 0, row_len)).into();
    for (nth, file) in files.iter().enumerate() {
        let url = format!("gs://bucket/{nth}.tet");
        convert(file, &url, &ConvertOptions::default()).unwrap();
        assert!(elements(&url) == elements(file));
        let found = convert(file, &url, &ConvertOptions::default());
        assert!(found.as_ref().is_err_and(|it| it.to_string().ends_with(" exists")), "{found:?}");
        let mut replaced = ConvertOptions::default();
        replaced.tet.overwrite = Overwrite::Replace;
        convert(file, &url, &replaced).unwrap();
    }
    convert(&files[0], URL, &ConvertOptions::default()).unwrap();
    store.take_log();
    let asked = AxisAppend { axis: "time", inputs: &files[..1], ..AxisAppend::default() };
    let (edit, how) = (EditOptions::default(), Execution::default());
    let appended = tet_convert::append("gs://bucket/day.tets".as_ref(), &asked, &edit, &how);
    for refused in [
        appended.map(drop),
        convert(&files[0], "gs://bucket/new.tets", &ConvertOptions::default()),
        convert(&files[0], "gs://bucket/new.zarr", &ConvertOptions::default()),
    ] {
        let is_refused = matches!(refused, Err(Error::Io(tet_io::Error::UrlUnconditional { .. })));
        assert!(is_refused, "{refused:?}");
    }
    let source = Source::open("gs://bucket/0.tet").unwrap();
    let output = tet_io::Output::InPlace("gs://bucket/0.tet".as_ref());
    let edited = output.begin(&source, &tet_io::Publish::default()).and_then(|it| it.commit());
    assert!(matches!(edited, Err(tet_io::Error::UrlUnconditional { .. })), "{edited:?}");
    assert!(store.take_log().iter().all(|asked| asked.starts_with("GET")));
}

/// With a token Google compares generations: what needs conditions is done, whatever the length of its objects.
#[test]
fn with_a_token_google_has_conditions() {
    let token = &[("CLOUDSDK_AUTH_ACCESS_TOKEN", "token")];
    let (_guard, store) = bucket_by(|_| None, token);
    let folder = tempfile::tempdir().unwrap();
    for (row_len, name) in [(SHORT, "short"), (LONG, "long")] {
        let files: Vec<_> = (0..2).map(|nth| rows(folder.path(), nth, row_len)).collect();
        let series = format!("gs://bucket/{name}.tets");
        convert(&files[0], &series, &ConvertOptions::default()).unwrap();
        let asked = AxisAppend { axis: "time", inputs: &files[1..], ..AxisAppend::default() };
        let (edit, how) = (EditOptions::default(), Execution::default());
        tet_convert::append(series.as_ref(), &asked, &edit, &how).unwrap();
        let all = [elements(&files[0]), elements(&files[1])].concat();
        assert!(elements(&series) == all);
        let file = format!("gs://bucket/{name}.tet");
        convert(series.as_ref(), &file, &ConvertOptions::default()).unwrap();
        let source = Source::open(&file).unwrap();
        let output = tet_io::Output::InPlace(file.as_ref());
        let edited = output.begin(&source, &tet_io::Publish::default()).unwrap();
        // Another program is faster.
        store.put(&format!("/bucket/{name}.tet"), b"other");
        let found = edited.commit();
        assert!(matches!(found, Err(tet_io::Error::Changed { .. })), "{found:?}");
        let hierarchy = format!("gs://bucket/{name}.zarr");
        convert(&files[0], &hierarchy, &ConvertOptions::default()).unwrap();
        assert!(elements(&hierarchy) == elements(&files[0]));
    }
    let stray: Vec<_> = store.paths().into_iter().filter(|it| it.contains("tet-upload")).collect();
    assert!(stray.is_empty() && store.pending() == 0, "{stray:?}");
}
