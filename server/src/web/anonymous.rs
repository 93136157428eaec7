//! What is written without a login, as far as HTTP is concerned: whose address it is counted for, and how refusals look.

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderValue};

use super::error::{Code, Problem};
use super::state::AppState;
use crate::domain::anonymous::{self, AnonymousError, Nobody};
use crate::store::AnonymousKept;

pub fn nobody(state: &AppState, request: &HttpRequest) -> Nobody {
    Nobody {
        is_allowed: state.settings.anonymous_writing,
        client: state.limiter.client(request.peer_addr(), request.headers()),
    }
}

pub fn count(state: &AppState, kept: AnonymousKept) {
    if let AnonymousKept::Kept {
        bytes_in_all,
        pushed_out,
        ..
    } = kept
    {
        state.metrics.count("anonymous_kept_total", 1);
        state.metrics.count("anonymous_pushed_out_total", pushed_out);
        #[expect(
            clippy::cast_precision_loss,
            reason = "the room is far smaller than 2^53 bytes"
        )]
        state.metrics.gauge("anonymous_bytes", bytes_in_all as f64);
    }
}

/// Why nothing was kept; counted where the address has used up its day.
pub fn refuse(state: &AppState, error: AnonymousError) -> Problem {
    refuse_with(state, error, error.to_string())
}

pub fn refuse_with(state: &AppState, error: AnonymousError, detail: String) -> Problem {
    let code = match error {
        AnonymousError::Off => Code::Unauthorized,
        AnonymousError::TooLarge => Code::TooLarge,
        AnonymousError::TooManyToday => Code::RateLimited,
    };
    let problem = Problem::new(code, detail);
    if error == AnonymousError::TooManyToday {
        state.metrics.count("anonymous_refused_total", 1);
        let seconds = anonymous::until_tomorrow(state.clock.now()).whole_seconds() + 1;
        return problem.with_header(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    problem
}
