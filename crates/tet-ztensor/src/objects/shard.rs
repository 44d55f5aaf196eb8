//! The shards of a file: other files that hold blobs.

use std::fmt;

use tet_cbor::Value;
use tet_format::ForeignRule;
use tet_io::Source;

use super::container::{Container, Version};
use super::part::{digest, field};
use super::rule;
use crate::checksum::Checksum;
use crate::error::{Error, Fault, Result};
use crate::limits::Limits;

/// Opens the shard with a name, which is in the folder of its file; `None` if it is not there.
///
/// ```
/// use tet_ztensor::objects::OpenShard;
///
/// let none: OpenShard = &|_name| None;
/// assert!(none("00001").is_none());
/// ```
pub type OpenShard<'a> = &'a dyn Fn(&str) -> Option<Source>;

/// The longest name of a shard, in bytes.
const NAME_LEN_MAX: usize = 64;

/// A shard, as the manifest describes it.
pub struct Shard {
    /// Its name.
    pub name: String,
    /// The length of its file.
    pub size: u64,
    /// The checksum of all its bytes.
    pub digest: Checksum,
    /// Its file, where it was found.
    pub source: Option<Source>,
    /// The rule that it breaks: the objects in it cannot be read.
    pub fault: Option<Fault>,
    /// The file offset of its entry in the manifest.
    pub at: u64,
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Shard");
        debug.field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

impl Shard {
    /// The shard that an entry of the manifest describes.
    pub(super) fn read(key: &Value, value: &Value, at: u64) -> Result<Shard, &'static ForeignRule> {
        let name = key.as_text().filter(|name| is_shard_name(name)).ok_or(&rule::SHARD_NAME)?;
        let Value::Map(pairs) = value else { return Err(&rule::SHARD_FORM) };
        let size = field(pairs, "size").and_then(Value::as_u64).ok_or(&rule::SHARD_FORM)?;
        let text = field(pairs, "digest").and_then(Value::as_text).ok_or(&rule::SHARD_FORM)?;
        let digest = digest(Version::Two, text).ok_or(&rule::SHARD_FORM)?;
        Ok(Shard { name: name.to_owned(), size, digest, source: None, fault: None, at })
    }

    /// Where its blobs end; `None` if it is shorter than a file can be.
    pub(super) fn data_end(&self) -> Option<u64> {
        self.size.checked_sub(Version::Two.footer_len())
    }

    /// Opens its file, and compares its length and its container.
    pub(super) fn open(&mut self, open: OpenShard<'_>, limits: &Limits) -> Result<()> {
        let at = self.at;
        let broken = |rule, found, wanted| Some(Fault { rule, at, found, wanted });
        let Some(source) = open(&self.name) else {
            self.fault = broken(&rule::SHARD_MISSING, 0, 0);
            return Ok(());
        };
        let found = source.len();
        if found != self.size {
            self.fault = broken(&rule::SHARD_SIZE, found, self.size);
        }
        match Container::read(&source, limits) {
            Ok(container) if container.version == Version::Two => {}
            Ok(_) | Err(Error::Format(_)) => {
                self.fault = self.fault.or(broken(&rule::SHARD_MAGIC, 0, 0));
            }
            Err(error) => return Err(error),
        }
        self.source = Some(source);
        Ok(())
    }
}

/// Whether a text can be the name of a shard: it is never a path.
pub(super) fn is_shard_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty()
        && name.len() <= NAME_LEN_MAX
        && !name.starts_with('.')
        && name.bytes().all(is_allowed)
}
