//! The requests that write, list and remove objects of S3.

use std::io;
use std::time::Duration;

use instant_xml::FromXml;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use percent_encoding::utf8_percent_encode;
use rusty_s3::S3Action;
use rusty_s3::actions::{CompleteMultipartUploadResponse, CreateMultipartUpload, ListObjectsV2};
use tet_io::{FolderEntry, PendingUpload, UrlList};
use url::Url;

use super::{Bucket, ENCODED, S3, SIGNED_FOR, Store, google};
use crate::body::Body;
use crate::http::{Send, ServerResponse};
use crate::object::{
    CopiedRange, Headers, Markers, Object, UploadPage, bucket_and_key, by_etag, is_written,
};
use crate::ranges::{RangeFailure, RangeSource};

/// The URLs of objects between which parts are copied.
const SCHEME: &str = "s3://";

impl Object for S3 {
    fn number_header(&self) -> &'static str {
        match self.bucket.store {
            Store::S3 | Store::GoogleByKeys => "x-amz-meta-tet-upload",
            Store::Google => google::NUMBER,
        }
    }

    fn number(&self) -> Result<Option<String>, RangeFailure> {
        let head = self.send(Send::Head, &[], |bucket, keys, key| {
            bucket.head_object(keys, key).sign(SIGNED_FOR)
        });
        Ok(head?.header(self.number_header()).map(str::to_owned))
    }

    fn is_conditional(&self) -> bool {
        self.bucket.store != Store::GoogleByKeys
    }

    fn condition(&self, version: Option<&str>) -> Option<(&'static str, String)> {
        match self.bucket.store {
            Store::Google => google::condition(version),
            Store::S3 | Store::GoogleByKeys => by_etag(version),
        }
    }

    fn put(&self, body: Body<'_>, headers: &Headers<'_>) -> Result<(), RangeFailure> {
        let sent = self.send(Send::Put(body), headers, |bucket, keys, key| {
            signed(bucket.put_object(keys, key), headers)
        });
        is_written(&sent?)
    }

    fn begin(&self, headers: &Headers<'_>, is_conditional: bool) -> Result<String, RangeFailure> {
        if let (Store::Google, true) = (self.bucket.store, is_conditional) {
            return self.begin_beside(headers);
        }
        let answer = self.send(Send::Post(&[]), headers, |bucket, keys, key| {
            signed(bucket.create_multipart_upload(keys, key), headers)
        })?;
        let parsed = CreateMultipartUpload::parse_response(&answer.body);
        let upload = parsed.ok().map(|it| it.upload_id().to_owned()).filter(|it| !it.is_empty());
        upload.ok_or_else(not_understood)
    }

    fn part(&self, upload: &str, nth: usize, body: Body<'_>) -> Result<String, RangeFailure> {
        if let Some((beside, upload)) = self.beside(upload) {
            return beside.part(upload, nth, body);
        }
        let answer = self.send(Send::Put(body), &[], |bucket, keys, key| {
            bucket.upload_part(keys, key, part_number(nth), upload).sign(SIGNED_FOR)
        })?;
        answer.header("etag").map(str::to_owned).ok_or_else(not_understood)
    }

    fn other(&self, url: &str) -> Option<Box<dyn RangeSource>> {
        // Google's server copies no ranges.
        let is_s3 = self.bucket.store == Store::S3;
        let (bucket, key) = bucket_and_key(url, SCHEME).filter(|_| is_s3)?;
        let (bucket, key, name) = (bucket.to_owned(), key.to_owned(), url.to_owned());
        Some(Box::new(self.with(Bucket { bucket, key, name, ..self.bucket.clone() })))
    }

    fn copy(
        &self,
        upload: &str,
        nth: usize,
        from: &CopiedRange<'_>,
    ) -> Result<String, RangeFailure> {
        let (bucket, key) = bucket_and_key(from.url, SCHEME).ok_or_else(not_understood)?;
        let source = format!("{bucket}/{}", utf8_percent_encode(key, ENCODED));
        let range = from.range();
        let headers = [
            ("x-amz-copy-source", &*source),
            ("x-amz-copy-source-if-match", from.etag),
            ("x-amz-copy-source-range", &*range),
        ];
        let answer = self.send(Send::Put(Body::Bytes(&[])), &headers, |bucket, keys, key| {
            signed(bucket.upload_part(keys, key, part_number(nth), upload), &headers)
        })?;
        // The status is sent before the server knows.
        let copied = instant_xml::from_str::<Copied>(&answer.body).map(|copied| copied.etag);
        let bare = || instant_xml::from_str::<CopiedBare>(&answer.body).map(|copied| copied.etag);
        copied.or_else(|_| bare()).map_err(|_| not_understood())
    }

    fn end(
        &self,
        upload: &str,
        parts: &[String],
        headers: &Headers<'_>,
    ) -> Result<(), RangeFailure> {
        if let Some((beside, upload)) = self.beside(upload) {
            return self.end_beside(&beside, upload, parts, headers);
        }
        let etags = || parts.iter().map(String::as_str);
        let bucket = self.bucket()?;
        let body = bucket.complete_multipart_upload(None, "", upload, etags()).body();
        let send = Send::Post(body.as_bytes());
        let answer = self.send(send, headers, |bucket, keys, key| {
            signed(bucket.complete_multipart_upload(keys, key, upload, etags()), headers)
        })?;
        // The status is sent before the server knows.
        let parsed = CompleteMultipartUploadResponse::parse(&answer.body);
        let text = "the server does not end the upload";
        parsed.map(drop).map_err(|_| RangeFailure::later(io::Error::other(text)))
    }

    fn abort(&self, upload: &str) -> Result<(), RangeFailure> {
        if let Some((beside, upload)) = self.beside(upload) {
            return beside.abort(upload).and(beside.remove());
        }
        let sent = self.send(Send::Delete, &[], |bucket, keys, key| {
            bucket.abort_multipart_upload(keys, key, upload).sign(SIGNED_FOR)
        });
        sent.map(drop)
    }

    fn list(&self, token: Option<&str>) -> Result<(UrlList, Option<String>), RangeFailure> {
        let prefix = format!("{}/", self.key().trim_end_matches('/'));
        let answer = self.send(Send::Get, &[], |bucket, keys, _| {
            let mut list = bucket.list_objects_v2(keys);
            list.with_prefix(&*prefix);
            list.with_delimiter("/");
            if let Some(token) = token {
                list.with_continuation_token(token);
            }
            list.sign(SIGNED_FOR)
        })?;
        let parsed = ListObjectsV2::parse_response(&answer.body)
            .map_err(|_| RangeFailure::refused("the server's list of objects is not understood"))?;
        let now = time_of(&answer);
        let mut page = UrlList::default();
        for object in parsed.contents {
            let Some(name) = object.key.strip_prefix(&prefix) else { continue };
            if name.is_empty() || name.contains('/') {
                continue;
            }
            let age = age(now, object.last_modified.as_deref());
            let (name, len) = (name.to_owned(), object.size.unwrap_or(0));
            page.files.push(FolderEntry { name, len, age });
        }
        let folders = parsed.common_prefixes.iter();
        let folders = folders.filter_map(|it| it.prefix.strip_prefix(&prefix)?.strip_suffix('/'));
        page.folders.extend(folders.map(str::to_owned));
        Ok((page, parsed.next_continuation_token))
    }

    fn uploads(&self, after: Option<&Markers>) -> Result<UploadPage, RangeFailure> {
        let prefix = format!("{}/", self.key().trim_end_matches('/'));
        let answer = self.send(Send::Get, &[], |bucket, keys, _| {
            // A request to the bucket, whose query says what is wanted.
            let mut list = bucket.get_object(keys, "");
            let query = list.query_mut();
            query.insert("uploads", "");
            query.insert("prefix", &*prefix);
            if let Some((key, upload)) = after {
                query.insert("key-marker", key);
                query.insert("upload-id-marker", upload);
            }
            list.sign(SIGNED_FOR)
        })?;
        let list: Uploads = instant_xml::from_str(&answer.body)
            .map_err(|_| RangeFailure::refused("the server's list of uploads is not understood"))?;
        let now = time_of(&answer);
        let pending = |upload: UploadEntry| {
            let name = upload.key.strip_prefix(&prefix).filter(|name| !name.contains('/'))?;
            let (name, age) = (name.to_owned(), age(now, upload.initiated.as_deref()));
            Some(PendingUpload { name, id: upload.id, age })
        };
        let next = list.next_key.filter(|_| list.is_truncated == Some(true));
        let next = next.map(|key| (key, list.next_upload.unwrap_or_default()));
        Ok((list.uploads.into_iter().filter_map(pending).collect(), next))
    }

    fn remove(&self) -> Result<(), RangeFailure> {
        let sent = self.send(Send::Delete, &[], |bucket, keys, key| {
            bucket.delete_object(keys, key).sign(SIGNED_FOR)
        });
        sent.map(drop)
    }
}

