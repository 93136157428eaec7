//! What the time of a run goes into.

use std::time::Instant;

use kb_core::report::Part;

pub(super) struct Parts {
    ended: Vec<Part>,
    since: Instant,
}

impl Parts {
    pub(super) fn begin() -> Self {
        Self {
            ended: Vec::new(),
            since: Instant::now(),
        }
    }

    pub(super) fn end(&mut self, name: &str) {
        let now = Instant::now();
        self.ended.push(Part {
            name: name.to_owned(),
            seconds: now.duration_since(self.since).as_secs_f64(),
        });
        self.since = now;
    }

    pub(super) fn into_list(self) -> Vec<Part> {
        self.ended
    }
}
