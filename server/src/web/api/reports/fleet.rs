//! `GET /api/v1/fleet`: all nodes together.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::domain::fleet::{self, Fleet, SILENT_HOURS, SILENT_HOURS_MAX};
use crate::store::NodeFilter;
use crate::web::api::records::get::rfc3339;
use crate::web::auth::FleetReader;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// How to look at the nodes.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FleetParams {
    /// A node whose latest run ended longer ago than so many hours is silent, whenever its report came; 24 unless said.
    #[param(minimum = 1, maximum = 8760)]
    silent_hours: Option<u32>,
}

/// All nodes together.
#[derive(Debug, Serialize, ToSchema)]
pub struct FleetBody {
    /// Nodes that ever reported.
    nodes: u64,
    /// Their GPUs, by the report that stands; none of a simulated one.
    gpus: u64,
    /// Every verdict, best first.
    verdicts: Vec<VerdictEntry>,
    /// What most nodes show first, ten at most.
    faults: Vec<FaultEntry>,
    /// Who had no run that ended lately.
    silent: SilentEntry,
    /// The nodes longest without a run, five at most, whether silent or not.
    oldest: Vec<HeardEntry>,
}

/// Nodes of one verdict.
#[derive(Debug, Serialize, ToSchema)]
pub struct VerdictEntry {
    /// The verdict that stands, as `latest` of a node has it.
    #[schema(value_type = String, example = "healthy")]
    verdict: kb_core::verdict::Verdict,
    /// Nodes with it.
    nodes: u64,
    /// GPUs of these nodes, but for the simulated.
    gpus: u64,
    /// Those of the nodes where a stand-in took the driver's place.
    simulated: u64,
}

/// What reports of nodes show.
#[derive(Debug, Serialize, ToSchema)]
pub struct FaultEntry {
    /// The record that explains it; null: nothing known does.
    record: Option<String>,
    /// The rule that found it.
    rule: String,
    /// The record's signature, else what one of the reports says.
    title: String,
    /// Nodes that show it, in the report that stands or in their latest; simulated reports do not count.
    nodes: u64,
}

/// Who had no run that ended lately.
#[derive(Debug, Serialize, ToSchema)]
pub struct SilentEntry {
    /// For this many hours.
    hours: u32,
    /// This many nodes.
    nodes: u64,
}

/// When a node last ran.
#[derive(Debug, Serialize, ToSchema)]
pub struct HeardEntry {
    /// The node.
    node: String,
    /// Host name, unless redacted.
    hostname: Option<String>,
    /// End of its latest run, or when the report of it came if the node's clock says later, RFC 3339.
    last_seen: String,
}

/// All nodes counted: by verdict, by what their reports show, by when their latest runs ended.
#[utoipa::path(get, path = "/api/v1/fleet", operation_id = "get_fleet", tag = "reports", security(("token" = ["fleet"])),
    params(FleetParams), responses(
        (status = 200, description = "The nodes, counted", body = FleetBody),
        (status = 400, description = "A parameter is wrong", body = ProblemBody),
    ))]
pub async fn get(
    _: FleetReader,
    params: web::Query<FleetParams>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let hours = params.silent_hours.unwrap_or(SILENT_HOURS);
    if !(1..=SILENT_HOURS_MAX).contains(&hours) {
        let detail = format!("silent_hours must be from 1 to {SILENT_HOURS_MAX}");
        return Err(Problem::new(Code::BadQuery, detail));
    }
    let generation = state.knowledge.current();
    let silent_before = fleet::silent_before(state.clock.now(), hours);
    let counted = fleet::fleet(&*state.store, &generation, NodeFilter::default(), silent_before).await?;
    Ok(HttpResponse::Ok().json(body(counted, hours)))
}

fn body(fleet: Fleet, hours: u32) -> FleetBody {
    let verdicts = fleet.verdicts.iter().map(|count| VerdictEntry {
        verdict: count.verdict,
        nodes: count.nodes,
        gpus: count.gpus,
        simulated: count.simulated,
    });
    let faults = fleet.faults.into_iter().map(|fault| FaultEntry {
        record: fault.record.map(|id| id.to_string()),
        rule: fault.rule,
        title: fault.title,
        nodes: fault.nodes,
    });
    let oldest = fleet.oldest.into_iter().map(|heard| HeardEntry {
        node: heard.id.to_string(),
        hostname: heard.hostname,
        last_seen: rfc3339(heard.at),
    });
    FleetBody {
        nodes: fleet.nodes,
        gpus: fleet.gpus,
        verdicts: verdicts.collect(),
        faults: faults.collect(),
        silent: SilentEntry {
            hours,
            nodes: fleet.silent,
        },
        oldest: oldest.collect(),
    }
}
