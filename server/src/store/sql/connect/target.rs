//! What a database URL asks for.

use std::path::PathBuf;
use std::str::FromStr as _;

use sqlx::postgres::PgConnectOptions;

use crate::store::StoreError;

#[derive(Debug)]
pub(in crate::store) enum Target {
    Sqlite(PathBuf),
    /// A server; the options hold the password.
    Postgres(Box<PgConnectOptions>),
}

impl Target {
    pub(in crate::store) fn parse(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            let options = PgConnectOptions::from_str(url)
                .map_err(|error| refusal(&without_password(url), &error.to_string()))?;
            return Ok(Self::Postgres(Box::new(options.application_name("peerless"))));
        }
        let path = match url.strip_prefix("sqlite:") {
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None => url,
        };
        if url.contains("password") && url.contains('=') {
            return Err(refusal(
                "…",
                "pairs of names and values are not read: write postgres://user@host/database",
            ));
        }
        if path == ":memory:" {
            return Err(refusal(
                url,
                "a database in memory cannot be shared by connections: name a file",
            ));
        }
        if path != url && path.contains('?') {
            return Err(refusal(
                url,
                "options behind '?' are not read: give the path alone",
            ));
        }
        if path.contains("://") {
            return Err(refusal(
                &without_password(url),
                "this kind of database is not known: give postgres://…, sqlite:PATH or a path",
            ));
        }
        if path.is_empty() {
            return Err(refusal(url, "no path is given: write sqlite:PATH"));
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }
}

fn refusal(url: &str, reason: &str) -> StoreError {
    StoreError::Open {
        url: url.to_owned(),
        reason: reason.to_owned(),
    }
}

/// The URL with `user:password@` left out: it may end up in a log.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(authority_end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let path = tail.split('?').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_sqlite_and_a_postgres_url_means_postgres() {
        for url in [
            "data/peerless.db",
            "sqlite:data/peerless.db",
            "sqlite://data/peerless.db",
        ] {
            let target = Target::parse(url).unwrap();
            assert!(
                matches!(&target, Target::Sqlite(path) if path.ends_with("data/peerless.db")),
                "{target:?}"
            );
        }
        for url in ["postgres://u:p@h/db", "postgresql:///db?host=/run/pg"] {
            assert!(matches!(Target::parse(url).unwrap(), Target::Postgres(_)));
        }
    }

    #[test]
    fn a_refusal_says_why_and_keeps_the_password_to_itself() {
        for url in [
            "mysql://user:secret@host/db?password=secret",
            "postgres://user:secret@host:port/db",
            "host=db user=me password=secret",
        ] {
            let error = Target::parse(url).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        for url in ["", "sqlite:", "sqlite::memory:", "sqlite:a.db?mode=rwc"] {
            assert!(Target::parse(url).is_err(), "{url:?} was accepted");
        }
    }
}
