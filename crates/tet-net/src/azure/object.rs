//! The requests that write, list and remove blobs of Azure.
//!
//! A blob in parts is a list of blocks that were sent before, and is there when the list is. Blocks that belong to no
//! list are invisible, and Azure removes them after a week.

use std::fmt::Write;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use instant_xml::FromXml;
use jiff::fmt::rfc2822;
use tet_io::{FolderEntry, UrlList};

use super::Azure;
use crate::body::Body;
use crate::http::Send;
use crate::object::{CopiedRange, Headers, Object, is_written};
use crate::ranges::{RangeFailure, RangeSource};

/// The header with the number of an upload: names of metadata are identifiers.
const NUMBER: &str = "x-ms-meta-tetupload";

impl Azure {
    /// Sends a block, or has one copied; its name.
    fn block(
        &self,
        upload: &str,
        nth: usize,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<String, RangeFailure> {
        let block = STANDARD.encode(format!("{upload}-{nth:06}"));
        let query = [("comp", "block"), ("blockid", &*block)];
        self.send(Send::Put(body), self.blob.url(), &query, headers)?;
        Ok(block)
    }
}

impl Object for Azure {
    fn number_header(&self) -> &'static str {
        NUMBER
    }

    fn number(&self) -> Result<Option<String>, RangeFailure> {
        let head = self.send(Send::Head, self.blob.url(), &[], &[]);
        Ok(head?.header(NUMBER).map(str::to_owned))
    }

    fn put(&self, body: Body<'_>, headers: &Headers<'_>) -> Result<(), RangeFailure> {
        let headers = [&[("x-ms-blob-type", "BlockBlob")], headers].concat();
        is_written(&self.send(Send::Put(body), self.blob.url(), &[], &headers)?)
    }

    /// Nothing is requested: the name of an upload is its number.
    fn begin(&self, headers: &Headers<'_>, _is_conditional: bool) -> Result<String, RangeFailure> {
        let number = headers.iter().find(|(name, _)| *name == NUMBER);
        Ok(number.map(|(_, number)| (*number).to_owned()).unwrap_or_default())
    }

    /// Blocks of other uploads have other names, so that no upload takes those of another.
    fn part(&self, upload: &str, nth: usize, body: Body<'_>) -> Result<String, RangeFailure> {
        self.block(upload, nth, body, &[])
    }

    fn other(&self, url: &str) -> Option<Box<dyn RangeSource>> {
        Some(Box::new(self.other_blob(url)?))
    }

    fn copy(
        &self,
        upload: &str,
        nth: usize,
        from: &CopiedRange<'_>,
    ) -> Result<String, RangeFailure> {
        let other = self.other_blob(from.url);
        let other = other.ok_or_else(|| RangeFailure::refused("this is no URL of a blob"))?;
        let mut source = other.blob.url();
        let header = other.signed(&mut source)?;
        let range = from.range();
        let mut headers = vec![
            ("x-ms-copy-source", source.as_str()),
            ("x-ms-source-range", &*range),
            ("x-ms-source-if-match", from.etag),
        ];
        headers.extend(header.iter().map(|value| ("x-ms-copy-source-authorization", &**value)));
        self.block(upload, nth, Body::Bytes(&[]), &headers)
    }

    fn end(
        &self,
        upload: &str,
        parts: &[String],
        headers: &Headers<'_>,
    ) -> Result<(), RangeFailure> {
        let mut body = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>".to_owned();
        for part in parts {
            let _ = write!(body, "<Uncommitted>{part}</Uncommitted>");
        }
        body += "</BlockList>";
        let headers = [&[(NUMBER, upload)], headers].concat();
        let put = Send::Put(Body::Bytes(body.as_bytes()));
        is_written(&self.send(put, self.blob.url(), &[("comp", "blocklist")], &headers)?)
    }

    /// Azure removes the blocks.
    fn abort(&self, _upload: &str) -> Result<(), RangeFailure> {
        Ok(())
    }

