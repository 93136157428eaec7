//! Runs the parts and prints what they found.

use anyhow::{Result, bail};

use super::knowledge::Knowledge;
use super::report::Report;
use super::{Options, Part, canons, fts5, real, synthetic};

pub(crate) fn run(options: &Options) -> Result<()> {
    let knowledge = Knowledge::load(&options.records)?;
    let mut report = Report::default();
    let wanted = |part: Part| options.only.is_empty() || options.only.contains(&part);
    if wanted(Part::Messages) {
        real::messages::judge(&knowledge, &options.data, &mut report)?;
    }
    if wanted(Part::Negatives) {
        real::negatives::judge(&knowledge, &options.data, &mut report)?;
    }
    if wanted(Part::Queries) {
        real::queries::judge(&knowledge, &options.data, &mut report)?;
    }
    if wanted(Part::Logs) {
        real::logs::judge(&knowledge, &options.data, &mut report)?;
    }
    if wanted(Part::Own) {
        synthetic::own::judge(&knowledge, &mut report);
    }
    if wanted(Part::Mutated) {
        synthetic::mutated::judge(&knowledge, &mut report);
    }
    if wanted(Part::Planted) {
        synthetic::planted::judge(&knowledge, options.large, &mut report);
    }
    if wanted(Part::Clean) {
        real::clean::judge(&knowledge, &options.data, &mut report)?;
        synthetic::planted::clean(&knowledge, options.large, &mut report);
    }
    if wanted(Part::Hosts) {
        synthetic::hosts::judge(&knowledge, &mut report);
    }
    if let Some(repository) = &options.canons {
        canons::judge(repository, &mut report)?;
    }
    if options.fts5 {
        fts5::compare(&knowledge, options, &mut report)?;
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report.json())?);
    } else {
        println!("{} records\n", knowledge.generation.len());
        print!("{}", report.markdown(options.misses));
    }
    if options.bars && !report.all_held() {
        bail!("a bar is missed");
    }
    Ok(())
}
