//! When a line says it was written, and by which clock. Times are compared within one clock only: a kind of time, a
//! host where the line names one, for the kernel's seconds a boot, and for times without a year a year.

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

use super::messages::Shown;

/// Clocks told apart in one text; hits of further ones are ordered by line.
const MAX_CLOCKS: usize = 64;
/// Kernel seconds that fall back by more than this belong to the next boot.
const REBOOT_MICROS: i64 = 60_000_000;
/// Times without a year that fall back by more than this (half a year) belong to the next year.
const NEW_YEAR_MICROS: i64 = 183 * 86_400 * 1_000_000;
/// A year is assumed for times that have none; only differences matter. Leap, so that every date is one.
const ASSUMED_YEAR: i32 = 2024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum StampKind {
    /// Date and time with an offset.
    Absolute,
    /// Date and time of some local clock.
    Local,
    /// Month, day and time (syslog, glog).
    Yearless,
    /// Seconds since boot.
    Boot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) kind: StampKind,
    pub(super) micros: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) clock: usize,
    pub(super) micros: i64,
}

#[derive(Debug, Default)]
pub(super) struct Clocks {
    known: Vec<Clock>,
}

#[derive(Debug)]
struct Clock {
    kind: StampKind,
    host: Vec<u8>,
    /// The first line on it, and what that says.
    from_line: u64,
    first: i64,
    to_line: u64,
    latest: i64,
    /// It started over when there was no room for another.
    ended: bool,
}

impl Clocks {
    /// The host whose clock it is; empty where its lines name none.
    pub(super) fn host(&self, clock: usize) -> &[u8] {
        self.known.get(clock).map_or(&[], |clock| &clock.host)
    }

    pub(super) fn host_name(&self, clock: usize) -> String {
        String::from_utf8_lossy(self.host(clock)).into_owned()
    }

    pub(super) fn name(&self, clock: usize) -> String {
        if self.host(clock).is_empty() {
            return "the lines without a host".to_owned();
        }
        self.host_name(clock)
    }

    pub(super) fn kind(&self, clock: usize) -> Option<StampKind> {
        self.known.get(clock).map(|clock| clock.kind)
    }

    /// Whether times of two clocks mean something beside each other: the same kind of calendar time, on two hosts.
    pub(super) fn comparable(&self, one: usize, other: usize) -> bool {
        self.kind(one) == self.kind(other)
            && self.kind(one) != Some(StampKind::Boot)
            && self.host(one) != self.host(other)
    }

    /// Whether one clock is that of an earlier boot or year of the same host.
    pub(super) fn precedes(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (self.known.get(one), self.known.get(other)) else {
            return false;
        };
        one.from_line < other.from_line && one.is_of(other.kind, &other.host)
    }

    /// When a line was written, by the first of its prefixes that has a time.
    pub(super) fn of_line(&mut self, text: &[u8], shown: &[Shown], line: u64) -> Option<Moment> {
        shown.iter().find_map(|(part, prefix)| {
            let host = prefix.host_in(text.get(part.clone())?);
            self.moment(prefix.stamp?, host, line)
        })
    }

    /// Puts the stamp of a line on the clock that runs there. Lines that are read again come after later ones: they
    /// find their place among those by number, so that they do not look like a machine that boots again.
    pub(super) fn moment(&mut self, stamp: Stamp, host: &[u8], line: u64) -> Option<Moment> {
        let (micros, kind) = (stamp.micros, stamp.kind);
        let (mut before, mut after) = (None, None);
        for (place, clock) in self.known.iter().enumerate() {
            if !clock.is_of(kind, host) {
                continue;
            }
            let place = (clock.from_line, place);
            if clock.from_line <= line {
                before = before.max(Some(place));
            } else {
                after = Some(after.map_or(place, |next: (u64, usize)| next.min(place)));
            }
        }
        if let Some((_, clock)) = before
            && let Some(known) = self.known.get_mut(clock)
            && (line <= known.to_line || !known.ended && !kind.starts_over(known.latest, micros))
        {
            let is_among = line < known.to_line;
            if is_among && (kind.starts_over(known.first, micros) || kind.starts_over(micros, known.latest)) {
                // Of a boot that nothing read at first tells of.
                return None;
            }
            known.to_line = known.to_line.max(line);
            known.latest = known.latest.max(micros);
            return Some(Moment { clock, micros });
        }
        if let Some((_, clock)) = after
            && let Some(known) = self.known.get_mut(clock)
            && !kind.starts_over(micros, known.first)
        {
            (known.from_line, known.first) = (line, micros);
            known.latest = known.latest.max(micros);
            return Some(Moment { clock, micros });
        }
        if self.known.len() >= MAX_CLOCKS {
            if let Some((_, clock)) = before
                && let Some(known) = self.known.get_mut(clock)
            {
                known.ended = true;
            }
            return None;
        }
        let clock = self.known.len();
        self.known.push(Clock {
            kind,
            host: host.to_vec(),
            from_line: line,
            first: micros,
            to_line: line,
            latest: micros,
            ended: false,
        });
        Some(Moment { clock, micros })
    }
}

