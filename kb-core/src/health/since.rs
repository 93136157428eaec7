//! What a later report's ledger tells of the entries that an earlier one had open. Both may hold thousands, so that neither is gone
//! through for each entry of the other.

use std::collections::{BTreeMap, BTreeSet};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::report::{Clear, Entry, Order, Report};

/// Two ledgers of one node, made once for two reports and asked for each entry.
#[derive(Debug)]
pub struct LedgerSince<'r> {
    /// Ids of what is open in the later one.
    open: BTreeSet<&'r str>,
    /// The clears that the earlier one did not have, by the id of what they ended.
    clears: BTreeMap<&'r str, Vec<Noted<'r>>>,
}

/// When something was noted: by the clock, and in the order of the ledger.
#[derive(Debug, Clone, Copy)]
struct Noted<'r> {
    at: Option<OffsetDateTime>,
    order: Option<&'r Order>,
}

/// What makes a clear the same in two reports, apart from its place in the order.
type Same<'r> = (&'r str, &'r str, &'r str, &'r [String]);

impl<'r> LedgerSince<'r> {
    /// Holds the ledgers of two reports against each other.
    pub fn of(earlier: &'r Report, later: &'r Report) -> Self {
        let mut known: BTreeMap<Same<'r>, Vec<Option<&Order>>> = BTreeMap::new();
        for clear in clears(earlier) {
            known.entry(same(clear)).or_default().push(clear.order.as_ref());
        }
        let is_known = |clear: &Clear| {
            let mut orders = known.get(&same(clear)).into_iter().flatten();
            // One that was told before it was kept had no place then.
            orders.any(|order| order.is_none() || clear.order.is_none() || *order == clear.order.as_ref())
        };
        let mut ended: BTreeMap<&str, Vec<Noted<'_>>> = BTreeMap::new();
        for clear in clears(later).filter(|clear| !is_known(clear)) {
            let noted = Noted::of(&clear.at, clear.order.as_ref());
            let ids: BTreeSet<&str> = clear.entries.iter().map(String::as_str).collect();
            for id in ids {
                ended.entry(id).or_default().push(noted);
            }
        }
        let open = later.health.iter().flat_map(|health| &health.open);
        Self {
            open: open.map(|entry| entry.id.as_str()).collect(),
            clears: ended,
        }
    }

    /// Whether the later ledger has an entry of this id open.
    pub fn has_open(&self, id: &str) -> bool {
        self.open.contains(id)
    }

    /// Whether the later ledger tells of a clear of this entry, by a person or a run, that the earlier one did not have. A clear is of what
    /// had happened by then: the same cause may come again on the same device, under the same id.
    pub fn is_cleared(&self, entry: &Entry) -> bool {
        let Some(clears) = self.clears.get(entry.id.as_str()) else {
            return false;
        };
        let last = Noted::of(&entry.last_at, entry.order.as_ref());
        clears.iter().any(|clear| clear.is_after(last))
    }
}

impl<'r> Noted<'r> {
    fn of(at: &str, order: Option<&'r Order>) -> Self {
        Self {
            at: OffsetDateTime::parse(at, &Rfc3339).ok(),
            order,
        }
    }

    /// By the order of the ledger that noted both, else by the node's clock. Of a time that cannot be read that is not known.
    fn is_after(self, last: Noted<'_>) -> bool {
        let by_order = self.order.zip(last.order);
        if let Some(is_after) = by_order.and_then(|(order, last)| order.is_after(last)) {
            return is_after;
        }
        self.at.zip(last.at).is_some_and(|(at, last)| at > last)
    }
}

/// Whether something is after the last occurrence of the entry: by the order of the ledger that noted both, else by the node's clock. Of a
/// time that cannot be read that is not known.
pub fn is_after((at, order): (&str, Option<&Order>), entry: &Entry) -> bool {
    Noted::of(at, order).is_after(Noted::of(&entry.last_at, entry.order.as_ref()))
}

fn clears(report: &Report) -> impl Iterator<Item = &Clear> {
    report.health.iter().flat_map(|health| &health.clears)
}

fn same(clear: &Clear) -> Same<'_> {
    (&clear.at, &clear.by, &clear.reason, &clear.entries)
}
