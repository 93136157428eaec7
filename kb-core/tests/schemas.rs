//! The published schemas are those of the code. `WRITE_SCHEMAS=1` writes them.

use std::fs;
use std::path::PathBuf;

use kb_core::schema;
use serde_json::Value;

#[test]
fn published_schemas_are_current() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../kb-seed/schema");
    for (name, schema) in schema::all() {
        let path = folder.join(name);
        if std::env::var_os("WRITE_SCHEMAS").is_some() {
            fs::write(
                &path,
                format!("{}\n", serde_json::to_string_pretty(&schema).unwrap()),
            )
            .unwrap();
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let published: Value = serde_json::from_str(&text).unwrap_or_default();
        assert_eq!(
            published, schema,
            "{name} is out of date: WRITE_SCHEMAS=1 cargo test -p kb-core --test schemas"
        );
        jsonschema::meta::validate(&schema).unwrap();
    }
}
