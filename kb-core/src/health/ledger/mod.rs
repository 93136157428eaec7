//! The ledger: what is open on a node, kept from look to look. It is a value; the agent keeps it in a file.

mod decidable;
mod errors;
mod gpus;
mod links;
mod load;
mod log;
mod new;
mod node;
mod places;
mod proof;
mod times;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub(in crate::health) use self::decidable::by_policy as proof_by_policy;
use self::errors::Lifetime;
use self::gpus::Granted;
pub use self::gpus::ListedEarlier;
pub use self::log::{LogPlace, Place, Unended};
use self::new::New;
pub use self::node::NotOurs;
use self::places::Places;
use self::times::{KernelTimes, note_times};
use crate::ids::NodeId;
use crate::observation::{Look, Reading, cause};
use crate::report::{Bearing, Clear, Counter, Entry, Health, NODE, Nature, Order, Proof, Unread, Verdict};

const VERSION: u32 = 1;
const MOST_CLEARS: usize = 100;

/// What is known of a node from look to look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    version: u32,
    /// What has not ended, in the order in which it came.
    open: Vec<Entry>,
    counters: Vec<Counter>,
    /// The last count of uncorrected errors of each device, in the boot `errors_boot`.
    errors: BTreeMap<String, u64>,
    #[serde(default)]
    errors_boot: Option<String>,
    /// What each GPU itself counts over boots, by UUID. Absent in ledgers of older agents: not known, and not zero.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    lifetimes: BTreeMap<String, Lifetime>,
    /// How far the kernel log was read.
    pub log: Option<LogPlace>,
    last_proof: Option<Proof>,
    /// PCI addresses listed in the boot `gpus_boot`. A look at some GPUs takes none away. Earlier builds kept a number as `gpus`.
    #[serde(default, rename = "gpus_seen")]
    gpus: BTreeSet<String>,
    #[serde(default)]
    gpus_boot: Option<String>,
    /// Those of the boot before since the last admission in which there were most. Absent in ledgers of older agents.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    gpus_before: BTreeSet<String>,
    /// The same of looks that may not have seen all, by what was granted to them, the newest last. Absent in ledgers of older agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gpus_granted: Vec<Granted>,
    /// Where the GPUs are on the bus. Absent in ledgers of older agents.
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    places: Places,
    /// The kernel's own times of what is open. Absent in ledgers of older agents.
    #[serde(default, skip_serializing_if = "KernelTimes::is_empty")]
    kernel_times: KernelTimes,
    /// When the node was admitted last, RFC 3339, UTC. Absent in ledgers of older agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    admitted_at: Option<String>,
    /// The most NVLinks of each GPU that were up in the boot `links_boot`. Absent in ledgers of older agents.
    #[serde(default)]
    links: BTreeMap<String, u64>,
    #[serde(default)]
    links_boot: Option<String>,
    clears: Vec<Clear>,
    /// Ids that agents gave this node, the newest last; in a container it may differ. Absent in ledgers of older agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<NodeId>,
    /// The boot in which one of them wrote last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes_boot: Option<String>,
    /// The last place in its order that was given. Absent in ledgers of older agents, until one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<Order>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            version: VERSION,
            open: Vec::new(),
            counters: Vec::new(),
            errors: BTreeMap::new(),
            errors_boot: None,
            lifetimes: BTreeMap::new(),
            log: None,
            last_proof: None,
            gpus: BTreeSet::new(),
            gpus_boot: None,
            gpus_before: BTreeSet::new(),
            gpus_granted: Vec::new(),
            places: Places::default(),
            kernel_times: KernelTimes::default(),
            admitted_at: None,
            links: BTreeMap::new(),
            links_boot: None,
            clears: Vec::new(),
            nodes: Vec::new(),
            nodes_boot: None,
            order: None,
        }
    }
}

/// Why nothing was cleared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClearError {
    /// Nothing of this name is open.
    #[error("nothing is open under {what:?}; open are: {open}")]
    NotOpen {
        /// What was asked for.
        what: String,
        /// Ids of all that is open.
        open: String,
    },
}

