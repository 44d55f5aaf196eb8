//! For whom requests are made: an origin of secrets, and the secrets that are known of it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

use crate::credentials::{Origin, Secret, TextFiles};
use crate::http::Client;
use crate::ranges::RangeFailure;

/// How long before its end a secret is fetched again: longer than a request takes.
const AHEAD: SignedDuration = SignedDuration::from_mins(5);
/// How long a secret is used at least, so that one with a short life is not fetched for each request.
const USED_MIN: SignedDuration = SignedDuration::from_secs(30);

/// An origin, and what was fetched from it.
type OriginFetches = (Origin, Arc<Mutex<Fetches>>);

/// The secrets that were fetched, and the files that name their origins; clones share them.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    origins: Arc<Mutex<Vec<OriginFetches>>>,
    pub(crate) files: TextFiles,
}

impl Secrets {
    /// Credentials fetched from an origin. Their lock is locked during requests to the origin; the lock over all
    /// origins is not.
    fn of_origin(&self, origin: &Origin) -> Arc<Mutex<Fetches>> {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, fetches)) = origins.iter().find(|(known, _)| known == origin) {
            return Arc::clone(fetches);
        }
        let fetches = Arc::<Mutex<Fetches>>::default();
        origins.push((origin.clone(), Arc::clone(&fetches)));
        fetches
    }
}

/// Credentials and the last failure of one origin.
#[derive(Default)]
struct Fetches {
    /// The secret, and until when it is used.
    secret: Option<(Secret, Timestamp)>,
    /// The last failure, and when it was.
    failed: Option<(RangeFailure, Instant)>,
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
        let fetches = self.secrets.of_origin(&self.origin);
        let mut fetches = fetches.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Timestamp::now();
        if let Some((secret, until)) = &fetches.secret
            && now < *until
        {
            return Ok(Some(secret.clone()));
        }
        if let Some((failure, at)) = &fetches.failed
            && began < *at
        {
            return Err(failure.copy());
        }
        let fetched = self.origin.fetch(client).inspect_err(|failure| {
            fetches.failed = Some((failure.copy(), Instant::now()));
        })?;
        fetches.secret = Some((fetched.secret.clone(), until(now, fetched.expiry)));
        Ok(Some(fetched.secret))
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
    use crate::Settings;
    use crate::credentials::{Printed, Program};

    #[test]
    fn a_slow_origin_is_waited_for_by_its_own_requests_only() {
        let origin = |key: &str| {
            let line = format!(
                "printf '{{\"Version\": 1, \"AccessKeyId\": \"{key}\", \"SecretAccessKey\": \"s\"}}'"
            );
            Origin::Program(Program { line, named_by: key.to_owned(), prints: Printed::Keys })
        };
        let (secrets, client) = (Secrets::default(), Client::new(&Settings::default()));
        let slow = secrets.of_origin(&origin("slow"));
        let _requested = slow.lock().unwrap();
        let secret = Account::new(origin("other"), &secrets).secret(&client);
        let Ok(Some(Secret::Keys(keys))) = secret else { panic!() };
        assert_eq!(keys.key, "other");
    }

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
