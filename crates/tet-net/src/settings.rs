//! Settings of a program: number of requests, time limits, and the variables of the environment.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tet_io::Progress;

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
    /// The longest file, in bytes, that is downloaded whole where its server has no range requests; none, unless
    /// it is set.
    pub download: Option<u64>,
    /// Reports downloads of whole files and uploads, and cancels them.
    pub progress: Progress,
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
            download: None,
            progress: Progress::default(),
            lookup: Lookup::default(),
        }
    }
}

impl Settings {
    /// The settings with the progress of the work of this thread, if it has one.
    pub(crate) fn of_thread(&self) -> Settings {
        let usual = self.clone();
        Settings { progress: Progress::of_thread().unwrap_or(usual.progress), ..usual }
    }

    /// Settings with these variables: `TET_CACHE` is the folder of a cache, `TET_CACHE_SIZE` its size, and
    /// `TET_DOWNLOAD` the longest file that is downloaded whole.
    ///
    /// ```
    /// use tet_net::{Lookup, Settings};
    ///
    /// let lookup = Lookup::new(|name| (name == "TET_DOWNLOAD").then(|| "2GiB".to_owned()));
    /// assert_eq!(Settings::from_variables(lookup)?.download, Some(2 << 30));
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A size is not understood; the message names its variable.
    pub fn from_variables(lookup: Lookup) -> Result<Settings, String> {
        let size = |name: &str| {
            let parsed = lookup.get(name).map(|text| tet_io::parse_size(&text, 1024)).transpose();
            parsed.map_err(|error| format!("{name}: {error}"))
        };
        let (cache_len, download) = (size("TET_CACHE_SIZE")?, size("TET_DOWNLOAD")?);
        let cache = lookup.get("TET_CACHE").map(|folder| {
            BlockCache::new(folder, cache_len.unwrap_or(BlockCache::LEN_MAX_DEFAULT))
        });
        Ok(Settings { cache, download, lookup, ..Settings::default() })
    }
}
