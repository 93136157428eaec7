//! The parts in their order, and the matcher that all of them use.

use std::sync::Arc;

use anyhow::Result;
use kb_core::matcher::Matcher;
use kb_core::signature::RecordSignatures;

use super::table::{Row, head, print};
use super::{Options, Part, canons, own, quality, speed};
use crate::shell;

pub(crate) struct Subject {
    pub(crate) records: Vec<RecordSignatures>,
    pub(crate) matcher: Arc<Matcher>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let records = canons::load(&options.canons)?;
    let started = speed::processor_time();
    let (matcher, rejected) = Matcher::build(records.clone());
    let ready = speed::processor_time().saturating_sub(started);
    for rejected in &rejected {
        eprintln!(
            "left out: {} {}: {}",
            rejected.id, rejected.pattern, rejected.reason
        );
    }
    let subject = Subject {
        records,
        matcher: Arc::new(matcher),
    };
    let wanted = |part| options.only.is_empty() || options.only.contains(&part);
    head();
    print(&Row::new(
        format!("ready with {} patterns", subject.records.len()),
        "under 1 s",
        format!("{:.2} s, {} left out", ready.as_secs_f64(), rejected.len()),
        ready.as_secs_f64() < 1.0,
    ));
    if wanted(Part::Scenarios) {
        quality::scenarios(&subject, options)?;
    }
    if wanted(Part::Signatures) {
        quality::signatures(&subject, options);
    }
    if wanted(Part::Clean) {
        quality::clean(&subject, options);
    }
    if wanted(Part::Message) {
        speed::message(&subject);
    }
    if wanted(Part::Own) {
        let ours = || shell::root().join("kb-seed");
        own::messages(&options.records.clone().unwrap_or_else(ours), options.runs)?;
    }
    if wanted(Part::Speed) {
        speed::log(&subject, options)?;
    }
    if wanted(Part::Planted) {
        quality::planted(&subject, options);
    }
    if wanted(Part::Memory) {
        speed::memory(&subject)?;
    }
    Ok(())
}
