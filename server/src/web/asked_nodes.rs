//! Which nodes an address asks for, held against what there is: the same for the interface and the page.

use actix_web::HttpRequest;

use super::compute::{ALL_RECORDS, Desk};
use super::error::{Code, Problem};
use super::state::AppState;
use crate::domain::fleet_filter::Asked;
use crate::domain::{fleet_names, records};

/// Reads the parameters. A label or a record that there is not is refused: the answer would be that no node has it.
pub(super) async fn read(
    request: &HttpRequest,
    state: &AppState,
    pairs: &[(String, String)],
) -> Result<Asked, Problem> {
    check_page(state, pairs).await?;
    let mut asked = Asked::read(pairs, state.clock.now())?;
    asked.check_labels(state.store.as_ref()).await??;
    if let Some(record) = &asked.filter.record {
        let generation = state.knowledge.current();
        let Some(now) = fleet_names::record_now(state.store.as_ref(), &generation, record).await? else {
            let name = record.to_string();
            let work = move || records::missing(&generation, &name);
            let missing = Desk::of(request).compute(ALL_RECORDS, work).await?;
            return Err(Problem::new(Code::BadQuery, format!("record: {missing}")));
        };
        asked.filter.record = Some(now);
    }
    Ok(asked)
}

/// Refuses a place in the list that is given twice, or that this server cannot have given out: one behind a node that there is not.
async fn check_page(state: &AppState, pairs: &[(String, String)]) -> Result<(), Problem> {
    for once in ["cursor", "limit"] {
        if pairs.iter().filter(|(name, _)| name == once).count() > 1 {
            let detail = format!("{once}: is given twice, give it once");
            return Err(Problem::new(Code::BadQuery, detail));
        }
    }
    let cursor = pairs.iter().find(|(name, _)| name == "cursor");
    // What is no id at all is refused where the order is known.
    let Some(node) = cursor.and_then(|(_, cursor)| Asked::node_of(cursor)) else {
        return Ok(());
    };
    if state.store.node(&node).await?.is_some() {
        return Ok(());
    }
    let detail = format!("cursor: there is no node {node}; begin again without a cursor");
    Err(Problem::new(Code::BadQuery, detail))
}
