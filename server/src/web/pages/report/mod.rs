//! `/reports/{id}`: one run of the agent. The verdict stands first, then what explains it, then what was seen.

mod absent;
mod checks;
mod compared;
mod facts;
mod matrix;
mod nccl;
mod times;
mod titles;
mod view;

use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::{NodeId, ReportId};
use serde::Deserialize;

pub use absent::AbsentView;
pub use checks::PairView;
pub use compared::{ComparedView, OutlierView};
pub use facts::{ExcerptView, FactView, FailureView, GapView, GpuView};
pub use matrix::{Matrix, MeasurementView};
pub use nccl::NcclView;
pub use times::TimesView;
pub use view::{FindingView, Source, page};

use super::layout::{Layout, Section};
use super::{filters, html_not_shared};
use crate::domain::{baseline, reports};
use crate::render::i18n::report::Words;
use crate::render::words::Mark;
use crate::web::error::{Code, Problem};
use crate::web::pages::locale;
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/report.html")]
pub struct ReportPage {
    pub(super) layout: Layout,
    pub(super) words: &'static Words,
    pub(super) heading: String,
    pub(super) node: String,
    pub(super) node_href: String,
    pub(super) verdict: Mark,
    pub(super) reason: String,
    pub(super) simulated: bool,
    pub(super) facts: Vec<String>,
    pub(super) json_href: String,
    pub(super) failures: Vec<FailureView>,
    pub(super) absent: Vec<AbsentView>,
    pub(super) notes: Vec<FailureView>,
    pub(super) findings: Vec<FindingView>,
    pub(super) no_findings: &'static str,
    pub(super) matrix: Option<Matrix>,
    pub(super) nccl: Option<NcclView>,
    pub(super) compared: Option<ComparedView>,
    pub(super) case_href: String,
    pub(super) case_file: &'static str,
    pub(super) measurements: Vec<MeasurementView>,
    pub(super) times: Option<TimesView>,
    pub(super) pairs: Vec<PairView>,
    pub(super) gpus: Vec<GpuView>,
    pub(super) gaps: Vec<GapView>,
    pub(super) host: Vec<FactView>,
    pub(super) logs: Vec<ExcerptView>,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct Params {
    /// The node, where several used the id.
    pub node: Option<String>,
}

pub async fn get(
    request: HttpRequest,
    id: Path<String>,
    params: Query<Params>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id: ReportId = id.parse()?;
    let node: Option<NodeId> = params.node.as_deref().map(str::parse).transpose()?;
    let read = reports::read(state.store.as_ref(), node.as_ref(), &id).await?;
    let view = read.ok_or_else(|| Problem::new(Code::NotFound, format!("there is no report {id}")))?;
    let review = baseline::review(state.store.as_ref(), &view.listing, &view.report).await?;
    let generation = state.knowledge.current();
    html_not_shared(&page(Source {
        review: &review,
        generation: &generation,
        listing: &view.listing,
        report: &view.report,
        findings: &view.findings,
        locale: locale::of(&request),
    }))
}
