//! Use cases: what a caller wants, without HTTP and without SQL.

pub mod accounts;
pub mod anonymous;
pub mod answer_json;
pub mod baseline;
pub mod case;
pub mod correlate;
pub mod curate;
pub mod enrol;
mod excerpt;
pub mod facets;
pub mod false_alarms;
pub mod feedback;
pub mod fleet;
pub mod fleet_changes;
pub mod fleet_filter;
pub mod fleet_findings;
pub mod fleet_names;
pub mod graph;
pub mod hits;
pub mod ingest;
pub mod join_tokens;
pub mod labels;
pub mod lookup;
pub mod node_events;
pub mod outcomes;
pub mod policy;
pub mod records;
pub mod reports;
pub mod round_trip;
pub mod search;
pub mod shared;
pub mod steps;
pub mod suspects;
pub mod tab;
pub mod tell;
pub mod tokens;
pub mod unmatched;
pub mod whose;
pub mod work_time;
pub mod workbench;

#[cfg(test)]
pub(crate) mod evaluation;
#[cfg(test)]
mod tests;
