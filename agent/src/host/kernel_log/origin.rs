//! Whose a line of a file of syslog's is, and of which boot: a collector of logs keeps those of other hosts, too, and a file
//! outlives a boot.

use std::net::IpAddr;

use time::format_description::well_known::Rfc3339;
use time::{Date, Month, OffsetDateTime, Time};

use super::super::HostRoot;
use super::rfc5424;
use super::source::boot_second;

/// Clocks are corrected while a machine boots.
const CORRECTED: i64 = 120;
/// A stamp without a zone may be of any; with the hours of a changed clock.
const ANY_ZONE: i64 = 26 * 3_600;
const HALF_A_YEAR: i64 = 183 * 86_400;

/// What a line is held against. What is not known makes no line somebody else's.
#[derive(Debug, Clone, Default)]
pub(super) struct Origin {
    /// The host's short name, where kernel and file system agree: a container shows another than its host's log has.
    own: Option<String>,
    booted: Option<i64>,
}

impl Origin {
    pub(super) fn of(root: &HostRoot) -> Self {
        let name = |path: &str| root.line(path).value.as_deref().map(short);
        let own = name("proc/sys/kernel/hostname").filter(|own| !own.is_empty());
        Self {
            own: own.filter(|own| name("etc/hostname").as_ref() == Some(own)),
            booted: boot_second(root),
        }
    }

    pub(super) fn own(&self) -> &str {
        self.own.as_deref().unwrap_or_default()
    }

    /// The name of the other host whose kernel wrote a line.
    pub(super) fn other_host<'a>(&self, line: &'a str) -> Option<&'a str> {
        if rfc5424::has_form(line) {
            let host = rfc5424::of_kernel(line)?.map_or_else(|host| host, |line| line.host);
            return self.is_another(host).then_some(host);
        }
        let (before, _) = line.split_once(" kernel: ")?;
        // What a program says of a kernel stands behind the program's own name.
        if before.ends_with(':') || before.contains(": ") {
            return None;
        }
        let host = before.split_whitespace().next_back()?;
        self.is_another(host).then_some(host)
    }

    /// True of a line that this host's kernel may have written, and that cannot be read: one in the form of RFC 5424 that is damaged, and
    /// one that a template made an object of JSON.
    pub(super) fn is_in_unknown_form(&self, line: &str) -> bool {
        let is_damaged = match rfc5424::of_kernel(line) {
            Some(Err(host)) => !self.is_another(host),
            Some(Ok(_)) | None => false,
        };
        // What a program says within such an object has its quotes escaped.
        is_damaged || (line.trim_start().starts_with('{') && line.contains("\"kernel\""))
    }

    /// Before it knows its name, each host calls itself `localhost`.
    fn is_another(&self, host: &str) -> bool {
        let Some(own) = &self.own else { return false };
        let name = short(host);
        name != *own && name != "localhost" && host.parse::<IpAddr>().is_err()
    }

    /// True of a line that was written before this boot.
    pub(super) fn is_of_an_earlier_boot(&self, line: &str) -> bool {
        let Some(booted) = self.booted else { return false };
        let of_kernel = rfc5424::of_kernel(line).and_then(Result::ok);
        let first = of_kernel.map_or_else(|| line.split(' ').next().unwrap_or_default(), |line| line.time);
        if let Ok(written) = OffsetDateTime::parse(first, &Rfc3339) {
            return written.unix_timestamp() + CORRECTED < booted;
        }
        without_year(line, booted).is_some_and(|written| written + ANY_ZONE < booted)
    }
}

