//! Words of a few that are the same wherever they stand: verdicts, outcomes, severities, what to do first.

use kb_core::annex::{Action, Blame, Severity};
use kb_core::record::Resolvable;
use kb_core::report::{Engine, GapKind, Outcome, P2pStatus, When};
use kb_core::verdict::Verdict;

words! {
    healthy: "Healthy", "健康";
    no_fault_seen: "No fault seen", "未见故障";
    degraded: "Degraded", "性能下降";
    refused: "Refused", "被拒绝";
    unknown: "Could not be told", "无法判断";
    broken: "Broken", "故障";
    pass: "pass", "通过";
    fail: "fail", "失败";
    hang: "hang", "挂起";
    skipped: "skipped", "已跳过";
    not_visible: "not visible", "不可见";
    pass_alone: "pass, alone only", "仅单独运行时通过";
    inconclusive: "inconclusive", "无定论";
    newer: "of a newer agent", "来自更新版本的代理程序";
    p2p_ok: "OK (granted, not proven)", "OK（已授予，未经证实）";
    p2p_cns: "CNS (chipset not supported)", "CNS（芯片组不支持）";
    p2p_gns: "GNS (GPU not supported)", "GNS（GPU 不支持）";
    p2p_tns: "TNS (topology not supported)", "TNS（拓扑不支持）";
    p2p_dr: "DR (disabled by registry key)", "DR（已被注册表项禁用）";
    p2p_ns: "NS (not supported)", "NS（不支持）";
    p2p_u: "U (unknown to the driver)", "U（驱动无法判断）";
    p2p_newer: "a status of a newer agent", "更新版本代理程序的状态";
    not_supported: "not supported", "不支持";
    no_permission: "no permission", "没有权限";
    failed: "failed", "失败";
    wrong_data: "wrong data", "数据错误";
    engine_api: "driver call", "驱动调用";
    engine_ce: "copy engine", "复制引擎";
    engine_sm: "kernel (SM)", "内核函数（SM）";
    engine_ipc: "inter-process handle", "进程间句柄";
    before_run: "before the run", "运行之前";
    during_run: "during the run", "运行期间";
    at_unknown: "at a time that only a newer server knows", "时间需更新版本的服务器才能识别";
    info: "info", "提示";
    warning: "warning", "警告";
    error: "error", "错误";
    fatal: "fatal", "致命";
    nothing: "nothing", "无需操作";
    fix_application: "fix the application", "修复应用程序";
    change_configuration: "change the configuration", "修改配置";
    restart_application: "restart the application", "重启应用程序";
    update_software: "update the software", "更新软件";
    reset_gpu: "reset the GPU", "重置 GPU";
    reboot_node: "reboot the node", "重启节点";
    check_hardware: "check the hardware", "检查硬件";
    replace_hardware: "replace the hardware", "更换硬件";
    contact_support: "contact support", "联系厂商支持";
    application: "the application", "应用程序";
    driver: "the driver", "驱动程序";
    gpu: "the GPU", "GPU";
    link: "a link of the GPU", "GPU 的链路";
    host: "the node", "节点";
    fabric: "the fabric", "互连网络";
    unclear: "unclear", "不明确";
    yes: "yes", "是";
    in_part: "in part", "部分";
    no: "no", "否";
}

impl Words {
    /// The verdict of a run or a pair.
    pub(in crate::web) fn verdict(&self, verdict: Verdict) -> &'static str {
        match verdict {
            Verdict::Healthy => self.healthy,
            Verdict::NoFaultSeen => self.no_fault_seen,
            Verdict::Degraded => self.degraded,
            Verdict::Refused => self.refused,
            Verdict::Unknown => self.unknown,
            Verdict::Broken => self.broken,
        }
    }

    /// The outcome of a check.
    pub(in crate::web) fn outcome(&self, outcome: Outcome) -> &'static str {
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
    pub(in crate::web) fn p2p_status(&self, status: P2pStatus) -> &'static str {
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

    /// Why a value is absent.
    pub(in crate::web) fn gap_kind(&self, kind: GapKind) -> &'static str {
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

    /// What moved the bytes.
    pub(in crate::web) fn engine(&self, engine: Engine) -> &'static str {
        match engine {
            Engine::Api => self.engine_api,
            Engine::Ce => self.engine_ce,
            Engine::Sm => self.engine_sm,
            Engine::Ipc => self.engine_ipc,
            Engine::Nccl => "NCCL",
            Engine::Unrecognised => self.newer,
        }
    }

    /// When lines of a log were written.
    pub(in crate::web) fn when(&self, when: When) -> &'static str {
        match when {
            When::Before => self.before_run,
            When::During => self.during_run,
            When::Unrecognised => self.at_unknown,
        }
    }

    /// How bad an error is.
    pub(in crate::web) fn severity(&self, severity: Severity) -> &'static str {
        match severity {
            Severity::Info => self.info,
            Severity::Warning => self.warning,
            Severity::Error => self.error,
            Severity::Fatal => self.fatal,
        }
    }

    /// What is at fault.
    pub(in crate::web) fn blame(&self, blame: Blame) -> &'static str {
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

    /// What to do first.
    pub(in crate::web) fn action(&self, action: Action) -> &'static str {
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

    /// Whether it can be fixed.
    pub(in crate::web) fn resolvable(&self, resolvable: Resolvable) -> &'static str {
        match resolvable {
            Resolvable::True => self.yes,
            Resolvable::Partial => self.in_part,
            Resolvable::False => self.no,
        }
    }

    /// Yes or no.
    pub(in crate::web) fn yes_or_no(&self, yes: bool) -> &'static str {
        if yes { self.yes } else { self.no }
    }
}