impl Ledger {
    /// Reads what [`Ledger::to_json`] wrote. An error says why it is damaged.
    pub fn from_json(bytes: &[u8]) -> Result<Self, String> {
        let ledger: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if ledger.version == VERSION {
            Ok(ledger)
        } else {
            Err(format!(
                "it has version {}, this agent reads {VERSION}",
                ledger.version
            ))
        }
    }

    /// As it is kept.
    pub fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// Replaces an unreadable one: the node's state is unknown until cleared, or until it is admitted after a new boot.
    pub fn in_place_of_damaged(why: &str, at: &str, boot_id: Option<&str>) -> Self {
        let mut ledger = Self::default();
        ledger.add(New {
            nature: Nature::Event,
            bearing: Bearing::Unknown,
            count: 1,
            at,
            boot_id,
            text: format!("the ledger of earlier faults could not be read: {why}"),
            ..New::of(cause::LEDGER_DAMAGED, NODE)
        });
        ledger
    }

    /// Begins the ledger's order under this name, which no other ledger has, where it has none.
    pub fn name(&mut self, name: &str) {
        self.order.get_or_insert_with(|| Order {
            ledger: name.to_owned(),
            number: 0,
        });
    }

    /// The last place in its order that was given.
    pub fn order(&self) -> Option<&Order> {
        self.order.as_ref()
    }

    /// The next place in the ledger's order.
    fn next_place(&mut self) -> Option<Order> {
        let last = self.order.as_mut()?;
        last.number = last.number.saturating_add(1);
        Some(last.clone())
    }

    /// Takes in a look: events of the log first, then what is read now.
    pub fn look(&mut self, look: &Look) {
        self.log(look);
        self.errors(look);
        self.links(look);
        let lost = self.lost_links(look);
        let is_lost = |state: &&Reading| lost.iter().any(|lost| links::is_of(state, &lost.device));
        for reading in look.states.iter().filter(|state| !is_lost(state)).chain(&lost) {
            self.state(reading, look);
        }
        self.gpus(look);
        self.places(look);
        self.kernel_times
            .keep_those_of(&self.open, look.boot_id.as_deref());
    }

    fn state(&mut self, Reading { cause, device, bad }: &Reading, look: &Look) {
        match bad {
            Some(text) => self.add(New {
                count: 1,
                text: text.clone(),
                ..New::now(cause, device, Nature::State, look)
            }),
            None => self.end(|entry| {
                entry.nature == Nature::State && entry.cause == *cause && entry.device == *device
            }),
        }
    }

    fn end(&mut self, is_over: impl Fn(&Entry) -> bool) {
        self.open.retain(|entry| !is_over(entry));
    }

    /// Opens an entry, or adds to the one that is open: it stays as bad as it has been.
    fn add(&mut self, new: New<'_>) {
        let id = new.id();
        let says_as_much = |entry: &Entry| {
            entry.id == id && entry.bearing >= new.bearing && entry.boot_id.as_deref() != new.boot_id
        };
        if new.is_in_doubt && self.open.iter().any(says_as_much) {
            // What is open of another boot stays in it.
            return;
        }
        let order = self.next_place();
        let before = self.kernel_times.note(&id, &new);
        if let Some(entry) = self.open.iter_mut().find(|entry| entry.id == id) {
            note_times(entry, &new, &before);
            entry.count = entry.count.saturating_add(new.count);
            new.at.clone_into(&mut entry.last_at);
            entry.boot_id = new.boot_id.map(str::to_owned);
            entry.order = order;
            if new.bearing >= entry.bearing {
                entry.bearing = new.bearing;
                entry.text = new.text;
            }
            return;
        }
        let mut entry = Entry {
            id,
            cause: new.cause.to_owned(),
            nature: new.nature,
            bearing: new.bearing,
            device: new.device.to_owned(),
            number: new.number,
            record: new.record.clone(),
            severity: new.known.and_then(|known| known.severity),
            action: new.known.and_then(|known| known.action),
            at_fault: new.known.map(|known| known.at_fault),
            count: 0,
            first_at: new.at.to_owned(),
            last_at: new.at.to_owned(),
            boot_id: new.boot_id.map(str::to_owned),
            text: new.text.clone(),
            times: Vec::new(),
            spans: Vec::new(),
            by_policy: None,
            order,
        };
        note_times(&mut entry, &new, &[]);
        entry.count = new.count;
        self.open.push(entry);
    }

