//! Tokens of Google: application default credentials.
//!
//! <https://cloud.google.com/docs/authentication/application-default-credentials>

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};
use ureq::tls::PrivateKey;

use super::fetched::{Fetched, Keys, Secret, ask, text, text_in, token, token_for, url_of};
use super::metadata::Metadata;
use super::{Origin, unsigned};
use crate::http::{Client, Send};
use crate::ranges::RangeFailure;
use crate::settings::Lookup;

/// Scope of a token: objects are read and written.
const SCOPE: &str = "https://www.googleapis.com/auth/devstorage.read_write";
const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
/// How long the proof of a service account is good for, in seconds.
const PROOF_SECONDS: i64 = 3600;
/// Why requests without keys may be refused, and what to do then.
const NO_KEYS: &str = "there are no keys: run `gcloud auth application-default login`, or set \
                       GOOGLE_APPLICATION_CREDENTIALS to a file of credentials, or GS_ACCESS_KEY_ID and \
                       GS_SECRET_ACCESS_KEY to HMAC keys";

/// A file of credentials, of which each token is made.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct GoogleFile(PathBuf);

/// Where keys or tokens of Google are from: HMAC keys, a token, a file of credentials, or the metadata of a machine.
pub(crate) fn origin(lookup: &Lookup) -> Origin {
    if let Some(origin) = unsigned(lookup, "GS_NO_SIGN_REQUEST") {
        return origin;
    }
    let keys = [lookup.get("GS_ACCESS_KEY_ID"), lookup.get("GS_SECRET_ACCESS_KEY")];
    if let [Some(key), Some(secret)] = keys {
        return Origin::Given(Secret::Keys(Keys { key, secret, token: None }));
    }
    if let Some(token) = lookup.get("CLOUDSDK_AUTH_ACCESS_TOKEN") {
        return Origin::Given(Secret::Header(format!("Bearer {token}")));
    }
    if let Some(path) = lookup.get("GOOGLE_APPLICATION_CREDENTIALS") {
        return Origin::Google(GoogleFile(path.into()));
    }
    let home = || Some(Path::new(&lookup.get("HOME")?).join(".config/gcloud"));
    let windows = || Some(Path::new(&lookup.get("APPDATA")?).join("gcloud"));
    let folder = lookup.get("CLOUDSDK_CONFIG").map(PathBuf::from).or_else(windows).or_else(home);
    let file = folder.map(|folder| folder.join("application_default_credentials.json"));
    if let Some(path) = file.filter(|path| path.exists()) {
        return Origin::Google(GoogleFile(path));
    }
    if let Some(host) = lookup.get("GCE_METADATA_HOST") {
        let url =
            format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token");
        return Origin::Metadata(Metadata::Token {
            url,
            header: ("metadata-flavor", "Google".to_owned()),
        });
    }
    Origin::Nothing(NO_KEYS.to_owned())
}

impl GoogleFile {
    pub(crate) fn name(&self) -> String {
        format!("the file of credentials {}", self.0.display())
    }

    pub(crate) fn fetch(&self, client: &Client) -> Result<Fetched, RangeFailure> {
        let value: Value = serde_json::from_str(&text_in(&self.0)?)
            .map_err(|_| RangeFailure::refused("it is not JSON"))?;
        let source = value.get("source_credentials");
        match (text(&value, "type")?, source) {
            ("impersonated_service_account", Some(source)) => {
                impersonated(client, &value, &of_one(client, source)?)
            }
            ("external_account", _) => {
                let fetched = of_external(client, &value)?;
                if value.get(IMPERSONATION).is_none() {
                    return Ok(fetched);
                }
                impersonated(client, &value, &fetched)
            }
            _ => of_one(client, &value),
        }
    }
}

