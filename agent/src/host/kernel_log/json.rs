//! Lines that a template of a site made objects of JSON. It is read whose they are, and not what they say.

use serde_json::{Map, Value};

use super::overlooked::{tells, tells_anywhere};

/// Fields that name the writer of a line, in small letters and without what is no letter: `SYSLOG_IDENTIFIER`, `app-name`, `_TRANSPORT`.
const WRITERS: [&str; 20] = [
    "app",
    "appname",
    "application",
    "facility",
    "facilityname",
    "facilitytext",
    "ident",
    "identifier",
    "process",
    "processname",
    "procname",
    "prog",
    "program",
    "programname",
    "syslogfacility",
    "syslogfacilitytext",
    "syslogidentifier",
    "syslogtag",
    "tag",
    "transport",
];
/// Those of them that name the program itself, so that another name in them denies the kernel, unless they stand around a
/// record of the kernel's that tells of something. What a shipper of logs writes about itself, its tag or its process, denies nothing.
const PROGRAMS: [&str; 4] = ["appname", "program", "programname", "syslogidentifier"];
/// How syslog and the journal name the kernel, and its facility.
const KERNEL: [&str; 3] = ["kernel", "kernel:", "kern"];
/// Number of the kernel's facility (RFC 5424, 6.2.1).
const FACILITY: u64 = 0;

/// Whether the kernel may have written a line of this form. A program that names the kernel in its own message has not.
pub(super) fn may_be_kernels(line: &str) -> bool {
    let line = line.trim();
    if !line.starts_with('{') {
        return false;
    }
    // The parser bounds how deep objects lie within each other.
    let Ok(fields) = serde_json::from_slice::<Map<String, Value>>(line.as_bytes()) else {
        // It is cut, or its template leaves quotes within a message as they are.
        let names = ["\"kernel\"", "\"kernel:\""];
        return names.iter().any(|name| line.contains(name)) || tells_anywhere(line);
    };
    match is_by_kernel(&fields) {
        Some(true) => true,
        // A shipper of logs may name itself around a record of the kernel's.
        Some(false) => fields.values().any(holds_record_of_kernel),
        // Whoever wrote it is not known.
        None => fields.values().any(holds_text_that_tells),
    }
}

/// Whether a field says that the kernel wrote it. `None`: no field is known to name the writer. The fields of the line itself go before
/// those of objects within, which may be a program's.
fn is_by_kernel(fields: &Map<String, Value>) -> Option<bool> {
    let said = fields.iter().filter_map(|(name, value)| {
        let name = letters(name);
        let is_writer = WRITERS.contains(&name.as_str());
        let is_kernels = is_writer.then(|| names_kernel(&name, value)).flatten()?;
        (is_kernels || PROGRAMS.contains(&name.as_str())).then_some(is_kernels)
    });
    any(said).or_else(|| any(fields.values().filter_map(is_within)))
}

