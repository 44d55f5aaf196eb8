//! The way to a server: certificates, proxies and redirects, with nginx and a proxy of our own.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, ensure};

use super::World;
use super::server::{Server, Site};
use crate::run;

/// Variables of the environment.
type Variables<'a> = [(&'a str, &'a str)];

/// The file that is read.
const FILE: &str = "climate.tet";
/// How many redirects are followed.
const REDIRECTS_MAX: usize = 5;

impl World {
    /// A server is read when its certificate is trusted, through the proxies that variables name, and where redirects
    /// lead.
    pub(super) fn routed(&self, folder: &Path) -> Result<()> {
        let [ours, others] = ["ours", "others"].map(|name| folder.join(name));
        let [ours, others] = [certificate(&ours)?, certificate(&others)?];
        let site = Site {
            listen: "ssl",
            rules: format!(
                "ssl_certificate {0}/cert; ssl_certificate_key {0}/key;",
                ours.display()
            ),
        };
        let (tls, _) = Server::nginx(&ours, &self.files, &site)?;
        let url = format!("{}/{FILE}", tls.url.replace("http://", "https://"));
        let trusted = ours.join("cert").display().to_string();
        let other = others.join("cert").display().to_string();
        self.refuses(&url, &[], "certificate")?;
        self.refuses(&url, &[("SSL_CERT_FILE", &other)], "certificate")?;
        self.refuses(&url, &[("SSL_CERT_FILE", "/no/such/file")], "SSL_CERT_FILE")?;
        self.reads(&url, &[("SSL_CERT_FILE", &trusted)])?;
        println!("nginx   a certificate is refused, and trusted by SSL_CERT_FILE");
        let plain_folder = folder.join("plain");
        fs::create_dir_all(&plain_folder)?;
        let (plain, log) = Server::nginx(&plain_folder, &self.files, &Site::default())?;
        self.through_proxies(&url, &trusted, &format!("{}/{FILE}", plain.url))?;
        self.redirected(folder, &plain, &log, &tls)
    }

