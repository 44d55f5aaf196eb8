//! Keys and tokens of a container or of a machine, from the server of metadata beside it.

use std::path::PathBuf;

use url::{Host, Url};

use super::fetched::{Fetched, ask, keys, text_in, token, url_of};
use crate::body::Body;
use crate::http::{Client, Send};
use crate::ranges::RangeFailure;

/// How long the token for the metadata of a machine of AWS is good for, in seconds.
const TOKEN_SECONDS: &str = "300";
/// The addresses of a container's server that may be asked without TLS, besides the machine itself.
const CONTAINERS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];

/// A server of metadata, and the requests to it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Metadata {
    /// That of a container of AWS, with the value of a header or the file that has it.
    Container { url: String, token: Option<String>, token_file: Option<PathBuf> },
    /// That of a machine of AWS.
    Instance { endpoint: String },
    /// That of Google or Azure: a URL, and a header.
    Token { url: String, header: (&'static str, String) },
}

impl Metadata {
    pub(crate) fn name(&self) -> String {
        let (Metadata::Container { url, .. }
        | Metadata::Instance { endpoint: url }
        | Metadata::Token { url, .. }) = self;
        let host = Url::parse(url).ok().and_then(|url| Some(url.host_str()?.to_owned()));
        format!("the metadata server {}", host.unwrap_or_default())
    }

    pub(crate) fn fetch(&self, client: &Client) -> Result<Fetched, RangeFailure> {
        match self {
            Metadata::Container { url, token, token_file } => {
                let url = near(url)?;
                let in_file = token_file.as_deref().map(text_in).transpose()?;
                let token = in_file.as_ref().or(token.as_ref());
                let headers: Vec<_> =
                    token.iter().map(|token| ("authorization", token.as_str())).collect();
                keys(&ask(client, Send::Get, &url, &headers)?, NAMES)
            }
            Metadata::Instance { endpoint } => of_instance(client, &url_of(endpoint)?),
            Metadata::Token { url, header: (name, value) } => {
                token(&ask(client, Send::Get, &url_of(url)?, &[(name, value)])?)
            }
        }
    }
}

/// The members of the answer.
const NAMES: [&str; 4] = ["AccessKeyId", "SecretAccessKey", "Token", "Expiration"];

/// The URL of a container's server. Keys go over a network with TLS only.
///
/// <https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html>
fn near(text: &str) -> Result<Url, RangeFailure> {
    let url = url_of(text)?;
    let is_near = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    let is_container = url.host_str().is_some_and(|host| CONTAINERS.contains(&host));
    if url.scheme() == "https" || is_near || is_container {
        return Ok(url);
    }
    Err(RangeFailure::refused("it is neither on this machine nor asked by https"))
}

/// The keys of a machine's role: a token for the session, the name of the role, and its keys.
///
/// <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html>
fn of_instance(client: &Client, endpoint: &Url) -> Result<Fetched, RangeFailure> {
    let at = |path: &str| {
        let mut url = endpoint.clone();
        url.set_path(&format!("/latest/{path}"));
        url
    };
    let lasts = ("x-aws-ec2-metadata-token-ttl-seconds", TOKEN_SECONDS);
    let token = client.send(Send::Put(Body::Bytes(&[])), &at("api/token"), &[lasts])?.body;
    let header = [("x-aws-ec2-metadata-token", token.trim())];
    let roles = "meta-data/iam/security-credentials/";
    let role = client.send(Send::Get, &at(roles), &header)?.body;
    let role = role.lines().next().unwrap_or_default().trim();
    keys(&ask(client, Send::Get, &at(&format!("{roles}{role}")), &header)?, NAMES)
}
