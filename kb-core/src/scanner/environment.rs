//! Does a record apply to an environment? Versions are compared part by part; a missing component leaves it open.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::stated::{Stated, Told};
use super::{Applies, KnownComponent};
use crate::reason::{self, Condition, Here};
use crate::signature::AppliesTo;

/// Words that put a version before its release; any other word (`open`, `server`) does not order.
const PRE_RELEASES: [&str; 9] = ["a", "alpha", "b", "beta", "c", "dev", "pre", "preview", "rc"];

/// Longest value that is compared, in bytes; no version and no model has a longer name.
pub(super) const MAX_VALUE_BYTES: usize = 256;

/// What is known of where a text was written, made ready to be asked by many records.
pub(super) struct Environment<'a>(BTreeMap<String, Known<'a>>);

struct Known<'a> {
    value: &'a str,
    /// The line of the text that says so; `None` where it was given.
    line: Option<u64>,
}

impl<'a> Environment<'a> {
    /// Names are compared apart from case. Values that are no version or model are ignored. Given values precede the text's.
    pub(super) fn new(given: &'a BTreeMap<String, String>, stated: &'a Stated) -> Self {
        let mut folded = BTreeMap::new();
        for (name, value) in given.iter().filter(|(_, value)| value.len() <= MAX_VALUE_BYTES) {
            let known = Known { value, line: None };
            folded.entry(name.to_ascii_lowercase()).or_insert(known);
        }
        for (component, told) in stated.told() {
            if let Told::Value(value, line) = told {
                let line = Some(line);
                let known = Known { value, line };
                folded.entry(component.to_owned()).or_insert(known);
            }
        }
        Self(folded)
    }

    /// All conditions must hold. None stated, or one that cannot be told: unknown.
    pub(super) fn applies(&self, conditions: &[AppliesTo]) -> Applies {
        conditions
            .iter()
            .map(|condition| self.one(condition))
            .max()
            .unwrap_or_default()
    }

    /// What decided: the first condition that fails, else the first that is open.
    pub(super) fn decided(&self, conditions: &[AppliesTo]) -> Option<Condition> {
        let applies = self.applies(conditions);
        let condition = conditions
            .iter()
            .find(|condition| self.one(condition) == applies)?;
        let known = self.0.get(&condition.component.to_ascii_lowercase());
        let known = known.map(|known| reason::Known {
            value: known.value.to_owned(),
            line: known.line,
        });
        let here = match (applies, known) {
            (Applies::Yes, Some(known)) => Here::Meets(known),
            (Applies::No, Some(known)) => Here::Fails(known),
            _ => Here::Untold,
        };
        Some(Condition {
            about: condition.clone(),
            here,
        })
    }

    pub(super) fn known(&self) -> Vec<KnownComponent> {
        let known = self.0.iter();
        known
            .map(|(component, known)| KnownComponent {
                component: component.clone(),
                value: known.value.to_owned(),
                line: known.line,
            })
            .collect()
    }

    fn one(&self, condition: &AppliesTo) -> Applies {
        let known = self.0.get(&condition.component.to_ascii_lowercase());
        known.map_or(Applies::Unknown, |known| one_applies(condition, known.value))
    }
}

fn one_applies(condition: &AppliesTo, value: &str) -> Applies {
    let mut verdict = Applies::Yes;
    if !condition.any_of.is_empty() {
        let listed = condition
            .any_of
            .iter()
            .any(|pattern| fits(pattern.as_bytes(), value.trim().as_bytes()));
        verdict = if listed { Applies::Yes } else { Applies::No };
    }
    let bounds = [
        condition.introduced.as_deref().map(|from| (from, Bound::From)),
        condition.fixed.as_deref().map(|fixed| (fixed, Bound::Before)),
        condition.last_affected.as_deref().map(|last| (last, Bound::UpTo)),
    ];
    for (bound, kind) in bounds.into_iter().flatten() {
        verdict = verdict.max(within(value, bound, kind));
    }
    verdict
}

#[derive(Clone, Copy)]
enum Bound {
    From,
    Before,
    UpTo,
}

fn within(value: &str, bound: &str, kind: Bound) -> Applies {
    let (Some(value), Some(bound)) = (Version::parse(value), Version::parse(bound)) else {
        return Applies::Unknown;
    };
    let order = value.compare(&bound);
    let holds = match kind {
        Bound::From => order != Ordering::Less,
        Bound::Before => order == Ordering::Less,
        // "Last affected: 550" means every 550.x.
        Bound::UpTo => order != Ordering::Greater || value.begins_with(&bound),
    };
    if holds { Applies::Yes } else { Applies::No }
}

pub(super) fn is_version(value: &str) -> bool {
    Version::parse(value).is_some()
}

/// A version: numbers, then perhaps a pre-release. What follows `+` names a build and does not order.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    numbers: Vec<u64>,
    /// `a`, `b`, `rc`, `dev` … and its number; before the release of the same numbers.
    pre_release: Option<(String, u64)>,
}

