//! Nodes: all together, the list, and one of them.

use kb_core::policy::Stage;
use kb_core::report::Meaning;

use crate::domain::fleet_findings::FindingState;

words! {
    "fleet";
    texts {
        nodes,
        none_yet,
        token_for,
        together,
        by_verdict,
        faults,
        fault,
        no_faults,
        unexplained,
        oldest,
        listed,
        search_label,
        search,
        searched,
        only,
        remove,
        none_match,
        not_known,
        no_record_says,
        node,
        verdict,
        why,
        action,
        gpus,
        model,
        driver,
        label,
        run,
        since,
        last_run,
        first_report,
        findings,
        reports,
        simulated,
        not_simulated,
        all_nodes,
        events,
        next,
        by_the_run,
        last_seen,
        last_seen_at,
        last_seen_healthy,
        last_seen_without_fault,
        stands,
        received,
        older,
        cause,
        do_first,
        open,
        nothing_open,
        ended,
        decided,
        stage_current,
        stage_candidate,
        state_new,
        state_ongoing,
        state_acknowledged,
        state_silenced,
        state_resolved,
        handling_means,
        note,
        until,
        acknowledge,
        silence,
        release,
        own,
        disown,
        about,
        changed,
        changed_means,
        no_good,
        good_unread,
        nothing_changed,
        last_good,
        of_what,
        fact,
        before,
        now,
        unread,
        absent,
        the_host,
        history,
        nodes_of_record,
    }
    messages {
        node_count(count: u64),
        gpu_count(count: u64),
        simulated_nodes(count: u64),
        silent(count: u64, hours: u64),
        without_run(hours: u64),
        silent_since(days: u64, moment: &str),
        silent_for(days: u64, moment: &str),
        report_count(count: u64),
        host(hostname: &str),
        label_named(name: &str),
        no_such_model(name: &str),
        no_such_driver(name: &str),
        they_have(said: &str, names: &str),
        since_moment(moment: &str),
        seen(count: u64, first: &str, last: &str),
        owned_by(owner: &str),
        acknowledged_by(name: &str, at: &str),
        silenced_by(name: &str, at: &str, until: &str),
        strip(count: u64),
        decided_by(rule_set: &str, policy: &str, stage: &str),
        milder_by_policy(count: u64),
        ruled_ignored(rule: u64),
        ruled_event(rule: u64),
        ruled_warning(rule: u64),
        ruled_fault(rule: u64),
    }
}

impl Words {
    /// What the site's policy made of something; its own words follow.
    pub(crate) fn ruled(&self, is: Meaning, rule: u64) -> String {
        match is {
            Meaning::Ignore => self.ruled_ignored(rule),
            Meaning::Event => self.ruled_event(rule),
            Meaning::Warning => self.ruled_warning(rule),
            Meaning::Fault => self.ruled_fault(rule),
        }
    }

    pub(crate) fn stage(&self, stage: Stage) -> &'static str {
        match stage {
            Stage::Current => self.stage_current,
            Stage::Candidate => self.stage_candidate,
        }
    }

    pub(crate) fn finding_state(&self, state: FindingState) -> &'static str {
        match state {
            FindingState::New => self.state_new,
            FindingState::Ongoing => self.state_ongoing,
            FindingState::Acknowledged => self.state_acknowledged,
            FindingState::Silenced => self.state_silenced,
            FindingState::Resolved => self.state_resolved,
        }
    }
}
