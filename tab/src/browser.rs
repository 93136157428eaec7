//! The module's door: what the worker's script calls. Errors are sentences for the reader.

use std::sync::Arc;

use wasm_bindgen::prelude::{JsError, wasm_bindgen};

use crate::{FindRequest, Finder, Knowledge, Pack, Reading};

/// All records, ready to be looked for.
#[wasm_bindgen]
pub struct Records(Arc<Knowledge>);

#[wasm_bindgen]
impl Records {
    /// Reads what the server gives out at `/tab/signatures`.
    #[wasm_bindgen(constructor)]
    pub fn new(packed: &[u8]) -> Result<Self, JsError> {
        let pack = Pack::read(packed)?;
        Ok(Self(Arc::new(Knowledge::of(pack))))
    }

    /// Starts reading a log; `environment` is a JSON object of versions by component.
    pub fn start(&self, environment: &str, base_url: &str) -> Result<Log, JsError> {
        let environment = serde_json::from_str(environment)?;
        Ok(Log(Reading::start(&self.0, environment, base_url)?))
    }
}

/// A log that is being read.
#[wasm_bindgen]
pub struct Log(Reading);

#[wasm_bindgen]
impl Log {
    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), JsError> {
        Ok(self.0.push(bytes)?)
    }

    /// Ends the log; the answer as JSON.
    pub fn finish(self) -> Result<String, JsError> {
        Ok(serde_json::to_string(&self.0.finish()?)?)
    }
}

/// The records, ready to be searched.
#[wasm_bindgen]
pub struct Search(Finder);

#[wasm_bindgen]
impl Search {
    /// Reads the texts of the records, and builds the index of them.
    #[wasm_bindgen(constructor)]
    pub fn new(packed: &[u8]) -> Result<Self, JsError> {
        Ok(Self(Finder::read(packed)?))
    }

    /// Gives it what recognises messages.
    pub fn know(&mut self, records: &Records) {
        self.0.know(Arc::clone(&records.0));
    }

    /// Whether an answer to this text waits for [`Self::know`].
    #[wasm_bindgen(js_name = needsRecords)]
    pub fn needs_records(&self, text: &str) -> bool {
        self.0.needs_knowledge(text)
    }

    /// A page of hits as JSON; `request` is a JSON object with `text`, and `domain`, `typing` and `cursor` where they are meant.
    pub fn find(&self, request: &str) -> Result<String, JsError> {
        let request: FindRequest = serde_json::from_str(request)?;
        Ok(serde_json::to_string(&self.0.find(request)?)?)
    }
}
