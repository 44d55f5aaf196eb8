//! Object addresses: the parts of a URL.

use std::io;

use url::Url;

use crate::account::{Account, Secrets};
use crate::azure::{self, Access, Blob};
use crate::credentials::{self, Profile};
use crate::s3::{Bucket, Store};
use crate::settings::Lookup;

/// The variables, and the secrets that were fetched.
pub(crate) type Known<'a> = (&'a Lookup, &'a Secrets);

/// The schemes that are understood, for messages.
const SCHEMES: &str = "http, https, s3, gs and az";

/// The parsed URL of an object.
#[derive(Debug)]
pub(crate) enum Address {
    /// A server, and the name of the file without secrets.
    Http { url: Url, name: String },
    /// A bucket of S3, or of a service with its API.
    S3(Bucket),
    /// A blob of Azure.
    Azure(Blob),
}

impl Address {
    /// Parses a URL; reads the files that have credentials. Those that are fetched are shared.
    ///
    /// # Errors
    ///
    /// Returns an error when the URL is not understood.
    pub(crate) fn parse(text: &str, known: Known<'_>) -> io::Result<Address> {
        let (lookup, secrets) = known;
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => Self::http(text),
            "s3" => Self::s3(text, rest, lookup, secrets),
            "gs" => Self::gs(text, rest, lookup, secrets),
            "az" => Self::az(text, rest, lookup, secrets),
            scheme => Err(wrong(format!("{scheme}:// is not one of {SCHEMES}"))),
        }
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> &str {
        match self {
            Address::Http { name, .. } => name,
            Address::S3(bucket) => &bucket.name,
            Address::Azure(blob) => &blob.name,
        }
    }

    /// Identifies the object among all others: its address without signatures, which change while the object does
    /// not. It may have secrets, and is not shown.
    pub(crate) fn object(&self) -> String {
        match self {
            Address::Http { url, .. } => unsigned(url).into(),
            Address::Azure(blob) => blob.url().into(),
            Address::S3(Bucket { endpoint, bucket, key, .. }) => {
                let endpoint = endpoint.as_deref().unwrap_or("s3:");
                format!("{endpoint}/{bucket}/{key}")
            }
        }
    }

    fn http(text: &str) -> io::Result<Address> {
        let mut url = Url::parse(text).map_err(|error| wrong(error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("names and passwords in a URL are not used".to_owned()));
        }
        url.set_fragment(None);
        let mut name = url.clone();
        name.set_query(None);
        Ok(Address::Http { url, name: name.into() })
    }

    fn s3(text: &str, rest: &str, lookup: &Lookup, secrets: &Secrets) -> io::Result<Address> {
        let (bucket, key) = bucket_and_key(rest)?;
        let profile = Profile::read(lookup, &secrets.files)?;
        Ok(Address::S3(Bucket {
            endpoint: profile.endpoint,
            region: profile.region.unwrap_or_else(|| "us-east-1".to_owned()),
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            account: Account::new(profile.origin, secrets),
            store: Store::S3,
            name: text.to_owned(),
        }))
    }

    /// The XML API of Google, which is compatible with S3.
    fn gs(text: &str, rest: &str, lookup: &Lookup, secrets: &Secrets) -> io::Result<Address> {
        let (bucket, key) = bucket_and_key(rest)?;
        let endpoint = lookup.get("GS_ENDPOINT_URL");
        let endpoint = endpoint.unwrap_or_else(|| "https://storage.googleapis.com".to_owned());
        let account = Account::new(credentials::of_google(lookup), secrets);
        Ok(Address::S3(Bucket {
            endpoint: Some(endpoint),
            region: "auto".to_owned(),
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            store: if account.has_token() { Store::Google } else { Store::GoogleByKeys },
            account,
            name: text.to_owned(),
        }))
    }

    /// A blob of Azure.
    fn az(text: &str, rest: &str, lookup: &Lookup, secrets: &Secrets) -> io::Result<Address> {
        let (container, blob) = bucket_and_key(rest)?;
        let lookup = &azure::variables(lookup)?;
        let endpoint = match (lookup.get("AZURE_ENDPOINT_URL"), lookup.get("AZURE_STORAGE_ACCOUNT"))
        {
            (Some(endpoint), _) => endpoint,
            (None, Some(account)) => format!("https://{account}.blob.core.windows.net"),
            (None, None) => {
                return Err(wrong(
                    "set AZURE_STORAGE_ACCOUNT to the name of the account".to_owned(),
                ));
            }
        };
        let mut url = Url::parse(&endpoint).map_err(|error| wrong(error.to_string()))?;
        let mut path =
            url.path_segments_mut().map_err(|()| wrong("no URL of a server".to_owned()))?;
        path.pop_if_empty().push(container);
        drop(path);
        url.set_query(None);
        let (key, access, name) =
            (blob.to_owned(), Access::from_variables(lookup, secrets)?, text.to_owned());
        Ok(Address::Azure(Blob { container: url, key, access, name }))
    }
}

