//! Settings of the AWS tools in variables and files: the source of the keys, the region, and the server.
//!
//! <https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html>

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use super::fetched::{Keys, Secret};
use super::files::TextFiles;
use super::metadata::Metadata;
use super::program::{Printed, Program};
use super::role::{By, Role};
use super::single_sign_on::SingleSignOn;
use super::{Origin, unsigned};
use crate::hex::hex;
use crate::settings::Lookup;

/// Profiles that name each other, at most.
const DEPTH_MAX: usize = 8;
/// The name of a session of a role, unless one is given.
const SESSION: &str = "tet";
/// Server of containers, where a variable has the path only.
const CONTAINER: &str = "http://169.254.170.2";
/// The metadata of a machine.
const MACHINE: &str = "http://169.254.169.254";
/// Where the tools of AWS have keys from that are not fetched.
const ELSEWHERE: [&str; 2] = ["login_session", "mfa_serial"];

/// Settings from the variables and files; without keys requests are not signed.
pub(crate) struct Profile {
    pub origin: Origin,
    pub region: Option<String>,
    pub endpoint: Option<String>,
}

impl Profile {
    /// Reads the profile that `AWS_PROFILE` names, `default` otherwise.
    ///
    /// # Errors
    ///
    /// Returns an error when a file cannot be read, or a profile that is named is in none.
    pub(crate) fn read(lookup: &Lookup, texts: &TextFiles) -> io::Result<Profile> {
        let files = Files::read(lookup, texts)?;
        let asked = lookup.get("AWS_PROFILE");
        let name = asked.as_deref().unwrap_or("default");
        let found = files.section(name);
        if let (Some(asked), None) = (&asked, &found) {
            return Err(absent(asked));
        }
        let found = found.unwrap_or_default();
        let given = |names: [&str; 2]| names.iter().find_map(|name| lookup.get(name));
        let entry = |name: &str| found.get(name).map(|&value| value.to_owned());
        let (region, endpoint) = (entry("region"), entry("endpoint_url"));
        let region = given(["AWS_REGION", "AWS_DEFAULT_REGION"]).or(region);
        let reader = Reader {
            lookup,
            files: &files,
            region: region.as_deref(),
            endpoint: endpoint.as_deref(),
        };
        let origin = reader.origin(name)?;
        let endpoint = given(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]).or(endpoint);
        Ok(Profile { origin, region, endpoint })
    }
}

/// The entries of a profile; of what stands twice, the first.
type Section<'a> = BTreeMap<&'a str, &'a str>;

/// The texts of the files.
struct Files([Arc<str>; 2]);

impl Files {
    fn read(lookup: &Lookup, texts: &TextFiles) -> io::Result<Files> {
        let text = |variable: &str, usual: &str| {
            let home = || lookup.get("HOME").map(|home| Path::new(&home).join(usual));
            let path = lookup.get(variable).map(PathBuf::from).or_else(home);
            path.map_or_else(|| Ok("".into()), |path| texts.read(&path))
        };
        let credentials = text("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials")?;
        Ok(Files([credentials, text("AWS_CONFIG_FILE", ".aws/config")?]))
    }

    /// A section `[name]`, or `[profile name]`: lines `key = value`. `None` where there is none in either file.
    fn section(&self, name: &str) -> Option<Section<'_>> {
        let (mut section, mut is_there) = (Section::new(), false);
        for text in &self.0 {
            let mut is_ours = false;
            for line in text.lines() {
                let is_indented = line.starts_with([' ', '\t']);
                let line = line.trim();
                if let Some(head) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
                    let head = head.trim();
                    is_ours = head.strip_prefix("profile ").unwrap_or(head).trim() == name;
                    is_there |= is_ours;
                } else if let Some((key, value)) = line.split_once('=')
                    && is_ours
                    && !is_indented
                    && !line.starts_with(['#', ';'])
                {
                    section.entry(key.trim()).or_insert(value.trim());
                }
            }
        }
        is_there.then_some(section)
    }
}

