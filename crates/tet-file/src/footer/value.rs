//! Strict JSON: no repeated keys, limited depth, and every fault has a file offset.
//!
//! Queries and safetensors headers have their own readers. Users write queries by hand: that reader
//! explains what is missing where. Model headers may have 100 MB: that reader builds no tree. Here
//! a fault is a rule of the format, and unknown members are stored as text.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Deserializer, de::StrRead};
use tet_format::footer::Spill;
use tet_format::{Error as Fault, Faults, Limits, Result, Rule};

/// A JSON value: its text, and its file offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    text: &'a str,
    at: u64,
}

impl<'a> Value<'a> {
    /// Reads one JSON object at `at`; `syntax` is the rule that invalid JSON breaks.
    pub(crate) fn read(
        bytes: &'a [u8],
        at: u64,
        limits: &Limits,
        syntax: Rule,
        faults: &mut impl Faults,
    ) -> Result<Option<Self>> {
        let place = |offset: usize| at.saturating_add(offset as u64);
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = place(error.valid_up_to());
                faults.fault(Fault { rule: syntax, at, found: 0, wanted: 0 })?;
                return Ok(None);
            }
        };
        if let Err((rule, offset)) = scan(text, limits.json_depth_max) {
            let rule = rule.unwrap_or(syntax);
            let wanted = if rule == Rule::LimitDepth { limits.json_depth_max } else { 0 };
            let (at, wanted) = (place(offset), wanted.into());
            let found = if rule == Rule::LimitDepth { wanted + 1 } else { 0 };
            faults.fault(Fault { rule, at, found, wanted })?;
            return Ok(None);
        }
        let value = Value { text, at };
        if value.members().is_none() {
            faults.fault(Fault { rule: syntax, at, found: 0, wanted: 0 })?;
            return Ok(None);
        }
        Ok(Some(value))
    }

    /// The file offset of the value.
    pub(crate) fn at(self) -> u64 {
        self.at
    }

    /// The text of the value, unchanged.
    pub(crate) fn text(self) -> &'a str {
        self.text
    }

    /// The members of an object, in file order.
    pub(crate) fn members(self) -> Option<Vec<(String, Value<'a>)>> {
        let Members(members) = serde_json::from_str(self.text).ok()?;
        Some(members.into_iter().map(|(key, raw)| (key, self.inner(raw))).collect())
    }

    /// One member of an object.
    pub(crate) fn member(self, key: &str) -> Option<Value<'a>> {
        self.members()?.into_iter().find(|(found, _)| found == key).map(|(_, value)| value)
    }

    /// The items of an array.
    pub(crate) fn items(self) -> Option<Vec<Value<'a>>> {
        let items: Vec<&RawValue> = serde_json::from_str(self.text).ok()?;
        Some(items.into_iter().map(|raw| self.inner(raw)).collect())
    }

    /// The text of a string.
    pub(crate) fn string(self) -> Option<String> {
        serde_json::from_str(self.text).ok()
    }

    /// The items of an array of strings.
    pub(crate) fn strings(self) -> Option<Vec<String>> {
        serde_json::from_str(self.text).ok()
    }

    /// An unsigned integer.
    pub(crate) fn unsigned(self) -> Option<u64> {
        serde_json::from_str(self.text).ok()
    }

    /// The span of a spill: an object of two unsigned integers.
    pub(crate) fn spill(self) -> Option<Spill> {
        let number = |key| self.member(key)?.unsigned();
        Some(Spill { offset: number("offset")?, len: number("len")? })
    }

    fn inner(self, raw: &'a RawValue) -> Value<'a> {
        let text = raw.get();
        // Both are parts of one text, so the distance of their addresses is the distance in it.
        let offset = text.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        Value { text, at: self.at.saturating_add(offset as u64) }
    }
}

/// Reports a value whose type is wrong for its key.
pub(crate) fn wrong_type(rule: Rule, value: Value<'_>, faults: &mut impl Faults) -> Result<()> {
    faults.fault(Fault { rule, at: value.at, found: 0, wanted: 0 })
}

/// The members of an object, in file order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> serde::de::Visitor<'de> for Visit {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

/// Checks JSON before it is written, with the rules for reading.
pub(crate) fn check_text(key: &str, text: &str, depth_max: u32) -> Result<(), crate::Error> {
    scan(text, depth_max).map_err(|(rule, offset)| {
        let what = rule.unwrap_or(Rule::JsonSyntax).text();
        crate::Error::Json { key: key.to_owned(), offset, what }
    })
}

/// Scans a whole text. The error is the broken rule, or `None` for a syntax error, and its offset.
fn scan(text: &str, depth_max: u32) -> Result<(), (Option<Rule>, usize)> {
    let broken = Cell::new(None);
    let mut deserializer = Deserializer::new(StrRead::new(text));
    let scan = Scan { depth_left: depth_max, broken: &broken };
    let outcome = serde::de::DeserializeSeed::deserialize(scan, &mut deserializer);
    outcome.and_then(|()| deserializer.end()).map_err(|error| {
        let before = text.split_inclusive('\n').take(error.line().saturating_sub(1));
        let line_at: usize = before.map(str::len).sum();
        let offset = line_at.saturating_add(error.column().saturating_sub(1));
        (broken.get(), offset.min(text.len()))
    })
}

/// Visits a value and all nested values, storing nothing.
#[derive(Clone, Copy)]
struct Scan<'s> {
    depth_left: u32,
    broken: &'s Cell<Option<Rule>>,
}

impl Scan<'_> {
    fn inner<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.depth_left.checked_sub(1) {
            Some(depth_left) => Ok(Self { depth_left, ..self }),
            None => Err(self.broke(Rule::LimitDepth)),
        }
    }

    fn broke<E: serde::de::Error>(self, rule: Rule) -> E {
        self.broken.set(Some(rule));
        E::custom(rule)
    }
}

impl<'de> serde::de::DeserializeSeed<'de> for Scan<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> serde::de::Visitor<'de> for Scan<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while items.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        let mut keys = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if !keys.insert(key) {
                return Err(self.broke(Rule::JsonKeyTwice));
            }
            members.next_value_seed(inner)?;
        }
        Ok(())
    }
}
