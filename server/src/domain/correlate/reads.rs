//! Which parts of a report rules read, told by their syntax trees: the rest is not made into values for them. Rules look at a tenth of a
//! report of eight GPUs.
//!
//! Where a tree does not say what is read below a value, all of it counts as read.

use std::collections::BTreeMap;

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};
use cel::parser::Expression;
use kb_core::annex::ProbeScope;

/// What is read of a value. One that is named here is there for rules, with what they read of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reads {
    all: bool,
    members: BTreeMap<String, Reads>,
    items: Option<Box<Reads>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    /// Any item of a list.
    Item,
}

/// Where a value stands in the report, by the steps to it.
type Place = Vec<Step>;

impl Reads {
    /// The subjects of all scopes, of which nothing is read yet.
    pub(super) fn of_subjects() -> Self {
        let mut reads = Self::default();
        for scope in [ProbeScope::Gpu, ProbeScope::Direction] {
            for (_, place) in variables(scope) {
                reads.at(&place);
            }
        }
        reads
    }

    #[cfg(test)]
    pub(super) fn everything() -> Self {
        Self {
            all: true,
            ..Self::default()
        }
    }

    /// Adds what an expression of this scope reads.
    pub(super) fn add(&mut self, scope: ProbeScope, expression: &Expression) {
        let names = variables(scope);
        let names = names.into_iter().map(|(name, place)| (name, Some(place)));
        let mut walk = Walk {
            reads: self,
            names: names.collect(),
        };
        walk.take(expression);
    }

    /// What is read of a map, by its keys; `None` where all of it counts as read. A loop over a map goes through all keys.
    pub(super) fn members(&self) -> Option<&BTreeMap<String, Self>> {
        (!self.all && self.items.is_none()).then_some(&self.members)
    }

    /// What is read of each item of a list; `None` where all of it counts as read.
    pub(super) fn items(&self) -> Option<&Self> {
        let is_as_list = !self.all && self.members.is_empty();
        self.items.as_deref().filter(|_| is_as_list)
    }

    /// What is read at a pointer; `None` where all counts as read.
    pub(super) fn below(&self, pointer: &str) -> Option<&Self> {
        let mut steps = pointer.split('/').skip(1);
        steps.try_fold(self, |reads, step| match reads.items() {
            Some(of_each) => Some(of_each),
            None => reads.members()?.get(step),
        })
    }

    fn at(&mut self, place: &[Step]) -> &mut Self {
        place.iter().fold(self, |reads, step| match step {
            Step::Member(key) => reads.members.entry(key.clone()).or_default(),
            Step::Item => reads.items.get_or_insert_default(),
        })
    }
}

/// The variables of a scope, and where their values stand.
fn variables(scope: ProbeScope) -> Vec<(&'static str, Place)> {
    let item = |list: &str| vec![Step::Member(list.to_owned()), Step::Item];
    let mut variables = vec![("report", Vec::new())];
    match scope {
        ProbeScope::Report => {}
        ProbeScope::Pair => variables.push(("pair", item("pairs"))),
        ProbeScope::Gpu => variables.push(("gpu", item("gpus"))),
        ProbeScope::Direction => {
            let direction = [item("pairs"), item("directions")].concat();
            variables.extend([("pair", item("pairs")), ("direction", direction)]);
        }
    }
    variables
}

struct Walk<'r, 'e> {
    reads: &'r mut Reads,
    /// Names in reach, the innermost last, and what they stand for; `None` for what is worked out.
    names: Vec<(&'e str, Option<Place>)>,
}

impl<'e> Walk<'_, 'e> {
    /// The value of the expression is used as a whole.
    fn take(&mut self, node: &'e Expression) {
        if let Some(place) = self.place(node) {
            self.reads.at(&place).all = true;
        }
    }

    /// Where the value of the expression stands, if it is one of the report; what is worked out instead is taken.
    fn place(&mut self, node: &'e Expression) -> Option<Place> {
        match &node.expr {
            Expr::Unspecified | Expr::Literal(_) => None,
            Expr::Ident(name) => {
                let known = self.names.iter().rev().find(|(known, _)| known == name);
                known.and_then(|(_, place)| place.clone())
            }
            Expr::Select(select) => {
                let place = self.place(&select.operand)?;
                let place = below(place, Step::Member(select.field.clone()));
                // Whether a member is there says nothing of what is in it.
                self.reads.at(&place);
                (!select.test).then_some(place)
            }
            Expr::Call(call) => self.place_of_call(call),
            Expr::List(list) => {
                for element in &list.elements {
                    self.take(element);
                }
                None
            }
            Expr::Map(map) => {
                for entry in &map.entries {
                    self.take_entry(&entry.expr);
                }
                None
            }
            Expr::Struct(structure) => {
                for entry in &structure.entries {
                    self.take_entry(&entry.expr);
                }
                None
            }
            Expr::Comprehension(comprehension) => {
                self.walk_loop(comprehension);
                None
            }
        }
    }

    fn take_entry(&mut self, entry: &'e EntryExpr) {
        match entry {
            EntryExpr::MapEntry(entry) => {
                self.take(&entry.key);
                self.take(&entry.value);
            }
            EntryExpr::StructField(field) => self.take(&field.value),
        }
    }

    fn place_of_call(&mut self, call: &'e CallExpr) -> Option<Place> {
        let args = call.args.as_slice();
        match (call.func_name.as_str(), args) {
            (operators::INDEX, [of, index]) if let Some(step) = step(index) => {
                let place = below(self.place(of)?, step);
                self.reads.at(&place);
                Some(place)
            }
            (operators::IN, [key, of]) if let Some(step @ Step::Member(_)) = step(key) => {
                // Of a list it asks whether an item is this text.
                if let Some(place) = self.place(of) {
                    self.reads.at(&below(place, step));
                }
                None
            }
            _ => {
                for arg in call.target.as_deref().into_iter().chain(args) {
                    self.take(arg);
                }
                None
            }
        }
    }

    fn walk_loop(&mut self, comprehension: &'e ComprehensionExpr) {
        let range = self.place(&comprehension.iter_range);
        let item = range.map(|range| below(range, Step::Item));
        if let Some(item) = &item {
            self.reads.at(item);
        }
        self.take(&comprehension.accu_init);
        let outer = self.names.len();
        if let Some(second) = &comprehension.iter_var2 {
            // Keys or places, and what stands there.
            if let Some(item) = &item {
                self.reads.at(item).all = true;
            }
            self.names.push((&comprehension.iter_var, None));
            self.names.push((second, None));
        } else {
            self.names.push((&comprehension.iter_var, item));
        }
        self.names.push((&comprehension.accu_var, None));
        self.take(&comprehension.loop_cond);
        self.take(&comprehension.loop_step);
        self.take(&comprehension.result);
        self.names.truncate(outer);
    }
}

fn below(mut place: Place, step: Step) -> Place {
    place.push(step);
    place
}

/// The step that a key or index in the text of a rule makes; `None` for one that is worked out.
fn step(index: &Expression) -> Option<Step> {
    match &index.expr {
        Expr::Literal(LiteralValue::String(key)) => Some(Step::Member(key.inner().to_owned())),
        Expr::Literal(LiteralValue::Int(_) | LiteralValue::UInt(_)) => Some(Step::Item),
        _ => None,
    }
}
