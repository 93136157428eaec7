//! Join tokens: made one or many at once, with labels for the nodes that enrol with them.

use std::time::Duration;

use time::OffsetDateTime;

use super::labels;
use super::tokens::{IssuedToken, draw};
use crate::clock::{Random, RandomError};
use crate::store::{Bounds, By, Labels, Scope, StoreError, StoredToken, TokenStore};

/// Most nodes of one token: what the description of the interface allows of a whole number.
const MAX_USES: u32 = 2_147_483_647;

/// Most tokens that are made at once.
pub const MAX_AT_ONCE: u32 = 1_000;
pub const MAX_NAME_CHARACTERS: usize = 100;

#[derive(Debug, Clone)]
pub struct Wanted {
    pub name: String,
    /// Nodes that may join with each; any number where it is not said.
    pub uses: Option<u32>,
    /// How long they are good; without end where it is not said.
    pub expires_in: Option<Duration>,
    pub labels: Labels,
    /// A node may enrol under an id whose credential another machine has. Such a token needs `uses` and `expires_in`.
    pub adopts: bool,
    pub count: u32,
}

#[derive(Debug, thiserror::Error)]
pub enum JoinTokenError {
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn make(
    store: &dyn TokenStore,
    random: &dyn Random,
    wanted: &Wanted,
    by: &By,
    now: OffsetDateTime,
) -> Result<Vec<IssuedToken>, JoinTokenError> {
    let name = parse_name(&wanted.name).map_err(|why| JoinTokenError::Wrong(format!("name: {why}")))?;
    labels::check(&wanted.labels).map_err(|why| JoinTokenError::Wrong(format!("labels: {why}")))?;
    if !(1..=MAX_AT_ONCE).contains(&wanted.count) {
        let why = format!("count: {} tokens at once, give 1 to {MAX_AT_ONCE}", wanted.count);
        return Err(JoinTokenError::Wrong(why));
    }
    if let Some(uses) = wanted.uses.filter(|uses| !(1..=MAX_USES).contains(uses)) {
        let why =
            format!("uses: {uses} nodes, give 1 to {MAX_USES}, or leave it out for any number of nodes");
        return Err(JoinTokenError::Wrong(why));
    }
    if wanted.adopts && (wanted.uses.is_none() || wanted.expires_in.is_none()) {
        let why = "adopt: such a token takes ids over from other machines, so it needs uses (nodes) and expires_in: \
            give both, as small as the work allows";
        return Err(JoinTokenError::Wrong(why.to_owned()));
    }
    let expires_at = wanted.expires_in.map(|duration| now + duration);
    let bounds = Bounds {
        uses_left: wanted.uses,
        labels: wanted.labels.clone(),
        adopts: wanted.adopts,
        ..Bounds::default()
    };
    let issued = (0..wanted.count)
        .map(|_| {
            draw(
                random,
                &name,
                vec![Scope::Enrol],
                (now, expires_at),
                bounds.clone(),
            )
        })
        .collect::<Result<Vec<_>, _>>()?;
    let kept = issued.iter().map(|issued| issued.token.clone()).collect();
    store.create_tokens(kept, by).await?;
    Ok(issued)
}

pub async fn list(store: &dyn TokenStore) -> Result<Vec<StoredToken>, StoreError> {
    let mut tokens = store.tokens().await?;
    tokens.retain(is_join_token);
    Ok(tokens)
}

/// Takes one back; false where there is no such join token. Nodes that have joined with it stay.
pub async fn revoke(
    store: &dyn TokenStore,
    id: &str,
    by: &By,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    match store.token(id).await? {
        Some(token) if is_join_token(&token) => store.revoke_token(id, by, now).await,
        _ => Ok(false),
    }
}

fn is_join_token(token: &StoredToken) -> bool {
    token.token.scopes == [Scope::Enrol]
}

/// A name that fits into a list, without blanks around it.
pub fn parse_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARACTERS || name.chars().any(char::is_control) {
        return Err(format!(
            "a name has 1 to {MAX_NAME_CHARACTERS} characters, all in one line"
        ));
    }
    Ok(name.to_owned())
}

/// Reads `90d` and the like.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    const FORM: &str = "write a number and m, h, d or w: 90d";
    let digits = text
        .find(|character: char| !character.is_ascii_digit())
        .ok_or(FORM)?;
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| FORM)?;
    let seconds = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(FORM.to_owned()),
    };
    // A hundred years: beyond it the calendar ends before the token.
    let limit = 36_525 * 86_400;
    number
        .checked_mul(seconds)
        .filter(|total| *total > 0 && *total <= limit)
        .map(Duration::from_secs)
        .ok_or_else(|| "a token lasts between a minute and a hundred years".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_into_a_list() {
        assert_eq!(parse_name(" node fleet "), Ok("node fleet".to_owned()));
        for bad in [
            "",
            "  ",
            "a\nb",
            "a\u{1b}[2J",
            &"x".repeat(MAX_NAME_CHARACTERS + 1),
        ] {
            assert!(parse_name(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn durations_are_a_number_and_a_unit() {
        assert_eq!(parse_duration("90d"), Ok(Duration::from_hours(90 * 24)));
        assert_eq!(parse_duration("12h"), Ok(Duration::from_hours(12)));
        for bad in ["", "d", "90", "90x", "-1d", "0d", "999999w", "1d2h"] {
            assert!(parse_duration(bad).is_err(), "{bad:?} was accepted");
        }
    }
}