fn is_within(value: &Value) -> Option<bool> {
    match value {
        Value::Object(fields) => is_by_kernel(fields),
        Value::Array(values) => any(values.iter().filter_map(is_within)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn any(mut said: impl Iterator<Item = bool>) -> Option<bool> {
    let first = said.next()?;
    Some(first || said.any(|it| it))
}

/// In small letters and without what is no letter.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphabetic);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

fn names_kernel(field: &str, value: &Value) -> Option<bool> {
    let is_facility = field.contains("facility");
    match value {
        // Nobody is named.
        Value::String(name) if names_nobody(name) => None,
        Value::String(name) => {
            let is_number = is_facility && name.trim().parse::<u64>() == Ok(FACILITY);
            Some(is_number || is_kernel(name))
        }
        // Another number may be that of a process.
        Value::Number(number) if is_facility => Some(number.as_u64() == Some(FACILITY)),
        Value::Object(about) => {
            let name = about.get("name")?.as_str();
            name.filter(|name| !names_nobody(name)).map(is_kernel)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

fn names_nobody(name: &str) -> bool {
    matches!(name.trim(), "" | "-")
}

/// Whether an object in it names the kernel as its writer, and beside that has a text that tells of something.
fn holds_record_of_kernel(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            let is_kernels = |(name, value): (&String, &Value)| {
                let name = letters(name);
                WRITERS.contains(&name.as_str()) && names_kernel(&name, value) == Some(true)
            };
            let mut own = fields.values().filter_map(Value::as_str);
            (fields.iter().any(is_kernels) && own.any(tells)) || fields.values().any(holds_record_of_kernel)
        }
        Value::Array(values) => values.iter().any(holds_record_of_kernel),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn is_kernel(name: &str) -> bool {
    let name = name.trim();
    KERNEL.iter().any(|kernel| name.eq_ignore_ascii_case(kernel))
}

fn holds_text_that_tells(value: &Value) -> bool {
    match value {
        // A line as syslog writes it may stand in it.
        Value::String(text) => tells(text) || tells_anywhere(text),
        Value::Array(values) => values.iter().any(holds_text_that_tells),
        Value::Object(fields) => fields.values().any(holds_text_that_tells),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_of_the_kernels_is_told_by_who_wrote_it() {
        for line in [
            r#"{"host": "gpu-17", "program": "kernel", "message": "NVRM: x"}"#,
            r#"{"syslogtag":"kernel:","msg":"NVRM: x"}"#,
            r#"{"_TRANSPORT":"kernel","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"NVRM: x"}"#,
            r#"{"syslogfacility-text":"kern","msg":"NVRM: x"}"#,
            r#"{"syslogfacility":0,"msg":"NVRM: x"}"#,
            r#"{"log":{"syslog":{"appname":"kernel"}},"message":"NVRM: x"}"#,
            r#"{"process":{"name":"kernel"},"message":"NVRM: x"}"#,
            // The field is not known, and an Xid is.
            r#"{"p":"kernel","m":"NVRM: Xid (PCI:0000:3b:00): 79, x"}"#,
            r#"{"tags":["kernel"],"message":"NVRM: Xid (PCI:0000:3b:00): 79, x"}"#,
            r#"{"f":{"src":"kernel","msg":"NVRM: Xid (PCI:0000:3b:00): 79, x"}}"#,
            // Nobody is named.
            r#"{"date":1796094001.0,"priority":2,"msg":"NVRM: Xid (PCI:0000:3b:00): 79, x"}"#,
            r#"{"log":"Nov 30 02:50:00 gpu-17 kernel: NVRM: Xid (PCI:0000:3b:00): 79, x","stream":"stdout"}"#,
            r#"{"a":"x"}{"m":"NVRM: Xid (PCI:0000:3b:00): 79, x"}"#,
            // Around it stands what a shipper of logs says of itself.
            r#"{"tag":"syslog.node","record":{"program":"kernel","message":"NVRM: x"}}"#,
            r#"{"app":"shipper","process":{"name":"fluent-bit"},"records":[{"appname":"kernel","msg":"NVRM: x"}]}"#,
            r#"{"appname":"fluent-bit","record":{"program":"kernel","message":"NVRM: Xid (PCI:0000:3b:00): 79, x"}}"#,
            r#"{"program":"shipper","lines":[{"appname":"kernel","msg":"NVRM: Xid (PCI:0000:3b"}]}"#,
            r#"{"program":{"name":"-"},"origin":"kernel","msg":"NVRM: Xid (PCI:0000:3b:00): 79, x"}"#,
            r#"{"transport":"udp","origin":"kernel","msg":"NVRM: Xid (PCI:0000:3b:00): 79, x"}"#,
            r#"{"syslogfacility":"0","msg":"NVRM: x"}"#,
            r#"{"program":"shipper","record":{"tag":"kernel:","facility":"kern","msg":"NVRM: Xid (PCI:0000:3b:00): 79, x"}}"#,
            r#"{"programname":"-","origin":"kernel","msg":"NVRM: Xid (PCI:0000:3b:00): 79, x"}"#,
            r#"{"SyslogFacility":"3","origin":"kernel","msg":"NVRM: Xid (PCI:0000:3b:00): 79, x"}"#,
            // Cut, and with quotes in it.
            r#"{"program":"kernel","message":"NVRM: Xi"#,
            r#"{"program":"kernel","message":"NVRM: "x""}"#,
        ] {
            assert!(may_be_kernels(line), "{line}");
        }
    }

    #[test]
    fn a_line_of_a_programs_that_names_the_kernel_is_not_the_kernels() {
        for line in [
            r#"{"program":"sshd","message":"a \"kernel\""}"#,
            r#"{"program":"jupyter","kernel":"python3","component":"kernel","message":"x"}"#,
            r#"{"programname":"app","msg":"NVRM: Xid (PCI:0000:3b:00): 79, x","origin":"kernel"}"#,
            r#"{"program":"app","data":{"program":"kernel","message":"module loaded"}}"#,
            r#"{"program":"app","data":{"component":"kernel","message":"NVRM: Xid (PCI:0000:3b:00): 79, x"}}"#,
            r#"{"syslogfacility":1,"component":"kernel","msg":"x"}"#,
            r#"{"level":"info","component":"kernel","msg":"module loaded"}"#,
            r#"{"log":"kernel","stream":"stdout"}"#,
            r#"{"tags":["kernel"],"message":"module loaded"}"#,
            r#"{"tag":"app.log","record":{"program":"app","kernel":["kernel"],"msg":"NVRM: Xid (PCI:0000:3b:00): 79, x"}}"#,
            "Nov 30 02:50:00 gpu-17 kernel: NVRM: x",
            "",
        ] {
            assert!(!may_be_kernels(line), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\{[ -~]{0,80}", other in "\\PC{0,80}") {
            let _ = (may_be_kernels(&text), may_be_kernels(&other));
        }
    }
}
