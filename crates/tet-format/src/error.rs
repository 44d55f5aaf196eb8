//! The only error of this crate: a rule, an offset, and the two values that disagree.

use crate::rule::Rule;
use alloc::vec::Vec;
use core::fmt;

/// Bytes that break a [`Rule`].
///
/// Small, `Copy` and comparable, so that tests assert on values, never on text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The rule that is broken.
    pub rule: Rule,
    /// Where in the file, in bytes from its start.
    pub at: u64,
    /// The value in the file, or one derived from it; saturated if it does not fit.
    pub found: u64,
    /// The value that the rule requires, or its limit.
    pub wanted: u64,
}

const _: () = assert!(size_of::<Error>() <= 32, "errors stay cheap to return");

/// The result of reading bytes.
pub type Result<T, E = Error> = core::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { rule, at, found, wanted } = self;
        write!(f, "{} [{}] at byte {at}: ", rule.text(), rule.id())?;
        if rule.is_magic() {
            write!(f, "found {found:#010x}, wanted {wanted:#010x}")
        } else if rule.is_digest() {
            write!(f, "found {found:#018x}, wanted {wanted:#018x}")
        } else {
            write!(f, "found {found}, wanted {wanted}")
        }
    }
}

impl core::error::Error for Error {}

/// How to handle a broken rule: stop, or continue.
///
/// Every rule is implemented once, with this trait. A reader passes [`Strict`] and stops at the
/// first fault; a verifier passes a `Vec` and collects all of them.
pub trait Faults {
    /// Reports one fault.
    ///
    /// # Errors
    ///
    /// Returns the fault itself when the caller wants to stop here.
    fn fault(&mut self, fault: Error) -> Result<()>;
}

/// Stops at the first fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strict;

impl Faults for Strict {
    #[inline]
    fn fault(&mut self, fault: Error) -> Result<()> {
        Err(fault)
    }
}

impl Faults for Vec<Error> {
    fn fault(&mut self, fault: Error) -> Result<()> {
        self.push(fault);
        Ok(())
    }
}

impl<F: Faults + ?Sized> Faults for &mut F {
    fn fault(&mut self, fault: Error) -> Result<()> {
        (**self).fault(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn message_says_what_where_and_both_numbers() {
        let fault = Error { rule: Rule::IndexBounds, at: 16, found: 33, wanted: 32 };
        let text = "the index must end inside the file [TET-S4] at byte 16: found 33, wanted 32";
        assert_eq!(fault.to_string(), text);
    }

    #[test]
    fn magics_are_shown_as_bytes() {
        let fault = Error { rule: Rule::Magic, at: 0, found: 0x1, wanted: 0x5254_4554 };
        assert!(fault.to_string().ends_with("found 0x00000001, wanted 0x52544554"));
    }
}
