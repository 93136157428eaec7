//! Whole logs: is each fault found on its line, and the first cause named?

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde_json::json;

use crate::eval::ask::{Answer, ask, first_few};
use crate::eval::data::{self, Log};
use crate::eval::knowledge::Knowledge;
use crate::eval::report::Report;
use crate::eval::score::share;

/// Least share of logs whose first cause is named.
const BAR: f64 = 0.9;

#[derive(Default)]
struct Counts {
    logs: usize,
    healthy: usize,
    alarms: usize,
    faults: usize,
    faults_covered: usize,
    on_their_line: usize,
    causes: usize,
    causes_right: usize,
}

pub(crate) fn judge(knowledge: &Knowledge, folder: &Path, report: &mut Report) -> Result<()> {
    let mut by_domain: BTreeMap<String, Counts> = BTreeMap::new();
    let mut total = Counts::default();
    for log in data::logs(folder)? {
        let answer = ask(&knowledge.generation, &log.bytes);
        let one = judge_one(knowledge, &log, &answer, report);
        one.add_to(by_domain.entry(log.labels.domain.clone()).or_default());
        one.add_to(&mut total);
    }
    report.bar(
        format!("first causes, {} logs of {}", total.causes, total.logs),
        "0.9",
        format!("{:.3}", share(total.causes_right, total.causes)),
        share(total.causes_right, total.causes) >= BAR,
    );
    report.bar(
        format!("healthy logs, {}", total.healthy),
        "no false alarm",
        total.alarms.to_string(),
        total.alarms == 0,
    );
    let mut table = "| domain | logs | healthy | with false alarm | faults | no record yet | on their line | first cause right |\n\
                     | --- | --: | --: | --: | --: | --: | --: | --: |\n"
        .to_owned();
    for (name, counts) in &by_domain {
        table.push_str(&counts.row(name));
    }
    table.push_str(&total.row("**all**"));
    let domains = by_domain
        .iter()
        .map(|(name, counts)| (name.clone(), counts.json()));
    let domains: serde_json::Map<_, _> = domains.collect();
    report.table(
        "logs",
        "Logs",
        &table,
        json!({ "domains": domains, "total": total.json() }),
    );
    Ok(())
}

fn judge_one(knowledge: &Knowledge, log: &Log, answer: &Answer, report: &mut Report) -> Counts {
    let mut counts = Counts {
        logs: 1,
        ..Counts::default()
    };
    let faults = &log.labels.faults;
    if faults.is_empty() {
        counts.healthy = 1;
        counts.alarms = usize::from(!answer.matches.is_empty());
        if counts.alarms > 0 {
            let (line, id) = answer
                .hits
                .first()
                .map_or((0, String::new()), |(line, id)| (*line, id.to_string()));
            report.miss(format!("healthy log {}: {id} on line {line}", log.name));
        }
        return counts;
    }
    // Right where every first cause that has a record is named, and the first of all is one of them.
    let (mut causes_covered, mut named, mut leads) = (0, 0, false);
    for fault in faults {
        counts.faults += 1;
        let right = knowledge.meant(&fault.expect);
        if right.is_empty() {
            continue;
        }
        counts.faults_covered += 1;
        let is_on_line = answer
            .hits
            .iter()
            .any(|(line, id)| *line == fault.line && right.contains(id));
        counts.on_their_line += usize::from(is_on_line);
        if !is_on_line {
            let there: Vec<&str> = answer
                .hits
                .iter()
                .filter(|(line, _)| *line == fault.line)
                .map(|(_, id)| id.as_str())
                .collect();
            report.miss(format!(
                "log {}, line {}: wanted {}, came {there:?}; {}",
                log.name,
                fault.line,
                fault.expect.join(" or "),
                fault.note
            ));
        }
        if fault.first_cause {
            causes_covered += 1;
            named += usize::from(answer.root_causes.iter().any(|id| right.contains(id)));
            leads |= answer.first_cause.as_ref().is_some_and(|id| right.contains(id));
        }
    }
    if causes_covered > 0 {
        counts.causes = 1;
        let is_right = leads && named == causes_covered;
        counts.causes_right = usize::from(is_right);
        if !is_right {
            let causes: Vec<String> = answer.root_causes.iter().map(ToString::to_string).collect();
            let wanted = faults.iter().filter(|fault| fault.first_cause);
            let wanted: Vec<String> = wanted.map(|fault| fault.expect.join(" or ")).collect();
            report.miss(format!(
                "log {}: first cause wanted {}, came {:?} of {causes:?}; matches {}",
                log.name,
                wanted.join(" and "),
                answer.first_cause.as_ref().map(ToString::to_string),
                first_few(&answer.matches)
            ));
        }
    }
    counts
}

impl Counts {
    fn add_to(&self, sum: &mut Self) {
        sum.logs += self.logs;
        sum.healthy += self.healthy;
        sum.alarms += self.alarms;
        sum.faults += self.faults;
        sum.faults_covered += self.faults_covered;
        sum.on_their_line += self.on_their_line;
        sum.causes += self.causes;
        sum.causes_right += self.causes_right;
    }

    fn row(&self, name: &str) -> String {
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} of {} | {} of {} |\n",
            self.logs,
            self.healthy,
            self.alarms,
            self.faults,
            self.faults - self.faults_covered,
            self.on_their_line,
            self.faults_covered,
            self.causes_right,
            self.causes
        )
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "logs": self.logs,
            "healthy": self.healthy,
            "false_alarms": self.alarms,
            "faults": self.faults,
            "covered": self.faults_covered,
            "on_their_line": self.on_their_line,
            "first_causes": self.causes,
            "first_causes_right": self.causes_right,
        })
    }
}