/// Finds where keys are from.
struct Reader<'a> {
    lookup: &'a Lookup,
    files: &'a Files,
    region: Option<&'a str>,
    /// The server of all services, as the profile names it.
    endpoint: Option<&'a str>,
}

impl Reader<'_> {
    /// The first of: variables with keys, a token for a role, what the profile says, a container, a machine.
    fn origin(&self, profile: &str) -> io::Result<Origin> {
        let unsigned = unsigned(self.lookup, "AWS_NO_SIGN_REQUEST");
        if let Some(origin) = unsigned.or_else(|| self.of_variables()) {
            return Ok(origin);
        }
        let variables = ["AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"];
        if let [Some(arn), Some(file)] = variables.map(|name| self.lookup.get(name)) {
            let session = self.lookup.get("AWS_ROLE_SESSION_NAME");
            let entries = session.iter().map(|name| ("role_session_name", name.as_str())).collect();
            return Ok(self.role(&arn, &entries, By::Token(file.into())));
        }
        let found = self.of_profile(profile, 0)?;
        match found.or_else(|| self.container()).or_else(|| self.machine()) {
            Some(origin) => Ok(origin),
            None => Ok(Origin::Nothing(self.reason(profile))),
        }
    }

    fn of_variables(&self) -> Option<Origin> {
        let [key, secret, token] =
            ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]
                .map(|name| self.lookup.get(name));
        Some(Origin::Given(Secret::Keys(Keys { key: key?, secret: secret?, token })))
    }

    /// Settings of a profile: a role, single sign-on, keys, or a program.
    fn of_profile(&self, name: &str, depth: usize) -> io::Result<Option<Origin>> {
        let Some(section) = self.files.section(name) else { return Ok(None) };
        if section.contains_key("mfa_serial") {
            return Ok(None);
        }
        if let Some(arn) = section.get("role_arn")
            && let Some(by) = self.by(name, &section, depth)?
        {
            return Ok(Some(self.role(arn, &section, by)));
        }
        let single = self.single_sign_on(name, &section);
        let program = || {
            let line = (*section.get("credential_process")?).to_owned();
            let named_by = format!("credential_process of profile {name}");
            Some(Origin::Program(Program { line, named_by, prints: Printed::Keys }))
        };
        Ok(single.or_else(|| of_section(&section)).or_else(program))
    }

    /// Who asks for the role of a profile.
    fn by(&self, name: &str, section: &Section<'_>, depth: usize) -> io::Result<Option<By>> {
        if let Some(file) = section.get("web_identity_token_file") {
            return Ok(Some(By::Token(file.into())));
        }
        let origin = match (section.get("source_profile"), section.get("credential_source")) {
            // A profile may have the keys by which its role is asked for.
            (Some(&from), _) if from == name => of_section(section),
            (Some(&from), _) if self.files.section(from).is_none() => return Err(absent(from)),
            (Some(_), _) if DEPTH_MAX <= depth => {
                let text =
                    format!("profile {name:?} is one of more than {DEPTH_MAX} by source_profile");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
            (Some(&from), _) => self.of_profile(from, depth + 1)?,
            (None, Some(&"Environment")) => self.of_variables(),
            (None, Some(&"EcsContainer")) => self.container(),
            (None, Some(&"Ec2InstanceMetadata")) => {
                Some(self.machine().unwrap_or_else(|| instance(MACHINE)))
            }
            _ => None,
        };
        Ok(origin.map(By::Keys))
    }

    fn role(&self, arn: &str, section: &Section<'_>, by: By) -> Origin {
        let entry = |name: &str| section.get(name).map(|&value| value.to_owned());
        let region = self.region.unwrap_or("us-east-1");
        Origin::Role(Box::new(Role {
            arn: arn.to_owned(),
            session: entry("role_session_name").unwrap_or_else(|| SESSION.to_owned()),
            external_id: entry("external_id"),
            seconds: entry("duration_seconds"),
            endpoint: self.server("AWS_ENDPOINT_URL_STS", &format!("sts.{region}")),
            region: region.to_owned(),
            by,
        }))
    }

    /// The server of a service: that of a variable or of the profile, which is one for all services, else that of AWS.
    fn server(&self, variable: &str, service: &str) -> String {
        let given = [variable, "AWS_ENDPOINT_URL"].iter().find_map(|name| self.lookup.get(name));
        let given = given.or_else(|| self.endpoint.map(str::to_owned));
        given.unwrap_or_else(|| format!("https://{service}.amazonaws.com"))
    }

    fn single_sign_on(&self, name: &str, section: &Section<'_>) -> Option<Origin> {
        let entry = |name: &str| section.get(name).copied();
        let session = entry("sso_session");
        let of_session = session.and_then(|it| self.files.section(&format!("sso-session {it}")));
        let region = of_session
            .as_ref()
            .map_or_else(|| entry("sso_region"), |it| it.get("sso_region").copied())?;
        let (account, role) = (entry("sso_account_id")?, entry("sso_role_name")?);
        let key = session.or_else(|| entry("sso_start_url"))?;
        // The name that the tools give the file.
        let sum = digest(&SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
        let home = self.lookup.get("HOME")?;
        Some(Origin::SingleSignOn(SingleSignOn {
            profile: name.to_owned(),
            file: Path::new(&home)
                .join(".aws/sso/cache")
                .join(format!("{}.json", hex(sum.as_ref()))),
            endpoint: self.server("AWS_ENDPOINT_URL_SSO", &format!("portal.sso.{region}")),
            account: account.to_owned(),
            role: role.to_owned(),
        }))
    }

    fn container(&self) -> Option<Origin> {
        let path = self.lookup.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        let url = path.map(|path| format!("{CONTAINER}{path}"));
        let url = url.or_else(|| self.lookup.get("AWS_CONTAINER_CREDENTIALS_FULL_URI"))?;
        let token = self.lookup.get("AWS_CONTAINER_AUTHORIZATION_TOKEN");
        let token_file = self.lookup.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        let token_file = token_file.map(PathBuf::from);
        Some(Origin::Metadata(Metadata::Container { url, token, token_file }))
    }

    /// The machine, where a variable names its server.
    fn machine(&self) -> Option<Origin> {
        let endpoint = self.lookup.get("AWS_EC2_METADATA_SERVICE_ENDPOINT")?;
        let disabled = self.lookup.get("AWS_EC2_METADATA_DISABLED");
        let is_disabled = disabled.is_some_and(|value| value.eq_ignore_ascii_case("true"));
        (!is_disabled).then(|| instance(&endpoint))
    }

    /// Why there are no keys, and what to do.
    fn reason(&self, profile: &str) -> String {
        let section = self.files.section(profile).unwrap_or_default();
        match ELSEWHERE.iter().find(|name| section.contains_key(**name)) {
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
}

/// The keys that stand in a profile.
fn of_section(section: &Section<'_>) -> Option<Origin> {
    let entry = |name: &str| section.get(name).map(|&value| value.to_owned());
    let (key, secret) = (entry("aws_access_key_id")?, entry("aws_secret_access_key")?);
    let token = entry("aws_session_token");
    Some(Origin::Given(Secret::Keys(Keys { key, secret, token })))
}

fn instance(endpoint: &str) -> Origin {
    Origin::Metadata(Metadata::Instance { endpoint: endpoint.to_owned() })
}

fn absent(profile: &str) -> io::Error {
    let text = format!("there is no profile {profile:?} in the files of the AWS tools");
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "[default]\naws_access_key_id = A\naws_secret_access_key=S\n\n\
                               # a comment = no\n[other]\naws_access_key_id = B\n\
                               aws_secret_access_key = T\naws_session_token = U\n";
    const CONFIG: &str = "[default]\nregion = eu-west-1\ns3 =\n  endpoint_url = http://no\n\
                          [profile login]\nlogin_session = s\n\
                          [profile other]\nregion = us-west-2\nendpoint_url = http://yes\n\
                          [profile role]\nrole_arn = r\nsource_profile = other\nrole_session_name = me\n\
                          [profile circle]\nrole_arn = r\nsource_profile = circle2\n\
                          [profile circle2]\nrole_arn = r\nsource_profile = circle\n\
                          [profile lost]\nrole_arn = r\nsource_profile = absent\n\
                          [profile code]\nrole_arn = r\nsource_profile = other\nmfa_serial = m\n\
                          [profile machine]\nrole_arn = r\ncredential_source = Ec2InstanceMetadata\n";

    fn read(variables: &[(&str, &str)]) -> io::Result<Profile> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".aws")).unwrap();
        std::fs::write(folder.path().join(".aws/credentials"), CREDENTIALS).unwrap();
        std::fs::write(folder.path().join(".aws/config"), CONFIG).unwrap();
        let mut all = vec![("HOME".to_owned(), folder.path().to_string_lossy().into_owned())];
        all.retain(|it| variables.iter().all(|known| known.0 != it.0));
        all.extend(variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned())));
        let find = move |name: &str| all.iter().find(|it| it.0 == name).map(|it| it.1.clone());
        Profile::read(&Lookup::new(find), &TextFiles::default())
    }

    fn given(profile: Profile) -> Keys {
        let Origin::Given(Secret::Keys(keys)) = profile.origin else { panic!() };
        keys
    }

    fn role(profile: &str) -> Box<Role> {
        let Origin::Role(role) = read(&[("AWS_PROFILE", profile)]).unwrap().origin else {
            panic!()
        };
        role
    }

    #[test]
    fn variables_come_before_files() {
        let default = read(&[]).unwrap();
        assert_eq!(default.region.as_deref(), Some("eu-west-1"));
        assert_eq!(default.endpoint, None);
        assert_eq!(given(default).key, "A");
        let other = read(&[("AWS_PROFILE", "other")]).unwrap();
        assert_eq!(other.endpoint.as_deref(), Some("http://yes"));
        let keys = given(other);
        assert_eq!((keys.key.as_str(), keys.token.as_deref()), ("B", Some("U")));
        let set = [("AWS_ACCESS_KEY_ID", "C"), ("AWS_SECRET_ACCESS_KEY", "V")];
        let keys = given(read(&set).unwrap());
        assert_eq!((keys.key.as_str(), keys.token), ("C", None));
        let endpoint = [("AWS_ENDPOINT_URL", "http://all"), ("AWS_ENDPOINT_URL_S3", "http://s3")];
        assert_eq!(read(&endpoint).unwrap().endpoint.as_deref(), Some("http://s3"));
        assert!(read(&[("AWS_PROFILE", "absent")]).is_err());
    }

    #[test]
    fn a_profile_names_who_asks_for_its_role() {
        let other = role("role");
        let by = Keys { key: "B".into(), secret: "T".into(), token: Some("U".into()) };
        assert!(other.by == By::Keys(Origin::Given(Secret::Keys(by))));
        assert_eq!(
            (&*other.session, &*other.endpoint),
            ("me", "https://sts.us-east-1.amazonaws.com")
        );
        assert!(role("machine").by == By::Keys(instance(MACHINE)));
        for (profile, why) in [("circle", "more than 8"), ("lost", "\"absent\"")] {
            let text = read(&[("AWS_PROFILE", profile)]).err().unwrap().to_string();
            assert!(text.contains(why), "{text}");
        }
    }

    #[test]
    fn what_has_no_keys_has_a_reason() {
        let reason = |variables: &[(&str, &str)]| {
            let Origin::Nothing(reason) = read(variables).unwrap().origin else { panic!() };
            reason
        };
        assert!(reason(&[("AWS_NO_SIGN_REQUEST", "YES")]).contains("AWS_NO_SIGN_REQUEST"));
        for (profile, from) in [("login", "login_session"), ("code", "mfa_serial")] {
            let text = reason(&[("AWS_PROFILE", profile)]);
            assert!(
                text.contains(from) && text.contains(&format!("--profile {profile}")),
                "{text}"
            );
        }
        assert!(reason(&[("HOME", "/nowhere")]).contains("set AWS_ACCESS_KEY_ID"));
    }
}
