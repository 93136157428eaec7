//! A warning, a fault of the hardware and a good run, in each order: the run ends what came before it in an earlier boot, and nothing else.

use super::super::Ledger;
use super::{GPU_0, admitted, look, looked, xid};
use crate::policy::Policy;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Warning,
    Fault,
    GoodRun,
}

const ORDERS: [[Step; 3]; 6] = {
    use Step::{Fault as F, GoodRun as R, Warning as W};
    [[W, F, R], [F, W, R], [W, R, F], [F, R, W], [R, W, F], [R, F, W]]
};
const WARNING: u32 = 63;
/// One that a reset of the GPU mends, so that an admission ends it in its own boot.
const FAULT: u32 = 46;

/// Numbers of the Xids that are open at the end, when each step has the boot that `boot` gives it.
fn open_after(order: [Step; 3], boot: impl Fn(usize) -> String) -> Vec<u32> {
    let mut ledger = Ledger::default();
    look(&mut ledger, &looked(&boot(0)), &[]);
    for (place, step) in order.into_iter().enumerate() {
        let boot = boot(place);
        let number = match step {
            Step::Warning => WARNING,
            Step::Fault => FAULT,
            Step::GoodRun => {
                ledger.proof(&admitted(&boot), &Policy::default());
                continue;
            }
        };
        look(
            &mut ledger,
            &looked(&boot),
            &[&xid(GPU_0, &format!("{number}, x"))],
        );
    }
    let open = ledger.health(Vec::new()).open;
    let mut numbers: Vec<u32> = open.iter().filter_map(|entry| entry.number).collect();
    numbers.sort_unstable();
    numbers
}

fn is_behind_the_run(order: [Step; 3], step: Step) -> bool {
    let place = |wanted: Step| order.iter().position(|it| *it == wanted);
    place(step) > place(Step::GoodRun)
}

#[test]
fn a_good_run_of_a_later_boot_ends_the_warning_in_whatever_order_it_came() {
    for order in ORDERS {
        let mut expected = Vec::new();
        expected.extend(is_behind_the_run(order, Step::Fault).then_some(FAULT));
        expected.extend(is_behind_the_run(order, Step::Warning).then_some(WARNING));
        assert_eq!(
            open_after(order, |place| format!("boot-{place}")),
            expected,
            "{order:?}"
        );
    }
}

/// As docs/AGENT.md says: a run ends no warning of its own boot, also where it admits the node.
#[test]
fn a_good_run_of_the_same_boot_ends_the_fault_that_a_reset_mends_and_no_warning() {
    for order in ORDERS {
        let mut expected = Vec::new();
        expected.extend(is_behind_the_run(order, Step::Fault).then_some(FAULT));
        expected.push(WARNING);
        assert_eq!(open_after(order, |_| "boot".to_owned()), expected, "{order:?}");
    }
}
