//! A program that prints keys or a token: `credential_process` of a profile, or the tool of Azure.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::fetched::{Fetched, keys, token};
use crate::ranges::RangeFailure;

/// The members of keys in the output.
const NAMES: [&str; 4] = ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"];

/// A line for the shell, and what its output is.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub line: String,
    /// Who names it, for messages: the line may have secrets.
    pub named_by: String,
    pub prints: Printed,
}

/// Output of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Printed {
    Keys,
    Token,
}

impl Program {
    pub(crate) fn name(&self) -> String {
        format!("the program of {}", self.named_by)
    }

    /// Runs the program, which may ask on the terminal.
    ///
    /// <https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html>
    pub(crate) fn fetch(&self) -> Result<Fetched, RangeFailure> {
        let mut command = Command::new("sh");
        command.args(["-c", &self.line]).stderr(Stdio::inherit());
        let output = command.output().map_err(RangeFailure::Final)?;
        if !output.status.success() {
            return Err(RangeFailure::refused(format!("it fails ({})", output.status)));
        }
        let value: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| RangeFailure::refused("its output is not JSON"))?;
        match self.prints {
            Printed::Keys => keys(&value, NAMES),
            Printed::Token => token(&value),
        }
    }
}
