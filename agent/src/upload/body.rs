//! The bytes that are sent: the report's JSON, compressed once.

use std::io::Read;
use std::path::Path;

use kb_core::ids::ReportId;
use kb_core::report::{MAJOR, Report};
use kb_core::wire;
use serde::Deserialize;

use super::ConfigurationError;
use super::redact::{Redaction, redact};
use crate::decompress::Decompressed;

/// First bytes of a zstd frame (RFC 8878, section 3.1.1).
pub(crate) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Largest report that is read from a file, decompressed; the server's limit for JSON is the same (8 MiB).
const MOST_BYTES: u64 = 8 << 20;

pub(crate) struct Body(pub(crate) Vec<u8>);

impl Body {
    /// Serialises and compresses, without what `kinds` name; and the report as it is sent.
    pub(crate) fn redacted(report: &Report, kinds: &[Redaction]) -> std::io::Result<(Report, Self)> {
        let mut value = serde_json::to_value(report)?;
        redact(&mut value, kinds);
        let json = serde_json::to_vec(&value)?;
        // Read back from the bytes and not from the value: a second way to read all of a report is as much code as the first.
        Ok((serde_json::from_slice(&json)?, Self::compress(&json)?))
    }

    pub(crate) fn report(&self) -> Result<Report, String> {
        read_report(&self.json()?)
    }

    /// The id under which a server keeps it, also where this build knows nothing else of it.
    pub(crate) fn id(&self) -> Result<ReportId, String> {
        #[derive(Deserialize)]
        struct Named {
            report_id: ReportId,
        }
        let named: Named =
            serde_json::from_slice(&self.json()?).map_err(|error| format!("not a report: {error}"))?;
        Ok(named.report_id)
    }

    /// As a server takes it: one that repeats itself so much that it would grow beyond the server's ratio goes as padded
    /// frames. The spool keeps one frame for each report, and the server knows a report by its text, so both are the same.
    pub(crate) fn for_the_wire(&self) -> Vec<u8> {
        let padded = || -> Result<Vec<u8>, String> {
            let json = self.json()?;
            if wire::passes(self.0.len(), json.len()) {
                return Ok(self.0.clone());
            }
            let mut sent = Vec::new();
            let mut text = 0;
            for chunk in json.chunks(wire::FRAME_BYTES) {
                text += chunk.len() as u64;
                let padding = wire::padding(sent.len() as u64, text);
                sent.extend(padding);
                sent.extend(Self::compress(chunk).map_err(|error| error.to_string())?.0);
            }
            Ok(sent)
        };
        // What cannot be read is for the server to refuse.
        padded().unwrap_or_else(|_| self.0.clone())
    }

    fn json(&self) -> Result<Vec<u8>, String> {
        let json = Decompressed::new(self.0.as_slice()).and_then(read_limited);
        json.map_err(|error| format!("not a whole zstd frame: {error}"))
    }

    fn compress(json: &[u8]) -> std::io::Result<Self> {
        zstd::stream::encode_all(json, zstd::DEFAULT_COMPRESSION_LEVEL).map(Self)
    }
}

/// A report from a file, as JSON or as spooled, with the bytes to send: what this build does not know in it is sent, too.
pub(crate) fn read_body(option: &'static str, file: &Path) -> Result<(Report, Body), ConfigurationError> {
    let refused = |why: String| ConfigurationError::File {
        option,
        path: file.to_owned(),
        why,
    };
    let bytes = std::fs::File::open(file)
        .and_then(read_limited)
        .map_err(|error| refused(error.to_string()))?;
    if bytes.starts_with(&ZSTD_MAGIC) {
        let body = Body(bytes);
        return Ok((body.report().map_err(refused)?, body));
    }
    let report = read_report(&bytes).map_err(refused)?;
    let body = Body::compress(&bytes).map_err(|error| refused(error.to_string()))?;
    Ok((report, body))
}

fn read_report(json: &[u8]) -> Result<Report, String> {
    let report: Report = serde_json::from_slice(json).map_err(|error| format!("not a report: {error}"))?;
    if report.schema.major == MAJOR {
        return Ok(report);
    }
    let major = report.schema.major;
    Err(format!(
        "a report of major version {major}, this agent sends {MAJOR}"
    ))
}

/// All of it, unless it is larger than any report.
pub(super) fn read_limited(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(std::io::Error::other(format!("larger than {MOST_BYTES} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use zstd::stream::raw::{InBuffer, Operation as _, OutBuffer};

    use super::*;

    /// A rate whose digits a reader in a hurry takes for another number.
    const RATE: &str = "18.624004919862138";

    #[test]
    fn a_report_that_repeats_itself_is_within_the_ratio_at_every_byte() {
        let line = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus\\n";
        let json = format!("{{\"text\": \"{}\"}}", line.repeat((6 << 20) / line.len()));
        let body = Body::compress(json.as_bytes()).unwrap();
        assert!(!wire::passes(body.0.len(), json.len()), "{} bytes", body.0.len());
        let sent = body.for_the_wire();
        assert!(sent.len() < json.len() / 100, "{} bytes", sent.len());
        assert!(Body(sent.clone()).json().unwrap() == json.as_bytes());
        let mut decoder = zstd::stream::raw::Decoder::new().unwrap();
        let mut out = vec![0; 1 << 20];
        let mut came_out = 0_u64;
        for (at, byte) in sent.iter().enumerate() {
            let mut input = InBuffer::around(std::slice::from_ref(byte));
            loop {
                let mut output = OutBuffer::around(out.as_mut_slice());
                decoder.run(&mut input, &mut output).unwrap();
                let written = output.pos();
                came_out += written as u64;
                if input.pos() == 1 && written < out.len() {
                    break;
                }
            }
            let most = (at as u64 + 1) * wire::DECOMPRESSION_RATIO;
            assert!(
                came_out <= most.max(wire::DECOMPRESSION_FREE_BYTES),
                "at byte {at}"
            );
        }
        assert_eq!(came_out, json.len() as u64);
        let small = Body::compress(b"{}").unwrap();
        assert_eq!(small.for_the_wire(), small.0);
    }

    #[test]
    fn the_report_that_is_shown_is_the_one_that_is_sent() {
        let sample = include_str!("../../../kb-core/tests/data/reports/h200-x2-healthy.json");
        let sample = sample.replacen("\"seconds\": 0.209344838", &format!("\"seconds\": {RATE}"), 1);
        assert!(sample.contains(RATE));
        let report: Report = serde_json::from_str(&sample).unwrap();
        let (shown, body) = Body::redacted(&report, &[]).unwrap();
        let sent: Value = serde_json::from_slice(&body.json().unwrap()).unwrap();
        assert_eq!(serde_json::to_value(shown).unwrap(), sent);
        assert!(String::from_utf8(body.json().unwrap()).unwrap().contains(RATE));
    }
}
