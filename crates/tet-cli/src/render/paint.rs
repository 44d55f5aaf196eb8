//! The styles of text on a terminal.

use std::fmt;

use anstyle::{AnsiColor, Style};

/// Text styles, or plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Plain text.
    Plain,
    /// ANSI colors.
    Colored,
}

impl Paint {
    /// Colors if `colored`.
    #[must_use]
    pub(crate) fn when(colored: bool) -> Paint {
        if colored { Paint::Colored } else { Paint::Plain }
    }

    /// Bold text, for headings and results.
    pub(crate) fn strong(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(Style::new().bold(), text)
    }

    /// Faint text, for offsets and secondary facts.
    pub(crate) fn faint(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(Style::new().dimmed(), text)
    }

    /// A good result.
    pub(crate) fn good(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(AnsiColor::Green.on_default().bold(), text)
    }

    /// A warning.
    pub(crate) fn warning(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(AnsiColor::Yellow.on_default().bold(), text)
    }

    /// An error.
    pub(crate) fn wrong(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// A command to type, or advice.
    pub(crate) fn advice(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(AnsiColor::Cyan.on_default(), text)
    }

    fn with(self, style: Style, text: impl fmt::Display) -> Styled<impl fmt::Display> {
        let style = if self == Paint::Colored { style } else { Style::new() };
        Styled { style, text }
    }
}

struct Styled<T> {
    style: Style,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.style.render(), self.text, self.style.render_reset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_plain() {
        assert_eq!(Paint::Plain.wrong("x").to_string(), "x");
        assert_eq!(Paint::when(true).strong("x").to_string(), "\u{1b}[1mx\u{1b}[0m");
    }
}
