//! `GET /metrics`, for Prometheus.

use actix_web::{HttpResponse, web};

use crate::web::auth::Anyone;
use crate::web::state::AppState;

/// Counters in Prometheus' text form. Labels are route patterns, never paths.
#[utoipa::path(get, path = "/metrics", operation_id = "get_metrics", tag = "operation",
    responses((status = 200, description = "Counters", body = String, content_type = "text/plain")))]
pub async fn metrics(_: Anyone, state: web::Data<AppState>) -> HttpResponse {
    let generation = state.knowledge.current();
    #[expect(
        clippy::cast_precision_loss,
        reason = "a gauge is a float; 2^53 changes are out of reach"
    )]
    for (name, value) in [
        ("knowledge_seq", generation.seq.0 as f64),
        ("knowledge_generation", generation.number as f64),
        ("knowledge_build_seconds", generation.built_in.as_secs_f64()),
        ("knowledge_records", generation.len() as f64),
        ("knowledge_left_out_records", generation.left_out.len() as f64),
        (
            "knowledge_slow_patterns",
            generation.matcher.slow_patterns().len() as f64,
        ),
        ("knowledge_rejected_patterns", generation.rejected.len() as f64),
    ] {
        state.metrics.gauge(name, value);
    }
    HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(state.metrics.render())
}
