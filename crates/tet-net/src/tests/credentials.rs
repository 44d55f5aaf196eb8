//! Keys and tokens that are fetched: from servers that answer as those of AWS, Google and Azure do, and from programs.

use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use tet_io::UrlStore;

use super::bucket::request;
use super::settings;
use crate::{Lookup, Servers, Settings};

/// A request, as it came.
#[derive(Clone, Debug)]
struct ReceivedRequest {
    /// Method, path and query.
    line: String,
    headers: BTreeMap<String, String>,
    body: String,
}

impl ReceivedRequest {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// A server that gives each request the answer of a function: a status, with what is after it, and a body.
struct Answering {
    url: String,
    log: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Answering {
    fn with(
        answer: impl Fn(&ReceivedRequest) -> (String, String) + Send + Sync + 'static,
    ) -> Answering {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::<Mutex<Vec<ReceivedRequest>>>::default();
        let of_thread = Arc::clone(&log);
        // The thread ends with the process: it waits for connections that may not come.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let Some(asked) = read(&stream) else { continue };
                let (status, body) = answer(&asked);
                of_thread.lock().unwrap().push(asked);
                let len = body.len();
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {len}\r\n");
                let text = format!("{head}ETag: \"a\"\r\nConnection: close\r\n\r\n{body}");
                let _ = stream.write_all(text.as_bytes());
            }
        });
        Answering { url, log }
    }

    /// The requests since the last call.
    fn take(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut self.log.lock().unwrap())
    }
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let (line, headers, body) = request(&mut BufReader::new(stream))?;
    let line = line.trim_end_matches(" HTTP/1.1\r\n").to_owned();
    Some(ReceivedRequest { line, headers, body: String::from_utf8(body).unwrap() })
}

fn ok(body: impl Into<String>) -> (String, String) {
    ("200 OK".to_owned(), body.into())
}

/// The answer of the token service of AWS.
fn role_answer(action: &str, key: &str) -> String {
    let ns = "xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"";
    let keys = format!(
        "<AccessKeyId>{key}</AccessKeyId><SecretAccessKey>THESECRET</SecretAccessKey>\
         <SessionToken>THETOKEN</SessionToken><Expiration>2126-11-27T00:00:00Z</Expiration>"
    );
    let user = "<AssumedRoleUser><AssumedRoleId>x</AssumedRoleId><Arn>y</Arn></AssumedRoleUser>";
    format!(
        "<{action}Response {ns}><{action}Result>{user}<Credentials>{keys}</Credentials></{action}Result>\
         <ResponseMetadata><RequestId>c6</RequestId></ResponseMetadata></{action}Response>"
    )
}

/// The servers, as variables name them.
fn servers(variables: &[(&str, &str)]) -> Servers {
    let all: BTreeMap<_, _> =
        variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    let lookup = Lookup::new(move |name| all.get(name).cloned());
    let read_timeout = std::time::Duration::from_secs(30);
    Servers::new(Settings { lookup, read_timeout, ..settings() })
}

/// Opens an object twice; the text of the error if one is not opened. No message has what only servers and files know.
fn opened(servers: &Servers, url: &str) -> Result<(), String> {
    for _ in 0..2 {
        let source = servers.open(url).map_err(|error| error.to_string());
        let debug = format!("{servers:?} {source:?}");
        assert!(!debug.contains("THE"), "{debug}");
        assert_eq!(source?.len(), 5);
    }
    Ok(())
}

/// A home with the files of the AWS tools.
fn home(config: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join(".aws/sso/cache")).unwrap();
    std::fs::write(home.path().join(".aws/config"), config).unwrap();
    home
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Requests for objects, whose query has these keys.
fn objects(log: &[ReceivedRequest], key: &str) -> usize {
    let ours = log.iter().filter(|asked| asked.line.starts_with("GET /bucket/key"));
    let signed = format!("X-Amz-Credential={key}%2F");
    ours.filter(|it| it.line.contains(&signed) && it.line.contains("X-Amz-Security-Token=THETOKEN"))
        .count()
}

