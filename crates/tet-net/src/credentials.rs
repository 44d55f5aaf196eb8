//! Keys of S3 and of what is asked like S3: from variables, else from the files of the AWS tools.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use tet_io::Source;

use crate::settings::{Lookup, Settings};

/// The longest file of profiles that is read.
const FILE_LEN_MAX: u64 = 1 << 20;

/// A key and its secret.
#[derive(Clone)]
pub(crate) struct Keys {
    pub key: String,
    pub secret: String,
    pub token: Option<String>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

/// Where the tools of AWS have keys from that are not in a variable or a file.
const ELSEWHERE: [&str; 7] = [
    "credential_process",
    "credential_source",
    "role_arn",
    "sso_session",
    "sso_start_url",
    "web_identity_token_file",
    "login_session",
];
/// The same of variables.
const ELSEWHERE_SET: [&str; 3] = [
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// Why requests without keys may be refused, and what to do then.
pub(crate) const NO_GOOGLE_KEYS: &str =
    "there are no keys: set GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, which are HMAC keys";

/// What the variables and files of the AWS tools say; without keys requests are not signed.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    pub keys: Option<Keys>,
    /// Why there are no keys, and what to do if requests are refused.
    pub keyless: String,
    pub region: Option<String>,
    pub endpoint: Option<String>,
}

impl Profile {
    /// Reads the profile that `AWS_PROFILE` names, `default` otherwise.
    ///
    /// # Errors
    ///
    /// Returns an error when a file cannot be read, or a profile that is named is in none.
    pub(crate) fn read(settings: &Settings) -> io::Result<Profile> {
        let lookup = &settings.lookup;
        let asked = lookup.get("AWS_PROFILE");
        let name = asked.as_deref().unwrap_or("default");
        let mut profile = Profile::default();
        let mut secret = [None, None, None];
        let (mut is_there, mut elsewhere) = (false, None);
        for (variable, usual) in [
            ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
            ("AWS_CONFIG_FILE", ".aws/config"),
        ] {
            let home = || lookup.get("HOME").map(|home| Path::new(&home).join(usual));
            let Some(path) = lookup.get(variable).map(PathBuf::from).or_else(home) else {
                continue;
            };
            for (key, value) in entries(&text(&path)?, name, &mut is_there) {
                let place = match key {
                    "aws_access_key_id" => &mut secret[0],
                    "aws_secret_access_key" => &mut secret[1],
                    "aws_session_token" => &mut secret[2],
                    "region" => &mut profile.region,
                    "endpoint_url" => &mut profile.endpoint,
                    _ => {
                        elsewhere = elsewhere.or(ELSEWHERE.iter().find(|it| **it == key));
                        continue;
                    }
                };
                place.get_or_insert(value.to_owned());
            }
        }
        if let Some(asked) = asked.as_ref().filter(|_| !is_there) {
            let text = format!("there is no profile {asked:?} in the files of the AWS tools");
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let set = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
        let set = set.map(|name| lookup.get(name));
        let keys = keys(set).or_else(|| keys(secret));
        let unsigned = lookup.get("AWS_NO_SIGN_REQUEST").map(|value| value.to_ascii_lowercase());
        let is_unsigned = unsigned.is_some_and(|value| ["1", "true", "yes"].contains(&&*value));
        let set = ELSEWHERE_SET.iter().find(|name| lookup.get(name).is_some());
        profile.keyless = keyless(is_unsigned, name, elsewhere.or(set).copied());
        Ok(Profile { keys: keys.filter(|_| !is_unsigned), ..profile })
    }
}

/// Why a profile has no keys, and what to do.
fn keyless(is_unsigned: bool, profile: &str, elsewhere: Option<&str>) -> String {
    match elsewhere {
        _ if is_unsigned => {
            "requests are not signed, because AWS_NO_SIGN_REQUEST is set".to_owned()
        }
        Some(from) => format!(
            "there are no keys in variables or files, and those of {from} are not fetched: set what \
             `aws configure export-credentials --profile {profile} --format env` prints"
        ),
        None => {
            "there are no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
                .to_owned()
        }
    }
}

/// The keys of Google's XML API.
pub(crate) fn of_google(lookup: &Lookup) -> Option<Keys> {
    keys([lookup.get("GS_ACCESS_KEY_ID"), lookup.get("GS_SECRET_ACCESS_KEY"), None])
}

fn keys([key, secret, token]: [Option<String>; 3]) -> Option<Keys> {
    Some(Keys { key: key?, secret: secret?, token })
}

/// The text of a file; nothing where there is none.
fn text(path: &Path) -> io::Result<String> {
    let failed = |error: tet_io::Error| io::Error::other(error.to_string());
    let source = match Source::open(path) {
        Ok(source) => source,
        Err(tet_io::Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(String::new());
        }
        Err(error) => return Err(failed(error)),
    };
    let bytes = source.read_vec(0, source.len().min(FILE_LEN_MAX)).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The entries of a profile: `[name]`, or `[profile name]`, and lines `key = value` after it.
fn entries<'a>(text: &'a str, name: &str, is_there: &mut bool) -> Vec<(&'a str, &'a str)> {
    let mut entries = Vec::new();
    let mut is_ours = false;
    for line in text.lines() {
        let is_indented = line.starts_with([' ', '\t']);
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
            let section = section.trim();
            is_ours = section.strip_prefix("profile ").unwrap_or(section).trim() == name;
            *is_there |= is_ours;
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_ours && !is_indented)
            && !line.starts_with(['#', ';'])
        {
            entries.push((key.trim(), value.trim()));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "[default]\naws_access_key_id = A\naws_secret_access_key=S\n\n\
                               # a comment = no\n[other]\naws_access_key_id = B\n\
                               aws_secret_access_key = T\naws_session_token = U\n";
    const CONFIG: &str = "[default]\nregion = eu-west-1\ns3 =\n  endpoint_url = http://no\n\
                          [profile login]\nsso_session = s\n[profile other]\nregion = us-west-2\nendpoint_url = http://yes\n";

    fn read(variables: &[(&str, &str)]) -> io::Result<Profile> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".aws")).unwrap();
        std::fs::write(folder.path().join(".aws/credentials"), CREDENTIALS).unwrap();
        std::fs::write(folder.path().join(".aws/config"), CONFIG).unwrap();
        let mut all = vec![("HOME".to_owned(), folder.path().to_string_lossy().into_owned())];
        all.retain(|it| variables.iter().all(|known| known.0 != it.0));
        all.extend(variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned())));
        let find = move |name: &str| all.iter().find(|it| it.0 == name).map(|it| it.1.clone());
        Profile::read(&Settings { lookup: Lookup::new(find), ..Settings::default() })
    }

    #[test]
    fn variables_come_before_files() {
        let default = read(&[]).unwrap();
        assert_eq!(default.region.as_deref(), Some("eu-west-1"));
        assert_eq!(default.endpoint, None);
        assert_eq!(default.keys.unwrap().key, "A");
        let other = read(&[("AWS_PROFILE", "other")]).unwrap();
        assert_eq!(other.endpoint.as_deref(), Some("http://yes"));
        let keys = other.keys.unwrap();
        assert_eq!((keys.key.as_str(), keys.token.as_deref()), ("B", Some("U")));
        assert_eq!(format!("{keys:?}"), "Keys");
        let set = [("AWS_ACCESS_KEY_ID", "C"), ("AWS_SECRET_ACCESS_KEY", "V")];
        let keys = read(&set).unwrap().keys.unwrap();
        assert_eq!((keys.key.as_str(), keys.token), ("C", None));
        assert!(read(&[("AWS_NO_SIGN_REQUEST", "YES")]).unwrap().keys.is_none());
        assert!(read(&[("AWS_PROFILE", "absent")]).is_err());
    }

    #[test]
    fn what_has_no_keys_has_a_reason() {
        let reason = |variables: &[(&str, &str)]| {
            let profile = read(variables).unwrap();
            assert!(profile.keys.is_none());
            profile.keyless
        };
        assert!(reason(&[("AWS_NO_SIGN_REQUEST", "1")]).contains("AWS_NO_SIGN_REQUEST"));
        let text = reason(&[("AWS_PROFILE", "login")]);
        assert!(text.contains("sso_session") && text.contains("--profile login"), "{text}");
        let no_files = [("HOME", "/nowhere"), ("AWS_WEB_IDENTITY_TOKEN_FILE", "secret")];
        let text = reason(&no_files);
        assert!(text.contains("AWS_WEB_IDENTITY_TOKEN_FILE") && !text.contains("secret"), "{text}");
        assert!(reason(&no_files[..1]).contains("set AWS_ACCESS_KEY_ID"));
    }
}
