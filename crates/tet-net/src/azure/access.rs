//! Authorization of requests to Azure: a given shared access signature, one that is signed with the key of the
//! account for each request, or a token.
//!
//! <https://learn.microsoft.com/rest/api/storageservices/create-account-sas>

use std::fmt;
use std::io;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;
use url::Url;

use super::VERSION;
use crate::account::{Account, Secrets};
use crate::credentials::of_azure;
use crate::settings::Lookup;

/// How long a signature is good for.
const SIGNED_FOR: Duration = Duration::from_secs(1800);
/// Read, write, delete, list, add, create; of blobs; the service, containers and blobs.
const GRANTED: [(&str, &str); 3] = [("sp", "rwdlac"), ("ss", "b"), ("srt", "sco")];

/// How a request is signed.
#[derive(Clone)]
pub(crate) enum Access {
    /// Not in the query: by a token, or not at all.
    Account(Account),
    /// By a token that is given: a query.
    Token(String),
    /// By the name of an account and its key.
    Key(String, Vec<u8>),
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Access")
    }
}

impl Access {
    /// The access by the variables of the tools of Azure.
    ///
    /// # Errors
    ///
    /// Returns an error when a key is not base64, or there is none of the account.
    pub(crate) fn from_variables(lookup: &Lookup, secrets: &Secrets) -> io::Result<Access> {
        if let Some(token) = lookup.get("AZURE_STORAGE_SAS_TOKEN") {
            return Ok(Access::Token(token.trim_start_matches('?').to_owned()));
        }
        let names = ["AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY"];
        let Some((name, key)) = names.iter().find_map(|name| Some((name, lookup.get(name)?)))
        else {
            return Ok(Access::Account(Account::new(of_azure(lookup), secrets)));
        };
        let wrong = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
        let account = lookup.get("AZURE_STORAGE_ACCOUNT");
        let account =
            account.ok_or_else(|| wrong(format!("{name} needs AZURE_STORAGE_ACCOUNT")))?;
        let key =
            STANDARD.decode(key.trim()).map_err(|_| wrong(format!("{name} is not base64")))?;
        Ok(Access::Key(account, key))
    }

    /// Adds a signature to a URL.
    pub(crate) fn sign(&self, url: &mut Url) {
        match self {
            Access::Account(_) => {}
            Access::Token(token) => url.set_query(Some(token)),
            Access::Key(account, key) => {
                let expiry = Timestamp::now().saturating_add(SIGNED_FOR);
                let expiry = expiry.unwrap_or(Timestamp::MAX).strftime("%Y-%m-%dT%H:%M:%SZ");
                let signature = signature(account, key, &expiry.to_string());
                let all = [("sv", VERSION), ("se", &expiry.to_string()), ("sig", &signature)];
                url.query_pairs_mut().extend_pairs(GRANTED).extend_pairs(all);
            }
        }
    }
}

/// The signature of an account until a time.
fn signature(account: &str, key: &[u8], expiry: &str) -> String {
    let [(_, permissions), (_, services), (_, types)] = GRANTED;
    // Neither a start, nor addresses, nor a protocol.
    let text =
        format!("{account}\n{permissions}\n{services}\n{types}\n\n{expiry}\n\n\n{VERSION}\n");
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(text.as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(variables: &'static [(&'static str, &'static str)]) -> Lookup {
        let find = move |name: &str| variables.iter().find(|it| it.0 == name);
        Lookup::new(move |name| find(name).map(|it| it.1.to_owned()))
    }

    /// The signature of RFC 4231, case 2, checks the hash; `cargo xtask remote` asks a server that compares signatures.
    #[test]
    fn a_key_signs_each_request() {
        let key = [("AZURE_STORAGE_ACCOUNT", "acme"), ("AZURE_STORAGE_KEY", "SmVmZQ==")];
        let access =
            Access::from_variables(&lookup(Box::leak(Box::new(key))), &Secrets::default()).unwrap();
        let Access::Key(account, key) = &access else { panic!("{access:?}") };
        assert_eq!((account.as_str(), key.as_slice()), ("acme", &b"Jefe"[..]));
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(b"what do ya want for nothing?");
        let sum = mac.finalize().into_bytes();
        assert_eq!(sum[..4], [0x5b, 0xdc, 0xc1, 0x46]);
        let mut url: Url = "https://acme.blob.core.windows.net/c/x".parse().unwrap();
        access.sign(&mut url);
        let pairs: Vec<_> = url.query_pairs().collect();
        let value = |name: &str| pairs.iter().find(|it| it.0 == name).unwrap().1.clone();
        assert_eq!(value("sig"), signature("acme", b"Jefe", &value("se")));
        assert!(format!("{access:?}") == "Access");
    }

    #[test]
    fn a_token_comes_before_a_key() {
        let variables = &[("AZURE_STORAGE_SAS_TOKEN", "?sv=1&sig=s"), ("AZURE_STORAGE_KEY", "%")];
        let access = Access::from_variables(&lookup(variables), &Secrets::default()).unwrap();
        assert!(matches!(access, Access::Token(token) if token == "sv=1&sig=s"));
        let access = Access::from_variables(&lookup(&[]), &Secrets::default()).unwrap();
        assert!(matches!(access, Access::Account(_)));
        for wrong in [
            &[("AZURE_STORAGE_KEY", "Zg==")][..],
            &[("AZURE_STORAGE_KEY", "%"), ("AZURE_STORAGE_ACCOUNT", "a")],
        ] {
            let text = Access::from_variables(&lookup(wrong), &Secrets::default())
                .unwrap_err()
                .to_string();
            assert!(text.starts_with("AZURE_STORAGE_KEY "), "{text}");
        }
    }
}
