//! Settings of logins that others vouch for: a proxy that signs people on, a provider of OpenID Connect.

use std::path::PathBuf;

use clap::Args;

/// A provider of OpenID Connect.
#[derive(Debug, Clone, Default, Args)]
pub struct OidcArgs {
    /// Issuer of OpenID Connect, as the provider names itself; people log in there
    #[arg(
        long = "oidc-issuer",
        env = "PEERLESS_OIDC_ISSUER",
        value_name = "URL",
        value_parser = issuer,
        requires_all = ["client_id", "public_url"]
    )]
    pub issuer: Option<String>,

    /// Id of this server at the provider, where its address for redirects is PUBLIC-URL/login/oidc/done
    #[arg(
        long = "oidc-client-id",
        id = "client_id",
        env = "PEERLESS_OIDC_CLIENT_ID",
        value_name = "ID"
    )]
    pub client_id: Option<String>,

    /// File with the secret of this server at the provider
    #[arg(
        long = "oidc-client-secret-file",
        env = "PEERLESS_OIDC_CLIENT_SECRET_FILE",
        value_name = "FILE"
    )]
    pub client_secret_file: Option<PathBuf>,

    /// Claim of the ID token that says roles: a text or a list of texts. Without it administrators give roles here
    #[arg(
        long = "oidc-role-claim",
        env = "PEERLESS_OIDC_ROLE_CLAIM",
        value_name = "CLAIM"
    )]
    pub role_claim: Option<String>,

    /// What values of the claim mean, separated by commas: `kb-editors=editor,gpu-ops=operator` [default: the names of the roles]
    #[arg(
        long = "oidc-roles",
        env = "PEERLESS_OIDC_ROLES",
        value_name = "VALUE=ROLE,…",
        value_delimiter = ',',
        value_parser = role_of
    )]
    pub roles: Vec<RoleOf>,

    /// Certificates (PEM) that the provider's is held to, in place of those of this machine
    #[arg(long = "oidc-ca-file", env = "PEERLESS_OIDC_CA_FILE", value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleOf {
    pub value: String,
    /// A role, or `operator`.
    pub role: String,
}

const ROLES: [&str; 5] = ["viewer", "contributor", "editor", "admin", "operator"];

fn role_of(text: &str) -> Result<RoleOf, String> {
    let told = || format!("write VALUE=ROLE, with one of {}", ROLES.join(", "));
    let (value, role) = text.rsplit_once('=').ok_or_else(told)?;
    if value.trim().is_empty() || !ROLES.contains(&role.trim()) {
        return Err(told());
    }
    Ok(RoleOf {
        value: value.trim().to_owned(),
        role: role.trim().to_owned(),
    })
}

/// Over plain http a provider could be anybody, but on this machine.
fn issuer(text: &str) -> Result<String, String> {
    let is_here = |rest: &str| {
        let host = rest.split('/').next().unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
        matches!(host, "127.0.0.1" | "localhost" | "[::1]")
    };
    let good = match text.split_once("://") {
        Some(("https", rest)) => !rest.is_empty(),
        Some(("http", rest)) => is_here(rest),
        _ => false,
    };
    if good && !text.contains(['?', '#', '@', ' ']) {
        Ok(text.to_owned())
    } else {
        Err("write the issuer as the provider does, with https: https://login.example.org/realm".to_owned())
    }
}

/// A name of a header that no client needs for anything else.
pub(super) fn header(text: &str) -> Result<String, String> {
    let name = text.to_ascii_lowercase();
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_used = ["authorization", "cookie", "host", "origin", "referer"].contains(&name.as_str())
        || name.starts_with("x-forwarded")
        || name == "forwarded";
    if is_name && !is_used {
        Ok(name)
    } else {
        Err("write the name of the header that the proxy sets, such as X-Remote-User".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_asked_over_tls_or_on_this_machine() {
        for right in [
            "https://login.example.org/realm",
            "http://127.0.0.1:9000",
            "http://localhost/x",
        ] {
            assert!(issuer(right).is_ok(), "{right}");
        }
        for wrong in [
            "",
            "login.example.org",
            "http://login.example.org",
            "http://127.0.0.1.evil.example",
            "https://",
            "https://me@x",
            "https://x?y",
        ] {
            assert!(issuer(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn headers_that_mean_something_else_name_nobody() {
        assert_eq!(header("X-Remote-User"), Ok("x-remote-user".to_owned()));
        for wrong in [
            "",
            "Cookie",
            "authorization",
            "x forwarded",
            "X-Forwarded-For",
            "a:b",
        ] {
            assert!(header(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_value_of_the_claim_means_a_role() {
        let meant = role_of("cn=kb editors=editor").unwrap();
        assert_eq!(
            (meant.value.as_str(), meant.role.as_str()),
            ("cn=kb editors", "editor")
        );
        for wrong in ["", "editor", "x=owner", "=editor"] {
            assert!(role_of(wrong).is_err(), "{wrong}");
        }
    }
}
