//! Roles from a claim of the ID token.

use serde_json::Value;

use super::types::MoreClaims;
use crate::config::OidcArgs;
use crate::store::{Role, Standing};

const OPERATOR: &str = "operator";

#[derive(Debug)]
pub(super) struct Roles {
    /// Absent: roles are given here.
    claim: Option<String>,
    /// What values mean; nothing: the names of the roles.
    meanings: Vec<(String, String)>,
}

impl Roles {
    pub(super) fn of(settings: &OidcArgs) -> Self {
        let meaning = |of: &crate::config::RoleOf| (of.value.clone(), of.role.clone());
        Self {
            claim: settings.role_claim.clone(),
            meanings: settings.roles.iter().map(meaning).collect(),
        }
    }

    /// The highest role that the claim says, and whether it says operator. Without the claim in the token: nothing but reading.
    pub(super) fn standing(&self, claims: &MoreClaims) -> Option<Standing> {
        let claim = self.claim.as_ref()?;
        let mut standing = Standing {
            role: Role::Viewer,
            operator: false,
        };
        for value in values(claims.claims.get(claim)) {
            for word in self.meaning(value) {
                standing.operator |= word == OPERATOR;
                if let Some(role) = Role::from_word(word) {
                    standing.role = standing.role.max(role);
                }
            }
        }
        Some(standing)
    }

    fn meaning<'a>(&'a self, value: &'a str) -> Vec<&'a str> {
        if self.meanings.is_empty() {
            return vec![value];
        }
        let meant = self.meanings.iter().filter(|(known, _)| known == value);
        meant.map(|(_, role)| role.as_str()).collect()
    }
}

fn values(claim: Option<&Value>) -> Vec<&str> {
    match claim {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::RoleOf;

    fn standing(roles: &Roles, claim: Value) -> Option<(Role, bool)> {
        let claims = MoreClaims {
            claims: [("groups".to_owned(), claim)].into(),
        };
        roles
            .standing(&claims)
            .map(|standing| (standing.role, standing.operator))
    }

    #[test]
    fn the_highest_role_of_the_claim_is_taken() {
        let mut settings = OidcArgs {
            role_claim: Some("groups".to_owned()),
            ..OidcArgs::default()
        };
        let named = Roles::of(&settings);
        assert_eq!(standing(&named, json!("editor")), Some((Role::Editor, false)));
        let both = json!(["contributor", "editor", "operator", 7, "root"]);
        assert_eq!(standing(&named, both), Some((Role::Editor, true)));
        assert_eq!(
            standing(&named, json!({"admin": true})),
            Some((Role::Viewer, false))
        );
        settings.roles = vec![RoleOf {
            value: "kb-admins".to_owned(),
            role: "admin".to_owned(),
        }];
        let mapped = Roles::of(&settings);
        assert_eq!(
            standing(&mapped, json!(["kb-admins"])),
            Some((Role::Admin, false))
        );
        assert_eq!(standing(&mapped, json!(["admin"])), Some((Role::Viewer, false)));
        let none = Roles::of(&OidcArgs::default());
        assert_eq!(standing(&none, json!("admin")), None);
    }
}
