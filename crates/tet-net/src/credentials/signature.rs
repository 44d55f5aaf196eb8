//! Headers that sign a request of AWS other than to S3 (Signature Version 4). rusty-s3 signs for S3 alone, and the crates of AWS that
//! sign for other services bring a runtime of their own.
//!
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use url::Url;

use super::fetched::Keys;
use crate::hex::hex;

/// The headers of a POST of this body, signed for a region and a service at a time.
pub(super) fn signed(
    url: &Url,
    body: &str,
    keys: &Keys,
    region: &str,
    service: &str,
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let day = time.split('T').next().unwrap_or_default();
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let mut headers = vec![("host", host), ("x-amz-date", time.clone())];
    headers.extend(keys.token.iter().map(|token| ("x-amz-security-token", token.clone())));
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let body = hex(&Sha256::digest(body));
    let request = format!("POST\n{}\n\n{lines}\n{names}\n{body}", url.path());
    let scope = format!("{day}/{region}/{service}/aws4_request");
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Sha256::digest(request)));
    let key = format!("AWS4{}", keys.secret).into_bytes();
    let parts = [day, region, service, "aws4_request", &text];
    let signature = hex(&parts.iter().fold(key, |key, part| mac(&key, part)));
    let credential = format!("Credential={}/{scope}", keys.key);
    let proof = format!("{credential}, SignedHeaders={names}, Signature={signature}");
    headers.push(("authorization", format!("AWS4-HMAC-SHA256 {proof}")));
    // The client sends the host by itself.
    headers.split_off(1)
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signatures that botocore makes of the same requests.
    #[test]
    fn a_request_is_signed_as_by_the_tools_of_aws() {
        let (key, secret) = ("AKID".to_owned(), "SECRET/+".to_owned());
        let url = "http://localhost:5000/".parse().unwrap();
        for (token, signature) in [
            (None, "f1893ff933896d04a65387202a138db623d1d27998eb1627a51ddd1f15028717"),
            (Some("tok/en+="), "69cf3c289e7056b5d9ad528825de5ed5cdcf44c03ffe968490ea3a67b1d9bfac"),
        ] {
            let token = token.map(str::to_owned);
            let keys = Keys { key: key.clone(), secret: secret.clone(), token };
            let headers = signed(
                &url,
                "Action=AssumeRole&RoleArn=a%20b",
                &keys,
                "eu-west-1",
                "sts",
                "2026-11-27T01:02:03Z".parse().unwrap(),
            );
            assert_eq!(headers[0], ("x-amz-date", "20261127T010203Z".to_owned()));
            let (name, proof) = headers.last().unwrap();
            assert!(*name == "authorization" && proof.ends_with(signature), "{proof}");
            assert_eq!(headers.len(), 2 + usize::from(keys.token.is_some()));
        }
    }
}
