//! `POST /api/v1/workbench`: what a pattern, a draft or a rule would take, asked before anything is saved.

use std::collections::BTreeMap;
use std::time::Duration;

use actix_web::http::header::ContentType;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::annex::{ProbeRule, ProbeScope};
use kb_core::record::Record;
use kb_core::signature::PatternSpec;
use serde::Deserialize;
use utoipa::ToSchema;

use super::match_draft::UnsavedDraft;
use crate::domain::curate::{CurateError, check_texts};
use crate::domain::workbench::{Answer, Question, Subject, fetch, preview_rule};
use crate::web::auth::Editor;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::held::held;
use crate::web::state::AppState;
use crate::web::{body, limits};

/// How long kept reports are read for one question.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is asked of the workbench. At least one of `lines`, `pattern`, `record` and `rule` must be there.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "lines": ["NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, GPU has fallen off the bus."],
    "propose": true,
}))]
pub struct WorkbenchRequest {
    /// Pasted lines, at most 500 and 64 KiB together.
    #[serde(default)]
    #[schema(max_items = 500)]
    lines: Vec<String>,
    /// Make a pattern for the lines. It is tried where neither `pattern` nor `record` is there.
    #[serde(default)]
    propose: bool,
    /// A pattern to try, in Rust regex syntax.
    #[serde(default)]
    #[schema(example = "GPU has fallen off the bus")]
    pattern: Option<String>,
    /// Any of `i`, `m`, `s`, `x`, for `pattern`.
    #[serde(default)]
    #[schema(example = "i")]
    flags: Option<String>,
    /// A draft to try in place of a pattern.
    #[serde(default)]
    record: Option<UnsavedDraft>,
    /// A rule to ask of kept reports, newest first.
    #[serde(default)]
    rule: Option<RuleToTry>,
}

/// A CEL rule, as an annex has it under `probe`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"scope": "report", "when": "report.conclusion.verdict == 'refused'"}))]
pub struct RuleToTry {
    /// What it is asked about: `report`, `pair`, `gpu` or `direction`.
    #[schema(value_type = String, pattern = "^(report|pair|gpu|direction)$")]
    scope: ProbeScope,
    /// CEL that is true where the record applies.
    when: String,
    /// CEL whose values are shown with what is found.
    #[serde(default)]
    #[schema(max_items = 64)]
    evidence: Vec<String>,
}

/// Proposes and tries patterns. Nothing is stored.
#[utoipa::path(
    post, path = "/api/v1/workbench", operation_id = "try_pattern", tag = "records", security(("token" = ["edit"])),
    request_body(content = WorkbenchRequest, description = "To 1 MiB"),
    responses(
        (status = 200, description = "What it takes, and how far was looked", body = Answer),
        (status = 400, description = "Nothing is asked, or not clearly", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 422, description = "The draft cannot be read, see `violations`", body = ProblemBody),
    ),
)]
pub async fn post(
    _: Editor,
    request: HttpRequest,
    payload: Payload,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let asked: WorkbenchRequest = body::json(&request, payload, limits::WORKBENCH_BYTES).await?;
    let answer = asked.answer(&state, &Desk::of(&request), PATIENCE).await?;
    let text = serde_json::to_vec(&answer).map_err(|error| Problem::internal(&error))?;
    let mut response = HttpResponse::Ok();
    response.content_type(ContentType::json());
    held(response, text, &state.answers)
}

impl WorkbenchRequest {
    pub(in crate::web) fn of_form(lines: Vec<String>, pattern: Option<String>) -> Self {
        Self {
            lines,
            propose: true,
            pattern,
            ..Self::default()
        }
    }

    pub(in crate::web) async fn answer(
        self,
        state: &AppState,
        desk: &Desk,
        patience: Duration,
    ) -> Result<Answer, Problem> {
        self.check()?;
        let rule = self.rule.map(RuleToTry::into_rule);
        let mut warnings = Vec::new();
        let subject = match (self.pattern, self.record) {
            (Some(regex), _) => Some(Subject::Pattern(PatternSpec {
                id: "tried".to_owned(),
                regex,
                flags: self.flags.unwrap_or_default(),
                captures: Vec::new(),
            })),
            (None, Some(draft)) => {
                let (document, annex) = draft.texts();
                let record = Record::parse(&document, &annex).map_err(CurateError::Invalid)?;
                warnings = check_texts(record.id(), &document, &annex).unwrap_or_else(|found| found);
                Some(Subject::Record(Box::new(record)))
            }
            (None, None) => None,
        };
        let question = Question {
            lines: each_line(&self.lines),
            subject,
            propose: self.propose,
        };
        let (generation, workbench) = (state.knowledge.current(), state.workbench.clone());
        let gathered = if question.subject.is_some() || question.propose {
            workbench.gather(patience).await?
        } else {
            Vec::new()
        };
        let work = move || workbench.answer(question, &generation, &gathered, limits::WORK_TIME);
        let mut answer = desk.compute(ALL_RECORDS, work).await?;
        answer.findings.splice(0..0, warnings);
        if let Some(rule) = rule {
            let reports = fetch(state.store.as_ref(), patience).await?;
            let work = move || preview_rule(&rule, &reports, limits::WORK_TIME);
            answer.rule = Some(desk.go_on(ALL_RECORDS, work).await?);
        }
        Ok(answer)
    }

    fn check(&self) -> Result<(), Problem> {
        let refuse = |detail: &str| Err(Problem::new(Code::MalformedBody, detail));
        if self.pattern.is_some() && self.record.is_some() {
            return refuse("send a pattern or a record, not both");
        }
        if self.flags.is_some() && self.pattern.is_none() {
            return refuse("flags are those of a pattern, and there is none");
        }
        if self.lines.is_empty() && self.pattern.is_none() && self.record.is_none() && self.rule.is_none() {
            return refuse("nothing is asked: send lines, a pattern, a record or a rule");
        }
        let bytes: usize = self.lines.iter().map(String::len).sum();
        let lines: usize = self.lines.iter().map(|text| text.lines().count()).sum();
        if lines > limits::WORKBENCH_LINES || bytes > limits::WORKBENCH_LINE_BYTES {
            let detail = format!(
                "at most {} lines of {} bytes together",
                limits::WORKBENCH_LINES,
                limits::WORKBENCH_LINE_BYTES
            );
            return Err(Problem::new(Code::TooLarge, detail));
        }
        Ok(())
    }
}

/// What was pasted may have several lines in one text.
fn each_line(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .flat_map(|text| text.lines())
        .map(str::to_owned)
        .collect()
}

impl RuleToTry {
    fn into_rule(self) -> ProbeRule {
        ProbeRule {
            id: "tried".to_owned(),
            scope: self.scope,
            when: self.when,
            evidence: self.evidence,
            extra: BTreeMap::new(),
        }
    }
}
