//! Keys of a role, from the token service of AWS or of a server that has one.
//!
//! <https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html>

use std::path::PathBuf;

use instant_xml::FromXml;
use jiff::Timestamp;

use super::Origin;
use super::fetched::{Fetched, Keys, Secret, form, post, text_in, url_of};
use super::signature::signed;
use crate::http::Client;
use crate::ranges::RangeFailure;

/// The version of the service.
const VERSION: (&str, &str) = ("Version", "2011-06-15");

/// A role, and who asks for it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Role {
    pub arn: String,
    /// A name for the session.
    pub session: String,
    pub external_id: Option<String>,
    /// How long its keys are good for, in seconds.
    pub seconds: Option<String>,
    pub endpoint: String,
    pub region: String,
    pub by: By,
}

/// Who asks for a role.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum By {
    /// The owner of keys.
    Keys(Origin),
    /// The owner of a token, in a file that is written again before the token ends.
    Token(PathBuf),
}

impl Role {
    pub(crate) fn name(&self) -> String {
        format!("the role {}", self.arn)
    }

    pub(crate) fn fetch(&self, client: &Client) -> Result<Fetched, RangeFailure> {
        let endpoint = url_of(&self.endpoint)?;
        let mut fields =
            vec![VERSION, ("RoleArn", &*self.arn), ("RoleSessionName", &*self.session)];
        fields.extend(self.seconds.as_deref().map(|seconds| ("DurationSeconds", seconds)));
        let answer = match &self.by {
            By::Token(path) => {
                let token = text_in(path)?;
                fields.push(("Action", "AssumeRoleWithWebIdentity"));
                fields.push(("WebIdentityToken", &token));
                post(client, &endpoint, &form(&fields), &[])?
            }
            By::Keys(origin) => {
                let Secret::Keys(keys) = origin.fetch(client)?.secret else {
                    return Err(RangeFailure::refused("it is not asked for by a token"));
                };
                fields.push(("Action", "AssumeRole"));
                fields.extend(self.external_id.as_deref().map(|id| ("ExternalId", id)));
                let (form, now) = (form(&fields), Timestamp::now());
                let headers = signed(&endpoint, &form, &keys, &self.region, "sts", now);
                let headers: Vec<_> =
                    headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
                post(client, &endpoint, &form, &headers)?
            }
        };
        keys_of(&answer.body)
            .ok_or_else(|| RangeFailure::refused("the server's answer is not understood"))
    }
}

/// The keys of an answer to either request.
fn keys_of(text: &str) -> Option<Fetched> {
    let of_keys = || Some(instant_xml::from_str::<AssumeRoleResponse>(text).ok()?.result.keys);
    let of_token = || Some(instant_xml::from_str::<WebIdentityResponse>(text).ok()?.result.keys);
    let found = of_keys().or_else(of_token)?;
    let expiry = found.expiry.parse().ok();
    let Credentials { key, secret, token, .. } = found;
    Some(Fetched { secret: Secret::Keys(Keys { key, secret, token: Some(token) }), expiry })
}

/// The namespace of the answers.
const NS: &str = "https://sts.amazonaws.com/doc/2011-06-15/";

#[derive(Debug, FromXml)]
#[xml(ns(NS))]
struct AssumeRoleResponse {
    result: AssumeRoleResult,
}

#[derive(Debug, FromXml)]
#[xml(ns(NS))]
struct AssumeRoleResult {
    keys: Credentials,
}

#[derive(Debug, FromXml)]
#[xml(rename = "AssumeRoleWithWebIdentityResponse", ns(NS))]
struct WebIdentityResponse {
    result: WebIdentityResult,
}

#[derive(Debug, FromXml)]
#[xml(rename = "AssumeRoleWithWebIdentityResult", ns(NS))]
struct WebIdentityResult {
    keys: Credentials,
}

#[derive(FromXml)]
#[xml(ns(NS))]
struct Credentials {
    #[xml(rename = "AccessKeyId")]
    key: String,
    #[xml(rename = "SecretAccessKey")]
    secret: String,
    #[xml(rename = "SessionToken")]
    token: String,
    #[xml(rename = "Expiration")]
    expiry: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}
