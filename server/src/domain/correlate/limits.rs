//! What a rule may cost, read from its syntax tree: enough for any fair rule, and never a server's minute.
//!
//! A rule can only loop over what stands in the report or in its own text, and no list there is longer than
//! [`MAX_LIST`]; loops nest at most twice, and nothing inside a loop makes lists longer. So the tree bounds the work.

use cel::common::ast::{ComprehensionExpr, EntryExpr, Expr, operators};
use cel::parser::Expression;

use super::volume::{MAX_COPIES, copies};

/// Deepest nesting of `exists`, `all`, `map`, `filter` and `exists_one` (design, decision 14).
pub(super) const MAX_LOOPS: usize = 2;
/// Longest list or map, in the rule and in the report as rules see it (design, decision 14).
pub(super) const MAX_LIST: usize = 64;
/// Deepest expression, each operator and each `.` one level: walking and evaluating go down with it, and a thread's stack
/// that ends takes the process along ([`super::stack`] has room for these).
const MAX_DEPTH: usize = 64;
/// Most steps of one evaluation: two nested full loops with sixty steps in the inner one; some 25 ms at 100 ns a step.
const MAX_STEPS: u64 = 250_000;

/// Functions that a rule may call. None gives more than it was given.
const FUNCTIONS: [&str; 10] = [
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "int",
    "uint",
    "double",
    "string",
    "type",
    "dyn",
];

/// Operators that a rule may use anywhere.
const OPERATORS: [&str; 18] = [
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::SUBSTRACT,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::GREATER_EQUALS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::LESS,
    operators::NEGATE,
    operators::INDEX,
    operators::IN,
    operators::NOT_STRICTLY_FALSE,
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) rule: &'static str,
    pub(super) reason: String,
    pub(super) fix: &'static str,
}

impl Fault {
    fn new(rule: &'static str, reason: impl Into<String>, fix: &'static str) -> Self {
        Self {
            rule,
            reason: reason.into(),
            fix,
        }
    }
}

