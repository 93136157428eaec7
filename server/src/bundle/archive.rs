//! All records as one zip archive in the layout of kb-seed: unpacked, it is a folder that `peerless check` and
//! `peerless import` read. The same records give the same bytes.

use std::io::{Cursor, Write as _};

use kb_core::ids::{RecordId, Seq};
use kb_core::record::Record;
use serde::Serialize;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{ANNEX_END, DOCUMENT_END, is_misread, licence};

/// Effort of compression: more takes longer and gains little on texts of a few kilobytes.
const LEVEL: i64 = 6;
const MODE: u32 = 0o644;

#[derive(Debug, Serialize)]
struct Manifest<'a> {
    format: u32,
    /// The feed's seq as of which these records were published.
    seq: Seq,
    records: usize,
    licence: &'static str,
    licence_url: &'static str,
    /// Published records that this program could not read, or whose files would be taken for something else.
    left_out: Vec<&'a RecordId>,
}

/// Writes an archive of records in the order given. Files carry the oldest date of the format: records hold the dates.
/// An old record whose file would take another's place, or be passed over as a schema, is left out and listed.
pub fn archive<'a>(
    seq: Seq,
    records: impl Iterator<Item = &'a Record>,
    left_out: impl Iterator<Item = &'a RecordId>,
) -> ZipResult<Vec<u8>> {
    let (records, misread): (Vec<_>, Vec<_>) = records.partition(|record| !is_misread(record.id()));
    let manifest = Manifest {
        format: 1,
        seq,
        records: records.len(),
        licence: licence::ID,
        licence_url: licence::URL,
        left_out: left_out.chain(misread.into_iter().map(Record::id)).collect(),
    };
    let mut manifest = serde_json::to_string_pretty(&manifest).map_err(std::io::Error::from)?;
    manifest.push('\n');
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut file = |name: String, text: &str| -> ZipResult<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(LEVEL))
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(MODE);
        zip.start_file(name, options)?;
        Ok(zip.write_all(text.as_bytes())?)
    };
    file("LICENSE.txt".to_owned(), &licence::statement())?;
    file("manifest.json".to_owned(), &manifest)?;
    for record in records {
        let id = record.id();
        file(format!("{id}{DOCUMENT_END}"), &record.document_text)?;
        file(format!("{id}{ANNEX_END}"), &record.annex_text)?;
    }
    Ok(zip.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read as _;

    use super::*;
    use crate::bundle::{embedded, pair};
    use crate::feed::samples::document;

    fn files(bytes: Vec<u8>) -> BTreeMap<String, Vec<u8>> {
        let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut files = BTreeMap::new();
        for number in 0..zip.len() {
            let mut file = zip.by_index(number).unwrap();
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            let name = file.name().unwrap().into_owned();
            files.insert(name, content);
        }
        files
    }

    #[test]
    fn an_archive_is_a_folder_of_records_and_the_same_each_time() {
        let seeds: Vec<_> = embedded().unwrap().into_iter().take(5).collect();
        let records: Vec<Record> = seeds
            .iter()
            .map(|seed| Record::parse(&seed.document, &seed.annex).unwrap())
            .collect();
        let left_out: RecordId = "a/b".parse().unwrap();
        let written = || archive(Seq(7), records.iter(), std::iter::once(&left_out)).unwrap();
        assert_eq!(written(), written());

        let mut files = files(written());
        let manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
        assert_eq!(manifest["seq"], 7);
        assert_eq!(manifest["records"], 5);
        assert_eq!(manifest["licence"], "CC-BY-4.0");
        assert_eq!(manifest["left_out"][0], "a/b");
        assert!(String::from_utf8_lossy(&files["LICENSE.txt"]).contains("CC-BY-4.0"));
        files.remove("LICENSE.txt");
        assert_eq!(
            pair(files).unwrap(),
            seeds,
            "byte for byte, and nothing else is taken for a record"
        );
    }

    #[test]
    fn a_record_whose_files_would_be_misread_is_left_out_and_listed() {
        let ids = ["t/a", "t/a.ext", "t/a.schema", "t/b"];
        let records = ids.map(|id| {
            let text = document(id, "lost its peer").to_string();
            Record::parse(&text, r#"{"schema_version": 1}"#).unwrap()
        });
        let files = files(archive(Seq(4), records.iter(), std::iter::empty()).unwrap());
        let manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
        assert_eq!(manifest["records"], 2);
        assert_eq!(manifest["left_out"], serde_json::json!(["t/a.ext", "t/a.schema"]));
        let kept: Vec<_> = pair(files).unwrap().into_iter().map(|seed| seed.id).collect();
        assert_eq!(
            kept.iter().map(RecordId::as_str).collect::<Vec<_>>(),
            ["t/a", "t/b"]
        );
    }

    #[test]
    fn an_archive_of_nothing_says_so() {
        let bytes = archive(Seq(0), [].iter(), std::iter::empty()).unwrap();
        assert_eq!(files(bytes).len(), 2);
    }
}
