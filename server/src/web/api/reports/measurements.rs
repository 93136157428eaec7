//! `GET /api/v1/nodes/{id}/measurements`: what a report measured, beside figures of the same kind.

use actix_web::{HttpResponse, web};
use kb_core::baseline::{Cohort, Compared, LinkClass, Outlier, Reviewed, Standing, Unplaced, nominal};
use kb_core::ids::{NodeId, ReportId};
use kb_core::report::{GpuIndex, Report};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ReportEntry;
use crate::domain::baseline::{self, Review};
use crate::domain::reports::{self, ReportView};
use crate::web::auth::FleetReader;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// Which report.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MeasurementsQuery {
    /// A report of the node; unless said, its newest one that measured something.
    report: Option<String>,
}

/// What a report measured, beside figures of the same kind. Nothing of it is a verdict.
#[derive(Debug, Serialize, ToSchema)]
pub struct Measurements {
    /// The report.
    report: ReportEntry,
    /// Whom it is held against; null where there is nobody.
    cohort: Option<Cohort>,
    /// Why there is nobody.
    no_cohort: Option<Unplaced>,
    /// Other nodes of the cohort that measured something.
    peers: u32,
    /// What is apart from its like: the node, GPUs, pairs, each of them once.
    outliers: Vec<Outlier>,
    /// Every figure, in the report's order.
    figures: Vec<FigureEntry>,
}

/// A figure and what it was held against.
#[derive(Debug, Serialize, ToSchema)]
pub struct FigureEntry {
    /// Position in the report's measurements.
    measurement: usize,
    /// What was done, by what engine, issued from which end, with peer access or staged.
    #[schema(example = "d2d_bandwidth.ce.push.p2p")]
    test: String,
    /// Size of one transfer in bytes.
    bytes: u64,
    /// `GB/s`, `us` or `ns`.
    unit: String,
    /// What the bytes go over.
    link: LinkClass,
    /// Where the bytes come from; null for host memory and for all other GPUs.
    source: Option<GpuIndex>,
    /// Where they go.
    destination: Option<GpuIndex>,
    /// Median of the samples.
    value: f64,
    /// What the link carries one way by its specification, in GB/s; null where that is not known or does not apply.
    nominal: Option<f64>,
    /// A GPU of it was used by somebody else during the run.
    disturbed: bool,
    /// What it comes to.
    standing: Standing,
    /// Beside the node's other figures of its kind.
    in_node: Compared,
    /// Beside other nodes of the cohort.
    peers: Compared,
    /// Beside the node's last good run before this report.
    own: Compared,
    /// Beside published figures.
    reference: Compared,
}

fn figure(reviewed: &Reviewed, report: &Report) -> FigureEntry {
    let (figure, series) = (&reviewed.figure, &reviewed.figure.series);
    FigureEntry {
        measurement: figure.measurement,
        test: series.test.clone(),
        bytes: series.bytes,
        unit: series.unit.clone(),
        link: series.link.clone(),
        source: figure.source,
        destination: figure.destination,
        value: figure.value,
        nominal: nominal_of(reviewed, report),
        disturbed: figure.disturbed,
        standing: reviewed.standing(),
        in_node: reviewed.in_node,
        peers: reviewed.peers,
        own: reviewed.own,
        reference: reviewed.reference,
    }
}

/// One way between two GPUs with peer access, or between a GPU and the host.
fn nominal_of(reviewed: &Reviewed, report: &Report) -> Option<f64> {
    let (figure, series) = (&reviewed.figure, &reviewed.figure.series);
    let of_host = series.test.starts_with("h2d") || series.test.starts_with("d2h");
    let found = match (figure.source, figure.destination) {
        _ if !series.higher_is_better() => None,
        (Some(from), Some(to)) if from != to && series.test.rsplit('.').next() == Some("p2p") => {
            nominal(report, from, Some(to))
        }
        (Some(gpu), None) | (None, Some(gpu)) if of_host => nominal(report, gpu, None),
        _ => None,
    };
    found.map(|nominal| nominal.gb_s)
}

fn body(view: &ReportView, review: Review) -> Measurements {
    let figures = review.figures.iter();
    Measurements {
        report: (&view.listing).into(),
        no_cohort: review.cohort.as_ref().err().copied(),
        cohort: review.cohort.clone().ok(),
        peers: review.peers,
        figures: figures.map(|reviewed| figure(reviewed, &view.report)).collect(),
        outliers: review.outliers,
    }
}

/// What a node measured last, beside other nodes, its own last good run and published figures.
#[utoipa::path(
    get, path = "/api/v1/nodes/{id}/measurements", operation_id = "get_measurements", tag = "reports",
    security(("token" = ["fleet"])), params(("id" = String, Path), MeasurementsQuery),
    responses(
        (status = 200, description = "What it measured", body = Measurements),
        (status = 404, description = "No such node or report, or none that measured something", body = ProblemBody),
    ),
)]
pub async fn get(
    _: FleetReader,
    path: web::Path<String>,
    query: web::Query<MeasurementsQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let node: NodeId = path.parse()?;
    let store = state.store.as_ref();
    let found = match &query.report {
        Some(id) => {
            let id: ReportId = id.parse()?;
            let view = reports::read(store, Some(&node), &id).await?;
            let view = view.ok_or_else(|| {
                Problem::new(Code::NotFound, format!("there is no report {id} of node {node}"))
            })?;
            let review = baseline::review(store, &view.listing, &view.report).await?;
            Some((view, review))
        }
        None => baseline::latest(store, &node).await?,
    };
    let (view, review) = found.ok_or_else(|| {
        Problem::new(
            Code::NotFound,
            format!("no report of a node {node} that measured something has come"),
        )
    })?;
    Ok(HttpResponse::Ok().json(body(&view, review)))
}
