//! What `gate health` leaves for Prometheus.

use crate::gate::{Action, Cause, Seen};

/// The last decision, as gauges (text exposition format, version 0.0.4).
pub(crate) fn gate_metrics(seen: Seen, action: Action, armed: bool, failed: bool, now: i64) -> String {
    let seen = match seen {
        Seen::NoFault => "no_fault",
        Seen::Fault => "fault",
        Seen::Unknown(doubt) => doubt.word(),
    };
    let action = match action {
        Action::Pass => "pass",
        Action::Drain => "drain",
        Action::AlreadyOut { .. } => "already_out",
        Action::Hold => "hold",
        Action::Alert(Cause::CouldNotTell) => "could_not_tell",
        Action::Alert(Cause::TooMany(_)) => "too_many_drained",
        Action::Alert(Cause::StandingUnknown) => "standing_unknown",
        Action::Alert(Cause::ResumedByAPerson) => "resumed_by_a_person",
    };
    format!(
        "# HELP peerless_agent_gate 1 for what the gate saw last and decided.\n\
         # TYPE peerless_agent_gate gauge\n\
         peerless_agent_gate{{seen=\"{seen}\",action=\"{action}\"}} 1\n\
         # HELP peerless_agent_gate_armed 1 where the gate drains, 0 where it only says what it would do.\n\
         # TYPE peerless_agent_gate_armed gauge\n\
         peerless_agent_gate_armed {}\n\
         # HELP peerless_agent_gate_failed 1 where Slurm could not be asked or told.\n\
         # TYPE peerless_agent_gate_failed gauge\n\
         peerless_agent_gate_failed {}\n\
         # HELP peerless_agent_gate_timestamp_seconds When the gate was asked last.\n\
         # TYPE peerless_agent_gate_timestamp_seconds gauge\n\
         peerless_agent_gate_timestamp_seconds {now}\n",
        u8::from(armed),
        u8::from(failed),
    )
}