    fn list(&self, token: Option<&str>) -> Result<(UrlList, Option<String>), RangeFailure> {
        let prefix = format!("{}/", self.blob.key.trim_end_matches('/'));
        // A page of 5,000, which is what servers give, is longer than an answer may be.
        let mut query = vec![("restype", "container"), ("comp", "list"), ("delimiter", "/")];
        query.push(("maxresults", PAGE_COUNT));
        query.push(("prefix", &prefix));
        query.extend(token.map(|token| ("marker", token)));
        let answer = self.send(Send::Get, self.blob.container.clone(), &query, &[])?;
        // Some servers begin with a mark of the order of bytes.
        let list = answer.body.trim_start_matches('\u{feff}');
        let list: EnumerationResults = instant_xml::from_str(list)
            .map_err(|_| RangeFailure::refused("the server's list of blobs is not understood"))?;
        let time = |text: &str| rfc2822::parse(text).ok().map(|time| time.timestamp());
        let now = answer.header("date").and_then(time);
        let mut page = UrlList::default();
        for blob in list.blobs.files {
            let name = blob.name.strip_prefix(&prefix).filter(|name| !name.is_empty());
            let Some(name) = name.filter(|name| !name.contains('/')) else { continue };
            let changed = blob.properties.changed.as_deref().and_then(time);
            let age = now.zip(changed).map(|(now, changed)| now.duration_since(changed));
            let age = age.and_then(|age| Duration::try_from(age).ok());
            let (name, len) = (name.to_owned(), blob.properties.len.unwrap_or(0));
            page.files.push(FolderEntry { name, len, age });
        }
        let folders = list.blobs.folders.iter();
        let folders = folders.filter_map(|it| it.name.strip_prefix(&prefix)?.strip_suffix('/'));
        page.folders.extend(folders.map(str::to_owned));
        Ok((page, list.next.filter(|next| !next.is_empty())))
    }

    fn remove(&self) -> Result<(), RangeFailure> {
        self.send(Send::Delete, self.blob.url(), &[], &[]).map(drop)
    }
}

/// Blobs in a page of a list: of names of 1 KiB, a page has less than 1 MiB.
const PAGE_COUNT: &str = "500";

/// A page of a list.
#[derive(Debug, FromXml)]
struct EnumerationResults {
    #[xml(rename = "Blobs")]
    blobs: Blobs,
    #[xml(rename = "NextMarker")]
    next: Option<String>,
}

#[derive(Debug, FromXml)]
struct Blobs {
    #[xml(rename = "Blob")]
    files: Vec<Blob>,
    #[xml(rename = "BlobPrefix")]
    folders: Vec<BlobPrefix>,
}

#[derive(Debug, FromXml)]
struct Blob {
    #[xml(rename = "Name")]
    name: String,
    #[xml(rename = "Properties")]
    properties: Properties,
}

#[derive(Debug, FromXml)]
struct Properties {
    #[xml(rename = "Last-Modified")]
    changed: Option<String>,
    #[xml(rename = "Content-Length")]
    len: Option<u64>,
}

#[derive(Debug, FromXml)]
struct BlobPrefix {
    #[xml(rename = "Name")]
    name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list as the documentation of Azure has it, with what is not used.
    #[test]
    fn a_list_is_understood() {
        let text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\
            <EnumerationResults ServiceEndpoint=\"https://acme.blob.core.windows.net/\" ContainerName=\"c\">\
            <Prefix>a/</Prefix><MaxResults>2</MaxResults><Delimiter>/</Delimiter><Blobs>\
            <Blob><Name>a/x &amp; y</Name><Deleted>false</Deleted><Properties>\
            <Creation-Time>Wed, 09 Sep 2009 09:20:02 GMT</Creation-Time>\
            <Last-Modified>Wed, 09 Sep 2009 09:20:03 GMT</Last-Modified><Etag>0x8CBFF45D8A29A19</Etag>\
            <Content-Length>100</Content-Length><Content-Type>text/html</Content-Type><Content-Encoding />\
            <BlobType>BlockBlob</BlobType></Properties><Metadata /></Blob>\
            <BlobPrefix><Name>a/b/</Name></BlobPrefix></Blobs><NextMarker>2!4</NextMarker></EnumerationResults>";
        let list: EnumerationResults = instant_xml::from_str(text).unwrap();
        let file = &list.blobs.files[0];
        assert_eq!((file.name.as_str(), file.properties.len), ("a/x & y", Some(100)));
        assert_eq!(list.blobs.folders[0].name, "a/b/");
        assert_eq!(list.next.as_deref(), Some("2!4"));
        let empty = "<EnumerationResults><Blobs /><NextMarker /></EnumerationResults>";
        let list: EnumerationResults = instant_xml::from_str(empty).unwrap();
        assert!(list.blobs.files.is_empty() && list.next.is_none_or(|next| next.is_empty()));
    }
}