pub(super) struct Walk<'a> {
    names: Vec<&'a str>,
    loops: usize,
    depth: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(variables: &[&'a str]) -> Self {
        Self {
            names: variables.to_vec(),
            loops: 0,
            depth: 0,
        }
    }

    pub(super) fn check(&mut self, root: &'a Expression) -> Result<(), Fault> {
        let steps = self.steps(root)?;
        if steps > MAX_STEPS {
            let reason = format!("the expression may take {steps} steps, the limit is {MAX_STEPS}");
            let fix = "loop less deeply, or split the rule into several";
            return Err(Fault::new("rule-cost", reason, fix));
        }
        let copies = copies(root);
        if copies > MAX_COPIES {
            let reason =
                format!("the expression may copy the report {copies} times, the limit is {MAX_COPIES}");
            let fix = "collect single values, such as pair.a, and not whole objects for each item";
            return Err(Fault::new("rule-cost", reason, fix));
        }
        Ok(())
    }

    fn steps(&mut self, node: &'a Expression) -> Result<u64, Fault> {
        if self.depth == MAX_DEPTH {
            let reason = format!("the expression is deeper than {MAX_DEPTH} levels");
            return Err(Fault::new(
                "rule-nesting",
                reason,
                "use a list with `in`, or split the rule into several",
            ));
        }
        self.depth += 1;
        let steps = self.steps_below(node);
        self.depth -= 1;
        steps
    }

    fn steps_below(&mut self, node: &'a Expression) -> Result<u64, Fault> {
        let inside = match &node.expr {
            Expr::Unspecified => {
                return Err(Fault::new(
                    "rule-syntax",
                    "a part of the expression is empty",
                    "complete it",
                ));
            }
            Expr::Literal(_) => 0,
            Expr::Ident(name) => {
                self.known(name)?;
                0
            }
            Expr::Select(select) => self.steps(&select.operand)?,
            Expr::Call(call) => {
                self.allowed(&call.func_name)?;
                let target = call
                    .target
                    .as_deref()
                    .map_or(Ok(0), |target| self.steps(target))?;
                target.saturating_add(self.steps_of(call.args.iter())?)
            }
            Expr::List(list) => {
                short(list.elements.len())?;
                self.steps_of(list.elements.iter())?
            }
            Expr::Map(map) => {
                short(map.entries.len())?;
                let mut sum = 0_u64;
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        sum = sum
                            .saturating_add(self.steps(&entry.key)?)
                            .saturating_add(self.steps(&entry.value)?);
                    }
                }
                sum
            }
            Expr::Struct(structure) => {
                let reason = format!("there is no type {:?} here", structure.type_name);
                return Err(Fault::new("rule-syntax", reason, "compare plain values"));
            }
            Expr::Comprehension(comprehension) => self.steps_of_loop(comprehension)?,
        };
        Ok(inside.saturating_add(1))
    }

    fn steps_of(&mut self, nodes: impl Iterator<Item = &'a Expression>) -> Result<u64, Fault> {
        let mut sum = 0_u64;
        for node in nodes {
            sum = sum.saturating_add(self.steps(node)?);
        }
        Ok(sum)
    }

    fn steps_of_loop(&mut self, comprehension: &'a ComprehensionExpr) -> Result<u64, Fault> {
        self.loops += 1;
        if self.loops > MAX_LOOPS {
            let reason = format!("loops (exists, all, map, filter) nest deeper than {MAX_LOOPS}");
            return Err(Fault::new(
                "rule-nesting",
                reason,
                "ask about pairs or directions with a scope of their own",
            ));
        }
        let range = self.steps(&comprehension.iter_range)?;
        let outer = self.names.len();
        self.names.push(&comprehension.iter_var);
        self.names.extend(comprehension.iter_var2.as_deref());
        self.names.push(&comprehension.accu_var);
        let body = self
            .steps(&comprehension.loop_cond)?
            .saturating_add(self.steps_of_step(&comprehension.loop_step, &comprehension.accu_var)?);
        let result = self.steps(&comprehension.result)?;
        self.names.truncate(outer);
        self.loops -= 1;
        let rounds = u64::try_from(MAX_LIST).unwrap_or(u64::MAX);
        Ok(range
            .saturating_add(body.saturating_mul(rounds))
            .saturating_add(result))
    }

    /// What a loop does each time round. The macros themselves collect with `+`; nobody else may use it in a loop.
    fn steps_of_step(&mut self, step: &'a Expression, accumulator: &str) -> Result<u64, Fault> {
        let Expr::Call(call) = &step.expr else {
            return self.steps(step);
        };
        let first = call.args.first().map(|argument| &argument.expr);
        let collects = matches!(first, Some(Expr::Ident(name)) if name == accumulator);
        if call.func_name == operators::ADD && collects {
            return Ok(self.steps_of(call.args.iter())?.saturating_add(1));
        }
        if call.func_name == operators::CONDITIONAL {
            let mut sum = 1_u64;
            for argument in &call.args {
                sum = sum.saturating_add(self.steps_of_step(argument, accumulator)?);
            }
            return Ok(sum);
        }
        self.steps(step)
    }

    fn known(&self, name: &str) -> Result<(), Fault> {
        if self.names.contains(&name) {
            return Ok(());
        }
        let given: Vec<&str> = self
            .names
            .iter()
            .copied()
            .filter(|name| !name.starts_with('@'))
            .collect();
        let reason = format!("there is no {name:?} here, only {}", given.join(", "));
        Err(Fault::new(
            "rule-name",
            reason,
            "use these names, or choose another scope",
        ))
    }

    fn allowed(&self, function: &str) -> Result<(), Fault> {
        if OPERATORS.contains(&function) || FUNCTIONS.contains(&function) {
            return Ok(());
        }
        if function == operators::ADD {
            if self.loops == 0 {
                return Ok(());
            }
            let reason =
                "'+' stands in a loop or in what a loop goes through, where it could make lists longer";
            return Err(Fault::new("rule-cost", reason, "add outside of the loop"));
        }
        let reason = format!("there is no function {function:?}");
        Err(Fault::new(
            "rule-name",
            reason,
            "use has, exists, all, map, filter, size, contains, startsWith, endsWith or in",
        ))
    }
}

fn short(length: usize) -> Result<(), Fault> {
    if length <= MAX_LIST {
        return Ok(());
    }
    let reason = format!("a list in the expression has {length} items, the limit is {MAX_LIST}");
    Err(Fault::new("rule-list", reason, "split the rule into several"))
}
