//! Rules of other containers, in a form that all layers share.
//!
//! Each container lists its own rules in its own crate. Queries stop at the first fault; `verify`
//! collects all faults.

use core::fmt;

/// The severity of a broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Useful to know; nothing is wrong.
    Note,
    /// Unusual: readers accept it, careful writers avoid it.
    Warning,
    /// A rule is broken.
    Error,
}

impl Severity {
    /// The severity's name, as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How the values of a fault are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Digits {
    /// Counts, lengths and offsets.
    #[default]
    Decimal,
    /// Magics, bytes and checksums.
    Hexadecimal,
    /// Not printed: the place is enough.
    Hidden,
}

/// Whether a repair may lose elements, tensors or metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Losses {
    /// It applies only edits without losses, and lists the others.
    #[default]
    Refused,
    /// It applies all edits.
    Allowed,
}

/// The data that must be read to check a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// The structure of the file.
    #[default]
    Structure,
    /// The stored elements.
    Elements,
}

/// A rule of another container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ForeignRule {
    /// The stable id, the same in the document, in cases and in findings.
    pub id: &'static str,
    /// The name of its region in the container.
    pub region: &'static str,
    /// The requirement, or the fact.
    pub text: &'static str,
    /// Advice about a file that breaks it; empty if unknown.
    pub hint: &'static str,
    /// The severity if it is broken.
    pub severity: Severity,
    /// The data that must be read to check it.
    pub reach: Reach,
    /// How its values are printed.
    pub digits: Digits,
}

impl ForeignRule {
    /// Whether it is a limit of the reader and not a rule of the format: its id has an L after the
    /// dash, as in `ZT-L1`.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        self.id.split_once('-').is_some_and(|(_, number)| number.starts_with('L'))
    }
}

/// Defines the rules of a container, each as a `static` of this visibility, and the list `ALL`; a `use` lists rules of
/// another module among them.
///
/// ```
/// mod shared {
///     tet_format::foreign_rules! { pub(crate),
///         "X-S1" PART_CUT "part" Error Structure Decimal:
///             "a part must have 8 bytes", "";
///     }
/// }
///
/// tet_format::foreign_rules! { pub(crate),
///     "X-H1" HEADER_CUT "header" Error Structure Decimal:
///         "a file must begin with 8 bytes", "the file is cut short";
///     use shared { PART_CUT };
/// }
/// # fn main() { assert!(ALL.iter().map(|rule| rule.id).eq(["X-H1", "X-S1"])) }
/// ```
#[macro_export]
macro_rules! foreign_rules {
    ($vis:vis,
        $( $id:literal $name:ident $region:literal $severity:ident $reach:ident $digits:ident: $text:literal, $hint:literal; )*
        $( use $($module:ident)::+ { $($shared:ident)+ };
        $( $more:literal $other:ident $place:literal $level:ident $need:ident $form:ident: $what:literal, $advice:literal; )* )?
    ) => {
        $( $crate::foreign_rules! { @rule $vis, $id $name $region $severity $reach $digits: $text, $hint; } )*
        $( $vis use $($module)::+::{$($shared),+};
        $( $crate::foreign_rules! { @rule $vis, $more $other $place $level $need $form: $what, $advice; } )* )?

        /// Every rule, in the order of the document.
        $vis static ALL: &[&$crate::ForeignRule] = &[ $( &$name, )* $( $( &$shared, )+ $( &$other, )* )? ];
    };
    (@rule $vis:vis, $id:literal $name:ident $region:literal $severity:ident $reach:ident $digits:ident: $text:literal, $hint:literal;) => {
        #[doc = concat!($id, ": ", $text, ".")]
        $vis static $name: $crate::ForeignRule = $crate::ForeignRule {
            id: $id,
            region: $region,
            text: $text,
            hint: $hint,
            severity: $crate::Severity::$severity,
            reach: $crate::Reach::$reach,
            digits: $crate::Digits::$digits,
        };
    };
}

/// A broken [`ForeignRule`]: a value, so that tests can compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignFault {
    /// The rule that is broken.
    pub rule: &'static ForeignRule,
    /// Where in the file, in bytes from its start.
    pub at: u64,
    /// The value in the file, or one derived from it; saturated if it does not fit.
    pub found: u64,
    /// The value that the rule requires, or its limit; as `found` where it is no number.
    pub wanted: u64,
}

impl fmt::Display for ForeignFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ForeignFault { rule, at, found, wanted } = self;
        write!(f, "{} [{}] at byte {at}", rule.text, rule.id)?;
        match rule.digits {
            _ if found == wanted => Ok(()),
            Digits::Decimal => write!(f, ": found {found}, wanted {wanted}"),
            Digits::Hexadecimal => write!(f, ": found {found:#x}, wanted {wanted:#x}"),
            Digits::Hidden => Ok(()),
        }
    }
}

impl core::error::Error for ForeignFault {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    const RULE: ForeignRule = ForeignRule {
        id: "X-1",
        region: "head",
        text: "the head must be a head",
        hint: "",
        severity: Severity::Error,
        reach: Reach::Structure,
        digits: Digits::Decimal,
    };
    static HEX: ForeignRule = ForeignRule { digits: Digits::Hexadecimal, ..RULE };
    static COUNTED: ForeignRule = RULE;

    #[test]
    fn a_fault_says_what_where_and_both_numbers() {
        let fault = ForeignFault { rule: &COUNTED, at: 8, found: 16, wanted: 17 };
        let text = "the head must be a head [X-1] at byte 8: found 16, wanted 17";
        assert_eq!(fault.to_string(), text);
        assert!(!COUNTED.is_limit() && ForeignRule { id: "X-L2", ..RULE }.is_limit());
        let fault = ForeignFault { rule: &HEX, ..fault };
        assert!(fault.to_string().ends_with("found 0x10, wanted 0x11"));
        let fault = ForeignFault { found: 0, wanted: 0, ..fault };
        assert!(fault.to_string().ends_with("at byte 8"));
    }
}
