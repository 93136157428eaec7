//! The door for patterns: what may become a signature, and what every pattern is known to need.

use std::ops::Range;

use regex_automata::meta;
use regex_syntax::hir::Hir;

use super::PatternSpec;
use super::chains::{Chains, chains};
use super::cost::{self, Cost, MAX_COMPILED_BYTES};
use super::error::PatternError;
use super::groups::collect_groups;
use super::lines::parts;
use super::parse::{mark_gaps, parse, parse_for_ascii};
use super::quick::parse_for_literals;
use super::required::{Clause, required};
use super::searcher::Searcher;

/// At least one clause must have no literal shorter than this, in bytes.
const MIN_ENTRY_LITERAL: usize = 3;
const SEARCH_CACHE_BYTES: usize = 16 << 10;
/// Longest name of a capture, in bytes.
const MAX_CAPTURE_NAME: usize = 40;

/// A capture group whose value is reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// The group's number in the pattern.
    pub group: usize,
    /// Its name: the group's own, or the one that the specification gives it.
    pub name: String,
}

/// What is known of a pattern without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternFacts {
    /// A line that lacks any of these clauses cannot match.
    pub required: Vec<Clause>,
    /// Named groups, in the order of the pattern. Unnamed groups without a given name are not reported.
    pub captures: Vec<Capture>,
    /// Whether the pattern asks for a line's start or end anywhere.
    pub anchored: bool,
    /// Whether it asks for both: what it matches is all of a message.
    pub whole: bool,
}

impl PatternFacts {
    pub(crate) fn has_entry(&self) -> bool {
        let long = |clause: &Clause| clause.iter().all(|text| text.len() >= MIN_ENTRY_LITERAL);
        self.required.iter().any(long)
    }
}

#[derive(Debug)]
pub(crate) struct CompiledPattern {
    pub(crate) regex: Searcher,
    /// Groups that hold what wildcards swallowed.
    pub(crate) gaps: Range<usize>,
}

/// Checks a pattern as the matcher will use it: parses, finds its literals, compiles within the limits.
///
/// Rules: `pattern/too-long`, `pattern/flag`, `pattern/syntax`, `pattern/nesting`, `pattern/too-large`,
/// `pattern/too-costly`, `pattern/no-literal`, `pattern/line-break`, `pattern/captures`.
pub fn check(spec: &PatternSpec) -> Result<PatternFacts, PatternError> {
    let facts = facts(spec)?;
    check_cost(spec)?;
    compile(spec, Texts::Any)?;
    Ok(facts)
}

/// Refuses what costs too much on a text made against it; each line of several is asked by itself.
pub(crate) fn check_cost(spec: &PatternSpec) -> Result<(), PatternError> {
    cost(spec).map(|_| ())
}

/// What a pattern costs on a text made against it, of several lines the dearest. One that costs too much is refused.
pub fn cost(spec: &PatternSpec) -> Result<Cost, PatternError> {
    let parts = parts(spec)?.unwrap_or_default();
    let mut lines = parts.iter().map(|part| &part.spec);
    let mut dearest = cost::check(&parse(lines.next().unwrap_or(spec))?)?;
    for line in lines {
        dearest.ways = dearest.ways.max(cost::check(&parse(line)?)?.ways);
    }
    Ok(dearest)
}

#[derive(Debug)]
pub(crate) struct Analysis {
    pub(crate) facts: PatternFacts,
    pub(crate) chains: Option<Chains>,
}

pub(crate) fn facts(spec: &PatternSpec) -> Result<PatternFacts, PatternError> {
    let Some(parts) = parts(spec)? else {
        return facts_of_line(spec);
    };
    let mut all = PatternFacts {
        required: Vec::new(),
        captures: Vec::new(),
        anchored: false,
        whole: false,
    };
    for part in &parts {
        let facts = facts_of_line(&part.spec)?;
        all.required.extend(facts.required);
        all.captures.extend(facts.captures);
        all.anchored |= facts.anchored;
    }
    Ok(all)
}

fn facts_of_line(spec: &PatternSpec) -> Result<PatternFacts, PatternError> {
    let analysis = analyse(spec)?;
    if !analysis.facts.has_entry() {
        return Err(PatternError::new(
            "pattern/no-literal",
            format!(
                "no text of {MIN_ENTRY_LITERAL} bytes or more stands in everything that the pattern matches"
            ),
            "add words that the error line always has; every branch of an alternation needs its own",
        ));
    }
    Ok(analysis.facts)
}

