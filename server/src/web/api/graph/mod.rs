//! The graph: all of it, and ways between two records. What lies around one record is asked of the record.

pub mod path;
pub mod whole;

use kb_core::transition::EdgeKind;

use crate::feed::GraphError;
use crate::web::error::{Code, Problem};

pub(in crate::web) fn kinds(text: Option<&str>) -> Result<Vec<EdgeKind>, Problem> {
    let words = text.unwrap_or_default().split(',').map(str::trim);
    let words: Vec<&str> = words.filter(|_| text.is_some()).collect();
    if words.iter().any(|word| word.is_empty()) {
        let known = EdgeKind::ALL.map(EdgeKind::as_str).join(", ");
        let detail =
            format!("kinds is empty or has an empty word: leave it out for all, or name some of {known}");
        return Err(Problem::new(Code::BadQuery, detail));
    }
    words
        .into_iter()
        .map(|word| {
            word.parse::<EdgeKind>().map_err(|error| {
                let detail = format!("{error}, separated by commas; {word:?} is none");
                Problem::new(Code::BadQuery, detail)
            })
        })
        .collect()
}

impl From<GraphError> for Problem {
    fn from(error: GraphError) -> Self {
        let code = match error {
            GraphError::NoRecord(_) => Code::NotFound,
            GraphError::Depth(_) => Code::BadQuery,
        };
        Self::new(code, error.to_string())
    }
}
