//! Whose a line of a file of syslog's is, and of which boot: a collector of logs keeps those of other hosts, too, and a file
//! outlives a boot.

use std::net::IpAddr;

use time::format_description::well_known::Rfc3339;
use time::{Date, Month, OffsetDateTime, Time};

use super::super::HostRoot;
use super::files::boot_second;
use super::json;
use super::record::Written;
use super::rfc5424;

/// The time of the boot is that of now without the time since, so that the two drift apart.
const DRIFT: i64 = 120;
/// Most by which a clock is set while a node runs: hours of a zone that was mistaken for another, and some more. A stamp without a zone may
/// be of any.
pub(super) const LARGEST_CLOCK_STEP: i64 = 26 * 3_600;
/// As syslog writes them.
pub(super) const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const HALF_A_YEAR: i64 = 183 * 86_400;

/// Names of a host that has none yet, or whose syslog does not write it.
const UNNAMED: [&str; 4] = ["localhost", "(none)", rfc5424::NIL, ""];

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
        is_damaged || json::may_be_kernels(line)
    }

    /// A host has no name of its own before it knows it.
    pub(super) fn is_another(&self, host: &str) -> bool {
        let Some(own) = &self.own else { return false };
        let name = short(host);
        name != *own && !UNNAMED.contains(&name.as_str()) && host.parse::<IpAddr>().is_err()
    }

    /// When a line was written, by its own time.
    pub(super) fn written(&self, line: &str) -> Written {
        let Some(booted) = self.booted else {
            return Written::Unknown;
        };
        let of_kernel = rfc5424::of_kernel(line).and_then(Result::ok);
        let first = of_kernel.map_or_else(|| line.split(' ').next().unwrap_or_default(), |line| line.time);
        if let Ok(written) = OffsetDateTime::parse(first, &Rfc3339) {
            let before = booted.saturating_sub(written.unix_timestamp());
            return if before <= DRIFT {
                Written::Since
            } else if before <= LARGEST_CLOCK_STEP {
                Written::Shortly
            } else {
                Written::LongBefore
            };
        }
        match without_year(line, booted) {
            None => Written::Unknown,
            Some(written) if written.abs_diff(booted) <= LARGEST_CLOCK_STEP.unsigned_abs() => Written::Near,
            Some(written) if written < booted => Written::LongBefore,
            Some(_) => Written::Since,
        }
    }
}

fn short(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// `Nov 20 02:50:00`, in the year in which it lies nearest to the boot.
fn without_year(line: &str, booted: i64) -> Option<i64> {
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
        assert_eq!(origin().written(&own), Written::Since);
        let before = line("2026-11-20T02:50:00Z", "gpu-17");
        assert_eq!(origin().written(&before), Written::LongBefore);
        let unnamed = line("-", "-");
        assert_eq!(origin().other_host(&unnamed), None);
        assert_eq!(origin().written(&unnamed), Written::Unknown);
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
    fn when_a_line_was_written_is_told_by_its_time() {
        for (stamp, written) in [
            ("2026-11-30T00:50:00+00:00", Written::Shortly),
            ("2026-11-30T00:59:00+00:00", Written::Since),
            ("2026-11-30T02:50:00.000000+09:00", Written::Shortly),
            ("2026-11-28T02:50:00+00:00", Written::LongBefore),
            ("2026-11-30T02:50:00.000000+00:00", Written::Since),
            ("Nov 20 02:50:00", Written::LongBefore),
            ("Nov 29 12:00:00", Written::Near),
            ("Nov 30 12:00:00", Written::Near),
            ("Nov  3 02:50:00", Written::LongBefore),
            ("Jan  2 02:50:00", Written::Since),
            ("Feb 30 02:50:00", Written::Unknown),
            ("yesterday", Written::Unknown),
            ("", Written::Unknown),
        ] {
            let line = format!("{stamp} gpu-17 kernel: NVRM: x");
            assert_eq!(origin().written(&line), written, "{line}");
            assert_eq!(Origin::default().written(&line), Written::Unknown);
        }
    }
}
