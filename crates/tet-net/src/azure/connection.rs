//! The variables of the tools of Azure, or the connection string that replaces them.
//!
//! <https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string>

use std::collections::BTreeMap;
use std::io;

use crate::settings::Lookup;

const STRING: &str = "AZURE_STORAGE_CONNECTION_STRING";
/// The parts of a connection string that are variables too.
const PARTS: [(&str, &str); 4] = [
    ("accountname", "AZURE_STORAGE_ACCOUNT"),
    ("accountkey", "AZURE_STORAGE_KEY"),
    ("sharedaccesssignature", "AZURE_STORAGE_SAS_TOKEN"),
    ("blobendpoint", "AZURE_ENDPOINT_URL"),
];

/// The account of Azurite, whose key is public.
const DEVELOPMENT: [(&str, &str); 3] = [
    ("AZURE_STORAGE_ACCOUNT", "devstoreaccount1"),
    (
        "AZURE_STORAGE_KEY",
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
    ),
    ("AZURE_ENDPOINT_URL", "http://127.0.0.1:10000/devstoreaccount1"),
];

/// The variables of an account; where there is a connection string, they are what it says, and no others.
///
/// # Errors
///
/// Returns an error when a connection string names neither an account nor an endpoint. No part of it is in the text.
pub(crate) fn variables(lookup: &Lookup) -> io::Result<Lookup> {
    let Some(text) = lookup.get(STRING) else { return Ok(lookup.clone()) };
    let parts: BTreeMap<String, &str> = text
        .split(';')
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()))
        .collect();
    let part = |name: &str| parts.get(name).copied();
    let mut found: BTreeMap<&str, String> =
        PARTS.iter().filter_map(|&(name, is)| Some((is, part(name)?.to_owned()))).collect();
    if part("usedevelopmentstorage").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        found.extend(DEVELOPMENT.map(|(name, value)| (name, value.to_owned())));
    }
    if let (Some(account), None) = (part("accountname"), part("blobendpoint")) {
        let protocol = part("defaultendpointsprotocol").unwrap_or("https");
        let suffix = part("endpointsuffix").unwrap_or("core.windows.net");
        let endpoint = format!("{protocol}://{account}.blob.{suffix}");
        found.insert("AZURE_ENDPOINT_URL", endpoint);
    }
    if !found.contains_key("AZURE_ENDPOINT_URL") {
        let text = format!("{STRING} has neither AccountName nor BlobEndpoint");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(Lookup::new(move |name| found.get(name).cloned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> io::Result<[Option<String>; 4]> {
        let text = text.to_owned();
        let lookup = Lookup::new(move |name| match name {
            STRING => Some(text.clone()),
            // Any other setting next to a connection string belongs to another account.
            name => Some(format!("other {name}")),
        });
        let found = variables(&lookup)?;
        Ok(PARTS.map(|(_, name)| found.get(name)))
    }

    #[test]
    fn a_connection_string_stands_for_the_variables() {
        let text = "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=Zm9v==;EndpointSuffix=core.chinacloudapi.cn";
        let endpoint = "https://acme.blob.core.chinacloudapi.cn";
        let [account, key, token, found] = said(text).unwrap();
        assert_eq!(account.as_deref(), Some("acme"));
        assert_eq!((key.as_deref(), token), (Some("Zm9v=="), None));
        assert_eq!(found.as_deref(), Some(endpoint));
        let text = "BlobEndpoint=http://h:1/acme; sharedaccesssignature = sv=1&sig=a=;;nothing;";
        let [account, key, token, found] = said(text).unwrap();
        assert_eq!((account, key, token.as_deref()), (None, None, Some("sv=1&sig=a=")));
        assert_eq!(found.as_deref(), Some("http://h:1/acme"));
        let [account, key, token, found] = said("UseDevelopmentStorage=true;").unwrap();
        assert_eq!(account.as_deref(), Some("devstoreaccount1"));
        assert!(key.is_some() && token.is_none());
        assert_eq!(found.as_deref(), Some("http://127.0.0.1:10000/devstoreaccount1"));
        for wrong in ["UseDevelopmentStorage=false", "AccountKey=secret"] {
            let text = said(wrong).unwrap_err().to_string();
            assert!(text.contains("AccountName") && !text.contains("secret"), "{text}");
        }
        let none = Lookup::new(|name| (name == "AZURE_STORAGE_ACCOUNT").then(|| "a".to_owned()));
        assert_eq!(variables(&none).unwrap().get("AZURE_STORAGE_ACCOUNT").as_deref(), Some("a"));
    }
}
