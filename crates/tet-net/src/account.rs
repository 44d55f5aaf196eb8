//! For whom requests are made: an origin of secrets, and the secrets that are known of it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

use crate::credentials::{Origin, Secret};
use crate::http::Client;
use crate::ranges::RangeFailure;

/// How long before its end a secret is fetched again: longer than a request takes.
const AHEAD: SignedDuration = SignedDuration::from_mins(5);
/// How long a secret is used at least, so that one with a short life is not fetched for each request.
const USED_MIN: SignedDuration = SignedDuration::from_secs(30);

/// The secrets that were fetched; clones share them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Fetches>>);

#[derive(Default)]
struct Fetches {
    known: Vec<Known>,
    /// The last that failed, and when.
    failed: Option<(Origin, RangeFailure, Instant)>,
}

/// A secret, and until when it is used.
struct Known {
    origin: Origin,
    secret: Secret,
    until: Timestamp,
}

/// For whom requests are made.
#[derive(Clone)]
pub(crate) struct Account {
    origin: Origin,
    secrets: Secrets,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Account")
    }
}

impl Account {
    pub(crate) fn new(origin: Origin, secrets: &Secrets) -> Account {
        Account { origin, secrets: secrets.clone() }
    }

    /// Whether requests have a token in a header, in place of a signature.
    pub(crate) fn has_token(&self) -> bool {
        !matches!(self.origin, Origin::Nothing(_) | Origin::Given(Secret::Keys(_)))
    }

    /// The secret of a request that is made now; `None` where requests are not signed. It is fetched when it is needed
    /// first, and before it ends, once for all threads that wait for it, also if that fails.
    pub(crate) fn secret(&self, client: &Client) -> Result<Option<Secret>, RangeFailure> {
        match &self.origin {
            Origin::Nothing(_) => return Ok(None),
            Origin::Given(secret) => return Ok(Some(secret.clone())),
            _ => {}
        }
        let began = Instant::now();
        let mut all = self.secrets.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Timestamp::now();
        all.known.retain(|known| now < known.until);
        if let Some(known) = all.known.iter().find(|known| known.origin == self.origin) {
            return Ok(Some(known.secret.clone()));
        }
        if let Some((origin, failure, at)) = &all.failed
            && *origin == self.origin
            && began < *at
        {
            return Err(failure.copy());
        }
        let origin = self.origin.clone();
        let fetched = origin.fetch(client).inspect_err(|failure| {
            all.failed = Some((origin.clone(), failure.copy(), Instant::now()));
        })?;
        let (secret, until) = (fetched.secret, until(now, fetched.expiry));
        all.known.push(Known { origin, secret: secret.clone(), until });
        Ok(Some(secret))
    }

    /// Adds to a refusal why requests are not signed, if they are not.
    pub(crate) fn explained(&self, failure: RangeFailure) -> RangeFailure {
        let Origin::Nothing(reason) = &self.origin else { return failure };
        match failure {
            RangeFailure::Final(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                let text = format!("{error}; {reason}");
                RangeFailure::Final(std::io::Error::new(error.kind(), text))
            }
            failure => failure,
        }
    }
}

/// Until when a secret is used that was fetched now.
fn until(now: Timestamp, expiry: Option<Timestamp>) -> Timestamp {
    let until = expiry.unwrap_or(Timestamp::MAX).saturating_sub(AHEAD).unwrap_or(Timestamp::MIN);
    until.max(now.saturating_add(USED_MIN).unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_used_until_shortly_before_its_end() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = time("2026-11-27T01:00:00Z");
        assert_eq!(until(now, Some(time("2026-11-27T02:00:00Z"))), time("2026-11-27T01:55:00Z"));
        assert_eq!(until(now, Some(time("2026-11-27T01:01:00Z"))), time("2026-11-27T01:00:30Z"));
        assert_eq!(until(now, Some(Timestamp::MIN)), time("2026-11-27T01:00:30Z"));
        assert!(time("9000-01-01T00:00:00Z") < until(now, None));
    }
}
