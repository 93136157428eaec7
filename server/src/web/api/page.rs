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

/// A cursor that is a number of this server's: an entry, or a change. They are counted from 1.
pub(super) fn counted(cursor: &str) -> Result<i64, Problem> {
    let number = cursor.parse::<i64>().ok();
    let number = number.filter(|number| *number >= 1 && number.to_string() == cursor);
    number.ok_or_else(bad_cursor)
}

pub(super) fn bad_cursor() -> Problem {
    Problem::new(
        Code::BadQuery,
        "cursor must be what next_cursor of the page before said",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_nothing_is_no_cursor() {
        assert_eq!(counted("17").ok(), Some(17));
        for cursor in ["", "0", "-1", "+1", "01", "x", "99999999999999999999"] {
            let told = counted(cursor).unwrap_err();
            assert_eq!(told.code(), Code::BadQuery, "{cursor}");
        }
    }
}
