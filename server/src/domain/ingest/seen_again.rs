//! Whether a later report has measured and read again what an earlier one warned of. What it found then is its own to tell: a report
//! that finds it as bad warns of it, too.

use kb_core::observation::Look;
use kb_core::policy::Policy;
use kb_core::report::{Bearing, Report};
use kb_core::verdict::not_admitted;

use super::both::Both;
use super::ledgers::Ledgers;
use super::of_ledger::events;
use super::warned::Warned;
use super::weight::origin;
use crate::store::Origin;

/// Why the later report leaves a warning as it was; `None` where it has seen again all that told of it, or admits the node. An event of
/// the ledger ends by the ledger alone.
pub(super) fn leaves_warning_open(earlier: &Report, later: &Report, policy: &Policy) -> Option<String> {
    let ledgers = Ledgers::of(earlier, later);
    let mut warnings = events(earlier, Bearing::Warning).filter(|event| event.bearing == Bearing::Warning);
    if let Some(event) = warnings.find(|event| !ledgers.is_closed(event)) {
        return Some(format!("{} was not ended by a run or a person", event.id));
    }
    let warned = Warned::of(earlier, policy);
    let both = Both::of(ledgers);
    if not_admitted(later).is_none() {
        return both.first_gone();
    }
    let is_by_pairs = !(warned.pairs.is_empty() && warned.loads.is_empty());
    if is_by_pairs && origin(earlier) == Origin::Run && !later.was_tried() {
        return Some("no look can see again what a run warned of".to_owned());
    }
    if let Some(cause) = warned.loads.first() {
        return Some(format!("{cause}, found under load, ends by an admission"));
    }
    if warned.is_unnamed() {
        // Then it may have been any of it.
        let read = Look::of(earlier);
        let mut measurements = earlier.measurements.iter();
        let mut known = Vec::new();
        let unmeasured = measurements.find_map(|measurement| both.unmeasured(measurement, &mut known));
        let unread = both.unread(read.read());
        return unmeasured.or(unread);
    }
    let states = warned.states.iter();
    both.not_followed(&warned.evidence)
        .or_else(|| both.unread(states.map(|(cause, device)| (cause.as_str(), device.as_str()))))
}