impl Version {
    /// `None` if the text has no number at its beginning (`v` and `R` before it are allowed).
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches(['v', 'V', 'r', 'R']);
        let text = text.split('+').next().unwrap_or_default().to_ascii_lowercase();
        let mut numbers = Vec::new();
        let mut pre_release: Option<(String, u64)> = None;
        for part in text.split(['.', '-', '_', ' ']) {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let (number, word) = part.split_at_checked(digits)?;
            match (number.parse::<u64>(), &mut pre_release) {
                (Ok(number), None) => numbers.push(number),
                (Ok(number), Some((_, count))) => *count = number,
                (Err(_), _) if numbers.is_empty() => return None,
                (Err(_), _) => {}
            }
            let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
            if PRE_RELEASES.contains(&letters) && pre_release.is_none() {
                let count = word
                    .get(letters.len()..)
                    .and_then(|digits| digits.parse().ok())
                    .unwrap_or(0);
                pre_release = Some((letters.to_owned(), count));
            }
        }
        (!numbers.is_empty()).then_some(Self { numbers, pre_release })
    }

    fn compare(&self, other: &Self) -> Ordering {
        let places = self.numbers.len().max(other.numbers.len());
        let number = |version: &Self, at: usize| version.numbers.get(at).copied().unwrap_or(0);
        for at in 0..places {
            let order = number(self, at).cmp(&number(other, at));
            if order != Ordering::Equal {
                return order;
            }
        }
        match (&self.pre_release, &other.pre_release) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(left), Some(right)) => left.cmp(right),
        }
    }

    fn begins_with(&self, other: &Self) -> bool {
        other.pre_release.is_none() && self.numbers.starts_with(&other.numbers)
    }
}

/// Glob over bytes, case-insensitive: `*` stands for any run. Linear in the product of the lengths at worst.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while from < text.len() {
        match (pattern.get(at), text.get(from)) {
            (Some(b'*'), _) => {
                retry = Some((at + 1, from));
                at += 1;
            }
            (Some(wanted), Some(given)) if wanted.eq_ignore_ascii_case(given) => {
                at += 1;
                from += 1;
            }
            _ => match retry {
                Some((after_star, matched)) => {
                    retry = Some((after_star, matched + 1));
                    at = after_star;
                    from = matched + 1;
                }
                None => return false,
            },
        }
    }
    pattern
        .get(at..)
        .is_some_and(|rest| rest.iter().all(|b| *b == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(introduced: &str, fixed: &str, last_affected: &str) -> AppliesTo {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        AppliesTo {
            component: "driver".to_owned(),
            introduced: given(introduced),
            fixed: given(fixed),
            last_affected: given(last_affected),
            any_of: Vec::new(),
        }
    }

    fn answer(condition: AppliesTo, value: &str) -> Applies {
        let environment = BTreeMap::from([(condition.component.clone(), value.to_owned())]);
        Environment::new(&environment, &Stated::default()).applies(&[condition])
    }

    #[test]
    fn versions_are_compared_as_versions() {
        for (introduced, fixed, last, value, expected) in [
            ("525", "550.54", "", "535.161.07", Applies::Yes),
            ("525", "550.54", "", "550.54", Applies::No),
            ("525", "550.54", "", "550.54.14", Applies::No),
            ("525", "550.54", "", "550.9", Applies::Yes),
            ("525", "550.54", "", "524.99", Applies::No),
            ("525", "", "", "525", Applies::Yes),
            ("", "", "550", "550.127.05", Applies::Yes),
            ("", "", "550", "551.0", Applies::No),
            ("2.1", "2.3", "", "2.2.0+cu121", Applies::Yes),
            ("2.1", "2.3", "", "2.3.0rc1", Applies::Yes),
            ("2.1", "2.3", "", "v2.3.0", Applies::No),
            ("2.1.0rc2", "", "", "2.1.0rc1", Applies::No),
            ("550.54", "", "", "550.54-server", Applies::Yes),
            ("525", "", "", "whatever", Applies::Unknown),
            ("unknown", "", "", "525", Applies::Unknown),
        ] {
            let got = answer(condition(introduced, fixed, last), value);
            assert_eq!(got, expected, "{value} in [{introduced}, {fixed}), last {last}");
        }
    }

    #[test]
    fn names_are_compared_as_globs_apart_from_case() {
        for (pattern, value, expected) in [
            ("*H200*", "NVIDIA h200 NVL", Applies::Yes),
            ("H200", "NVIDIA H200", Applies::No),
            ("A100*80GB", "A100-SXM4-80GB", Applies::Yes),
            ("*", "", Applies::Yes),
            ("a*b*c", "aXbXbXc", Applies::Yes),
            ("a*b*c", "aXbXbX", Applies::No),
        ] {
            let condition = AppliesTo {
                component: "gpu_model".to_owned(),
                introduced: None,
                fixed: None,
                last_affected: None,
                any_of: vec![pattern.to_owned()],
            };
            assert_eq!(answer(condition, value), expected, "{pattern} on {value}");
        }
    }

    #[test]
    fn one_condition_that_fails_decides_and_one_untold_leaves_it_open() {
        let given = BTreeMap::from([("Driver".to_owned(), "535".to_owned())]);
        let stated = Stated::default();
        let environment = Environment::new(&given, &stated);
        let untold = AppliesTo {
            component: "nccl".to_owned(),
            ..condition("2.0", "", "")
        };
        assert_eq!(environment.applies(&[]), Applies::Unknown);
        assert_eq!(environment.applies(&[condition("525", "", "")]), Applies::Yes);
        assert_eq!(
            environment.applies(&[condition("525", "", ""), untold.clone()]),
            Applies::Unknown
        );
        assert_eq!(
            environment.applies(&[untold, condition("550", "", "")]),
            Applies::No
        );
    }

    #[test]
    fn a_value_that_is_no_version_or_model_says_nothing() {
        let any = AppliesTo {
            any_of: vec!["*".to_owned()],
            ..condition("", "", "")
        };
        assert_eq!(answer(any.clone(), &"5".repeat(MAX_VALUE_BYTES)), Applies::Yes);
        assert_eq!(answer(any, &"5".repeat(MAX_VALUE_BYTES + 1)), Applies::Unknown);
    }
}
