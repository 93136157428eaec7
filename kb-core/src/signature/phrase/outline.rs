//! Which literals stand where a phrase does. Each way is read once, with a sign in the phrase's place, and every phrase of
//! the set puts its words there.

use std::sync::OnceLock;

use super::PhraseSpec;
use super::contexts::{CONTEXTS, Context, Said, Way};
use crate::signature::chains::{Chain, Chains, Link, MAX_CHAINS};
use crate::signature::check::{Analysis, PatternFacts, analyse};
use crate::signature::required::{Clause, strongest};
use crate::signature::{PatternError, PatternSpec};

/// Stands for the phrase while a way is read; of no script.
const SIGN: &str = "\u{e000}";

/// What is known of each way of each set, in their order, read when first needed.
static READ: [OnceLock<Vec<Analysis>>; CONTEXTS.len()] = [const { OnceLock::new() }; CONTEXTS.len()];

pub(crate) struct Outline {
    pub(crate) analysis: Analysis,
    /// What each of the context's ways needs of a line.
    pub(crate) ways: Vec<Vec<Clause>>,
}

pub(crate) fn outline(spec: &PhraseSpec) -> Result<Outline, PatternError> {
    let (place, context) = spec.known_context()?;
    let read = read(place, context)?;
    let mut branches: Vec<Vec<Clause>> = Vec::new();
    let mut ways: Vec<Vec<Clause>> = Vec::new();
    let mut chains = Some(Vec::new());
    let mut anchored = false;
    for (way, read) in context.ways().zip(read) {
        anchored |= read.facts.anchored;
        ways.push(Vec::new());
        for said in spec.said(way) {
            let required = read.facts.required.iter();
            let required: Vec<Clause> = required.map(|clause| filled(clause, &said)).collect();
            if let Some(way) = ways.last_mut() {
                way.clone_from(&required);
            }
            branches.push(required);
            chains = match (chains, &read.chains) {
                (Some(mut list), Some(more)) if list.len() + more.list.len() <= MAX_CHAINS => {
                    list.extend(more.list.iter().map(|chain| with(chain, &said)));
                    Some(list)
                }
                _ => None,
            };
        }
    }
    let facts = PatternFacts {
        required: any_of(branches),
        captures: Vec::new(),
        anchored,
        whole: false,
    };
    // Chains say which lines to look at; where the phrase stands its contexts say.
    let chains = chains.map(|list| Chains { list, exact: false });
    let analysis = Analysis { facts, chains };
    Ok(Outline { analysis, ways })
}

impl PhraseSpec {
    pub(super) fn said(&self, way: &Way) -> Vec<String> {
        let numbers = self.numbers.iter();
        match way.said {
            Said::Text => self.text.iter().map(|text| text.to_ascii_lowercase()).collect(),
            Said::Decimal => numbers.map(ToString::to_string).collect(),
            Said::Hex => numbers.map(|number| format!("{number:x}")).collect(),
            Said::HexOfEight => numbers.map(|number| format!("{number:08x}")).collect(),
        }
    }
}

fn read(place: usize, context: &Context) -> Result<&'static [Analysis], PatternError> {
    let Some(known) = READ.get(place) else {
        return Ok(&[]);
    };
    if let Some(read) = known.get() {
        return Ok(read);
    }
    let ways: Result<Vec<Analysis>, PatternError> =
        context.ways().map(|way| analyse(&way.around(SIGN))).collect();
    let ways = ways?;
    Ok(known.get_or_init(|| ways))
}

impl Way {
    pub(super) fn around(&self, said: &str) -> PatternSpec {
        let said = regex_syntax::escape(said);
        self.part(format!("(?:{}){said}{}", self.before.join("|"), self.after))
    }

    pub(super) fn part(&self, regex: String) -> PatternSpec {
        PatternSpec {
            id: String::new(),
            regex,
            flags: self.flags.to_owned(),
            captures: Vec::new(),
        }
    }
}

fn any_of(mut branches: Vec<Vec<Clause>>) -> Vec<Clause> {
    if branches.len() <= 1 {
        return branches.pop().unwrap_or_default();
    }
    let strongest: Option<Vec<Clause>> = branches.into_iter().map(strongest).collect();
    let Some(strongest) = strongest else {
        return Vec::new();
    };
    let mut literals = strongest.concat();
    literals.sort_unstable_by_key(Vec::len);
    // Who holds a long literal holds every part of it.
    let mut any_of: Clause = Vec::new();
    for literal in literals {
        if !any_of
            .iter()
            .any(|part| memchr::memmem::find(&literal, part).is_some())
        {
            any_of.push(literal);
        }
    }
    vec![any_of]
}

fn filled(clause: &Clause, said: &str) -> Clause {
    clause.iter().map(|literal| fill(literal, said)).collect()
}

fn with(chain: &Chain, said: &str) -> Chain {
    let links = chain
        .links
        .iter()
        .map(|link| Link::new(link.before, &fill(link.text(), said)));
    Chain {
        links: links.collect(),
        last: chain.last,
    }
}

fn fill(literal: &[u8], said: &str) -> Vec<u8> {
    match memchr::memmem::find(literal, SIGN.as_bytes()) {
        Some(at) => {
            let (before, rest) = literal.split_at(at);
            let after = rest.get(SIGN.len()..).unwrap_or_default();
            [before, said.as_bytes(), after].concat()
        }
        None => literal.to_vec(),
    }
}
