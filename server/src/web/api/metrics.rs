//! `GET /metrics`, for Prometheus.

use actix_web::{HttpResponse, web};

use crate::domain::fleet::{self, Gauges};
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
    tell_fleet(&state).await;
    HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(state.metrics.render())
}

/// Nodes by verdict and by what to do first. Where the database does not tell, every gauge is NaN: the last count is none.
async fn tell_fleet(state: &AppState) {
    let before = fleet::silent_before(state.clock.now(), fleet::SILENT_HOURS);
    let counted = fleet::gauges(state.store.as_ref(), before).await;
    if let Err(error) = &counted {
        tracing::warn!(%error, "nodes cannot be counted for the metrics");
    }
    state
        .metrics
        .gauge("fleet_counted", f64::from(u8::from(counted.is_ok())));
    let counted = counted.unwrap_or_else(|_| Gauges::unknown());
    for (verdict, nodes) in counted.verdicts {
        state
            .metrics
            .gauge_of("fleet_nodes", ("verdict", verdict.word()), nodes);
    }
    for (action, nodes) in counted.actions {
        state
            .metrics
            .gauge_of("fleet_nodes_by_action", ("action", action), nodes);
    }
    state.metrics.gauge("fleet_silent_nodes", counted.silent);
}
