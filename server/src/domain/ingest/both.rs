//! An earlier report and a later one, held against each other in what the earlier one warned of: what was not measured or read again,
//! and of which GPU, wherever that is now.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use kb_core::observation::cause;
use kb_core::report::{Cell, Fact, Gpu, GpuIndex, Measurement, Outcome, Pair, Report, fact_name};

use super::gone::{is_as_many_as_expected, is_same, name};
use super::ledgers::Ledgers;
use super::log_read::unread_log;

/// Fewest samples of a figure that is judged.
const LEAST_SAMPLES: usize = 3;
const NOWHERE: &str = "what told of it leads to nothing in its report, so that nothing could be seen again";

/// Where a GPU of the earlier report is in the later one.
enum Place {
    At(GpuIndex),
    /// It was taken out, as the operator says, or exchanged with all others.
    TakenOut,
    Gone(String),
}

/// One end of a copy, in the later report; `None` is the host.
enum End<'b> {
    At(Option<GpuIndex>),
    TakenOut,
    Gone(&'b str),
}

/// An earlier report and a later one.
pub(super) struct Both<'r> {
    earlier: &'r Report,
    later: &'r Report,
    ledgers: Ledgers<'r>,
    /// Of each GPU of the earlier report.
    places: Vec<Place>,
    /// The pairs of the later report, each with the checks that passed. Pointers and checks are as many as a report may hold, so that
    /// neither is gone through for each of the other.
    pairs: BTreeMap<(GpuIndex, GpuIndex), (&'r Pair, Passed<'r>)>,
}

/// Names of checks that passed, once somebody asks.
type Passed<'r> = OnceCell<BTreeSet<&'r str>>;

/// From where to where something was measured; `None` is the host.
type Way = (Option<GpuIndex>, Option<GpuIndex>);

impl<'r> Both<'r> {
    pub(super) fn of(ledgers: Ledgers<'r>) -> Self {
        let (earlier, later) = (ledgers.earlier, ledgers.later);
        let are_exchanged = ledgers.are_exchanged();
        let places = earlier.gpus.iter().map(|gpu| match place(gpu, earlier, later) {
            Place::Gone(_) if are_exchanged => Place::TakenOut,
            place => place,
        });
        let pairs = later.pairs.iter().rev();
        Self {
            earlier,
            later,
            places: places.collect(),
            ledgers,
            pairs: pairs
                .map(|pair| ((pair.a, pair.b), (pair, OnceCell::new())))
                .collect(),
        }
    }

    /// Why it is not about all GPUs of the earlier report.
    pub(super) fn first_gone(&self) -> Option<String> {
        self.places.iter().find_map(|place| match place {
            Place::Gone(why) => Some(why.clone()),
            Place::At(_) | Place::TakenOut => None,
        })
    }

    pub(super) fn not_followed(&self, evidence: &BTreeSet<String>) -> Option<String> {
        let (mut measured, mut known) = (BTreeSet::new(), Vec::new());
        for pointer in evidence {
            let parts: Vec<&str> = pointer.split('/').skip(1).collect();
            let why = match parts.as_slice() {
                ["measurements", number, ..] => match at(&self.earlier.measurements, number) {
                    Some(measurement) if measured.insert(*number) => self.unmeasured(measurement, &mut known),
                    Some(_) => None,
                    None => Some(NOWHERE.to_owned()),
                },
                ["gpus", number, "facts", name] => self.fact_unread(number, name),
                ["pairs", number, "facts", name] => self.pair_unread(number, name),
                ["pairs", number, "directions", direction, "checks", check] => {
                    self.unchecked(number, direction, check)
                }
                ["host", name] => {
                    let fact = self.later.host.get(*name);
                    (!is_read(fact)).then(|| format!("{name} was not read"))
                }
                ["logs", number, ..] => {
                    let log = number.parse().unwrap_or(usize::MAX);
                    unread_log(log, self.earlier, self.later)
                }
                // What the driver answers about a pair, every proof asks again.
                _ => None,
            };
            if why.is_some() {
                return why;
            }
        }
        None
    }

