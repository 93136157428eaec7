//! The wall clock. The only place that asks the system for it; everything else is given one.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Where the time of day comes from.
pub(crate) trait Clock {
    fn now(&self) -> OffsetDateTime;
}

/// A time as the report writes it: RFC 3339, UTC.
pub(crate) fn timestamp(time: OffsetDateTime) -> String {
    // Formatting fails only outside the years 0 to 9999.
    time.format(&Rfc3339).unwrap_or_default()
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
