//! Pages of a list: how many entries, and a cursor that only this server reads.

use crate::web::error::{Code, Problem};
use crate::web::limits::{PAGE_DEFAULT, PAGE_MAX};

pub(super) fn size(limit: Option<u32>) -> Result<u32, Problem> {
    match limit {
        None => Ok(PAGE_DEFAULT),
        Some(limit) if (1..=PAGE_MAX).contains(&limit) => Ok(limit),
        Some(limit) => Err(Problem::new(
            Code::BadQuery,
            format!("limit is 1 to {PAGE_MAX}, {limit} was asked for"),
        )),
    }
}

pub(super) fn bad_cursor() -> Problem {
    Problem::new(
        Code::BadQuery,
        "cursor must be what next_cursor of the page before said",
    )
}