fn short(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// `Nov 20 02:50:00`, in the year in which it lies nearest to the boot.
fn without_year(line: &str, booted: i64) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut words = line.split_whitespace();
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let day = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u8>().ok());
    let time = Time::from_hms(clock.next()??, clock.next()??, clock.next()??).ok()?;
    let year = OffsetDateTime::from_unix_timestamp(booted).ok()?.year();
    let years = [year - 1, year, year + 1].into_iter();
    let stamps = years.filter_map(|year| {
        let date = Date::from_calendar_date(year, month, day).ok()?;
        Some(date.with_time(time).assume_utc().unix_timestamp())
    });
    let nearest = stamps.min_by_key(|stamp| stamp.abs_diff(booted))?;
    (nearest.abs_diff(booted) <= HALF_A_YEAR.unsigned_abs()).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30T01:00:00Z.
    const BOOTED: i64 = 1_796_000_400;

    fn origin() -> Origin {
        Origin {
            own: Some("gpu-17".to_owned()),
            booted: Some(BOOTED),
        }
    }

    #[test]
    fn lines_of_other_hosts_are_told_by_their_name() {
        for (host, is_other) in [
            ("gpu-17", false),
            ("GPU-17.cluster.example", false),
            ("localhost", false),
            ("10.0.0.7", false),
            ("gpu-18", true),
            ("gpu-170.cluster.example", true),
        ] {
            for stamp in ["Nov 30 02:50:00", "2026-11-30T02:50:00.000000+00:00"] {
                let line = format!("{stamp} {host} kernel: [    9.000000] NVRM: x");
                assert_eq!(origin().other_host(&line), is_other.then_some(host), "{line}");
                assert_eq!(Origin::default().other_host(&line), None);
            }
        }
        for line in [
            "[    9.000000] NVRM: x",
            "Nov 30 02:50:00 gpu-17 alice[7]: kernel: NVRM: x",
        ] {
            assert_eq!(origin().other_host(line), None, "{line}");
        }
    }

    #[test]
    fn lines_in_the_form_of_rfc_5424_are_told_by_host_and_time() {
        let line = |time: &str, host: &str| format!("<3>1 {time} {host} kernel - - - NVRM: x");
        let (own, other) = (
            line("2026-11-30T02:50:00Z", "gpu-17"),
            line("2026-11-30T02:50:00Z", "gpu-18"),
        );
        assert_eq!(origin().other_host(&own), None);
        assert_eq!(origin().other_host(&other), Some("gpu-18"));
        assert!(!origin().is_of_an_earlier_boot(&own));
        assert!(origin().is_of_an_earlier_boot(&line("2026-11-20T02:50:00Z", "gpu-17")));
    }

    #[test]
    fn lines_of_the_kernels_that_cannot_be_read_are_told() {
        for (line, expected) in [
            ("<3>1 2026-11-30T02:50:00Z gpu-17 kernel - - [x NVRM: x", true),
            ("<3>1 2026-11-30T02:50:00Z gpu-18 kernel - - [x NVRM: x", false),
            ("<3>1 2026-11-30T02:50:00Z gpu-17 kernel - - - NVRM: x", false),
            ("<3>1 2026-11-30T02:50:00Z gpu-17 sshd 7 - [ kernel", false),
            (
                r#"{"host": "gpu-17", "program": "kernel", "message": "NVRM: x"}"#,
                true,
            ),
            (r#"{"program": "sshd", "message": "a \"kernel\""}"#, false),
            ("Nov 30 02:50:00 gpu-17 kernel: NVRM: x", false),
            ("<3>1", false),
            ("", false),
        ] {
            assert_eq!(origin().is_in_unknown_form(line), expected, "{line}");
        }
    }

    #[test]
    fn lines_of_an_earlier_boot_are_told_by_their_time() {
        for (stamp, is_earlier) in [
            ("2026-11-30T00:50:00+00:00", true),
            ("2026-11-30T00:59:00+00:00", false),
            ("2026-11-30T02:50:00.000000+09:00", true),
            ("2026-11-30T02:50:00.000000+00:00", false),
            ("Nov 20 02:50:00", true),
            ("Nov 29 12:00:00", false),
            ("Nov  3 02:50:00", true),
            ("Jan  2 02:50:00", false),
            ("Feb 30 02:50:00", false),
            ("yesterday", false),
            ("", false),
        ] {
            let line = format!("{stamp} gpu-17 kernel: NVRM: x");
            assert_eq!(origin().is_of_an_earlier_boot(&line), is_earlier, "{line}");
            assert!(!Origin::default().is_of_an_earlier_boot(&line));
        }
    }
}
