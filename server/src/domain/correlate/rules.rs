//! The rules of one generation, compiled once and asked about every report.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cel::{Context, Program, Value as Cel};
use kb_core::annex::{ProbeRule, ProbeScope};
use kb_core::ids::{NodeId, RecordId, Revision};
use kb_core::record::Record;

use super::MAX_FINDINGS;
use super::check::{ENVIRONMENT, RuleError, compile};
use super::evidence::Evidence;
use super::facts::{Facts, Subject};
use super::reads::Reads;
use crate::domain::baseline::Like;
use crate::domain::policy::names::by_all_names;
use crate::domain::policy::{Site, Stages, site_of, version};
use crate::domain::work_time::WorkTime;
use crate::feed::Generation;
use crate::store::{Gravity, NewFinding, ReportStore, StoreError};

/// Rule of the finding that tells of rules that were not asked.
const NOT_ASKED: &str = "rules-not-asked";

/// Applies records to reports. One for each process: it keeps compiled rules over generations.
#[derive(Debug, Default)]
pub struct Correlator {
    current: Mutex<Option<Arc<RuleBook>>>,
    failed: AtomicU64,
    stages: Arc<Stages>,
    /// Version of the records of a generation.
    version: Mutex<Option<(u64, String)>>,
    /// What other nodes measured, which each run is held against.
    pub(in crate::domain) like: Like,
}

#[derive(Debug)]
pub(super) struct RuleBook {
    pub(super) generation: u64,
    rules: Vec<Rule>,
    programs: HashMap<(ProbeScope, String), Arc<Program>>,
    /// What the rules read of a report.
    pub(super) reads: Reads,
}

#[derive(Debug)]
struct Rule {
    record: RecordId,
    revision: Revision,
    id: String,
    /// Of the record: for findings about which the report has no words of its own.
    signature: String,
    scope: ProbeScope,
    when: Arc<Program>,
    evidence: Vec<(String, Arc<Program>)>,
}

#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) findings: Vec<NewFinding>,
    /// Evaluations that ended in an error: these rules did not apply.
    pub(super) failed: u64,
}

impl Outcome {
    pub(super) fn of_a_fault() -> Self {
        let title = "No rule was asked: the program failed while it asked them";
        Self {
            findings: vec![not_asked(title.to_owned(), Evidence::new())],
            failed: 1,
        }
    }
}

impl Correlator {
    pub fn new() -> Self {
        Self::default()
    }

    /// One that judges by these policies.
    pub fn by(stages: Arc<Stages>) -> Self {
        Self {
            stages,
            ..Self::default()
        }
    }

    pub fn stages(&self) -> &Arc<Stages> {
        &self.stages
    }

    /// The version of what decides in the records of a generation.
    pub fn records_version(&self, generation: &Generation) -> String {
        let mut known = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref() {
            Some((number, version)) if *number == generation.number => version.clone(),
            _ => {
                let records = generation.records().map(|published| &published.record);
                let version = version::of_records(records);
                *known = Some((generation.number, version.clone()));
                version
            }
        }
    }

    /// The versions by which nodes are judged: by the current policy, and by the candidate.
    pub fn rule_sets(&self, generation: &Generation) -> [String; 2] {
        let records = self.records_version(generation);
        let candidate = self.stages.candidate.as_ref();
        let candidate = candidate.map_or(&self.stages.current, |(policy, _)| policy);
        [&self.stages.current, candidate].map(|policy| version::of(&records, policy))
    }

    /// What a node is judged by.
    pub async fn site(
        &self,
        store: &dyn ReportStore,
        generation: &Generation,
        node: &NodeId,
    ) -> Result<Site, StoreError> {
        let site = site_of(store, &self.stages, &self.records_version(generation), node).await?;
        Ok(Site {
            policy: by_all_names(site.policy, generation),
            ..site
        })
    }

    /// Evaluations that ended in an error since the start, mostly of rules that ask for what a report lacks.
    pub fn failed_evaluations(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self, outcome: &Outcome) {
        self.failed.fetch_add(outcome.failed, Ordering::Relaxed);
    }

    pub(super) fn rules_of(&self, generation: &Generation) -> Arc<RuleBook> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(book) = current
            .as_ref()
            .filter(|book| book.generation == generation.number)
        {
            return Arc::clone(book);
        }
        let known = current.as_ref().map(|book| &book.programs);
        let records = generation
            .records()
            .map(|published| (&published.record, published.revision));
        let book = Arc::new(RuleBook::compile(generation.number, records, known));
        *current = Some(Arc::clone(&book));
        book
    }
}

impl RuleBook {
    pub(super) fn compile<'r>(
        generation: u64,
        records: impl Iterator<Item = (&'r Record, Revision)>,
        known: Option<&HashMap<(ProbeScope, String), Arc<Program>>>,
    ) -> Self {
        let mut book = Self {
            generation,
            rules: Vec::new(),
            programs: HashMap::new(),
            reads: Reads::of_subjects(),
        };
        for (record, revision) in records {
            for rule in &record.annex.probe {
                let mut program = |text: &str| {
                    let key = (rule.scope, text.to_owned());
                    let ready = known
                        .and_then(|known| known.get(&key))
                        .or_else(|| book.programs.get(&key));
                    let program = match ready {
                        Some(program) => Arc::clone(program),
                        None => Arc::new(compile(rule.scope, text)?),
                    };
                    book.programs.insert(key, Arc::clone(&program));
                    Ok::<_, RuleError>(program)
                };
                let evidence = rule
                    .evidence
                    .iter()
                    .map(|text| Ok((text.clone(), program(text)?)));
                let evidence: Result<Vec<_>, RuleError> = evidence.collect();
                match (program(&rule.when), evidence) {
                    (Ok(when), Ok(evidence)) => book.add(Rule {
                        record: record.id().clone(),
                        revision,
                        id: rule.id.clone(),
                        signature: record.document.signature.clone(),
                        scope: rule.scope,
                        when,
                        evidence,
                    }),
                    (Err(error), _) | (_, Err(error)) => tracing::warn!(
                        record = %record.id(),
                        %revision,
                        rule = %rule.id,
                        %error,
                        "a rule is not used: publish a corrected revision",
                    ),
                }
            }
        }
        book
    }