/// The number of a part, from 1.
fn part_number(nth: usize) -> u16 {
    u16::try_from(nth.saturating_add(1)).unwrap_or(u16::MAX)
}

/// The time of the server.
fn time_of(answer: &ServerResponse) -> Option<Timestamp> {
    let date = rfc2822::parse(answer.header("date")?).ok()?;
    Some(date.timestamp())
}

/// How long ago a time is.
fn age(now: Option<Timestamp>, then: Option<&str>) -> Option<Duration> {
    let then = then?.parse::<Timestamp>().ok()?;
    Duration::try_from(now?.duration_since(then)).ok()
}

/// A page of the uploads of a bucket.
#[derive(Debug, FromXml)]
#[xml(rename = "ListMultipartUploadsResult", ns(S3_XML_NS))]
struct Uploads {
    #[xml(rename = "IsTruncated")]
    is_truncated: Option<bool>,
    #[xml(rename = "NextKeyMarker")]
    next_key: Option<String>,
    #[xml(rename = "NextUploadIdMarker")]
    next_upload: Option<String>,
    uploads: Vec<UploadEntry>,
}

#[derive(Debug, FromXml)]
#[xml(rename = "Upload", ns(S3_XML_NS))]
struct UploadEntry {
    #[xml(rename = "Key")]
    key: String,
    #[xml(rename = "UploadId")]
    id: String,
    #[xml(rename = "Initiated")]
    initiated: Option<String>,
}

/// The server's result for a copied part.
#[derive(Debug, FromXml)]
#[xml(rename = "CopyPartResult", ns(S3_XML_NS))]
struct Copied {
    #[xml(rename = "ETag")]
    etag: String,
}

/// Copy result of a server that names no namespace.
#[derive(Debug, FromXml)]
#[xml(rename = "CopyPartResult")]
struct CopiedBare {
    #[xml(rename = "ETag")]
    etag: String,
}

/// The namespace of the answers.
const S3_XML_NS: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

/// The URL of a request with headers, which are signed too.
fn signed<'a>(mut action: impl S3Action<'a>, headers: &Headers<'a>) -> Url {
    for (name, value) in headers {
        action.headers_mut().insert(*name, *value);
    }
    action.sign(SIGNED_FOR)
}

fn not_understood() -> RangeFailure {
    RangeFailure::refused("the server's answer to an upload is not understood")
}