    /// The variables of proxies.
    fn through_proxies(&self, tls: &str, trusted: &str, plain: &str) -> Result<()> {
        let proxy = Tunnels::start()?;
        let open = format!("127.0.0.1:{}", proxy.port);
        let address = format!("http://user:hidden@{open}");
        let trust = ("SSL_CERT_FILE", trusted);
        let cases: [(&str, &Variables<'_>, bool); 7] = [
            (tls, &[trust, ("HTTPS_PROXY", &address)], true),
            (tls, &[trust, ("HTTP_PROXY", &address)], false),
            (
                tls,
                &[trust, ("HTTPS_PROXY", &address), ("NO_PROXY", "example.org,127.0.0.1")],
                false,
            ),
            (plain, &[("HTTP_PROXY", &open)], true),
            (plain, &[("HTTPS_PROXY", &address)], false),
            (plain, &[("ALL_PROXY", &address)], true),
            (plain, &[("http_proxy", &address), ("no_proxy", "127.0.0.1")], false),
        ];
        for (url, variables, is_used) in cases {
            self.reads(url, variables)?;
            let heads = proxy.take();
            ensure!(heads.is_empty() != is_used, "{url} {variables:?}: {heads:?}");
            let has_name = |head: &String| head.contains("proxy-authorization: basic");
            let is_named = variables.iter().any(|it| it.1 == address);
            ensure!(heads.iter().all(|head| has_name(head) == is_named), "{heads:?}");
        }
        let nowhere = "http://user:hidden@127.0.0.1:1";
        self.refuses(plain, &[("HTTP_PROXY", nowhere)], "")?;
        println!("nginx   proxies are used for their schemes, and not for NO_PROXY");
        Ok(())
    }

    /// Redirects to another server, too many of them, and such that are not followed.
    fn redirected(&self, folder: &Path, to: &Server, log: &Path, tls: &Server) -> Result<()> {
        let mut rules = "location /loop/ { return 302 /loop/; }\n".to_owned();
        rules += &format!("location /hop1/ {{ return 307 {}/{FILE}; }}\n", to.url);
        rules += &format!("location /bucket/ {{ return 307 {}/{FILE}; }}\n", to.url);
        for hop in 2..=REDIRECTS_MAX + 1 {
            rules += &format!("location /hop{hop}/ {{ return 302 /hop{}/; }}\n", hop - 1);
        }
        let folder = folder.join("redirects");
        fs::create_dir_all(&folder)?;
        let (from, _) = Server::nginx(&folder, &self.files, &Site { listen: "", rules })?;
        let at = |path: &str| format!("{}/{path}/?token=hidden", from.url);
        fs::write(log, "")?;
        self.reads(&at("hop1"), &[])?;
        self.reads(&at(&format!("hop{REDIRECTS_MAX}")), &[])?;
        self.refuses(&at(&format!("hop{}", REDIRECTS_MAX + 1)), &[], "redirects")?;
        self.refuses(&at("loop"), &[], "redirects")?;
        let keys = [
            ("AWS_ENDPOINT_URL", &*from.url),
            ("AWS_ACCESS_KEY_ID", "hidden"),
            ("AWS_SECRET_ACCESS_KEY", "hidden"),
        ];
        self.reads(&format!("s3://bucket/{FILE}"), &keys)?;
        let seen = fs::read_to_string(log)?;
        let is_clean = !["hidden", "X-Amz", "?"].iter().any(|secret| seen.contains(secret));
        ensure!(is_clean && seen.contains(FILE), "what the second server got: {seen}");
        drop(from);
        // From https:// to http://.
        let rules = format!(
            "ssl_certificate {0}/cert; ssl_certificate_key {0}/key; location /down/ {{ return 302 {1}/{FILE}; }}",
            folder.with_file_name("ours").display(),
            to.url
        );
        let weaker = folder.with_file_name("weaker");
        fs::create_dir_all(&weaker)?;
        let (from, _) = Server::nginx(&weaker, &self.files, &Site { listen: "ssl", rules })?;
        let url = format!("{}/down/", from.url.replace("http://", "https://"));
        let trusted = folder.with_file_name("ours").join("cert").display().to_string();
        self.refuses(&url, &[("SSL_CERT_FILE", &trusted)], "redirect")?;
        println!("{:<7} redirects are followed to a limit, without what is secret", tls.name);
        Ok(())
    }

    /// The command with these variables, and none of the caller's.
    fn bare(&self, args: &[&str], variables: &Variables<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().envs(variables.iter().copied());
        command
    }

    /// A URL has what the local file has.
    fn reads(&self, url: &str, variables: &Variables<'_>) -> Result<()> {
        let local = self.files.join(FILE).display().to_string();
        run::output(&mut self.bare(&["diff", &local, url], variables)).map(drop)
    }

    /// A URL is not read, for this reason, and no message has what is secret.
    fn refuses(&self, url: &str, variables: &Variables<'_>, reason: &str) -> Result<()> {
        let output = self.bare(&["info", url], variables).output()?;
        let says = String::from_utf8_lossy(&output.stderr).to_lowercase();
        let is_refused = output.status.code() == Some(5) && says.contains(&reason.to_lowercase());
        ensure!(is_refused && !says.contains("hidden"), "{url} {variables:?}: {says}");
        Ok(())
    }
}

/// A folder with a certificate of this machine, signed by itself, and its key.
fn certificate(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let config = "[req]\ndistinguished_name = name\nx509_extensions = more\nprompt = no\n\
                  [name]\nCN = localhost\n\
                  [more]\nbasicConstraints = CA:FALSE\nsubjectAltName = IP:127.0.0.1,DNS:localhost\n";
    fs::write(folder.join("config"), config)?;
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]);
    openssl.args(["-config", "config", "-keyout", "key", "-out", "cert"]);
    run::output(openssl.current_dir(folder))?;
    Ok(folder.to_path_buf())
}

/// A proxy that makes tunnels, and keeps the heads of the requests for them. Its threads end with the process.
struct Tunnels {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Tunnels {
    fn start() -> Result<Tunnels> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let (port, heads) = (listener.local_addr()?.port(), Arc::<Mutex<Vec<String>>>::default());
        let log = Arc::clone(&heads);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let log = Arc::clone(&log);
                std::thread::spawn(move || tunnel(&client, &log));
            }
        });
        Ok(Tunnels { port, heads })
    }

    /// The requests since the last look.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.heads.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Serves one connection.
fn tunnel(client: &TcpStream, log: &Mutex<Vec<String>>) -> Result<()> {
    let mut lines = BufReader::new(client);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        ensure!(lines.read_line(&mut head)? != 0, "no request");
    }
    log.lock().unwrap_or_else(PoisonError::into_inner).push(head.to_lowercase());
    let target = head.split(' ').nth(1).unwrap_or_default();
    ensure!(head.starts_with("CONNECT "), "{head}");
    let server = TcpStream::connect(target)?;
    (&mut &*client).write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
    std::thread::scope(|scope| {
        let up = scope.spawn(|| {
            let copied = std::io::copy(&mut lines, &mut &server);
            let _ = server.shutdown(std::net::Shutdown::Write);
            copied
        });
        let down = std::io::copy(&mut &server, &mut &*client);
        let _ = client.shutdown(std::net::Shutdown::Both);
        up.join().map_err(|_| anyhow::anyhow!("panic"))??;
        down?;
        Ok(())
    })
}
