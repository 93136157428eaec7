//! Times as the database keeps them: UTC, whole microseconds.
//!
//! SQLite compares times as text, and RFC 3339 with as many digits as needed does not sort ("…00.5Z" comes before
//! "…00Z"), so the text has one width. PostgreSQL keeps microseconds; the same cut on both engines lets a time that
//! went in equal the one that comes out.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, Postgres, Sqlite, Type};
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

const FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp(pub(super) OffsetDateTime);

/// The time in UTC without what is finer than a microsecond.
fn whole_microseconds(time: OffsetDateTime) -> Result<OffsetDateTime, BoxDynError> {
    let utc = in_utc(time)?;
    let cut = utc.microsecond() * 1_000;
    Ok(utc.replace_nanosecond(cut)?)
}

/// The time in UTC, where its year may be one that no calendar here has.
fn in_utc(time: OffsetDateTime) -> Result<OffsetDateTime, BoxDynError> {
    let utc = time.checked_to_offset(UtcOffset::UTC);
    utc.ok_or_else(|| format!("the time {time} lies beyond the years that can be kept").into())
}

impl Type<Sqlite> for Stamp {
    fn type_info() -> <Sqlite as Database>::TypeInfo {
        <String as Type<Sqlite>>::type_info()
    }
}

impl Encode<'_, Sqlite> for Stamp {
    fn encode_by_ref(
        &self,
        buffer: &mut <Sqlite as Database>::ArgumentBuffer,
    ) -> Result<IsNull, BoxDynError> {
        let text = in_utc(self.0)?.format(FORMAT)?;
        Encode::<Sqlite>::encode(text, buffer)
    }
}

impl<'r> Decode<'r, Sqlite> for Stamp {
    fn decode(value: <Sqlite as Database>::ValueRef<'r>) -> Result<Self, BoxDynError> {
        let text = <String as Decode<Sqlite>>::decode(value)?;
        let time = time::PrimitiveDateTime::parse(&text, FORMAT)?;
        Ok(Self(time.assume_utc()))
    }
}

impl Type<Postgres> for Stamp {
    fn type_info() -> <Postgres as Database>::TypeInfo {
        <OffsetDateTime as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Stamp {
    fn encode_by_ref(
        &self,
        buffer: &mut <Postgres as Database>::ArgumentBuffer,
    ) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode(whole_microseconds(self.0)?, buffer)
    }
}

impl<'r> Decode<'r, Postgres> for Stamp {
    fn decode(value: <Postgres as Database>::ValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Self(<OffsetDateTime as Decode<Postgres>>::decode(value)?))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn text_sorts_like_time() {
        let earlier = datetime!(2026-01-02 03:04:05 UTC);
        let later = datetime!(2026-01-02 05:04:05.000001 +2);
        let texts: Vec<String> = [earlier, later]
            .map(|time| time.to_offset(UtcOffset::UTC).format(FORMAT).unwrap())
            .into();
        assert!(texts[0] < texts[1], "{texts:?}");
    }

    #[test]
    fn what_is_finer_than_a_microsecond_is_cut_off() {
        let time = datetime!(2026-01-02 03:04:05.123456789 UTC);
        assert_eq!(
            whole_microseconds(time).unwrap(),
            datetime!(2026-01-02 03:04:05.123456 UTC)
        );
    }

    #[test]
    fn a_time_that_utc_has_not_is_an_error() {
        assert!(whole_microseconds(datetime!(9999-12-31 23:59:59 -1)).is_err());
    }
}
