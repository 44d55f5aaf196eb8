//! The bucket with the API of Azure: blobs of blocks, and lists of a container.

use std::collections::BTreeMap;

use super::{BucketRequest, BucketResponse, BucketState, LISTED_MAX, part_of};

/// Whether a request is one to Azure.
pub(super) fn is_azure(asked: &BucketRequest) -> bool {
    asked.headers.contains_key("x-ms-version")
}

/// Does what is asked.
pub(super) fn done(asked: &BucketRequest, state: &mut BucketState) -> BucketResponse {
    let plain = |status| (status, String::new(), Vec::new());
    let fault = |status, code: &str| (status, format!("x-ms-error-code: {code}\r\n"), Vec::new());
    let number = asked.headers.get("x-ms-meta-tetupload").cloned().unwrap_or_default();
    let object = state.objects.get(&asked.path);
    let comp = asked.query.get("comp").map(String::as_str);
    if asked.method == "PUT" && comp != Some("block") {
        let other = |etag: &String| object.is_none_or(|object| object.etag != *etag);
        if asked.headers.contains_key("if-none-match") && object.is_some() {
            return fault(409, "BlobAlreadyExists");
        } else if asked.headers.get("if-match").is_some_and(other) {
            return fault(412, "ConditionNotMet");
        }
    }
    match (asked.method.as_str(), comp) {
        ("GET", Some("list")) => listed(asked, state),
        ("GET" | "HEAD", _) => object.map_or(plain(404), |object| part_of(object, asked)),
        ("PUT", Some("block")) => {
            let (status, bytes) = match asked.headers.get(super::COPIED_BLOCK) {
                None => (201, asked.body.clone()),
                Some(url) => copied(asked, url, state),
            };
            if status != 201 {
                return plain(status);
            }
            let id = asked.query.get("blockid").cloned().unwrap_or_default();
            let blocks = state.blocks.entry(asked.path.clone()).or_default();
            blocks.insert(id.replace("%3D", "="), bytes);
            plain(201)
        }
        ("PUT", Some("blocklist")) => {
            let text = String::from_utf8_lossy(&asked.body).into_owned();
            let ids = text.split("<Uncommitted>").skip(1);
            let ids = ids.map(|rest| rest.split('<').next().unwrap_or_default());
            let blocks = state.blocks.get(&asked.path);
            let bytes = ids.map(|id| blocks?.get(id).cloned()).collect::<Option<Vec<_>>>();
            let Some(bytes) = bytes else { return fault(400, "InvalidBlockList") };
            // Blocks of others are gone as well.
            state.blocks.remove(&asked.path);
            state.put(&asked.path, bytes.concat(), number);
            state.written(201, &asked.path)
        }
        ("PUT", None)
            if asked.headers.get("x-ms-blob-type").is_some_and(|it| it == "BlockBlob") =>
        {
            state.put(&asked.path, asked.body.clone(), number);
            state.written(201, &asked.path)
        }
        ("DELETE", None) => plain(state.objects.remove(&asked.path).map_or(404, |_| 202)),
        _ => plain(400),
    }
}

/// The status and the bytes of a block that is copied of another blob, whose URL is signed.
fn copied(asked: &BucketRequest, url: &str, state: &BucketState) -> (u16, Vec<u8>) {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let path = path.splitn(4, '/').nth(3).map(|path| format!("/{}", path.replace("%20", " ")));
    let Some(object) = path.and_then(|path| state.objects.get(&path)) else {
        return (404, Vec::new());
    };
    if !query.contains("sig=") {
        return (403, Vec::new());
    }
    if asked.headers.get("x-ms-source-if-match") != Some(&object.etag) {
        return (412, Vec::new());
    }
    let range = asked.headers["x-ms-source-range"].strip_prefix("bytes=").unwrap();
    let (first, last) = range.split_once('-').unwrap();
    let range = first.parse::<usize>().unwrap()..=last.parse().unwrap();
    object.bytes.get(range).map_or((416, Vec::new()), |bytes| (201, bytes.to_vec()))
}

/// Lists the blobs directly below a prefix.
fn listed(asked: &BucketRequest, state: &BucketState) -> BucketResponse {
    let plain = |name: &str| {
        let text = asked.query.get(name).map_or("", String::as_str);
        text.replace("%2F", "/").replace("%20", " ")
    };
    let (prefix, after) = (plain("prefix"), plain("marker"));
    let bucket = format!("{}/", asked.path.trim_end_matches('/'));
    let mut entries = BTreeMap::new();
    for (path, object) in &state.objects {
        let Some(key) = path.strip_prefix(&bucket).filter(|key| key.starts_with(&prefix)) else {
            continue;
        };
        let entry = match key[prefix.len()..].split_once('/') {
            Some((folder, _)) => {
                let name = format!("{prefix}{folder}/");
                (name.clone(), format!("<BlobPrefix><Name>{name}</Name></BlobPrefix>"))
            }
            None => {
                let seconds = 26 * 86_400 + 12 * 3600 - object.age;
                let (day, hour, minute) =
                    (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
                let week = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
                let name_of_day = week[usize::try_from((day + 2) % 7).unwrap()];
                let time = format!("{name_of_day}, {day:02} Nov 2026 {hour:02}:{minute:02}:00 GMT");
                let about = format!("<Last-Modified>{time}</Last-Modified>");
                let len = format!("<Content-Length>{}</Content-Length>", object.bytes.len());
                let about = format!("<Properties>{about}{len}</Properties>");
                (key.to_owned(), format!("<Blob><Name>{key}</Name>{about}</Blob>"))
            }
        };
        if after < entry.0 {
            entries.insert(entry.0, entry.1);
        }
    }
    let last = entries.keys().nth(LISTED_MAX - 1).filter(|_| LISTED_MAX < entries.len());
    let next = format!("<NextMarker>{}</NextMarker>", last.cloned().unwrap_or_default());
    let blobs: String = entries.into_values().take(LISTED_MAX).collect();
    let body =
        format!("\u{feff}<EnumerationResults><Blobs>{blobs}</Blobs>{next}</EnumerationResults>");
    // A page of the length that servers choose is longer than an answer may be.
    let is_bounded = asked.query.get("maxresults").is_some_and(|count| count.len() <= 3);
    let rest = if is_bounded { String::new() } else { " ".repeat(1 << 20) };
    (200, String::new(), (body + &rest).into_bytes())
}