#[test]
fn a_role_is_assumed_once() {
    let server = Answering::with(|asked| match asked {
        asked if asked.line.starts_with("GET /bucket/") => ok("bytes"),
        asked if asked.body.contains("Action=AssumeRoleWithWebIdentity") => {
            ok(role_answer("AssumeRoleWithWebIdentity", "WEB"))
        }
        _ => ok(role_answer("AssumeRole", "ROLE")),
    });
    let folder = home(
        "[default]\nrole_arn = arn:aws:iam::1:role/a\nsource_profile = middle\nexternal_id = e/1\n\
         [profile middle]\nrole_arn = arn:aws:iam::1:role/b\nsource_profile = middle\n\
         aws_access_key_id = FIRST\naws_secret_access_key = THEFIRST\nduration_seconds = 900\n",
    );
    let file = folder.path().join("token");
    std::fs::write(&file, "THE.WEB.TOKEN\n").unwrap();
    let home = ("HOME", text(folder.path()));
    let endpoint = ("AWS_ENDPOINT_URL", &*server.url);
    opened(&servers(&[home, endpoint]), "s3://bucket/key").unwrap();
    let log = server.take();
    let roles: Vec<_> = log.iter().filter(|it| it.body.contains("Action=AssumeRole")).collect();
    let [first, second] = &*roles else { panic!("{log:?}") };
    let proofs = [first, second].map(|it| it.header("authorization"));
    assert!(
        proofs[0].contains("Credential=FIRST/") && first.body.contains("role%2Fb"),
        "{first:?}"
    );
    assert!(first.body.contains("DurationSeconds=900"), "{first:?}");
    assert!(proofs[1].contains("Credential=ROLE/") && second.body.contains("ExternalId=e%2F1"));
    assert_eq!(second.header("x-amz-security-token"), "THETOKEN");
    assert_eq!((objects(&log, "ROLE"), log.len()), (2, 4));

    let variables = [
        endpoint,
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/web"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", text(&file)),
    ];
    opened(&servers(&variables), "s3://bucket/key").unwrap();
    let log = server.take();
    assert!(log[0].body.contains("WebIdentityToken=THE.WEB.TOKEN"), "{:?}", log[0]);
    assert_eq!((objects(&log, "WEB"), log.len()), (2, 3));
    std::fs::remove_file(&file).unwrap();
    let error = opened(&servers(&variables), "s3://bucket/key").unwrap_err();
    assert!(error.contains("role/web") && error.contains("token is missing"), "{error}");
}

#[test]
fn single_sign_on_takes_the_token_of_its_file() {
    let server = Answering::with(|asked| match asked {
        asked if asked.line.starts_with("GET /bucket/") => ok("bytes"),
        _ => ok("{\"roleCredentials\":{\"accessKeyId\":\"SSO\",\"secretAccessKey\":\"THESECRET\",\
                 \"sessionToken\":\"THETOKEN\",\"expiration\":4102444800000}}"),
    });
    let folder = home(
        "[default]\nsso_session = mine\nsso_account_id = 1\nsso_role_name = r\n\
         [sso-session mine]\nsso_region = eu-west-1\nsso_start_url = https://x\n",
    );
    let variables = [("HOME", text(folder.path())), ("AWS_ENDPOINT_URL", &*server.url)];
    let login = opened(&servers(&variables), "s3://bucket/key").unwrap_err();
    assert!(login.contains("aws sso login --profile default"), "{login}");
    // The name is the SHA-1 of the name of the session.
    let name = "8034c43d15bb7ef42e2cc24255217acfc5f4b2f4.json";
    let file = folder.path().join(".aws/sso/cache").join(name);
    std::fs::write(&file, "{\"accessToken\":\"THEGIVEN\",\"expiresAt\":\"2126-01-01T00:00:00Z\"}")
        .unwrap();
    opened(&servers(&variables), "s3://bucket/key").unwrap();
    let log = server.take();
    assert_eq!(log[0].line, "GET /federation/credentials?role_name=r&account_id=1");
    assert_eq!(log[0].header("x-amz-sso_bearer_token"), "THEGIVEN");
    assert_eq!((objects(&log, "SSO"), log.len()), (2, 3));
    std::fs::write(&file, "{\"accessToken\":\"THEGIVEN\",\"expiresAt\":\"2020-01-01T00:00:00Z\"}")
        .unwrap();
    assert_eq!(opened(&servers(&variables), "s3://bucket/key").unwrap_err(), login);
}

