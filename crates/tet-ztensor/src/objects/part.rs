//! One part of an object: a blob, its type, and how it is encoded.

use tet_cbor::Value;
use tet_format::{ForeignRule, Span};

use super::container::Version;
use super::dtype::{ElementType, Typed, of_words};
use super::rule;
use crate::checksum::Checksum;

/// How the bytes of a part are stored.
///
/// ```
/// use tet_ztensor::objects::PartEncoding;
///
/// assert_ne!(PartEncoding::Raw, PartEncoding::Zstd);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartEncoding {
    /// As they are.
    Raw,
    /// As zstd frames: those of version 2 can be decoded one by one.
    Zstd,
    /// In a way that is not known.
    Unknown,
}

/// One part of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectPart {
    /// Its name in the object, such as `data`.
    pub name: String,
    /// The name of its type: ours where it is known, else that of the file.
    pub dtype_name: String,
    /// Its type, where it is known.
    pub element: Option<ElementType>,
    /// Bytes of one number of its storage type.
    pub storage_len: u64,
    /// Its bytes in its file.
    pub stored: Span,
    /// The position of its shard in [`ObjectFile::shards`](super::ObjectFile::shards); `None` if its blob is in the
    /// file itself.
    pub shard: Option<usize>,
    /// How its bytes are stored.
    pub encoding: PartEncoding,
    /// The length of its decoded bytes, where that is known.
    pub decoded_len: Option<u64>,
    /// The checksum of its bytes: of the stored ones in version 1, of the decoded ones in version 2.
    pub digest: Option<Checksum>,
}

/// The longest name, in bytes.
const NAME_LEN_MAX: usize = 1024;

/// Whether a text can be the name of an object, of a part or of an attribute.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_LEN_MAX && !name.contains('\0')
}

/// The value of a key of a map; `None` if it is missing.
pub(super) fn field<'v>(pairs: &'v [(Value, Value)], key: &str) -> Option<&'v Value> {
    pairs.iter().find(|(found, _)| found.as_text() == Some(key)).map(|(_, value)| value)
}

impl ObjectPart {
    /// The part that `value` describes; `shard_at` gives the position of a shard.
    pub(super) fn read(
        version: Version,
        name: &str,
        value: &Value,
        shard_at: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<ObjectPart, &'static ForeignRule> {
        let Value::Map(pairs) = value else { return Err(&rule::PART_FORM) };
        if version == Version::Two && !is_name(name) {
            return Err(&rule::NAME);
        }
        let text = |key: &str| match field(pairs, key) {
            None => Ok(None),
            Some(Value::Null) if version == Version::One => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(&rule::PART_FORM),
        };
        let dtype = text("dtype")?.ok_or(&rule::PART_FORM)?;
        let logical = text("type")?;
        let (element, storage_len) = match of_words(version, dtype, logical) {
            Typed::Known(element) => (Some(element), element.storage_len),
            Typed::Unknown(storage_len) => (None, storage_len),
            Typed::NoStorage => return Err(&rule::DTYPE_KNOWN),
            Typed::Misfit => return Err(&rule::TYPE_FIT),
        };
        let stored = place(version, pairs).ok_or(&rule::PART_FORM)?;
        let shard = match text("shard")?.filter(|_| version == Version::Two) {
            Some(shard) => Some(shard_at(shard).ok_or(&rule::SHARD_KNOWN)?),
            None => None,
        };
        let (encoding, decoded_len) = encoding(version, pairs, text("encoding")?, stored)?;
        let digest = text("digest")?.map(|text| digest(version, text).ok_or(&rule::DIGEST_FORM));
        Ok(ObjectPart {
            name: name.to_owned(),
            dtype_name: element.map_or(logical.unwrap_or(dtype), |it| it.name).to_owned(),
            element,
            storage_len,
            stored,
            shard,
            encoding,
            decoded_len,
            digest: digest.transpose()?,
        })
    }

    /// The number of elements that its decoded bytes hold, if they are whole ones.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        let (len, bits) = (self.decoded_len?, self.element?.bits);
        let each = bits.checked_div(8).filter(|each| *each != 0)?;
        len.is_multiple_of(each).then_some(len / each)
    }

    /// Whether its numbers are plain unsigned integers of 32 or 64 bits.
    pub(super) fn is_position(&self) -> bool {
        let name = self.element.filter(|it| it.is_plain).map(|it| it.name);
        matches!(name, Some("uint32" | "uint64"))
    }
}

/// The place of the blob.
fn place(version: Version, pairs: &[(Value, Value)]) -> Option<Span> {
    let (offset, len) = match version {
        Version::One => (field(pairs, "offset")?.as_u64()?, field(pairs, "length")?.as_u64()?),
        Version::Two => match field(pairs, "blob")? {
            Value::Array(numbers) => match numbers.as_slice() {
                [offset, len] => (offset.as_u64()?, len.as_u64()?),
                _ => return None,
            },
            _ => return None,
        },
    };
    Span::new(offset, len)
}

/// The encoding and the decoded length.
fn encoding(
    version: Version,
    pairs: &[(Value, Value)],
    word: Option<&str>,
    stored: Span,
) -> Result<(PartEncoding, Option<u64>), &'static ForeignRule> {
    let key = match version {
        Version::One => "uncompressed_length",
        Version::Two => "decoded_length",
    };
    let stated = match field(pairs, key) {
        None => None,
        Some(Value::Null) if version == Version::One => None,
        Some(value) => Some(value.as_u64().ok_or(&rule::PART_FORM)?),
    };
    if version == Version::Two && word.is_some() != stated.is_some() {
        return Err(&rule::DECODED_LEN);
    }
    let encoding = match (version, word) {
        (_, None) | (Version::One, Some("raw")) => {
            return Ok((PartEncoding::Raw, Some(stored.len())));
        }
        (Version::One, Some("zstd")) | (Version::Two, Some("zt.zstd-seekable/1")) => {
            PartEncoding::Zstd
        }
        _ => PartEncoding::Unknown,
    };
    Ok((encoding, stated))
}

/// The checksum in a text; `None` if it is malformed.
pub(super) fn digest(version: Version, text: &str) -> Option<Checksum> {
    if version == Version::One {
        return Checksum::parse(text);
    }
    let is_digits = |digits: &str, count: usize| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        digits.len() == count && digits.bytes().all(is_digit)
    };
    match text.split_once(':')? {
        ("xxh3", digits) if is_digits(digits, 16) => {
            u64::from_str_radix(digits, 16).ok().map(Checksum::Xxh3)
        }
        ("sha256", digits) if is_digits(digits, 64) => Checksum::parse(text),
        ("xxh3" | "sha256" | "", _) => None,
        (_, digits) if is_digits(digits, digits.len()) && !digits.is_empty() => {
            Some(Checksum::Unknown)
        }
        _ => None,
    }
}
