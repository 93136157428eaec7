//! JSON Schemas of the texts that others write for us, made from the types that read them.
//!
//! They are published under `kb-seed/schema`; a test holds the files to this code. What a schema cannot say (does a
//! regex compile, is an id taken) is said by [`crate::validate`].

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::annex::Annex;
use crate::record::Document;
use crate::report::Report;

/// The published schemas by file name.
pub fn all() -> [(&'static str, Value); 3] {
    [
        (
            "document.schema.json",
            schema::<Document>("Peerless record: document"),
        ),
        ("annex.schema.json", schema::<Annex>("Peerless record: annex")),
        (
            "report.schema.json",
            schema::<Report>("Peerless agent report, version 1"),
        ),
    ]
}

fn schema<T: JsonSchema>(title: &str) -> Value {
    let mut schema: Schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>();
    schema.insert("title".to_owned(), Value::String(title.to_owned()));
    schema.to_value()
}