#[test]
fn metadata_is_asked_where_it_is_named() {
    let keys = "{\"AccessKeyId\":\"NEAR\",\"SecretAccessKey\":\"THESECRET\",\"Token\":\"THETOKEN\",\
                \"Expiration\":\"2126-01-01T00:00:00Z\"}";
    let roles = "/latest/meta-data/iam/security-credentials/";
    let server = Answering::with(move |asked| match &*asked.line {
        "PUT /latest/api/token" => ok("THESESSION"),
        line if line == format!("GET {roles}") => ok("web-role\n"),
        line if line.starts_with("GET /bucket/") => ok("bytes"),
        _ => ok(keys),
    });
    let endpoint = ("AWS_ENDPOINT_URL", &*server.url);
    let machine = ("AWS_EC2_METADATA_SERVICE_ENDPOINT", &*server.url);
    opened(&servers(&[endpoint, machine]), "s3://bucket/key").unwrap();
    let log = server.take();
    assert_eq!(log[2].line, format!("GET {roles}web-role"));
    assert_eq!(log[2].header("x-aws-ec2-metadata-token"), "THESESSION");
    assert_eq!((objects(&log, "NEAR"), log.len()), (2, 5));
    opened(
        &servers(&[endpoint, machine, ("AWS_EC2_METADATA_DISABLED", "true")]),
        "s3://bucket/key",
    )
    .unwrap();
    assert_eq!(server.take().len(), 2, "nothing but the object");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "THEHEADER").unwrap();
    let url = format!("{}/keys", server.url);
    let container = [
        endpoint,
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*url),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", text(&file)),
    ];
    opened(&servers(&container), "s3://bucket/key").unwrap();
    let log = server.take();
    assert_eq!((log[0].line.as_str(), log[0].header("authorization")), ("GET /keys", "THEHEADER"));
    assert_eq!(objects(&log, "NEAR"), 2);
    let far = [endpoint, ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.org/keys")];
    let error = opened(&servers(&far), "s3://bucket/key").unwrap_err();
    assert!(error.contains("example.org") && error.contains("https"), "{error}");
    assert!(server.take().is_empty());
}

#[test]
fn a_program_prints_keys() {
    let server = Answering::with(|_| ok("bytes"));
    let file = tempfile::NamedTempFile::new().unwrap();
    let run = |line: &str| {
        std::fs::write(file.path(), format!("[default]\ncredential_process = {line}\n")).unwrap();
        let variables =
            [("AWS_CONFIG_FILE", text(file.path())), ("AWS_ENDPOINT_URL", &*server.url)];
        opened(&servers(&variables), "s3://bucket/key")
    };
    let keys = "{\"Version\":1,\"AccessKeyId\":\"RUN\",\"SecretAccessKey\":\"THESECRET\",\"SessionToken\":\"THETOKEN\"}";
    let keys_file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(keys_file.path(), keys).unwrap();
    run(&format!("cat \"{}\"", text(keys_file.path()))).unwrap();
    assert_eq!(objects(&server.take(), "RUN"), 2);
    for (line, why) in
        [("exit 3", "fails"), ("echo THE", "not JSON"), ("echo {}", "AccessKeyId is missing")]
    {
        let error = run(line).unwrap_err();
        assert!(error.contains("credential_process of profile default"), "{error}");
        assert!(error.contains(why) && !error.contains("THE"), "{error}");
    }
}

/// A test key, which opens nothing.
const KEY: &str = include_str!("key.pem");