    /// A figure is good beside others: the same test of the same size has to be there with all pairs.
    /// `known` has what was gathered of other tests before.
    pub(super) fn unmeasured(
        &self,
        measurement: &'r Measurement,
        known: &mut Vec<(&'r Measurement, BTreeSet<Way>)>,
    ) -> Option<String> {
        let place = known.iter().position(|(one, _)| is_alike(measurement, one));
        let place = place.unwrap_or_else(|| {
            known.push((measurement, self.measured_as(measurement)));
            known.len() - 1
        });
        let (_, there) = known.get(place)?;
        let mut then = measurement.cells.iter().filter(|cell| is_measured(cell));
        then.find_map(|cell| {
            let (from, to) = match (self.end(cell.source), self.end(cell.destination)) {
                (End::At(from), End::At(to)) => (from, to),
                (End::Gone(why), _) | (_, End::Gone(why)) => return Some(why.to_owned()),
                (End::TakenOut, _) | (_, End::TakenOut) => return None,
            };
            let mut gpus = [from, to].into_iter().flatten();
            if let Some(index) = gpus.find(|index| self.is_used_by_others(*index)) {
                return Some(format!("GPU {index} was used by others while it was measured"));
            }
            let told = || {
                let named = |end: Option<GpuIndex>| {
                    end.map_or_else(|| "the host".to_owned(), |index| format!("GPU {index}"))
                };
                let (metric, bytes) = (&measurement.metric, measurement.bytes);
                let (from, to) = (named(from), named(to));
                format!("{metric} of {bytes} bytes from {from} to {to} was not measured again")
            };
            (!there.contains(&(from, to))).then(told)
        })
    }

    fn measured_as(&self, measurement: &Measurement) -> BTreeSet<Way> {
        let alike = self.later.measurements.iter();
        let alike = alike.filter(|other| is_alike(measurement, other));
        let cells = alike
            .flat_map(|other| &other.cells)
            .filter(|cell| is_measured(cell));
        cells.map(|cell| (cell.source, cell.destination)).collect()
    }

    fn end(&self, index: Option<GpuIndex>) -> End<'_> {
        match index.map(|index| self.place(index)) {
            None => End::At(None),
            Some(Place::At(index)) => End::At(Some(*index)),
            Some(Place::TakenOut) => End::TakenOut,
            Some(Place::Gone(why)) => End::Gone(why),
        }
    }

    fn fact_unread(&self, number: &str, fact: &str) -> Option<String> {
        match at(&self.places, number) {
            Some(Place::At(index)) => {
                let gpu = gpu_at(self.later, *index);
                let fact_now = gpu.and_then(|gpu| gpu.facts.get(fact));
                let named = gpu.map_or_else(|| format!("GPU {index}"), name);
                (!is_read(fact_now)).then(|| format!("{fact} of {named} was not read"))
            }
            Some(Place::TakenOut) => None,
            Some(Place::Gone(why)) => Some(why.clone()),
            None => Some(NOWHERE.to_owned()),
        }
    }

    fn pair_unread(&self, number: &str, fact: &str) -> Option<String> {
        let Some(pair) = at(&self.earlier.pairs, number) else {
            return Some(NOWHERE.to_owned());
        };
        let told = |now: &Pair, _: &OnceCell<_>| {
            let (a, b) = (now.a, now.b);
            let why = format!("{fact} of GPU {a} and GPU {b} was not read");
            (!is_read(now.facts.get(fact))).then_some(why)
        };
        self.of_pair(pair, told)
    }

    fn unchecked(&self, number: &str, direction: &str, check: &str) -> Option<String> {
        let check = at(&self.earlier.pairs, number).and_then(|pair| {
            let direction = at(&pair.directions, direction)?;
            Some((pair, &at(&direction.checks, check)?.name))
        });
        let Some((pair, name)) = check else {
            return Some(NOWHERE.to_owned());
        };
        self.of_pair(pair, |now, passed| {
            let is_made = passed.get_or_init(|| passed_in(now)).contains(name.as_str());
            let (a, b) = (now.a, now.b);
            (!is_made).then(|| format!("{name} of GPU {a} and GPU {b} did not pass again"))
        })
    }

    /// What the later report lacks of the same pair.
    fn of_pair(
        &self,
        pair: &Pair,
        lacks: impl Fn(&'r Pair, &Passed<'r>) -> Option<String>,
    ) -> Option<String> {
        match (self.place(pair.a), self.place(pair.b)) {
            (Place::Gone(why), _) | (_, Place::Gone(why)) => Some(why.clone()),
            (Place::TakenOut, _) | (_, Place::TakenOut) => None,
            (Place::At(a), Place::At(b)) => match self.pairs.get(&(*a.min(b), *a.max(b))) {
                Some((now, passed)) => lacks(now, passed),
                None => Some(format!("GPU {a} and GPU {b} were not looked at")),
            },
        }
    }