impl Clock {
    fn is_of(&self, kind: StampKind, host: &[u8]) -> bool {
        self.kind == kind && self.host == host
    }
}

impl StampKind {
    fn starts_over(self, latest: i64, next: i64) -> bool {
        match self {
            Self::Boot => next + REBOOT_MICROS < latest,
            Self::Yearless => next + NEW_YEAR_MICROS < latest,
            Self::Absolute | Self::Local => false,
        }
    }
}

/// Reads a time at the beginning of `text`; `bracketed` allows the kernel's `[ 1234.567890]`, whose bracket and blanks
/// are already taken off. Returns the time and its length.
pub(super) fn read_stamp(text: &[u8], bracketed: bool) -> Option<(Stamp, usize)> {
    iso(text)
        .or_else(|| named_month(text))
        .or_else(|| glog(text))
        .or_else(|| month_and_day(text))
        .or_else(|| if bracketed { boot_seconds(text) } else { None })
}

/// `2024-05-01T12:00:00.123456+00:00`, also with a blank, `/` in the date, a comma before the fraction, or no offset.
fn iso(text: &[u8]) -> Option<(Stamp, usize)> {
    let mut read = Reader { text, at: 0 };
    let year = i32::try_from(read.digits(4)?).ok()?;
    let separator = read.one_of(b"-/")?;
    let month = read.digits(2)?;
    read.one_of(&[separator])?;
    let day = read.digits(2)?;
    read.one_of(b"T _-")?;
    let time = read.time_of_day()?;
    let date = date(year, month, day)?;
    let offset = read.offset();
    let (kind, at) = match offset {
        Some(offset) => (
            StampKind::Absolute,
            PrimitiveDateTime::new(date, time).assume_offset(offset),
        ),
        None => (StampKind::Local, PrimitiveDateTime::new(date, time).assume_utc()),
    };
    Some((
        Stamp {
            kind,
            micros: micros(at),
        },
        read.at,
    ))
}

/// `Nov 21 07:19:10` (syslog) and `Tue Nov 21 07:19:10 2026` (`dmesg -T`).
fn named_month(text: &[u8]) -> Option<(Stamp, usize)> {
    const MONTHS: [&[u8; 3]; 12] = [
        b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
    ];
    const WEEKDAYS: [&[u8; 4]; 7] = [b"Mon ", b"Tue ", b"Wed ", b"Thu ", b"Fri ", b"Sat ", b"Sun "];
    let weekday = WEEKDAYS.iter().any(|day| text.starts_with(*day));
    let mut read = Reader {
        text,
        at: if weekday { 4 } else { 0 },
    };
    let name = text.get(read.at..read.at + 3)?;
    let month = u32::try_from(MONTHS.iter().position(|month| name == *month)? + 1).ok()?;
    read.at += 3;
    read.one_of(b" ")?;
    let day = if read.one_of(b" ").is_some() {
        read.digits(1)?
    } else {
        read.digits(2).or_else(|| read.digits(1))?
    };
    read.one_of(b" ")?;
    let time = read.time_of_day()?;
    let before_year = read.at;
    let year = read
        .one_of(b" ")
        .and_then(|_| read.digits(4))
        .and_then(|year| i32::try_from(year).ok());
    let (kind, year) = match year {
        Some(year) if weekday => (StampKind::Local, year),
        _ => {
            read.at = before_year;
            (StampKind::Yearless, ASSUMED_YEAR)
        }
    };
    let at = PrimitiveDateTime::new(date(year, month, day)?, time).assume_utc();
    Some((
        Stamp {
            kind,
            micros: micros(at),
        },
        read.at,
    ))
}

