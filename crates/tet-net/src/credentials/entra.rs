//! Tokens of Azure: of an application, a federated identity, a managed identity, or the user of its tool.
//!
//! <https://learn.microsoft.com/dotnet/api/azure.identity.environmentcredential>

use std::path::PathBuf;

use super::Origin;
use super::fetched::{Fetched, text_in, token_for, url_of};
use super::metadata::Metadata;
use super::program::{Printed, Program};
use crate::http::Client;
use crate::ranges::RangeFailure;
use crate::settings::Lookup;

/// Resource that a token is valid for.
const RESOURCE: &str = "https://storage.azure.com/";
/// The metadata of a machine of Azure.
const MACHINE: &str = "http://169.254.169.254/metadata/identity/oauth2/token";

/// An application, and how it proves itself.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Login {
    authority: String,
    tenant: String,
    client: String,
    proof: Proof,
}

#[derive(Clone, PartialEq, Eq)]
enum Proof {
    Secret(String),
    /// A token of another provider, in a file.
    Token(PathBuf),
}

/// Why requests without a token may be refused, and what to do then.
const NO_KEYS: &str = "there is no key: set AZURE_STORAGE_SAS_TOKEN, AZURE_STORAGE_KEY or \
                       AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_AUTH_MODE=login after `az login`";

/// Where tokens are from, as the variables say.
pub(crate) fn origin(lookup: &Lookup) -> Origin {
    let origin = of_application(lookup).or_else(|| of_machine(lookup)).or_else(|| of_user(lookup));
    origin.unwrap_or_else(|| Origin::Nothing(NO_KEYS.to_owned()))
}

fn of_application(lookup: &Lookup) -> Option<Origin> {
    let (tenant, client) = (lookup.get("AZURE_TENANT_ID")?, lookup.get("AZURE_CLIENT_ID")?);
    let secret = lookup.get("AZURE_CLIENT_SECRET").map(Proof::Secret);
    let file = || Some(Proof::Token(lookup.get("AZURE_FEDERATED_TOKEN_FILE")?.into()));
    let proof = secret.or_else(file)?;
    let authority = lookup.get("AZURE_AUTHORITY_HOST");
    let authority = authority.unwrap_or_else(|| "https://login.microsoftonline.com".to_owned());
    Some(Origin::Entra(Login { authority, tenant, client, proof }))
}

/// A managed identity: of a service that has variables for it, or of a machine, where a variable says so.
fn of_machine(lookup: &Lookup) -> Option<Origin> {
    let client = lookup.get("AZURE_CLIENT_ID");
    let of = client.map(|client| format!("&client_id={client}")).unwrap_or_default();
    let wanted = format!("resource={RESOURCE}{of}");
    let metadata = |url, header| Some(Origin::Metadata(Metadata::Token { url, header }));
    if let (Some(url), Some(header)) =
        (lookup.get("IDENTITY_ENDPOINT"), lookup.get("IDENTITY_HEADER"))
    {
        let url = format!("{url}?api-version=2019-08-01&{wanted}");
        return metadata(url, ("x-identity-header", header));
    }
    let kind = lookup.get("AZCOPY_AUTO_LOGIN_TYPE")?;
    let url = format!("{MACHINE}?api-version=2018-02-01&{wanted}");
    kind.eq_ignore_ascii_case("MSI").then(|| metadata(url, ("metadata", "true".to_owned())))?
}

/// The user of the tool of Azure, where a variable says so.
fn of_user(lookup: &Lookup) -> Option<Origin> {
    let mode = lookup.get("AZURE_STORAGE_AUTH_MODE")?;
    let line = format!("az account get-access-token --resource {RESOURCE} --output json");
    let named_by = "AZURE_STORAGE_AUTH_MODE=login (az)".to_owned();
    let program = Program { line, named_by, prints: Printed::Token };
    mode.eq_ignore_ascii_case("login").then_some(Origin::Program(program))
}

impl Login {
    pub(crate) fn name(&self) -> String {
        format!("the application {} of tenant {}", self.client, self.tenant)
    }

    pub(crate) fn fetch(&self, client: &Client) -> Result<Fetched, RangeFailure> {
        let authority = self.authority.trim_end_matches('/');
        let url = url_of(&format!("{authority}/{}/oauth2/v2.0/token", self.tenant))?;
        let scope = format!("{RESOURCE}.default");
        let mut fields = vec![
            ("grant_type", "client_credentials"),
            ("client_id", &*self.client),
            ("scope", &*scope),
        ];
        let proof;
        match &self.proof {
            Proof::Secret(secret) => fields.push(("client_secret", secret)),
            Proof::Token(path) => {
                proof = text_in(path)?;
                let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                fields.push(("client_assertion_type", kind));
                fields.push(("client_assertion", &proof));
            }
        }
        token_for(client, &url, &fields)
    }
}
