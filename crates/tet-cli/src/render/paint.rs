//! The few styles text has, or none of them.

use std::fmt;

use anstyle::{AnsiColor, Style};

/// Styles when colors are on, nothing when they are off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Plain text.
    Plain,
    /// ANSI colors.
    Colored,
}

impl Paint {
    /// Colors when asked for.
    #[must_use]
    pub(crate) fn when(colored: bool) -> Paint {
        if colored { Paint::Colored } else { Paint::Plain }
    }

    /// What stands out.
    pub(crate) fn strong(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(Style::new().bold(), text)
    }

    /// What stands back.
    pub(crate) fn faint(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(Style::new().dimmed(), text)
    }

    /// What is well.
    pub(crate) fn good(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(AnsiColor::Green.on_default().bold(), text)
    }

    /// What deserves a look.
    pub(crate) fn warning(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(AnsiColor::Yellow.on_default().bold(), text)
    }

    /// What is wrong.
    pub(crate) fn wrong(self, text: impl fmt::Display) -> impl fmt::Display {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// What to type, what to do next.
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
