//! `GET /api/v1/fleet/facets`: what sets affected nodes apart from others.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::domain::facets::{Affected, Association};
use crate::web::api::records::get::rfc3339;
use crate::web::auth::FleetReader;
use crate::web::compute::Desk;
use crate::web::error::{Problem, ProblemBody};
use crate::web::state::AppState;

/// Which nodes to look at.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FacetsParams {
    /// Simulated nodes in place of real ones: the two are never looked at together.
    #[serde(default)]
    simulated: bool,
}

/// What sets affected nodes apart. An association is no cause, and starts no action.
#[derive(Debug, Serialize, ToSchema)]
pub struct FacetsBody {
    /// When this was computed, RFC 3339: at most ten minutes ago. After five the next answer is computed, and this one is given meanwhile.
    computed_at: String,
    /// Nodes that were looked at.
    nodes: u32,
    /// There are more nodes than were looked at (20,000).
    are_more: bool,
    /// Nodes without the label `rack`. Nothing is told of a facet whose affected nodes are not of two racks.
    without_rack: u32,
    /// Pairs of facet and affliction that were tried. `chance` is corrected for so many tries (Bonferroni).
    tries: u32,
    /// The least likely by chance first; a hundred at most.
    facets: Vec<FacetEntry>,
}

/// A facet that affected nodes have far more often than others of their model.
#[derive(Debug, Serialize, ToSchema)]
pub struct FacetEntry {
    /// A version or a setting: `driver.version`, `bios.version`, `acs.redirects`, …
    #[schema(example = "driver.branch")]
    facet: String,
    /// Its value.
    #[schema(example = "590")]
    value: String,
    /// What the facet is of: `driver`, `host`, `gpu`, `link` or `fabric`. It says where to look, not what is at fault.
    #[schema(example = "driver")]
    part: &'static str,
    /// `finding`: one is open. `slower`: slower in a test than other nodes of the model.
    #[schema(example = "slower")]
    kind: &'static str,
    /// Name of the finding, or the series of the test.
    what: String,
    /// Affected nodes with the facet.
    affected_with: u32,
    /// Nodes with the facet.
    with: u32,
    /// Affected nodes of these models without it.
    affected_without: u32,
    /// Nodes of these models without it.
    without: u32,
    /// Racks of affected nodes with the facet, by the label `rack`.
    racks: u32,
    /// How likely as much or more is by chance within racks and models (Fisher's exact test), times the tries; at most 1.
    chance: f64,
}

/// Facets that affected nodes have at least twice as often as others of their model: at least five nodes of two racks, a chance below 1 %
/// after correction for all that was tried.
#[utoipa::path(get, path = "/api/v1/fleet/facets", operation_id = "get_facets", tag = "reports", security(("token" = ["fleet"])),
    params(FacetsParams), responses(
        (status = 200, description = "The facets", body = FacetsBody),
        (status = 400, description = "A parameter is wrong", body = ProblemBody),
    ))]
pub async fn get(
    _: FleetReader,
    request: HttpRequest,
    asked: web::Query<FacetsParams>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let asked = (asked.simulated, state.clock.now());
    let desk = Desk::of(&request);
    let (at, found) = state.facets.get(&desk, state.store.as_ref(), asked).await?;
    Ok(HttpResponse::Ok().json(FacetsBody {
        computed_at: rfc3339(at),
        nodes: found.nodes,
        are_more: found.are_more,
        without_rack: found.without_rack,
        tries: found.tries,
        facets: found.associations.iter().cloned().map(FacetEntry::from).collect(),
    }))
}

impl From<Association> for FacetEntry {
    fn from(one: Association) -> Self {
        let part = one.part().as_str();
        let (kind, what) = match one.affected {
            Affected::Finding(name) => ("finding", name),
            Affected::Slower(series) => ("slower", series),
        };
        Self {
            part,
            facet: one.facet,
            value: one.value,
            kind,
            what,
            affected_with: one.with.0,
            with: one.with.1,
            affected_without: one.without.0,
            without: one.without.1,
            racks: one.racks,
            chance: one.chance,
        }
    }
}
