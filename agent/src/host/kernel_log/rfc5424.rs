//! Lines of syslog in the form of RFC 5424: `<3>1 2026-11-30T02:50:00Z gpu-17 kernel - - - message`.

/// A priority is a facility and, in the lower bits, a severity (6.2.1).
const SEVERITY_BITS: u32 = 3;
const KERNEL: u32 = 0;
const PROGRAM: &str = "kernel";
/// What stands for a part that the sender does not know (6.2).
pub(super) const NIL: &str = "-";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) time: &'a str,
    pub(super) host: &'a str,
    pub(super) message: &'a str,
}

/// The priority, and what stands behind the version; `None` for lines in another form.
fn parts(line: &str) -> Option<(u32, &str)> {
    let (priority, rest) = line.strip_prefix('<')?.split_once('>')?;
    Some((priority.parse().ok()?, rest.strip_prefix("1 ")?))
}

pub(super) fn has_form(line: &str) -> bool {
    parts(line).is_some()
}

/// A line that the kernel wrote, also where its message cannot be found: then the error has the host.
pub(super) fn of_kernel(line: &str) -> Option<Result<Line<'_>, &str>> {
    let (priority, rest) = parts(line.trim_end())?;
    let mut words = rest.splitn(6, ' ');
    let (time, host, program) = (words.next()?, words.next()?, words.next()?);
    if priority >> SEVERITY_BITS != KERNEL || ![PROGRAM, NIL].contains(&program) {
        return None;
    }
    // The number of the process, the kind of the message, then the data.
    let message = words.nth(2).and_then(behind_data);
    Some(message.map(|message| Line { time, host, message }).ok_or(host))
}

/// What stands behind the structured data: `-`, or elements in brackets, in which a value may hold an escaped bracket.
fn behind_data(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('-').unwrap_or(text);
    while let Some(element) = rest.strip_prefix('[') {
        rest = behind_element(element)?;
    }
    if rest.is_empty() {
        // The kernel writes empty messages, too.
        return Some("");
    }
    let message = rest.strip_prefix(' ')?;
    Some(message.strip_prefix('\u{feff}').unwrap_or(message))
}

fn behind_element(text: &str) -> Option<&str> {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            ']' if !is_escaped => return text.get(at + 1..),
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_kernels_lines_are_read_and_those_of_programs_are_not() {
        for data in ["-", "[a@1 b=\"c\"]", r#"[a@1 b="c\] d"][e f="g"]"#] {
            let line = format!("<3>1 2026-11-30T02:50:00Z gpu-17 kernel - - {data} NVRM: x\n");
            let read = Line {
                time: "2026-11-30T02:50:00Z",
                host: "gpu-17",
                message: "NVRM: x",
            };
            assert_eq!(of_kernel(&line), Some(Ok(read)), "{line}");
        }
        for line in ["<3>1 - - kernel - - - NVRM: x", "<3>1 - - - - - - NVRM: x"] {
            let read = of_kernel(line).unwrap().unwrap();
            assert_eq!((read.time, read.host, read.message), (NIL, NIL, "NVRM: x"));
        }
        for line in [
            "<3>1 2026-11-30T02:50:00Z gpu-17 sshd 7 - - a kernel: NVRM: x",
            "<11>1 2026-11-30T02:50:00Z gpu-17 kernel - - - NVRM: x",
            "<3>Nov 30 02:50:00 gpu-17 kernel: NVRM: x",
            "Nov 30 02:50:00 gpu-17 kernel: NVRM: x",
            "<3>1",
            "",
        ] {
            assert_eq!(of_kernel(line), None, "{line}");
        }
        for line in [
            "<3>1 2026-11-30T02:50:00Z gpu-17 kernel",
            "<3>1 2026-11-30T02:50:00Z gpu-17 kernel - - [a NVRM: x",
        ] {
            assert_eq!(of_kernel(line), Some(Err("gpu-17")), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "<3>1 [ -~]{0,80}", other in "\\PC{0,80}") {
            for text in [text, other] {
                let _ = (has_form(&text), of_kernel(&text).is_some());
            }
        }
    }
}
