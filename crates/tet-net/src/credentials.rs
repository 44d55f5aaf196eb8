//! Credentials: given in variables and files, or fetched from a service for a limited time.
//!
//! ```text
//!   aws      variables and profiles of the tools of AWS -> an origin
//!            role: the token service; single_sign_on; metadata: of a container or a machine; program
//!   google   variables and files of the tools of Google -> an origin, and its tokens
//!   entra    variables of the tools of Azure -> an origin, and its tokens
//! ```
//!
//! Only servers that the user or a profile names are contacted; the server of the machine's own metadata is contacted
//! where a variable or a profile sets it.

mod aws;
mod entra;
mod fetched;
mod files;
mod google;
mod metadata;
mod program;
mod role;
mod signature;
mod single_sign_on;

use std::fmt::Display;
use std::io;

use crate::http::Client;
use crate::ranges::RangeFailure;
use crate::settings::Lookup;

use entra::Login;
use fetched::Fetched;
use google::GoogleFile;
use metadata::Metadata;
#[cfg(test)]
pub(crate) use program::Printed;
pub(crate) use program::Program;
use role::Role;
use single_sign_on::SingleSignOn;

pub(crate) use aws::Profile;
pub(crate) use entra::origin as of_azure;
pub(crate) use fetched::{Keys, Secret};
pub(crate) use files::TextFiles;
pub(crate) use google::origin as of_google;

/// Where secrets are from.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From nowhere: requests are not signed, for this reason.
    Nothing(String),
    /// From a variable or a file.
    Given(Secret),
    Program(Program),
    Metadata(Metadata),
    Role(Box<Role>),
    SingleSignOn(SingleSignOn),
    Google(GoogleFile),
    Entra(Login),
}

impl Origin {
    /// Fetches the secret.
    ///
    /// # Errors
    ///
    /// Returns an error that names the origin when it gives none.
    pub(crate) fn fetch(&self, client: &Client) -> Result<Fetched, RangeFailure> {
        match self {
            Origin::Nothing(reason) => Err(RangeFailure::refused(reason)),
            Origin::Given(secret) => Ok(Fetched { secret: secret.clone(), expiry: None }),
            Origin::Program(it) => named(it.fetch(), || it.name()),
            Origin::Metadata(it) => named(it.fetch(client), || it.name()),
            Origin::Role(it) => named(it.fetch(client), || it.name()),
            Origin::SingleSignOn(it) => named(it.fetch(client), || it.name()),
            Origin::Google(it) => named(it.fetch(client), || it.name()),
            Origin::Entra(it) => named(it.fetch(client), || it.name()),
        }
    }
}

/// No origin, if a variable says that requests are not to be signed.
fn unsigned(lookup: &Lookup, variable: &str) -> Option<Origin> {
    let value = lookup.get(variable)?.to_ascii_lowercase();
    let is_set = ["1", "true", "yes"].contains(&&*value);
    let reason = || format!("requests are not signed, because {variable} is set");
    is_set.then(|| Origin::Nothing(reason()))
}

/// Names the origin in a failure, which is then never one of the file that is read or written.
fn named<T>(
    outcome: Result<T, RangeFailure>,
    name: impl Fn() -> String,
) -> Result<T, RangeFailure> {
    let text = |why: &dyn Display| format!("there are no keys from {}: {why}", name());
    outcome.map_err(|failure| match failure {
        RangeFailure::Later { error, after } => {
            RangeFailure::Later { error: io::Error::other(text(&error)), after }
        }
        RangeFailure::Final(error) => RangeFailure::refused(text(&error)),
        RangeFailure::Changed | RangeFailure::Region(_) => {
            RangeFailure::refused(text(&"the server refuses the request"))
        }
    })
}