/// `11-21 12:00:00` and `11-21 12:00:00.123`, as vLLM writes behind the level.
fn month_and_day(text: &[u8]) -> Option<(Stamp, usize)> {
    let mut read = Reader { text, at: 0 };
    let month = read.digits(2)?;
    read.one_of(b"-")?;
    let day = read.digits(2)?;
    read.one_of(b" ")?;
    let time = read.time_of_day()?;
    let at = PrimitiveDateTime::new(date(ASSUMED_YEAR, month, day)?, time).assume_utc();
    let stamp = Stamp {
        kind: StampKind::Yearless,
        micros: micros(at),
    };
    Some((stamp, read.at))
}

/// `E0501 12:00:00.123456  1234`: level, month, day, time, thread.
fn glog(text: &[u8]) -> Option<(Stamp, usize)> {
    let mut read = Reader { text, at: 0 };
    read.one_of(b"IWEF")?;
    let month = read.digits(2)?;
    let day = read.digits(2)?;
    read.one_of(b" ")?;
    let time = read.time_of_day()?;
    let at = PrimitiveDateTime::new(date(ASSUMED_YEAR, month, day)?, time).assume_utc();
    let time_end = read.at;
    while read.one_of(b" ").is_some() {}
    let thread_at = read.at;
    while read.digits(1).is_some() {}
    let end = if read.at > thread_at { read.at } else { time_end };
    Some((
        Stamp {
            kind: StampKind::Yearless,
            micros: micros(at),
        },
        end,
    ))
}

/// `1234.567890`: seconds since boot.
fn boot_seconds(text: &[u8]) -> Option<(Stamp, usize)> {
    let whole = text.iter().take(10).take_while(|b| b.is_ascii_digit()).count();
    let mut read = Reader { text, at: 0 };
    let seconds = i64::from(read.digits(whole)?);
    read.one_of(b".")?;
    let fraction = i64::from(read.digits(6)?);
    (text.get(read.at) == Some(&b']')).then_some((
        Stamp {
            kind: StampKind::Boot,
            micros: seconds * 1_000_000 + fraction,
        },
        read.at,
    ))
}

fn date(year: i32, month: u32, day: u32) -> Option<Date> {
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    Date::from_calendar_date(year, month, u8::try_from(day).ok()?).ok()
}

fn micros(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// Exactly this many digits, 1 to 9.
    fn digits(&mut self, count: usize) -> Option<u32> {
        let digits = self
            .text
            .get(self.at..self.at + count)
            .filter(|digits| !digits.is_empty())?;
        let mut value: u32 = 0;
        for digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            value = value.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
        }
        self.at += count;
        Some(value)
    }

    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        wanted.contains(&byte).then(|| self.at += 1)?;
        Some(byte)
    }

    /// `12:00:00`, with a fraction of up to nine digits.
    fn time_of_day(&mut self) -> Option<Time> {
        let hour = u8::try_from(self.digits(2)?).ok()?;
        self.one_of(b":")?;
        let minute = u8::try_from(self.digits(2)?).ok()?;
        self.one_of(b":")?;
        let second = u8::try_from(self.digits(2)?).ok()?;
        let mut nanos = 0;
        let fraction = self.text.get(self.at + 1..).unwrap_or_default();
        let places = fraction.iter().take(9).take_while(|b| b.is_ascii_digit()).count();
        if places > 0 && self.one_of(b".,").is_some() {
            let exponent = u32::try_from(9 - places).unwrap_or(0);
            nanos = self.digits(places)?.checked_mul(10_u32.pow(exponent))?;
        }
        // A leap second is the last of its minute here.
        Time::from_hms_nano(hour, minute, second.min(59), nanos).ok()
    }

    /// `Z`, `+0100`, `+01:00`.
    fn offset(&mut self) -> Option<UtcOffset> {
        if self.one_of(b"Z").is_some() {
            return Some(UtcOffset::UTC);
        }
        let start = self.at;
        let offset = self.signed_offset();
        if offset.is_none() {
            self.at = start;
        }
        offset
    }

    fn signed_offset(&mut self) -> Option<UtcOffset> {
        let sign = if self.one_of(b"+-")? == b'-' { -1 } else { 1 };
        let hours = i8::try_from(self.digits(2)?).ok()?;
        let _ = self.one_of(b":");
        let minutes = i8::try_from(self.digits(2)?).ok()?;
        UtcOffset::from_hms(sign * hours, sign * minutes, 0).ok()
    }
}