/// The beginnings of the names of the parameters of a signature, of S3 and of Google.
const SIGNATURE: [&str; 2] = ["x-amz-", "x-goog-"];
/// The parameters of a shared access signature of Azure.
const SHARED_ACCESS: [&str; 19] = [
    "sv", "ss", "srt", "sp", "se", "st", "spr", "sig", "sr", "sip", "si", "skoid", "sktid", "skt",
    "ske", "sks", "skv", "saoid", "suoid",
];

/// A URL without the parameters of a signature in its query.
fn unsigned(url: &Url) -> Url {
    let names: Vec<String> = url.query_pairs().map(|(name, _)| name.to_ascii_lowercase()).collect();
    let is_shared = ["sv", "sig"].iter().all(|known| names.iter().any(|name| name == known));
    let is_signature = |name: &str| {
        let is_presigned = SIGNATURE.iter().any(|prefix| name.starts_with(prefix));
        is_presigned || (is_shared && SHARED_ACCESS.contains(&name))
    };
    let mut unsigned = url.clone();
    unsigned.set_query(None);
    for (_, (name, value)) in
        names.iter().zip(url.query_pairs()).filter(|(it, _)| !is_signature(it))
    {
        unsigned.query_pairs_mut().append_pair(&name, &value);
    }
    unsigned
}

fn bucket_and_key(rest: &str) -> io::Result<(&str, &str)> {
    let parts = rest.split_once('/').filter(|(bucket, key)| !bucket.is_empty() && !key.is_empty());
    parts.ok_or_else(|| wrong("a URL of an object is scheme://bucket/key".to_owned()))
}

fn wrong(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(
        text: &str,
        variables: &'static [(&'static str, &'static str)],
    ) -> io::Result<Address> {
        let find = move |name: &str| variables.iter().find(|it| it.0 == name);
        let lookup = Lookup::new(move |name| find(name).map(|it| it.1.to_owned()));
        Address::parse(text, (&lookup, &Secrets::default()))
    }

    #[test]
    fn no_name_has_a_secret() {
        for (text, name) in [
            ("https://h/a.tet?sig=secret#x", "https://h/a.tet"),
            ("http://h:81/a%20b", "http://h:81/a%20b"),
            ("s3://bucket/a/b.tet", "s3://bucket/a/b.tet"),
        ] {
            let address = parse(text, &[]).unwrap();
            assert_eq!(address.name(), name);
        }
        let variables =
            &[("AZURE_STORAGE_ACCOUNT", "acme"), ("AZURE_STORAGE_SAS_TOKEN", "?sig=secret")];
        let address = parse("az://c/a b/x", variables).unwrap();
        assert_eq!(address.name(), "az://c/a b/x");
        assert_eq!(address.object(), "https://acme.blob.core.windows.net/c/a%20b/x");
        assert!(!format!("{address:?}").contains("secret"));
        let Address::Azure(blob) = address else { panic!() };
        let mut url = blob.url();
        blob.access.sign(&mut url);
        assert_eq!(url.as_str(), "https://acme.blob.core.windows.net/c/a%20b/x?sig=secret");
    }

    #[test]
    fn an_object_is_the_same_whatever_its_signature() {
        let object = |text| parse(text, &[("AWS_REGION", "eu-west-1")]).unwrap().object();
        for (signed, plain) in [
            ("https://h/a?X-Amz-Signature=s&x-amz-date=d&versionId=7", "https://h/a?versionId=7"),
            ("https://h/a?X-Goog-Signature=s", "https://h/a"),
            ("https://h/a?sv=2024&se=2026&sr=b&sig=s&x=y", "https://h/a?x=y"),
        ] {
            assert_eq!(object(signed), plain);
        }
        let differing = [
            "https://h/a",
            "http://h/a",
            "https://h/a?file=1",
            "https://h/a?file=2",
            "https://h/a?st=1",
            "s3://h/a",
            "s3://h/b",
        ];
        let objects: std::collections::BTreeSet<_> = differing.map(object).into_iter().collect();
        assert_eq!(objects.len(), differing.len());
        let variables = &[("AWS_ENDPOINT_URL", "http://localhost:1")];
        assert_ne!(parse("s3://h/a", variables).unwrap().object(), object("s3://h/a"));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in ["ftp://h/a", "s3://bucket", "s3:///key", "gs://b/", "https://", "az://c/b"] {
            assert!(parse(text, &[]).is_err(), "{text}");
        }
        let url = "https://me:secret@h/a@b?sig=secret";
        let error = crate::open(url, &crate::Settings::default()).unwrap_err().to_string();
        assert!(error.starts_with("cannot open https://h/a@b: "), "{error}");
    }
}
