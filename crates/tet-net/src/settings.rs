//! What a program sets: how many requests, how long to wait, and the variables of the environment.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::block_cache::BlockCache;

/// Gives the value of a variable of the environment, such as `AWS_REGION`.
#[derive(Clone)]
pub struct Lookup(Arc<Find>);

type Find = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Lookup {
    /// A lookup by this function.
    ///
    /// ```
    /// use tet_net::Lookup;
    ///
    /// let lookup = Lookup::new(|name| (name == "AWS_REGION").then(|| "eu-west-1".to_owned()));
    /// assert_eq!(lookup.get("AWS_REGION").as_deref(), Some("eu-west-1"));
    /// assert_eq!(lookup.get("HOME"), None);
    /// ```
    pub fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Lookup(Arc::new(lookup))
    }

    /// The value of a variable; `None` where it is not set or empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }
}

impl Default for Lookup {
    fn default() -> Self {
        Lookup::new(|_| None)
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lookup")
    }
}

/// How files on servers are read.
///
/// ```
/// use tet_net::Settings;
///
/// let settings = Settings { depth: 16, ..Settings::default() };
/// assert_eq!(settings.tries, 5);
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    /// Requests at the same time.
    pub depth: usize,
    /// How often a request is made until it fails.
    pub tries: u32,
    /// The wait before the second try, which doubles with each more.
    pub backoff: Duration,
    /// How long to wait for a connection.
    pub connect_timeout: Duration,
    /// How long to wait for the next byte.
    pub read_timeout: Duration,
    /// Where blocks of files are held for later runs; nowhere, unless it is set.
    pub cache: Option<BlockCache>,
    /// The variables of the environment: credentials, region, endpoint, proxy.
    pub lookup: Lookup,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            depth: 8,
            tries: 5,
            backoff: Duration::from_millis(100),
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            cache: None,
            lookup: Lookup::default(),
        }
    }
}