#[test]
fn google_gives_tokens() {
    let server = Answering::with(|asked| match &*asked.line {
        "POST /token" => ok("{\"access_token\":\"THETOKEN\",\"expires_in\":3599}"),
        "GET /subject" => ok("{\"value\":\"THESUBJECT\"}"),
        "POST /act" => {
            ok("{\"accessToken\":\"THETOKEN2\",\"expireTime\":\"2126-01-01T00:00:00Z\"}")
        }
        line if line.contains("/computeMetadata/") => {
            ok("{\"access_token\":\"THETOKEN\",\"expires_in\":3599}")
        }
        _ => ok("bytes"),
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("application_default_credentials.json");
    let opened = |value: serde_json::Value, token: &str| {
        std::fs::write(&file, value.to_string()).unwrap();
        let named = [("CLOUDSDK_CONFIG", text(folder.path())), ("GS_ENDPOINT_URL", &*server.url)];
        opened(&servers(&named), "gs://bucket/key")?;
        let log = server.take();
        let of_objects: Vec<_> = log.iter().filter(|it| it.line == "GET /bucket/key").collect();
        assert_eq!(of_objects.len(), 2);
        assert!(
            of_objects.iter().all(|it| it.header("authorization") == format!("Bearer {token}"))
        );
        Ok::<_, String>(log)
    };
    let url = format!("{}/token", server.url);
    let account = |key: &str| {
        serde_json::json!({"type": "service_account", "client_email": "a@b", "private_key": key,
                           "private_key_id": "1", "token_uri": url})
    };
    for key in [KEY, include_str!("key1.pem")] {
        let log = opened(account(key), "THETOKEN").unwrap();
        assert_eq!(log.len(), 3);
        let proof = log[0].body.split("assertion=").nth(1).unwrap();
        assert_eq!(claims(proof)["iss"], "a@b");
        assert_eq!(claims(proof)["aud"], url);
    }
    let error = opened(account("THEKEY"), "THETOKEN").unwrap_err();
    assert!(error.contains("private_key") && !error.contains("THEKEY"), "{error}");
    let act = format!("{}/act", server.url);
    let user = serde_json::json!({"type": "authorized_user", "client_id": "i", "client_secret": "s",
                                  "refresh_token": "THEREFRESH", "token_uri": url});
    let log = opened(user.clone(), "THETOKEN").unwrap();
    assert!(log[0].body.contains("refresh_token=THEREFRESH"));
    let other = serde_json::json!({"type": "impersonated_service_account", "source_credentials": user,
                                   "service_account_impersonation_url": act});
    let log = opened(other, "THETOKEN2").unwrap();
    assert_eq!(log[1].header("authorization"), "Bearer THETOKEN");
    let source = serde_json::json!({"url": format!("{}/subject", server.url), "headers": {"x-a": "b"},
                                    "format": {"type": "json", "subject_token_field_name": "value"}});
    let external = serde_json::json!({"type": "external_account", "audience": "//iam", "token_url": url,
                                      "subject_token_type": "t", "credential_source": source,
                                      "service_account_impersonation_url": act});
    let log = opened(external, "THETOKEN2").unwrap();
    assert_eq!(log[0].header("x-a"), "b");
    assert!(log[1].body.contains("subject_token=THESUBJECT"), "{:?}", log[1]);
    let error = opened(serde_json::json!({"type": "other"}), "").unwrap_err();
    assert!(error.contains("\"other\"") && error.contains("CLOUDSDK_AUTH_ACCESS_TOKEN"), "{error}");

    let host = server.url.strip_prefix("http://").unwrap();
    let machine = [("GS_ENDPOINT_URL", &*server.url), ("GCE_METADATA_HOST", host)];
    super::credentials::opened(&servers(&machine), "gs://bucket/key").unwrap();
    assert_eq!(server.take()[0].header("metadata-flavor"), "Google");
}

/// The claims of a proof whose signature is that of the test key.
fn claims(proof: &str) -> serde_json::Value {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
    let (claimed, signature) = proof.rsplit_once('.').unwrap();
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let key = ureq::tls::PrivateKey::from_pem(KEY.as_bytes()).unwrap();
    let pair = RsaKeyPair::from_pkcs8(key.der()).unwrap();
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key());
    public.verify(claimed.as_bytes(), &signature).unwrap();
    let claims = URL_SAFE_NO_PAD.decode(claimed.split_once('.').unwrap().1).unwrap();
    serde_json::from_slice(&claims).unwrap()
}

#[test]
fn azure_gives_tokens() {
    let server = Answering::with(|asked| match &*asked.line {
        "POST /tenant/oauth2/v2.0/token" => {
            ok("{\"access_token\":\"THETOKEN\",\"expires_in\":3599}")
        }
        line if line.starts_with("GET /msi?") => {
            ok("{\"access_token\":\"THETOKEN\",\"expires_on\":\"4102444800\"}")
        }
        _ => ok("bytes"),
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "THEPROOF").unwrap();
    let msi = format!("{}/msi", server.url);
    let ours = [
        ("AZURE_TENANT_ID", "tenant"),
        ("AZURE_CLIENT_ID", "app"),
        ("AZURE_AUTHORITY_HOST", &*server.url),
    ];
    let secret = [&ours[..], &[("AZURE_CLIENT_SECRET", "THESECRET")]].concat();
    let token = [&ours[..], &[("AZURE_FEDERATED_TOKEN_FILE", text(file.path()))]].concat();
    let managed = vec![("IDENTITY_ENDPOINT", &*msi), ("IDENTITY_HEADER", "THEHEADER")];
    for (variables, proof) in
        [(secret, "client_secret=THESECRET"), (token, "client_assertion=THEPROOF"), (managed, "")]
    {
        let endpoint = ("AZURE_ENDPOINT_URL", &*server.url);
        let servers = servers(&[&variables[..], &[endpoint]].concat());
        opened(&servers, "az://bucket/key").unwrap();
        let log = server.take();
        assert!(log[0].body.contains(proof) && log.len() == 3, "{log:?}");
        assert_eq!(log[0].header("x-identity-header").is_empty(), !proof.is_empty());
        assert!(log[1..].iter().all(|it| it.line == "GET /bucket/key"));
        assert!(log[1..].iter().all(|it| it.header("authorization") == "Bearer THETOKEN"));
        assert!(log[1..].iter().all(|it| it.header("x-ms-version") == "2020-10-02"));
    }
}

/// A token goes to the server of the URL, and to none where a redirect leads.
#[test]
fn a_redirect_gets_no_token() {
    let other = Answering::with(|_| ok("bytes"));
    let place = format!("302 Found\r\nLocation: {}/bucket/key", other.url);
    let server = Answering::with(move |_| (place.clone(), String::new()));
    let variables = [("GS_ENDPOINT_URL", &*server.url), ("CLOUDSDK_AUTH_ACCESS_TOKEN", "THETOKEN")];
    opened(&servers(&variables), "gs://bucket/key").unwrap();
    assert!(server.take().iter().all(|it| it.header("authorization") == "Bearer THETOKEN"));
    let log = other.take();
    assert!(
        log.len() == 2 && log.iter().all(|it| it.header("authorization").is_empty()),
        "{log:?}"
    );
}

/// An answer of a token server is never taken for one about the object.
#[test]
fn a_token_that_is_refused_is_an_error_of_its_own() {
    for status in
        ["403 X", "404 X", "400 X", "412 X", "302 X\r\nLocation: http://example.org", "200 X"]
    {
        let server = Answering::with(move |asked| match &*asked.line {
            line if line.starts_with("GET /bucket") => ok("bytes"),
            _ => (status.to_owned(), "THEANSWER".to_owned()),
        });
        let url = format!("{}/keys", server.url);
        let variables =
            [("AWS_ENDPOINT_URL", &*server.url), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*url)];
        let servers = servers(&variables);
        let error = servers.open("s3://bucket/key").unwrap_err();
        let kind = error.system().map(|(_, error)| error.kind());
        assert_eq!(kind, Some(std::io::ErrorKind::Other), "{status}");
        let text = error.to_string();
        assert!(text.contains("no keys from the metadata server 127.0.0.1"), "{text}");
        assert!(!text.contains("THE"), "{text}");
        assert!(servers.check_target("s3://bucket/key", false).is_err(), "{status}");
        let log = server.take();
        assert!(log.iter().all(|it| it.line == "GET /keys"), "{status}: {log:?}");
    }
}

/// Threads that wait for a secret share what becomes of it: a server that fails is not asked by each of them.
#[test]
fn a_failure_is_shared_by_those_that_wait() {
    let server = Answering::with(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        ("503 X".to_owned(), String::new())
    });
    let url = format!("{}/keys", server.url);
    let servers = servers(&[("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url)]);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| servers.open("s3://bucket/key").unwrap_err());
        }
    });
    let count = server.take().len();
    assert!(
        (3..24).contains(&count),
        "{count} requests; 16 threads with 3 tries of 2 windows make 96"
    );
}
