//! Words of a few that are the same wherever they stand: verdicts, outcomes, severities, what to do first.

use kb_core::annex::{Action, Blame, Severity, WorkaroundKind, WorkaroundScope};
use kb_core::record::Resolvable;
use kb_core::report::{Engine, GapKind, Outcome, P2pStatus, When};
use kb_core::verdict::Verdict;

words! {
    "terms";
    texts {
        healthy,
        no_fault_seen,
        degraded,
        refused,
        unknown,
        broken,
        pass,
        fail,
        hang,
        skipped,
        not_visible,
        pass_alone,
        inconclusive,
        newer,
        p2p_ok,
        p2p_cns,
        p2p_gns,
        p2p_tns,
        p2p_dr,
        p2p_ns,
        p2p_u,
        p2p_newer,
        not_supported,
        no_permission,
        failed,
        wrong_data,
        engine_api,
        engine_ce,
        engine_sm,
        engine_ipc,
        before_run,
        during_run,
        at_unknown,
        info,
        warning,
        error,
        fatal,
        nothing,
        fix_application,
        change_configuration,
        restart_application,
        update_software,
        reset_gpu,
        reboot_node,
        check_hardware,
        replace_hardware,
        contact_support,
        application,
        driver,
        gpu,
        link,
        host,
        fabric,
        unclear,
        yes,
        in_part,
        no,
        repairs,
        avoids,
        diagnoses,
        hides,
        touches_none,
        touches_job,
        touches_gpu,
        touches_node,
        touches_fabric,
    }
    messages {
        avoids_at(cost: &str),
    }
}

impl Words {
    pub(crate) fn verdict(&self, verdict: Verdict) -> &'static str {
        match verdict {
            Verdict::Healthy => self.healthy,
            Verdict::NoFaultSeen => self.no_fault_seen,
            Verdict::Degraded => self.degraded,
            Verdict::Refused => self.refused,
            Verdict::Unknown => self.unknown,
            Verdict::Broken => self.broken,
        }
    }

    pub(crate) fn outcome(&self, outcome: Outcome) -> &'static str {
        match outcome {
            Outcome::Pass => self.pass,
            Outcome::Fail => self.fail,
            Outcome::Hang => self.hang,
            Outcome::Skipped => self.skipped,
            Outcome::NotVisible => self.not_visible,
            Outcome::PassAlone => self.pass_alone,
            Outcome::Inconclusive => self.inconclusive,
            Outcome::Unrecognised => self.newer,
        }
    }

    /// A P2P status as `nvidia-smi topo -p2p` prints it, with what it means.
    pub(crate) fn p2p_status(&self, status: P2pStatus) -> &'static str {
        match status {
            P2pStatus::Ok => self.p2p_ok,
            P2pStatus::Cns => self.p2p_cns,
            P2pStatus::Gns => self.p2p_gns,
            P2pStatus::Tns => self.p2p_tns,
            P2pStatus::Dr => self.p2p_dr,
            P2pStatus::Ns => self.p2p_ns,
            P2pStatus::U => self.p2p_u,
            P2pStatus::Unrecognised => self.p2p_newer,
        }
    }

    pub(crate) fn gap_kind(&self, kind: GapKind) -> &'static str {
        match kind {
            GapKind::NotVisible => self.not_visible,
            GapKind::NotSupported => self.not_supported,
            GapKind::NoPermission => self.no_permission,
            GapKind::Skipped => self.skipped,
            GapKind::Failed => self.failed,
            GapKind::WrongData => self.wrong_data,
            GapKind::Unrecognised => self.newer,
        }
    }

    pub(crate) fn engine(&self, engine: Engine) -> &'static str {
        match engine {
            Engine::Api => self.engine_api,
            Engine::Ce => self.engine_ce,
            Engine::Sm => self.engine_sm,
            Engine::Ipc => self.engine_ipc,
            Engine::Nccl => "NCCL",
            Engine::Unrecognised => self.newer,
        }
    }

    pub(crate) fn when(&self, when: When) -> &'static str {
        match when {
            When::Before => self.before_run,
            When::During => self.during_run,
            When::Unrecognised => self.at_unknown,
        }
    }

    pub(crate) fn severity(&self, severity: Severity) -> &'static str {
        match severity {
            Severity::Info => self.info,
            Severity::Warning => self.warning,
            Severity::Error => self.error,
            Severity::Fatal => self.fatal,
        }
    }

    pub(crate) fn blame(&self, blame: Blame) -> &'static str {
        match blame {
            Blame::Application => self.application,
            Blame::Driver => self.driver,
            Blame::Gpu => self.gpu,
            Blame::Link => self.link,
            Blame::Host => self.host,
            Blame::Fabric => self.fabric,
            Blame::Unclear => self.unclear,
        }
    }

    pub(crate) fn action(&self, action: Action) -> &'static str {
        match action {
            Action::None => self.nothing,
            Action::FixApplication => self.fix_application,
            Action::ChangeConfiguration => self.change_configuration,
            Action::RestartApplication => self.restart_application,
            Action::UpdateSoftware => self.update_software,
            Action::ResetGpu => self.reset_gpu,
            Action::RebootNode => self.reboot_node,
            Action::CheckHardware => self.check_hardware,
            Action::ReplaceHardware => self.replace_hardware,
            Action::ContactSupport => self.contact_support,
        }
    }

    pub(crate) fn resolvable(&self, resolvable: Resolvable) -> &'static str {
        match resolvable {
            Resolvable::True => self.yes,
            Resolvable::Partial => self.in_part,
            Resolvable::False => self.no,
        }
    }

    pub(crate) fn workaround_kind(&self, kind: WorkaroundKind, cost: Option<&str>) -> String {
        match (kind, cost) {
            (WorkaroundKind::Avoids, Some(cost)) => return self.avoids_at(cost),
            (WorkaroundKind::Avoids, None) => self.avoids,
            (WorkaroundKind::Repairs, _) => self.repairs,
            (WorkaroundKind::Diagnoses, _) => self.diagnoses,
            (WorkaroundKind::Hides, _) => self.hides,
        }
        .to_owned()
    }

    pub(crate) fn workaround_scope(&self, scope: WorkaroundScope) -> &'static str {
        match scope {
            WorkaroundScope::None => self.touches_none,
            WorkaroundScope::Job => self.touches_job,
            WorkaroundScope::Gpu => self.touches_gpu,
            WorkaroundScope::Node => self.touches_node,
            WorkaroundScope::Fabric => self.touches_fabric,
        }
    }

    pub(crate) fn yes_or_no(&self, yes: bool) -> &'static str {
        if yes { self.yes } else { self.no }
    }
}
