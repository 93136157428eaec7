//! Lines of reports become templates beside the requests: a report is answered before its lines are looked at.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kb_core::ids::NodeId;
use kb_core::templates::{Placed, Templates};
use kb_core::text::Sha256;
use time::OffsetDateTime;

use super::lines::{UnknownLine, UnknownLines, unknown_lines};
use crate::feed::Generation;
use crate::store::{MOST_UNMATCHED, Store, StoreError, UnmatchedSeen};

/// Reports whose logs wait, at most; those that come while so many do are not looked at.
const MOST_WAITING: usize = 64;
/// Bytes of all logs that wait.
const MOST_WAITING_BYTES: usize = 32 << 20;
/// Templates that this process makes beyond those that are kept, until it reads those again: the store drops others for them.
const MOST_BEYOND: usize = 500;
/// Examples that are taken from one report for one template.
const EXAMPLES_AT_ONCE: usize = 2;
/// How long the templates of this process are trusted: other servers make some, too.
const TRUSTED_FOR: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub struct LogsOf {
    pub node: NodeId,
    pub hostname: Option<String>,
    pub texts: Vec<String>,
    pub generation: Arc<Generation>,
    pub at: OffsetDateTime,
}

impl LogsOf {
    fn bytes(&self) -> usize {
        self.texts.iter().map(String::len).sum()
    }
}

#[derive(Debug)]
pub struct Unmatched {
    store: Arc<dyn Store>,
    waiting: Mutex<Waiting>,
    tree: tokio::sync::Mutex<Tree>,
    /// Templates without room, since somebody asked.
    lost: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiting {
    logs: VecDeque<LogsOf>,
    bytes: usize,
    is_worked_on: bool,
}

#[derive(Debug)]
struct Tree {
    templates: Templates,
    ids: Vec<String>,
    read_at: Option<Instant>,
}

impl Unmatched {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            waiting: Mutex::default(),
            tree: tokio::sync::Mutex::new(Tree::empty()),
            lost: AtomicU64::new(0),
        }
    }

    /// How many templates were lost since the last call because so many are kept.
    pub fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }

    /// Has the logs looked at soon. Where too many wait they are left out: what fails often comes again.
    pub fn offer(self: &Arc<Self>, logs: LogsOf) {
        let bytes = logs.bytes();
        if bytes == 0 {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.logs.len() >= MOST_WAITING || waiting.bytes + bytes > MOST_WAITING_BYTES {
            tracing::warn!(node = %logs.node, "too many logs wait to be looked at for unknown lines, these are left out");
            return;
        }
        waiting.bytes += bytes;
        waiting.logs.push_back(logs);
        if !std::mem::replace(&mut waiting.is_worked_on, true) {
            tokio::spawn(Arc::clone(self).work());
        }
    }

    async fn work(self: Arc<Self>) {
        while let Some(logs) = self.next() {
            let node = logs.node.clone();
            if let Err(error) = self.look(logs).await {
                tracing::warn!(%node, %error, "unknown lines of a report could not be kept");
            }
        }
    }

    fn next(&self) -> Option<LogsOf> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let next = waiting.logs.pop_front();
        waiting.bytes -= next.as_ref().map_or(0, LogsOf::bytes);
        waiting.is_worked_on = next.is_some();
        next
    }

    async fn look(&self, logs: LogsOf) -> Result<(), StoreError> {
        let (node, at) = (logs.node.to_string(), logs.at);
        let found = tokio::task::spawn_blocking(move || {
            let host = logs.hostname.as_deref();
            let texts = logs.texts.iter();
            let found = texts.map(|text| unknown_lines(&logs.generation.matcher, text, host));
            found.fold(UnknownLines::default(), |mut all, found| {
                all.are_more |= found.are_more;
                all.lines.extend(found.lines);
                all
            })
        });
        match found.await {
            Ok(found) => {
                if found.are_more {
                    tracing::info!(node, "a report has more unknown lines than are looked at");
                }
                self.keep(found.lines, &node, at).await
            }
            Err(error) => {
                tracing::error!(%error, "looking for unknown lines ended in a fault of ours");
                Ok(())
            }
        }
    }

    /// Counts lines under their templates. `node` is empty for texts that were pasted.
    pub async fn keep(
        &self,
        lines: Vec<UnknownLine>,
        node: &str,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut tree = self.tree.lock().await;
        if tree.read_at.is_none_or(|read| read.elapsed() > TRUSTED_FOR) {
            *tree = Tree::of(self.store.unmatched_tokens().await?);
        }
        let (seen, without_room) = tree.place(lines, node);
        let noted = self.store.note_unmatched(&seen, at).await;
        if noted.is_err() || without_room > 0 {
            // What was placed is not kept, or what is kept has to be seen anew.
            tree.read_at = None;
        }
        let lost = noted? + without_room;
        if lost > 0 {
            self.lost.fetch_add(lost, Ordering::Relaxed);
            tracing::warn!(
                node,
                lost,
                "the queue of unknown lines is full: those of the fewest lines are dropped"
            );
        }
        Ok(())
    }
}

impl Tree {
    fn empty() -> Self {
        Self {
            templates: Templates::new(MOST_UNMATCHED as usize + MOST_BEYOND),
            ids: Vec::new(),
            read_at: None,
        }
    }

    fn of(kept: Vec<(String, Vec<String>)>) -> Self {
        let mut tree = Self::empty();
        for (id, tokens) in kept {
            if tree.templates.restore(tokens).is_some() {
                tree.ids.push(id);
            }
        }
        tree.read_at = Some(Instant::now());
        tree
    }

    fn place(&mut self, lines: Vec<UnknownLine>, node: &str) -> (Vec<UnmatchedSeen>, u64) {
        let mut without_room = 0;
        let mut seen: BTreeMap<usize, UnmatchedSeen> = BTreeMap::new();
        let mut wider: HashMap<usize, bool> = HashMap::new();
        for line in lines {
            let text = line.tokens.concat();
            let place = match self.templates.place(line.tokens) {
                Placed::Known(place) => place,
                Placed::Widened(place) => {
                    wider.insert(place, true);
                    place
                }
                Placed::New(place) => {
                    self.ids.push(id_of(&text));
                    place
                }
                Placed::Full => {
                    without_room += 1;
                    continue;
                }
            };
            let Some(id) = self.ids.get(place) else { continue };
            let seen = seen.entry(place).or_insert_with(|| UnmatchedSeen {
                id: id.clone(),
                tokens: Vec::new(),
                is_wider: false,
                examples: Vec::new(),
                node: node.to_owned(),
                count: 0,
            });
            seen.count = seen.count.saturating_add(line.count);
            if seen.examples.len() < EXAMPLES_AT_ONCE && !seen.examples.contains(&line.example) {
                seen.examples.push(line.example);
            }
        }
        for (place, seen) in &mut seen {
            seen.tokens = self.templates.get(*place).to_vec();
            seen.is_wider = wider.contains_key(place);
        }
        // Two templates may have begun with the same text on two servers.
        let mut by_id: BTreeMap<String, UnmatchedSeen> = BTreeMap::new();
        for seen in seen.into_values() {
            match by_id.get_mut(&seen.id) {
                Some(known) => known.count = known.count.saturating_add(seen.count),
                None => {
                    by_id.insert(seen.id.clone(), seen);
                }
            }
        }
        (by_id.into_values().collect(), without_room)
    }
}

/// The id of a template, from the text that it began with: the same on every server.
fn id_of(text: &str) -> String {
    let digest = Sha256::of(text.trim().as_bytes()).to_string();
    digest.get(..16).unwrap_or(&digest).to_owned()
}
