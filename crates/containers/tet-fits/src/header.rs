//! The header of one unit: its cards, read block by block until END.

use std::collections::HashMap;

use tet_container::read::header::{HeaderError, Parsed};
use tet_format::{ForeignFault, ForeignRule};
use tet_io::Source;
use tet_verify::ForeignFound;

use super::card::{CARD_LEN, Card, Value};
use super::rule;
use super::sum::Sum;

/// Headers and data are padded to whole blocks.
pub(super) const BLOCK_LEN: u64 = 2880;
/// Blocks of a header that are read at once.
const READ_LEN: u64 = 4 * BLOCK_LEN;
/// The headers of a file are not longer together: what they hold in memory follows from their bytes.
pub(crate) const HEADERS_LEN_MAX: u64 = 64 << 20;

/// Callback for findings that leave the file readable.
pub(super) type OnFinding<'f> = &'f mut dyn FnMut(ForeignFound);

/// The header of a unit.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// The offset of its first card.
    pub(super) at: u64,
    /// Its bytes, with the padding.
    pub(super) len: u64,
    /// The cards with values, in the order of the file: name, value and offset.
    pub(super) values: Vec<(String, Value, u64)>,
    /// Lines of text, by their keyword.
    pub(super) lines: Vec<(String, String)>,
    /// The sum of its bytes.
    pub(super) sum: Sum,
    places: HashMap<String, usize>,
}

impl Header {
    /// Reads the header at `at`; `seen` are the bytes of those before it.
    pub(super) fn read(
        source: &Source,
        at: u64,
        seen: u64,
        found: OnFinding<'_>,
    ) -> Parsed<Header> {
        let mut header = Header { at, ..Header::default() };
        let mut is_ended = false;
        while !is_ended {
            let begin = at.saturating_add(header.len);
            let whole = source.len().saturating_sub(begin) / BLOCK_LEN * BLOCK_LEN;
            let fault = |rule: &'static ForeignRule, found, wanted| {
                Err(HeaderError::Fault(ForeignFault { rule, at, found, wanted }))
            };
            if whole == 0 {
                return fault(&rule::HEADER_CUT, 0, 0);
            }
            if HEADERS_LEN_MAX < seen.saturating_add(header.len) {
                return fault(
                    &rule::LIMIT_HEADER,
                    seen.saturating_add(header.len),
                    HEADERS_LEN_MAX,
                );
            }
            let bytes = source.read_vec(begin, whole.min(READ_LEN))?;
            let block_len = usize::try_from(BLOCK_LEN).unwrap_or(usize::MAX);
            for block in bytes.chunks_exact(block_len) {
                // Without its END card a header would hide the units behind it.
                if header.len != 0 && is_first(block) {
                    return fault(&rule::HEADER_CUT, 0, 0);
                }
                is_ended = header.take(block, found);
                if is_ended {
                    break;
                }
            }
        }
        Ok(header)
    }

    /// Takes the cards of a block; whether one of them is the last.
    fn take(&mut self, block: &[u8], found: OnFinding<'_>) -> bool {
        let begin = self.at.saturating_add(self.len);
        self.sum.update(block);
        self.len = self.len.saturating_add(BLOCK_LEN);
        let mut rest = block;
        while let Some((card, behind)) = rest.split_at_checked(CARD_LEN) {
            let at = begin.saturating_add((block.len() - rest.len()) as u64);
            rest = behind;
            match Card::read(card) {
                Card::End => {
                    let mut unread = card.iter().skip("END".len()).chain(behind);
                    if unread.any(|byte| !matches!(byte, b' ' | 0)) {
                        warn(&rule::END_BLANK, at, found);
                    }
                    return true;
                }
                Card::Line { name, text } => self.lines.push((name, text)),
                Card::Continue(text) => self.lengthen(&text),
                Card::Value { name, value, is_sound } => {
                    if !is_sound {
                        warn(&rule::CARD_FORM, at, found);
                    }
                    if self.places.contains_key(&name) {
                        warn(&rule::KEY_TWICE, at, found);
                    } else {
                        self.places.insert(name.clone(), self.values.len());
                    }
                    self.values.push((name, value, at));
                }
            }
        }
        false
    }

    /// Adds text to the last value, if it ends with `&`.
    fn lengthen(&mut self, text: &str) {
        if let Some((_, Value::Text(long), _)) = self.values.last_mut()
            && long.ends_with('&')
        {
            long.pop();
            long.push_str(text);
        }
    }

    /// The first value of a keyword.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(*self.places.get(name)?).map(|(_, value, _)| value)
    }

    /// The offset of a keyword; that of the header where it is absent.
    pub(super) fn place(&self, name: &str) -> u64 {
        let card = self.places.get(name).and_then(|&place| self.values.get(place));
        card.map_or(self.at, |(.., at)| *at)
    }

    /// An integer; `None` if it is absent or another value.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        if let Some(Value::Integer(number)) = self.value(name) { Some(*number) } else { None }
    }

    /// A number of things, of which there are `usual` if the card is absent; `None` for other values.
    pub(super) fn count(&self, name: &str, usual: u64) -> Option<u64> {
        match self.value(name) {
            None => Some(usual),
            Some(Value::Integer(number)) => u64::try_from(*number).ok(),
            Some(_) => None,
        }
    }

    /// Whether a keyword is true.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.value(name) == Some(&Value::Flag(true))
    }

    /// A text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        if let Some(Value::Text(text)) = self.value(name) { Some(text) } else { None }
    }

    /// The offset of what follows the header.
    pub(super) fn end(&self) -> u64 {
        self.at.saturating_add(self.len)
    }
}

/// Whether a block is the first of a header.
fn is_first(block: &[u8]) -> bool {
    block.starts_with(b"XTENSION= '") || block.starts_with(b"SIMPLE  = ")
}

/// Reports a rule that leaves the unit readable.
pub(super) fn warn(rule: &'static ForeignRule, at: u64, found: OnFinding<'_>) {
    let fault = ForeignFault { rule, at, found: 0, wanted: 0 };
    found(ForeignFound { fault, field: "card", len: 80, dataset: None });
}