pub(crate) fn analyse(spec: &PatternSpec) -> Result<Analysis, PatternError> {
    let hir = parse_for_literals(spec)?;
    let required = on_one_line(required(&hir))?;
    let captures = captures(spec, &hir)?;
    let looks = hir.properties();
    let anchored = looks.look_set().contains_anchor();
    let whole = looks.look_set_prefix().contains_anchor() && looks.look_set_suffix().contains_anchor();
    Ok(Analysis {
        facts: PatternFacts {
            required,
            captures,
            anchored,
            whole,
        },
        chains: chains(&hir),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    Ascii,
    Any,
}

impl Texts {
    /// The narrowest that a text is one of.
    pub(crate) fn of(text: &[u8]) -> Self {
        if text.is_ascii() { Self::Ascii } else { Self::Any }
    }
}

pub(crate) fn compile(spec: &PatternSpec, texts: Texts) -> Result<CompiledPattern, PatternError> {
    // A pattern runs on few and short lines: the automata that pay on long texts would only cost memory and time.
    compile_as(spec, texts, meta::Config::new().hybrid(false), SEARCH_CACHE_BYTES)
}

/// The first of these lines that a pattern matches, wherever it stands: the matcher also asks whether words by which a text
/// names its machine stand near. None where it cannot be compiled.
pub fn first_match<'t>(spec: &PatternSpec, lines: impl IntoIterator<Item = &'t str>) -> Option<&'t str> {
    let compiled = compile(spec, Texts::Any).ok()?;
    lines
        .into_iter()
        .find(|line| compiled.regex.is_match(line.as_bytes()))
}

/// Compiles a pattern that runs again and again: a lazy automaton of at most this many bytes for each direction.
pub(crate) fn compile_often(
    spec: &PatternSpec,
    texts: Texts,
    automaton: usize,
) -> Result<CompiledPattern, PatternError> {
    let config = meta::Config::new().hybrid(true);
    let config = config.hybrid_cache_capacity(automaton);
    compile_as(spec, texts, config, SEARCH_CACHE_BYTES + 2 * automaton)
}

fn compile_as(
    spec: &PatternSpec,
    texts: Texts,
    config: meta::Config,
    kept_bytes: usize,
) -> Result<CompiledPattern, PatternError> {
    let hir = match texts {
        Texts::Ascii => parse_for_ascii(spec)?,
        Texts::Any => parse(spec)?,
    };
    let groups = u32::try_from(hir.properties().explicit_captures_len()).unwrap_or(u32::MAX - 1024);
    let (hir, end) = mark_gaps(hir, groups + 1);
    let config = config
        .utf8_empty(false)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES))
        .dfa(false);
    let regex = meta::Builder::new()
        .configure(config)
        .build_from_hir(&hir)
        .map_err(|error| {
            let reason = match error.size_limit() {
                Some(limit) => format!("compiled it takes more than {limit} bytes"),
                None => format!("does not compile: {error}"),
            };
            PatternError::new(
                "pattern/too-large",
                reason,
                "use smaller counted repetitions and classes",
            )
        })?;
    let gaps = usize::try_from(groups + 1).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX);
    let regex = Searcher::new(regex, kept_bytes);
    Ok(CompiledPattern { regex, gaps })
}

/// Drops the literals that a single line cannot hold, and refuses what then has nothing left.
fn on_one_line(clauses: Vec<Clause>) -> Result<Vec<Clause>, PatternError> {
    let mut kept = Vec::with_capacity(clauses.len());
    for mut clause in clauses {
        clause.retain(|text| !text.contains(&b'\n'));
        if clause.is_empty() {
            return Err(PatternError::new(
                "pattern/line-break",
                "the pattern needs a line break inside a group or an alternative, where it cannot be cut into lines"
                    .to_owned(),
                "write the break between groups, and one pattern for each alternative",
            ));
        }
        kept.push(clause);
    }
    Ok(kept)
}

fn captures(spec: &PatternSpec, hir: &Hir) -> Result<Vec<Capture>, PatternError> {
    let mut groups = Vec::new();
    collect_groups(hir, &mut groups);
    groups.sort_unstable();
    let mut given = spec.captures.iter();
    let mut captures: Vec<Capture> = Vec::new();
    for (group, own_name) in groups {
        let Some(name) = own_name.or_else(|| given.next().cloned()) else {
            continue;
        };
        check_name(&name)?;
        if captures.iter().any(|capture| capture.name == name) {
            return Err(capture_error(format!("two groups are called {name:?}")));
        }
        captures.push(Capture { group, name });
    }
    match given.count() {
        0 => Ok(captures),
        spare => Err(capture_error(format!("{spare} more names than unnamed groups"))),
    }
}

fn check_name(name: &str) -> Result<(), PatternError> {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let goes_on_well = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if starts_well && goes_on_well && name.len() <= MAX_CAPTURE_NAME {
        return Ok(());
    }
    Err(capture_error(format!("{name:?} cannot name a capture")))
}

fn capture_error(reason: String) -> PatternError {
    PatternError::new(
        "pattern/captures",
        reason,
        "names are [A-Za-z_][A-Za-z0-9_]*, up to 40 signs, each once, one for each unnamed group in order",
    )
}
