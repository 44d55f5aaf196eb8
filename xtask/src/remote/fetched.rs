//! Keys that are fetched from a server which has a token service and the metadata of a machine.

use std::fs;
use std::process::Command;

use anyhow::{Result, ensure};

use super::World;
use super::server::{KEY, SECRET, Server};
use crate::run;

/// The role that is asked for.
const ROLE: &str = "arn:aws:iam::123456789012:role/reader";

impl World {
    /// A role of a profile, a role by a token, the metadata of a machine, and a program write a file and read it.
    pub(super) fn fetched_from(&self, server: &Server) -> Result<()> {
        let folder = self.files.join("fetched");
        fs::create_dir_all(&folder)?;
        let [config, token, keys] = ["config", "token", "keys.json"].map(|name| folder.join(name));
        fs::write(&token, "a.web.token")?;
        let json = format!(
            "{{\"Version\": 1, \"AccessKeyId\": \"{KEY}\", \"SecretAccessKey\": \"{SECRET}\"}}"
        );
        fs::write(&keys, json)?;
        let profiles = format!(
            "[profile role]\nrole_arn = {ROLE}\nsource_profile = owner\n\
             [profile owner]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n\
             [profile program]\ncredential_process = cat {}\n",
            keys.display()
        );
        fs::write(&config, profiles)?;
        let token = token.display().to_string();
        let by_token = [("AWS_ROLE_ARN", ROLE), ("AWS_WEB_IDENTITY_TOKEN_FILE", &token)];
        let by_machine = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", &*server.url)];
        let cases: [(&str, &[(&str, &str)]); 4] = [
            ("role", &[("AWS_PROFILE", "role")]),
            ("program", &[("AWS_PROFILE", "program")]),
            ("token", &by_token),
            ("machine", &by_machine),
        ];
        let local = self.files.join("climate.tet").display().to_string();
        for (name, variables) in cases {
            let url = format!("{}/fetched/{name}.tet", server.bucket);
            for args in [["convert", &local, &url], ["diff", &local, &url]] {
                let mut command = Command::new(&self.program);
                command.args(args).env("AWS_ENDPOINT_URL", &server.url);
                command.env("AWS_CONFIG_FILE", &config).envs(variables.iter().copied());
                for given in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "HOME"] {
                    command.env_remove(given);
                }
                run::output(&mut command)?;
            }
            println!("{:<7} keys from a {name} write and read", server.name);
        }
        let mut command = Command::new(&self.program);
        command.args(["info", &format!("{}/fetched/role.tet", server.bucket)]);
        command.env("AWS_ENDPOINT_URL", &server.url);
        command.env("AWS_CONTAINER_CREDENTIALS_FULL_URI", format!("{}/no/such/keys", server.url));
        let output = command.output()?;
        let says = String::from_utf8_lossy(&output.stderr);
        ensure!(!output.status.success() && says.contains("no keys from"), "{says}");
        Ok(())
    }
}