    /// Ends what a person says has ended, by id, or by cause on all devices. What is still bad opens again at the next look.
    pub fn clear(&mut self, what: &str, reason: &str, by: &str, at: &str) -> Result<Clear, ClearError> {
        let is_meant = |entry: &Entry| entry.id == what || entry.cause == what;
        let ids = |of: &dyn Fn(&Entry) -> bool| -> Vec<String> {
            let open = self.open.iter().filter(|entry| of(entry));
            open.map(|entry| entry.id.clone()).collect()
        };
        let entries = ids(&is_meant);
        if entries.is_empty() {
            let open = ids(&|_| true);
            return Err(ClearError::NotOpen {
                what: what.to_owned(),
                open: if open.is_empty() {
                    "nothing".to_owned()
                } else {
                    open.join(", ")
                },
            });
        }
        // How many links are up now is then what should be.
        let of_links = |entry: &&Entry| is_meant(entry) && entry.cause == cause::LINKS_DOWN;
        for entry in self.open.iter().filter(of_links) {
            self.links.remove(&entry.device);
        }
        // So are the GPUs that are there.
        let is_of_gpus = |entry: &Entry| is_meant(entry) && entry.cause == cause::DEVICE_MISSING;
        if self.open.iter().any(is_of_gpus) {
            self.gpus_before.clear();
        }
        self.end(is_meant);
        let clear = Clear {
            at: at.to_owned(),
            by: by.to_owned(),
            reason: reason.to_owned(),
            entries,
            order: self.next_place(),
        };
        self.add_clear(clear.clone());
        Ok(clear)
    }

    fn add_clear(&mut self, clear: Clear) {
        self.clears.push(clear);
        let surplus = self.clears.len().saturating_sub(MOST_CLEARS);
        self.clears.drain(..surplus);
    }

    /// Adds what was found open after `base` was read, and could be kept in `unkept` alone. What has changed in this one
    /// meanwhile stands: a person's clear, another process's look.
    pub fn add_unkept(&mut self, unkept: &Self, base: &Self) {
        if self.log == base.log {
            self.log.clone_from(&unkept.log);
        }
        let is_ahead = |own: &Order| unkept.order.as_ref().and_then(|other| other.is_after(own));
        if self.order.as_ref().is_none_or(|own| is_ahead(own) == Some(true)) {
            self.order.clone_from(&unkept.order);
        }
        let new = unkept.open.iter().filter(|entry| !base.has(&entry.id));
        self.add_open(new.cloned().collect());
    }

    /// Adds what is not open here by its id.
    pub fn add_open(&mut self, mut entries: Vec<Entry>) {
        entries.retain(|entry| !self.has(&entry.id));
        for entry in &mut entries {
            if let Some(order) = self.next_place() {
                entry.order = Some(order);
            }
        }
        self.open.append(&mut entries);
    }

    fn has(&self, id: &str) -> bool {
        self.open.iter().any(|entry| entry.id == id)
    }

    /// What is known now, with what the look could not read.
    pub fn health(&self, unread: Vec<Unread>) -> Health {
        let mut open = self.open.clone();
        open.sort_by_key(|entry| std::cmp::Reverse(entry.bearing));
        Health {
            verdict: verdict_of(&open, &unread, self.last_proof.as_ref()),
            open,
            counters: self.counters.clone(),
            unread,
            look: None,
            last_proof: self.last_proof.clone(),
            clears: self.clears.clone(),
            whole_node: false,
        }
    }
}

/// What open entries, what could not be read and the last proof come to.
pub(in crate::health) fn verdict_of(
    open: &[Entry],
    unread: &[Unread],
    last_proof: Option<&Proof>,
) -> Verdict {
    let worst = open
        .iter()
        .map(|entry| entry.bearing)
        .max()
        .unwrap_or(Bearing::Event);
    let proof_failed =
        last_proof.is_some_and(|proof| matches!(proof.counting(), Verdict::Refused | Verdict::Broken));
    match worst {
        _ if proof_failed => Verdict::Broken,
        Bearing::Fault => Verdict::Broken,
        Bearing::Unknown => Verdict::Unknown,
        _ if !unread.is_empty() => Verdict::Unknown,
        Bearing::Warning => Verdict::Degraded,
        Bearing::Event => Verdict::NoFaultSeen,
    }
}
