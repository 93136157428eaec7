//! Names in a question about nodes that nothing has: an empty list alone would say that no node has the fault.

use kb_core::ids::RecordId;
use kb_core::near;
use time::OffsetDateTime;

use super::fleet_filter::Asked;
use crate::feed::Generation;
use crate::store::{FleetQuery, Known, NodeFilter, RecordState, Store, StoreError};

/// Names that are told where one asked for is none.
const MOST_TOLD: usize = 5;

/// What a name is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Model,
    Driver,
}

/// A name that no node has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    pub of: Named,
    pub name: String,
    /// Names that nodes have: near ones first, then those of the most nodes.
    pub known: Vec<String>,
}

impl Absent {
    /// In a sentence.
    pub fn sentence(&self) -> String {
        let of = match self.of {
            Named::Model => "GPU model",
            Named::Driver => "driver",
        };
        let shown = near::shown(&self.name);
        match self.known.as_slice() {
            [] => format!("no node has the {of} {shown}; no report names one"),
            known => format!("no node has the {of} {shown}; nodes have {}", known.join(", ")),
        }
    }
}

/// The id under which findings of a record stand today: a former id leads to the record's own. `None`: no such record was published.
pub async fn record_now(
    store: &dyn Store,
    generation: &Generation,
    asked: &RecordId,
) -> Result<Option<RecordId>, StoreError> {
    if generation.record(asked).is_some() {
        return Ok(Some(asked.clone()));
    }
    if let Some(now) = generation.alias(asked.as_str()) {
        return Ok(Some(now.clone()));
    }
    // The generation may be a moment behind, and has no withdrawn record.
    if let Some(now) = store.resolve_alias(asked.as_str()).await? {
        return Ok(Some(now));
    }
    let status = store.status(asked).await?;
    let was_published =
        status.is_some_and(|status| status.published.is_some() || status.state == RecordState::Withdrawn);
    Ok(was_published.then(|| asked.clone()))
}

/// Models and drivers that are asked for and that no node has, whatever else is asked.
pub async fn absent(
    store: &dyn Store,
    asked: &Asked,
    now: OffsetDateTime,
) -> Result<Vec<Absent>, StoreError> {
    let filter = &asked.filter;
    let wanted = [
        (Named::Model, name_of(filter.model.as_ref())),
        (Named::Driver, name_of(filter.driver.as_ref())),
    ];
    if wanted.iter().all(|(_, name)| name.is_none()) {
        return Ok(Vec::new());
    }
    let counted = store
        .fleet(&FleetQuery {
            filter: NodeFilter::default(),
            silent_before: now,
            faults: 0,
            oldest: 0,
            labels: 0,
        })
        .await?;
    let absent = wanted.into_iter().filter_map(|(of, name)| {
        let name = name?;
        let counts = match of {
            Named::Model => &counted.models,
            Named::Driver => &counted.drivers,
        };
        let known: Vec<&str> = counts.iter().filter_map(|(name, _)| name.as_deref()).collect();
        (!known.contains(&name)).then(|| Absent {
            of,
            name: name.to_owned(),
            known: nearest_first(name, &known),
        })
    });
    Ok(absent.collect())
}

fn name_of(known: Option<&Known<String>>) -> Option<&str> {
    match known? {
        Known::Is(name) => Some(name),
        Known::Unknown => None,
    }
}

fn nearest_first(wrong: &str, known: &[&str]) -> Vec<String> {
    let mut first = near::all_near(wrong, known.iter().copied());
    let further: Vec<&str> = known
        .iter()
        .copied()
        .filter(|name| !first.contains(name))
        .collect();
    first.extend(further);
    first.truncate(MOST_TOLD);
    first.into_iter().map(str::to_owned).collect()
}
