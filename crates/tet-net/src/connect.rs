//! How servers are reached: through which proxy, and which certificates they may have.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tet_io::Source;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Proxy, ProxyProtocol};
use url::Url;

use crate::settings::{Lookup, Settings};

/// The longest file of certificates that is read.
const FILE_LEN_MAX: u64 = 8 << 20;

/// The proxies that the variables name.
#[derive(Clone, Debug)]
pub(crate) struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
}

impl Proxies {
    pub(crate) fn from_variables(lookup: &Lookup) -> Self {
        let find =
            |names: [&str; 4]| names.iter().find_map(|name| proxy(lookup, &lookup.get(name)?));
        Proxies {
            http: find(["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"]),
            https: find(["https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"]),
        }
    }

    /// The one for a URL.
    pub(crate) fn get(&self, url: &Url) -> Option<Proxy> {
        if url.scheme() == "https" { self.https.clone() } else { self.http.clone() }
    }
}

fn proxy(lookup: &Lookup, named: &str) -> Option<Proxy> {
    let has_scheme = named.contains("://");
    let url = if has_scheme { named.to_owned() } else { format!("http://{named}") };
    let url = Url::parse(&url).ok().filter(Url::has_host)?;
    let protocol = if url.scheme() == "https" { ProxyProtocol::Https } else { ProxyProtocol::Http };
    let mut builder = Proxy::builder(protocol).host(url.host_str()?);
    if let Some(port) = url.port_or_known_default() {
        builder = builder.port(port);
    }
    if !url.username().is_empty() {
        builder = builder.username(url.username());
    }
    if let Some(password) = url.password() {
        builder = builder.password(password);
    }
    let skipped = ["no_proxy", "NO_PROXY"].iter().find_map(|name| lookup.get(name));
    for skipped in skipped.iter().flat_map(|list| list.split(',')) {
        builder = builder.no_proxy(skipped.trim());
    }
    builder.build().ok()
}

/// Which certificates are trusted: those of the file `SSL_CERT_FILE`, else those that came with the program.
pub(crate) fn tls(settings: &Settings) -> io::Result<TlsConfig> {
    let Some(path) = settings.lookup.get("SSL_CERT_FILE").filter(|path| !path.is_empty()) else {
        return Ok(TlsConfig::default());
    };
    let failed = |text: String| io::Error::other(format!("SSL_CERT_FILE: {text}"));
    let source = Source::open(Path::new(&path)).map_err(|error| failed(error.to_string()))?;
    let text = source.read_vec(0, source.len().min(FILE_LEN_MAX));
    let text = text.map_err(|error| failed(error.to_string()))?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let trusted: Vec<_> = parse_pem(&text).filter_map(certificate).collect();
    if trusted.is_empty() {
        return Err(failed(format!("{path} has no certificate")));
    }
    Ok(TlsConfig::builder().root_certs(RootCerts::Specific(Arc::new(trusted))).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(variables: &'static [(&'static str, &'static str)], url: &str) -> Option<String> {
        let find = move |name: &str| variables.iter().find(|it| it.0 == name);
        let lookup = Lookup::new(move |name| find(name).map(|it| it.1.to_owned()));
        let proxy = Proxies::from_variables(&lookup).get(&url.parse().unwrap())?;
        let is_skipped = proxy.is_no_proxy(&url.parse().unwrap());
        (!is_skipped).then(|| format!("{}:{}", proxy.host(), proxy.port()))
    }

    #[test]
    fn each_scheme_has_its_proxy() {
        let both =
            &[("HTTPS_PROXY", "http://s:1"), ("HTTP_PROXY", "p:2"), ("NO_PROXY", "a.org, .b.org")];
        assert_eq!(host(both, "https://x/a").as_deref(), Some("s:1"));
        assert_eq!(host(both, "http://x/a").as_deref(), Some("p:2"));
        assert_eq!(host(both, "http://a.org/a"), None);
        assert_eq!(host(both, "https://c.b.org/a"), None);
        assert_eq!(host(&[("https_proxy", "s:1")], "http://x/a"), None);
        assert_eq!(host(&[("ALL_PROXY", "http://all")], "http://x/a").as_deref(), Some("all:80"));
        assert_eq!(host(&[], "http://x/a"), None);
    }

    #[test]
    fn a_file_without_certificates_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in ["/no/such/file", file.path().to_str().unwrap()] {
            let path = path.to_owned();
            let lookup = Lookup::new(move |name| (name == "SSL_CERT_FILE").then(|| path.clone()));
            let error = tls(&Settings { lookup, ..Settings::default() }).unwrap_err().to_string();
            assert!(error.starts_with("SSL_CERT_FILE: "), "{error}");
        }
    }
}
