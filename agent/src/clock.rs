//! The wall clock. The only place that asks the system for it; everything else is given one.

use time::format_description::well_known::{Rfc2822, Rfc3339};
use time::{OffsetDateTime, UtcOffset};

pub(crate) trait Clock {
    fn now(&self) -> OffsetDateTime;
}

/// A time as the report writes it: RFC 3339, UTC.
pub(crate) fn timestamp(time: OffsetDateTime) -> String {
    // Formatting fails only outside the years 0 to 9999.
    time.format(&Rfc3339).unwrap_or_default()
}

/// A time as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn http_date(time: OffsetDateTime) -> String {
    let time = time.to_offset(UtcOffset::UTC);
    // Formatting fails only outside the years 1900 to 9999.
    let text = time.format(&Rfc2822).unwrap_or_default();
    text.replace("+0000", "GMT")
}

/// Seconds since the boot, those asleep included. Nobody sets this clock.
pub(crate) fn seconds_since_boot() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::Boottime).tv_sec
}

pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that is passed in elsewhere"
    )]
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_time_of_http_is_in_gmt() {
        let time = datetime!(1994-11-06 09:49:37 +1);
        assert_eq!(http_date(time), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
