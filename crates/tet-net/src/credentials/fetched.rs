//! Secrets, and how they are read out of files and answers.

use std::io;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tet_io::Source;
use url::Url;

use crate::http::{Client, Send, ServerResponse};
use crate::ranges::RangeFailure;

/// The longest file of profiles, keys or tokens that is read.
const FILE_LEN_MAX: u64 = 1 << 20;

/// A key and its secret.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Keys {
    pub key: String,
    pub secret: String,
    pub token: Option<String>,
}

/// Authorization of a request.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Secret {
    /// Keys, by which its query is signed.
    Keys(Keys),
    /// The value of the header `Authorization`, which has a token.
    Header(String),
}

/// A secret that is good for a while.
pub(crate) struct Fetched {
    pub secret: Secret,
    /// When it ends; `None` if it does not.
    pub expiry: Option<Timestamp>,
}

/// Asks a server that gives secrets, and parses its JSON.
pub(super) fn ask(
    client: &Client,
    send: Send<'_>,
    url: &Url,
    headers: &[(&str, &str)],
) -> Result<Value, RangeFailure> {
    json_of(&client.send(send, url, headers)?)
}

/// The fields of a form as a body.
pub(super) fn form(fields: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Posts a form.
pub(super) fn post(
    client: &Client,
    url: &Url,
    form: &str,
    headers: &[(&str, &str)],
) -> Result<ServerResponse, RangeFailure> {
    let headers = [&[("content-type", "application/x-www-form-urlencoded")], headers].concat();
    client.send(Send::Post(form.as_bytes()), url, &headers)
}

fn json_of(answer: &ServerResponse) -> Result<Value, RangeFailure> {
    serde_json::from_str(&answer.body)
        .map_err(|_| RangeFailure::refused("the server's answer is not JSON"))
}

pub(super) fn url_of(text: &str) -> Result<Url, RangeFailure> {
    let url = Url::parse(text).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
    url.ok_or_else(|| RangeFailure::refused(format!("{text:?} is not the URL of a server")))
}

/// The text of a member of JSON.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str, RangeFailure> {
    let text = value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.ok_or_else(|| RangeFailure::refused(format!("{name} is missing")))
}

/// A time as JSON has it: a text, or milliseconds since 1970.
pub(super) fn time(value: Option<&Value>) -> Option<Timestamp> {
    let value = value?;
    match value.as_str() {
        Some(text) => text.parse().ok(),
        None => Timestamp::from_millisecond(value.as_i64()?).ok(),
    }
}

/// The keys of AWS in JSON, by the names of their members: key, secret, token, and when they end.
pub(super) fn keys(
    value: &Value,
    [key, secret, token, expiry]: [&str; 4],
) -> Result<Fetched, RangeFailure> {
    let (key, secret) = (text(value, key)?.to_owned(), text(value, secret)?.to_owned());
    let token = text(value, token).ok().map(str::to_owned);
    let secret = Secret::Keys(Keys { key, secret, token });
    Ok(Fetched { secret, expiry: time(value.get(expiry)) })
}

/// A token in JSON, which says when it ends, or how long it is good for; else it is used for as short as any.
pub(super) fn token(value: &Value) -> Result<Fetched, RangeFailure> {
    let number = |name: &str| {
        let value = value.get(name)?;
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    };
    let now = Timestamp::now();
    let end = || Timestamp::from_second(number("expires_on")?).ok();
    let lasts = || now.checked_add(SignedDuration::from_secs(number("expires_in")?)).ok();
    let expiry = end().or_else(lasts).or_else(|| time(value.get("expireTime"))).unwrap_or(now);
    let token = text(value, "access_token").or_else(|_| text(value, "accessToken"))?;
    // It becomes a header.
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(RangeFailure::refused("the token has a character that is not allowed"));
    }
    Ok(Fetched { secret: Secret::Header(format!("Bearer {token}")), expiry: Some(expiry) })
}

/// The token that a server gives for the fields of a form.
pub(super) fn token_for(
    client: &Client,
    url: &Url,
    fields: &[(&str, &str)],
) -> Result<Fetched, RangeFailure> {
    token(&json_of(&post(client, url, &form(fields), &[])?)?)
}

/// The text of a file; nothing where there is none.
pub(super) fn text_of(path: &Path) -> io::Result<Option<String>> {
    let failed = |error: tet_io::Error| io::Error::other(error.to_string());
    let source = match Source::open(path) {
        Ok(source) => source,
        Err(tet_io::Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    let bytes = source.read_vec(0, source.len().min(FILE_LEN_MAX)).map_err(failed)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The text of a file that has to be there, without the line break at its end.
pub(super) fn text_in(path: &Path) -> Result<String, RangeFailure> {
    let text = text_of(path).map_err(RangeFailure::Final)?;
    let text =
        text.ok_or_else(|| RangeFailure::refused(format!("{} is missing", path.display())))?;
    Ok(text.trim().to_owned())
}
