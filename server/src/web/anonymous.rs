//! What is written without a login, as far as HTTP is concerned: whose address it is counted for, and how refusals look.

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderValue};
use time::OffsetDateTime;

use super::error::{Code, Problem};
use super::state::AppState;
use crate::domain::anonymous::{self, AnonymousError};
use crate::store::{AnonymousKept, AnonymousKind, NewAnonymous};

/// An entry of whoever sent the request, for the store to keep.
pub fn entry(
    state: &AppState,
    request: &HttpRequest,
    about: (AnonymousKind, &str),
    body: String,
    now: OffsetDateTime,
) -> Result<NewAnonymous, Problem> {
    let client = state.limiter.client(request.peer_addr(), request.headers());
    let is_allowed = state.settings.anonymous_writing;
    anonymous::entry(is_allowed, about, body, client, now).map_err(|error| problem(error, now))
}

/// The number of the entry that was kept, counted in the metrics.
pub fn kept(state: &AppState, kept: AnonymousKept, now: OffsetDateTime) -> Result<i64, Problem> {
    match kept {
        AnonymousKept::Kept {
            n,
            bytes_in_all,
            pushed_out,
        } => {
            state.metrics.count("anonymous_kept_total", 1);
            state.metrics.count("anonymous_pushed_out_total", pushed_out);
            #[expect(
                clippy::cast_precision_loss,
                reason = "the room is far smaller than 2^53 bytes"
            )]
            state.metrics.gauge("anonymous_bytes", bytes_in_all as f64);
            Ok(n)
        }
        AnonymousKept::TooManyToday => {
            state.metrics.count("anonymous_refused_total", 1);
            Err(problem(AnonymousError::TooManyToday, now))
        }
    }
}

fn problem(error: AnonymousError, now: OffsetDateTime) -> Problem {
    let code = match error {
        AnonymousError::Off => Code::Unauthorized,
        AnonymousError::TooLarge => Code::TooLarge,
        AnonymousError::TooManyToday => Code::RateLimited,
    };
    let problem = Problem::new(code, error.to_string());
    if error == AnonymousError::TooManyToday {
        let seconds = anonymous::until_tomorrow(now).whole_seconds() + 1;
        return problem.with_header(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    problem
}
