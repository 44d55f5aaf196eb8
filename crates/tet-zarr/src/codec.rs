//! Codecs: names and configurations, in the order in which a writer applies them.

use serde_json::{Map, Value, json};

use crate::element::ZarrOrder;
use crate::error::{Broken, broken, len};
use crate::rule;

/// The most codecs of an array.
const CODECS_MAX: usize = 64;

/// Where a codec is defined.
///
/// ```
/// assert_ne!(tet_zarr::CodecFamily::Core, tet_zarr::CodecFamily::Numcodecs);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodecFamily {
    /// The specification of Zarr 3.
    Core,
    /// The numcodecs library: filters and compressors of version 2, and names of version 3 that
    /// begin with `numcodecs.`.
    Numcodecs,
}

/// One codec of an array.
///
/// # Examples
///
/// ```
/// use tet_zarr::{ZarrCodec, CodecFamily};
///
/// let configuration = serde_json::Map::new();
/// let codec = ZarrCodec { name: "gzip".to_owned(), family: CodecFamily::Core, configuration };
/// assert_eq!(codec.number("level"), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ZarrCodec {
    /// The name, without `numcodecs.`.
    pub name: String,
    /// Where it is defined.
    pub family: CodecFamily,
    /// Its configuration, without its name.
    pub configuration: Map<String, Value>,
}

impl ZarrCodec {
    /// A whole number of the configuration.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.configuration.get(name)?.as_u64()
    }

    /// A text of the configuration.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.configuration.get(name)?.as_str()
    }

    /// Whether it is this codec of the specification of Zarr 3.
    #[must_use]
    pub fn is_core(&self, name: &str) -> bool {
        self.family == CodecFamily::Core && self.name == name
    }

    fn core(name: &str, configuration: Value) -> ZarrCodec {
        let configuration = match configuration {
            Value::Object(configuration) => configuration,
            _ => Map::new(),
        };
        ZarrCodec { name: name.to_owned(), family: CodecFamily::Core, configuration }
    }

    /// The codec that stores numbers as bytes in this order.
    pub(crate) fn bytes(order: ZarrOrder) -> ZarrCodec {
        let endian = match order {
            ZarrOrder::Little => "little",
            ZarrOrder::Big => "big",
        };
        ZarrCodec::core("bytes", json!({ "endian": endian }))
    }

    /// The codec that reverses the axes: order F of version 2.
    pub(crate) fn reversed(rank: usize) -> ZarrCodec {
        let order: Vec<usize> = (0..rank).rev().collect();
        ZarrCodec::core("transpose", json!({ "order": order }))
    }

    /// A filter or the compressor of version 2.
    pub(crate) fn of_v2(value: &Value) -> Result<ZarrCodec, Broken> {
        let Value::Object(object) = value else { return Err(broken(&rule::CODECS, 0, 0)) };
        let mut configuration = object.clone();
        let Some(Value::String(name)) = configuration.remove("id") else {
            return Err(broken(&rule::CODECS, 0, 0));
        };
        Ok(ZarrCodec { name, family: CodecFamily::Numcodecs, configuration })
    }

    /// A codec of version 3: an object, or a name alone.
    fn of_v3(value: &Value) -> Result<ZarrCodec, Broken> {
        let wrong = broken(&rule::CODECS, 0, 0);
        let (name, configuration) = match value {
            Value::String(name) => (name, None),
            Value::Object(object) => match object.get("name") {
                Some(Value::String(name)) => (name, object.get("configuration")),
                _ => return Err(wrong),
            },
            _ => return Err(wrong),
        };
        let configuration = match configuration {
            None => Map::new(),
            Some(Value::Object(configuration)) => configuration.clone(),
            Some(_) => return Err(wrong),
        };
        let (name, family) = match name.strip_prefix("numcodecs.") {
            Some(name) => (name, CodecFamily::Numcodecs),
            None => (name.as_str(), CodecFamily::Core),
        };
        Ok(ZarrCodec { name: name.to_owned(), family, configuration })
    }

    /// The codecs of a list of version 3.
    pub(crate) fn list_of_v3(value: Option<&Value>) -> Result<Vec<ZarrCodec>, Broken> {
        let Some(Value::Array(list)) = value else { return Err(broken(&rule::CODECS, 0, 0)) };
        check_count(list.len())?;
        list.iter().map(ZarrCodec::of_v3).collect()
    }

    /// The filters of version 2.
    pub(crate) fn filters_of_v2(value: Option<&Value>) -> Result<Vec<ZarrCodec>, Broken> {
        match value {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(list)) => {
                check_count(list.len())?;
                list.iter().map(ZarrCodec::of_v2).collect()
            }
            Some(_) => Err(broken(&rule::CODECS, 0, 0)),
        }
    }
}

fn check_count(count: usize) -> Result<(), Broken> {
    if CODECS_MAX < count {
        return Err(broken(&rule::LIMIT_CODECS, len(count), len(CODECS_MAX)));
    }
    Ok(())
}
