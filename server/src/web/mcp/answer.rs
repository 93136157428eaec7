//! Answers as tools give them: a text for the model, the whole answer for programs. What goes wrong within a tool is an
//! answer too, marked as an error, so that the model can read what to do; only calls that make no sense are refused by the
//! protocol itself.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

use crate::web::error::Problem;

pub(super) fn result(outcome: Result<CallToolResult, Problem>) -> CallToolResult {
    outcome.unwrap_or_else(|problem| {
        let cause = problem.cause();
        if cause.is_some() {
            tracing::error!(code = problem.code().name(), cause, "tool failed");
        }
        CallToolResult::structured_error(problem.to_json())
    })
}

pub(super) fn json(answer: &impl Serialize) -> Result<CallToolResult, Problem> {
    Ok(CallToolResult::structured(value(answer)?))
}

pub(super) fn with_text(text: String, answer: &impl Serialize) -> Result<CallToolResult, Problem> {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(value(answer)?);
    Ok(result)
}

fn value(answer: &impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(answer).map_err(|error| Problem::internal(&error))
}
