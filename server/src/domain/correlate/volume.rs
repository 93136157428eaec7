//! How much of the report a rule may copy: values are copied where a rule collects them, and `report.gpus.map(a,
//! report)` would copy the report for each GPU.
//!
//! Counted in copies of the largest variable, as a linear form: so many of a scope's variables, and so many of the
//! item that each loop around is at. All items of a loop together are one copy of what it goes through.

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, operators};
use cel::parser::Expression;

use super::limits::{MAX_LIST, MAX_LOOPS};

pub(super) const MAX_COPIES: u64 = 32;

/// How often variables are copied, and the items of the loops around, outermost first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Volume {
    whole: u64,
    items: [u64; MAX_LOOPS],
}

/// What evaluating an expression gives and what it copies on the way.
#[derive(Debug, Clone, Copy, Default)]
struct Measured {
    value: Volume,
    work: Volume,
}

pub(super) fn copies(root: &Expression) -> u64 {
    let measured = measure(root, &mut Vec::new());
    measured.value.plus(measured.work).whole
}

fn measure<'a>(node: &'a Expression, loops: &mut Vec<&'a str>) -> Measured {
    match &node.expr {
        Expr::Unspecified | Expr::Literal(_) | Expr::Struct(_) => Measured::default(),
        Expr::Ident(name) => Measured {
            value: Volume::of(name, loops),
            work: Volume::default(),
        },
        Expr::Select(select) => {
            let measured = measure(&select.operand, loops);
            if select.test {
                measured.without_value()
            } else {
                measured
            }
        }
        Expr::Call(call) => measure_call(call, loops),
        Expr::List(list) => sum(list.elements.iter(), loops).collected(),
        Expr::Map(map) => {
            let entries = map.entries.iter().filter_map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => Some(&entry.value),
                EntryExpr::StructField(_) => None,
            });
            sum(entries, loops).collected()
        }
        Expr::Comprehension(comprehension) => measure_loop(comprehension, loops),
    }
}

fn measure_call<'a>(call: &'a CallExpr, loops: &mut Vec<&'a str>) -> Measured {
    let parts = sum(call.target.as_deref().into_iter().chain(&call.args), loops);
    let hands_on = [operators::ADD, operators::CONDITIONAL, operators::INDEX, "dyn"];
    if hands_on.contains(&call.func_name.as_str()) {
        parts
    } else {
        parts.without_value()
    }
}

fn measure_loop<'a>(comprehension: &'a ComprehensionExpr, loops: &mut Vec<&'a str>) -> Measured {
    let range = measure(&comprehension.iter_range, loops);
    let depth = loops.len();
    loops.push(&comprehension.iter_var);
    let step = measure(&comprehension.loop_step, loops);
    let condition = measure(&comprehension.loop_cond, loops);
    loops.pop();
    // `map` and `filter` start with an empty list; the others give a truth value or a number.
    let collects = matches!(comprehension.accu_init.expr, Expr::List(_));
    let step = if collects {
        step.collected()
    } else {
        step.without_value()
    };
    let work = step.work.plus(condition.work).over(range.value, depth);
    Measured {
        value: step.value.over(range.value, depth),
        work: range.work.plus(work),
    }
}

fn sum<'a>(nodes: impl Iterator<Item = &'a Expression>, loops: &mut Vec<&'a str>) -> Measured {
    let mut total = Measured::default();
    for node in nodes {
        let part = measure(node, loops);
        total = Measured {
            value: total.value.plus(part.value),
            work: total.work.plus(part.work),
        };
    }
    total
}

impl Measured {
    fn collected(self) -> Self {
        Self {
            value: self.value,
            work: self.work.plus(self.value),
        }
    }

    fn without_value(self) -> Self {
        Self {
            value: Volume::default(),
            work: self.work,
        }
    }
}

impl Volume {
    fn of(name: &str, loops: &[&str]) -> Self {
        let mut volume = Self::default();
        if name.starts_with('@') {
            return volume;
        }
        let place = loops.iter().rposition(|item| *item == name);
        match place.and_then(|place| volume.items.get_mut(place)) {
            Some(item) => *item = 1,
            None => volume.whole = 1,
        }
        volume
    }

    fn plus(self, other: Self) -> Self {
        let mut sum = self;
        sum.whole = sum.whole.saturating_add(other.whole);
        for (item, more) in sum.items.iter_mut().zip(other.items) {
            *item = item.saturating_add(more);
        }
        sum
    }

    fn times(self, factor: u64) -> Self {
        Self {
            whole: self.whole.saturating_mul(factor),
            items: self.items.map(|item| item.saturating_mul(factor)),
        }
    }

    /// All rounds of the loop at `depth` through `range`.
    fn over(self, range: Self, depth: usize) -> Self {
        let mut each_round = self;
        let of_items = each_round.items.get_mut(depth).map_or(0, std::mem::take);
        let rounds = u64::try_from(MAX_LIST).unwrap_or(u64::MAX);
        each_round.times(rounds).plus(range.times(of_items))
    }
}