    /// A state that was neither read again nor cleared since.
    pub(super) fn unread<'c, 'd>(
        &self,
        mut states: impl Iterator<Item = (&'c str, &'d str)>,
    ) -> Option<String> {
        let devices = self.ledgers.devices();
        let (cause, device) = states.find(|(cause, device)| {
            let now = devices.now(device);
            let is_shown = devices.has_read(cause, now)
                // Of an idle GPU nothing tells that its clocks are held down; a run makes it work.
                || (*cause == cause::THROTTLED && self.later.was_tried())
                || devices.is_accounted_for(now)
                || (devices.is_of_gpu(device) && self.ledgers.are_exchanged());
            !is_shown && !self.ledgers.is_cleared(cause, device)
        })?;
        Some(format!(
            "{cause} of {device}, which was a warning then, was not read"
        ))
    }

    fn place(&self, index: GpuIndex) -> &Place {
        let place = usize::try_from(index)
            .ok()
            .and_then(|index| self.places.get(index));
        place.unwrap_or(&Place::TakenOut)
    }

    fn is_used_by_others(&self, index: GpuIndex) -> bool {
        let shared = gpu_at(self.later, index).and_then(|gpu| gpu.facts.get(fact_name::SHARED));
        shared.is_some_and(|fact| fact.value == Some(true.into()))
    }
}

fn place(gpu: &Gpu, earlier: &Report, later: &Report) -> Place {
    let gpus = (0..).zip(&later.gpus);
    let mut same = gpus.filter(|(_, other)| is_same(gpu, other, earlier, later));
    match same.next() {
        Some((index, _)) => Place::At(index),
        None if is_as_many_as_expected(later) => Place::TakenOut,
        None => {
            let (gone, has) = (name(gpu), later.gpus.len());
            Place::Gone(format!(
                "{gone} is not among its GPUs (if it was taken out, say so: --expect gpus={has})"
            ))
        }
    }
}

fn passed_in(pair: &Pair) -> BTreeSet<&str> {
    let checks = pair.directions.iter().flat_map(|direction| &direction.checks);
    let passed = checks.filter(|check| matches!(check.outcome, Outcome::Pass | Outcome::PassAlone));
    passed.map(|check| check.name.as_str()).collect()
}

fn at<'l, T>(list: &'l [T], number: &str) -> Option<&'l T> {
    list.get(number.parse::<usize>().ok()?)
}

fn gpu_at(report: &Report, index: GpuIndex) -> Option<&Gpu> {
    report.gpus.get(usize::try_from(index).ok()?)
}

fn is_read(fact: Option<&Fact>) -> bool {
    fact.is_some_and(|fact| fact.value.is_some())
}

fn is_measured(cell: &Cell) -> bool {
    let usable = cell
        .samples
        .iter()
        .filter(|sample| sample.is_finite() && **sample > 0.0);
    usable.count() >= LEAST_SAMPLES
}

fn is_alike(one: &Measurement, other: &Measurement) -> bool {
    one.metric == other.metric
        && one.bytes == other.bytes
        && one.engine == other.engine
        && one.operation == other.operation
        && one.peer_access == other.peer_access
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::{proven, report};
    use crate::domain::work_time::spent;

    /// As many checks and pointers as a report may hold: each pointer leads to a check, of which none has passed again.
    #[test]
    fn the_work_grows_with_the_reports_and_not_with_their_product() {
        const CHECKS: usize = 15_000;
        let read = |report: &Value| serde_json::from_value::<Report>(report.clone()).unwrap();
        let check = |number: usize| {
            json!({
                "rung": 3, "name": format!("the same long name of a check {number}"), "engine": "sm", "outcome": "pass",
                "checked_by": "owner_kernel", "bytes": 4096, "seconds": 0.5,
            })
        };
        let checks: Vec<Value> = (0..CHECKS).map(check).collect();
        let mut pair = proven(0, 1);
        pair["directions"][0]["checks"] = json!(checks);
        pair["directions"][1]["checks"] = json!([]);
        let later = read(&report(2, &[pair.clone()]));
        let pointer = |number: usize| format!("/pairs/0/directions/0/checks/{number}");
        pair["verdict"]["verdict"] = json!("degraded");
        pair["verdict"]["evidence"] = (0..CHECKS).rev().map(pointer).collect();
        let earlier = read(&report(2, &[pair]));
        let evidence: BTreeSet<String> = (0..CHECKS).map(pointer).collect();
        let began = spent();
        assert_eq!(
            Both::of(Ledgers::of(&earlier, &later)).not_followed(&evidence),
            None
        );
        // Gone through for each other, it is a hundred times as much.
        let took = spent().saturating_sub(began);
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}
