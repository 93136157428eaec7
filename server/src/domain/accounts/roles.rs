//! What a role lets a person do, in the scopes of tokens.

use crate::store::{Role, Scope, Standing};

/// The scopes of a person. `admin` stands for all.
pub fn scopes(standing: Standing) -> Vec<Scope> {
    let mut scopes = match standing.role {
        Role::Viewer => Vec::new(),
        Role::Contributor => vec![Scope::Edit],
        Role::Editor => vec![Scope::Edit, Scope::Publish],
        Role::Admin => vec![Scope::Admin],
    };
    if standing.operator {
        scopes.extend([Scope::Report, Scope::Enrol, Scope::Fleet]);
    }
    scopes
}

/// Whether the scopes `held` allow what `wanted` allows.
pub fn allow(held: &[Scope], wanted: Scope) -> bool {
    held.contains(&wanted) || held.contains(&Scope::Admin)
}

/// Those of `scopes` that an owner may still use. What the owner may no longer do, the token may not do either.
pub fn within(scopes: Vec<Scope>, standing: Standing) -> Vec<Scope> {
    let held = self::scopes(standing);
    let mut left: Vec<Scope> = Vec::new();
    for scope in scopes {
        if allow(&held, scope) {
            left.push(scope);
        } else if scope == Scope::Admin {
            // All that there is, within what the owner may.
            left.extend(&held);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(role: Role, operator: bool) -> Standing {
        Standing { role, operator }
    }

    #[test]
    fn each_role_may_what_those_before_it_may() {
        for pair in Role::ALL.windows(2) {
            for operator in [false, true] {
                let (lower, higher) = (
                    scopes(standing(pair[0], operator)),
                    scopes(standing(pair[1], operator)),
                );
                assert!(lower.iter().all(|scope| allow(&higher, *scope)), "{pair:?}");
                assert!(lower.len() < higher.len() || higher.contains(&Scope::Admin));
            }
        }
        assert!(!allow(&scopes(standing(Role::Editor, true)), Scope::Admin));
        assert!(!allow(&scopes(standing(Role::Editor, false)), Scope::Fleet));
    }

    #[test]
    fn a_token_may_never_more_than_its_owner() {
        let all = Scope::ALL.to_vec();
        assert_eq!(
            within(all.clone(), standing(Role::Viewer, false)),
            Vec::<Scope>::new()
        );
        assert!(!within(all.clone(), standing(Role::Editor, true)).contains(&Scope::Admin));
        assert_eq!(
            within(vec![Scope::Admin], standing(Role::Contributor, false)),
            [Scope::Edit]
        );
        assert_eq!(within(all.clone(), standing(Role::Admin, false)), all);
        assert_eq!(
            within(vec![Scope::Edit, Scope::Fleet], standing(Role::Editor, false)),
            [Scope::Edit]
        );
    }
}