    /// The rules of one text that is in no record yet.
    pub(super) fn of_one(rule: &ProbeRule, of: RecordId) -> Result<Self, Vec<(String, RuleError)>> {
        let mut errors = Vec::new();
        let mut program = |place: String, text: &str| {
            let compiled = compile(rule.scope, text).map(Arc::new);
            compiled.map_err(|error| errors.push((place, error))).ok()
        };
        let when = program("/when".to_owned(), &rule.when);
        let evidence: Vec<Option<(String, Arc<Program>)>> = rule
            .evidence
            .iter()
            .enumerate()
            .map(|(at, text)| Some((text.clone(), program(format!("/evidence/{at}"), text)?)))
            .collect();
        let (Some(when), true) = (when, errors.is_empty()) else {
            return Err(errors);
        };
        let mut book = Self {
            generation: 0,
            rules: Vec::new(),
            programs: HashMap::new(),
            reads: Reads::of_subjects(),
        };
        book.add(Rule {
            record: of,
            revision: Revision(1),
            id: rule.id.clone(),
            signature: rule.id.clone(),
            scope: rule.scope,
            when,
            evidence: evidence.into_iter().flatten().collect(),
        });
        Ok(book)
    }

    fn add(&mut self, rule: Rule) {
        let programs = rule.evidence.iter().map(|(_, program)| program);
        for program in programs.chain([&rule.when]) {
            self.reads.add(rule.scope, program.expression());
        }
        self.rules.push(rule);
    }

    /// Asks every rule about all it can, up to [`MAX_FINDINGS`] or the report's time limit, which is then told as a finding.
    pub(super) fn apply(&self, facts: &Facts<'_>, limit: Duration) -> Outcome {
        let mut outcome = Outcome::default();
        let time = WorkTime::start(limit);
        for scope in [
            ProbeScope::Report,
            ProbeScope::Pair,
            ProbeScope::Gpu,
            ProbeScope::Direction,
        ] {
            if !self.rules.iter().any(|rule| rule.scope == scope) {
                continue;
            }
            for subject in facts.subjects(scope) {
                let variables = facts.variables(subject);
                let mut context = Context::with_env(Arc::clone(&ENVIRONMENT));
                context.set_variable_resolver(&variables);
                for rule in self.rules.iter().filter(|rule| rule.scope == scope) {
                    if outcome.findings.len() >= MAX_FINDINGS {
                        let title =
                            format!("Not all rules were asked: {MAX_FINDINGS} findings are kept of a report");
                        outcome.findings.insert(0, not_asked(title, Evidence::new()));
                        return outcome;
                    }
                    if time.check().is_err() {
                        outcome.findings.push(rule.not_asked(subject, limit));
                        return outcome;
                    }
                    match evaluate(&rule.when, &context) {
                        Ok(Cel::Bool(true)) => outcome.findings.push(rule.finding(subject, &context)),
                        Ok(Cel::Bool(false)) => {}
                        Ok(_) | Err(_) => outcome.failed += 1,
                    }
                }
            }
        }
        outcome
    }
}

/// Says that rules were left out: what they would have found is not known.
fn not_asked(title: String, evidence: Evidence) -> NewFinding {
    NewFinding {
        record: None,
        rule: NOT_ASKED.to_owned(),
        subject: "report".to_owned(),
        title,
        evidence: evidence.into_json(),
        gravity: Gravity::default(),
        by_policy: None,
    }
}

impl Rule {
    /// Nobody knows whether this rule applies, nor those behind it.
    fn not_asked(&self, subject: &Subject, limit: Duration) -> NewFinding {
        let mut evidence = Evidence::new();
        evidence.pointer(&subject.pointer, &serde_json::Value::String(subject.name.clone()));
        let title = format!(
            "Not all rules were asked: their {} s of processor time for a report were spent at rule {} of {}, about {}",
            limit.as_secs_f64(),
            self.id,
            self.record,
            subject.name
        );
        not_asked(title, evidence)
    }

    fn finding(&self, subject: &Subject, context: &Context<'_, '_>) -> NewFinding {
        let mut evidence = Evidence::new();
        evidence.pointer(&subject.pointer, &serde_json::Value::String(subject.name.clone()));
        for (text, program) in &self.evidence {
            match evaluate(program, context) {
                Ok(value) => evidence.expression(text, &value),
                Err(reason) => evidence.failed(text, &reason),
            }
        }
        NewFinding {
            record: Some((self.record.clone(), self.revision)),
            rule: self.id.clone(),
            subject: subject.name.clone(),
            title: subject.said.as_ref().unwrap_or(&self.signature).clone(),
            evidence: evidence.into_json(),
            gravity: Gravity::default(),
            by_policy: None,
        }
    }
}

/// Runs a program. A panic of the evaluator counts as an error of the rule.
fn evaluate(program: &Program, context: &Context<'_, '_>) -> Result<Cel, String> {
    match catch_unwind(AssertUnwindSafe(|| program.execute(context))) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the evaluation failed".to_owned()),
    }
}
