//! The servers: started on a free port, stopped when they are dropped.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{python, reference, run};

/// The key that s3s-fs knows.
pub(super) const KEY: &str = "tetkey";
/// Its secret.
pub(super) const SECRET: &str = "tetsecret";
/// The bucket of all stores.
const BUCKET: &str = "bucket";
/// The account of Azurite, and the same secret as its key.
pub(super) const ACCOUNT: &str = "tet";
pub(super) const ACCOUNT_KEY: &str = "dGV0c2VjcmV0";
/// Makes a container, and prints a token for it: the signature is computed by another program than ours.
const CONTAINER: &str = "\
import base64, hashlib, hmac, sys, urllib.parse, urllib.request
url, account, key, bucket = sys.argv[1:]
version, expiry = '2019-12-12', '2040-01-01T00:00:00Z'
text = '\\n'.join([account, 'rwdlac', 'b', 'sco', '', expiry, '', '', version, ''])
sig = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
token = dict(sv=version, ss='b', srt='sco', sp='rwdlac', se=expiry, sig=base64.b64encode(sig).decode())
token = urllib.parse.urlencode(token)
request = urllib.request.Request(f'{url}/{bucket}?restype=container&{token}', method='PUT', data=b'')
urllib.request.urlopen(request)
print(token)";

/// Options of a server of files.
#[derive(Default)]
pub(super) struct Site {
    /// Words behind its port.
    pub(super) listen: &'static str,
    /// Lines of its configuration.
    pub(super) rules: String,
}

/// A server that runs.
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) url: String,
    /// The URL of the bucket, as commands have it.
    pub(super) bucket: String,
    child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts a program that listens on `port`, and waits until it does.
    fn start(name: &'static str, command: &mut Command, port: u16) -> Result<Server> {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = quiet.spawn().with_context(|| format!("{name} cannot be started"))?;
        let url = format!("http://127.0.0.1:{port}");
        let bucket = format!("s3://{BUCKET}");
        let mut server = Server { name, url, bucket, child };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("{name} ended with {status}");
            }
            if Duration::from_secs(30) < begin.elapsed() {
                bail!("{name} does not answer");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// Where it listens.
    pub(super) fn port(&self) -> Result<u16> {
        // A path may follow, such as the account of Azure.
        let port = self.url.rsplit(':').next().and_then(|rest| rest.split('/').next());
        Ok(port.context("no port")?.parse()?)
    }

    /// nginx with the files of a folder; its log has the path of each request in a line, and what may be secret.
    pub(super) fn nginx(folder: &Path, files: &Path, site: &Site) -> Result<(Server, PathBuf)> {
        let (port, log) = (free_port()?, folder.join("access.log"));
        let [folder, files] = [folder, files].map(Path::display);
        let Site { listen, rules } = site;
        let config = format!(
            "daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n\
             user root; events {{ worker_connections 256; }}\n\
             http {{ log_format paths '$request_method $request_uri $status $http_authorization $http_referer'; access_log {folder}/access.log paths;\n\
             client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;\n\
             fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;\n\
             server {{ listen 127.0.0.1:{port} {listen}; {rules} location / {{ root {files}; }} }} }}\n"
        );
        let path = PathBuf::from(format!("{folder}/nginx.conf"));
        fs::write(&path, config)?;
        let mut command = Command::new("nginx");
        let server = Server::start("nginx", command.arg("-c").arg(&path), port);
        Ok((server.context("on Debian: apt-get install nginx-light")?, log))
    }

    /// moto, which does what S3 does and compares no signatures.
    pub(super) fn moto() -> Result<Server> {
        let folder = run::target().join("remote");
        let requirements = run::root().join("xtask/remote/requirements.txt");
        let python = python::environment(&folder.join("venv"), &requirements)?;
        let port = free_port()?;
        let mut command = Command::new(python.with_file_name("moto_server"));
        let server = Server::start("moto", command.args(["-p", &port.to_string()]), port)?;
        let code = "import boto3, sys\n\
                    keys = dict(aws_access_key_id='a', aws_secret_access_key='b', region_name='us-east-1')\n\
                    boto3.client('s3', endpoint_url=sys.argv[1], **keys).create_bucket(Bucket=sys.argv[2])";
        run::check(Command::new(&python).args(["-c", code, &server.url, BUCKET]))?;
        Ok(server)
    }

    /// Azurite, which does what Azure does, and compares signatures; with a token for it.
    pub(super) fn azurite(folder: &Path) -> Result<(Server, String)> {
        let modules = run::target().join("remote/azurite");
        let program = modules.join("node_modules/.bin/azurite-blob");
        if !program.exists() {
            fs::create_dir_all(&modules)?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "azurite@3.35.0", "--prefix"]);
            run::output(npm.arg(&modules)).context("npm cannot install azurite")?;
        }
        let port = free_port()?;
        let mut command = Command::new(program);
        command.env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{ACCOUNT_KEY}"));
        command.args(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string()]);
        command.args(["--silent", "--disableTelemetry", "--location"]).arg(folder.join("azurite"));
        let mut server = Server::start("azurite", &mut command, port)?;
        server.url += &format!("/{ACCOUNT}");
        server.bucket = format!("az://{BUCKET}");
        let mut python = Command::new("python3");
        python.args(["-c", CONTAINER, &server.url, ACCOUNT, ACCOUNT_KEY, BUCKET]);
        let token = run::output(&mut python)?.trim().to_owned();
        Ok((server, token))
    }

    /// s3s-fs, which compares signatures, with its objects in a folder.
    pub(super) fn s3s(folder: &Path) -> Result<Server> {
        let program = reference::s3s_fs()?;
        let root = folder.join("s3s");
        fs::create_dir_all(root.join(BUCKET))?;
        let port = free_port()?;
        let mut command = Command::new(program);
        command.arg(&root).args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        command.args(["--access-key", KEY, "--secret-key", SECRET]);
        Server::start("s3s-fs", &mut command, port)
    }
}

/// A port on which no program listens.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
