//! Keys of single sign-on of AWS, by the token that `aws sso login` left in a file.
//!
//! <https://docs.aws.amazon.com/sdkref/latest/guide/feature-sso-credentials.html>

use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use super::fetched::{Fetched, ask, keys, text, text_of, time, url_of};
use crate::http::{Client, Send};
use crate::ranges::RangeFailure;

/// An account and a role of single sign-on.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SingleSignOn {
    /// The profile, for messages.
    pub profile: String,
    /// The file of the token.
    pub file: PathBuf,
    pub endpoint: String,
    pub account: String,
    pub role: String,
}

impl SingleSignOn {
    pub(crate) fn name(&self) -> String {
        format!("the single sign-on of profile {}", self.profile)
    }

    pub(crate) fn fetch(&self, client: &Client) -> Result<Fetched, RangeFailure> {
        let login = || {
            let text = format!("it has ended: run `aws sso login --profile {}`", self.profile);
            RangeFailure::refused(text)
        };
        let file = text_of(&self.file).map_err(RangeFailure::Final)?.ok_or_else(login)?;
        let file: Value = serde_json::from_str(&file).map_err(|_| login())?;
        let expiry = time(file.get("expiresAt"));
        let token = text(&file, "accessToken").map_err(|_| login())?;
        if expiry.is_some_and(|expiry| expiry < Timestamp::now()) {
            return Err(login());
        }
        let mut url = url_of(&self.endpoint)?;
        url.set_path("/federation/credentials");
        let pairs = [("role_name", &self.role), ("account_id", &self.account)];
        url.query_pairs_mut().extend_pairs(pairs);
        let answer = ask(client, Send::Get, &url, &[("x-amz-sso_bearer_token", token)])?;
        let names = ["accessKeyId", "secretAccessKey", "sessionToken", "expiration"];
        keys(answer.get("roleCredentials").unwrap_or(&Value::Null), names)
    }
}