/// The token of an account that is named by itself.
fn of_one(client: &Client, value: &Value) -> Result<Fetched, RangeFailure> {
    let url = url_of(text(value, "token_uri").unwrap_or(TOKEN_URL))?;
    match text(value, "type")? {
        "service_account" => {
            let kind = "urn:ietf:params:oauth:grant-type:jwt-bearer";
            let proof = proof(value, url.as_str(), Timestamp::now().as_second())?;
            token_for(client, &url, &[("grant_type", kind), ("assertion", &proof)])
        }
        "authorized_user" => token_for(
            client,
            &url,
            &[
                ("grant_type", "refresh_token"),
                ("client_id", text(value, "client_id")?),
                ("client_secret", text(value, "client_secret")?),
                ("refresh_token", text(value, "refresh_token")?),
            ],
        ),
        kind => {
            let text = format!(
                "credentials of the type {kind:?} are not used: set \
                                CLOUDSDK_AUTH_ACCESS_TOKEN to what `gcloud auth print-access-token` prints"
            );
            Err(RangeFailure::refused(text))
        }
    }
}

/// A signed assertion of a service account: claims with a signature by its key.
///
/// <https://developers.google.com/identity/protocols/oauth2/service-account#httprest>
fn proof(value: &Value, audience: &str, now: i64) -> Result<String, RangeFailure> {
    let head = json!({"alg": "RS256", "typ": "JWT", "kid": value.get("private_key_id")});
    let claims = json!({
        "iss": text(value, "client_email")?,
        "scope": SCOPE,
        "aud": audience,
        "iat": now,
        "exp": now.saturating_add(PROOF_SECONDS),
    });
    let wrong = || RangeFailure::refused("private_key is not an RSA key (PEM)");
    let key = PrivateKey::from_pem(text(value, "private_key")?.as_bytes()).map_err(|_| wrong())?;
    let pair = RsaKeyPair::from_pkcs8(key.der()).or_else(|_| RsaKeyPair::from_der(key.der()));
    let pair = pair.map_err(|_| wrong())?;
    let encoded = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let claimed = format!("{}.{}", encoded(&head), encoded(&claims));
    let mut signature = vec![0; pair.public().modulus_len()];
    let signed =
        pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), claimed.as_bytes(), &mut signature);
    signed.map_err(|_| wrong())?;
    Ok(format!("{claimed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// The token of an identity that another provider knows, by what that provider wrote into a file or gives at a URL.
///
/// <https://google.aip.dev/auth/4117>
fn of_external(client: &Client, value: &Value) -> Result<Fetched, RangeFailure> {
    let source = value.get("credential_source").unwrap_or(&Value::Null);
    let given = match (text(source, "file"), text(source, "url")) {
        (Ok(path), _) => text_in(Path::new(path))?,
        (_, Ok(url)) => {
            let headers = source.get("headers").and_then(Value::as_object);
            let headers = headers.into_iter().flatten();
            let headers: Vec<_> = headers
                .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
                .collect();
            client.send(Send::Get, &url_of(url)?, &headers)?.body
        }
        _ => return Err(RangeFailure::refused("credential_source has neither a file nor a url")),
    };
    let format = source.get("format").unwrap_or(&Value::Null);
    let subject = match text(format, "subject_token_field_name") {
        Ok(name) => {
            let given: Value = serde_json::from_str(&given)
                .map_err(|_| RangeFailure::refused("what credential_source gives is not JSON"))?;
            text(&given, name)?.to_owned()
        }
        Err(_) => given.trim().to_owned(),
    };
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("audience", text(value, "audience")?),
        ("subject_token_type", text(value, "subject_token_type")?),
        ("subject_token", &subject),
        ("scope", "https://www.googleapis.com/auth/cloud-platform"),
    ];
    token_for(client, &url_of(text(value, "token_url")?)?, &fields)
}

/// The member with the URL at which the token of another account is given.
const IMPERSONATION: &str = "service_account_impersonation_url";

/// The token of the account that another one may act for.
fn impersonated(client: &Client, value: &Value, by: &Fetched) -> Result<Fetched, RangeFailure> {
    let Secret::Header(by) = &by.secret else {
        return Err(RangeFailure::refused("a token is missing"));
    };
    let url = url_of(text(value, IMPERSONATION)?)?;
    let body = json!({"scope": [SCOPE], "delegates": value.get("delegates").unwrap_or(&json!([]))});
    let body = body.to_string();
    let headers = [("authorization", &**by), ("content-type", "application/json")];
    token(&ask(client, Send::Post(body.as_bytes()), &url, &headers)?)
}
