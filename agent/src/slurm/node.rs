//! What `scontrol --oneliner show node` says of a node.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) state: State,
    /// Why it is out of service; empty where it is not.
    pub(crate) reason: String,
    /// When that was set, in seconds since 1970; not told by every Slurm.
    pub(crate) since: Option<i64>,
}

/// A base and flags, joined by `+`, each perhaps with a mark behind it (`*`: the node does not respond).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State(String);

impl State {
    #[cfg(test)]
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(crate) fn is(&self, word: &str) -> bool {
        self.0
            .split('+')
            .any(|part| part.trim_end_matches(|mark: char| !mark.is_ascii_alphabetic()) == word)
    }

    /// In service but for a drain. A flag of trouble or of a person's, or a mark such as that of a node that does not respond, is more.
    pub(crate) fn is_only_drained(&self) -> bool {
        /// They say how the node was made and what its jobs do.
        const BESIDE: [&str; 4] = ["COMPLETING", "PLANNED", "CLOUD", "DYNAMIC_NORM"];
        let mut parts = self.0.split('+');
        let base = parts.next();
        let is_up = base.is_some_and(|base| ["IDLE", "MIXED", "ALLOCATED"].contains(&base));
        is_up && self.is("DRAIN") && parts.all(|flag| flag == "DRAIN" || BESIDE.contains(&flag))
    }

    /// Out of service, and no job is left. DRAIN with jobs left (ALLOCATED, MIXED, COMPLETING) is draining to sinfo.
    pub(crate) fn is_drained_and_empty(&self) -> bool {
        self.is("DRAIN") && (self.is("IDLE") || self.is("DOWN")) && !self.is("COMPLETING")
    }
}

/// The nodes of an answer, one a line. Lines without a name and a state are passed over.
pub(super) fn parse(told: &str) -> Vec<Node> {
    told.lines().filter_map(node).collect()
}

fn node(line: &str) -> Option<Node> {
    // The reason may hold anything, also what looks like a field: it is cut off first.
    let (fields, reason) = line.split_once(" Reason=").unwrap_or((line, ""));
    let field = |name: &str| {
        fields
            .split_whitespace()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let (reason, since) = said(reason);
    Some(Node {
        name: field("NodeName")?.to_owned(),
        state: State(field("State")?.to_owned()),
        reason: reason.to_owned(),
        since,
    })
}

/// A reason without who gave it and when: `peerless: broken [root@1795769160]`.
fn said(text: &str) -> (&str, Option<i64>) {
    let stamp = text.rsplit_once(" [").and_then(|(reason, stamp)| {
        let (stamp, _) = stamp.split_once(']')?;
        let (_, time) = stamp.rsplit_once('@')?;
        Some((reason, time.parse().ok()))
    });
    stamp.unwrap_or((text.trim(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_drained_when_no_job_is_left() {
        for (state, expected) in [
            ("IDLE+DRAIN", true),
            ("IDLE*+DRAIN", true),
            ("DOWN+DRAIN+NOT_RESPONDING", true),
            ("IDLE", false),
            ("MIXED+DRAIN", false),
            ("ALLOCATED+DRAIN", false),
            ("IDLE+COMPLETING+DRAIN", false),
            ("DOWN", false),
            ("", false),
        ] {
            assert_eq!(State::new(state).is_drained_and_empty(), expected, "{state}");
        }
    }

    #[test]
    fn a_drain_with_another_flag_is_more_than_a_drain() {
        for (state, expected) in [
            ("IDLE+DRAIN", true),
            ("MIXED+DRAIN", true),
            ("ALLOCATED+COMPLETING+DRAIN", true),
            ("IDLE+CLOUD+DRAIN", true),
            ("IDLE*+DRAIN", false),
            ("IDLE+DRAIN+NOT_RESPONDING", false),
            ("IDLE+DRAIN+MAINT", false),
            ("IDLE+DRAIN+FAIL", false),
            ("DOWN+DRAIN", false),
            ("FAIL+DRAIN", false),
            ("IDLE", false),
            ("", false),
        ] {
            assert_eq!(State::new(state).is_only_drained(), expected, "{state}");
        }
    }

    #[test]
    fn nodes_are_read_with_reason_and_time() {
        let told = "NodeName=gpu-17 Arch=x86_64 State=IDLE+DRAIN ThreadsPerCore=1 ExtSensorsTemp=n/s Reason=peerless: 1 of 6 [pairs] State=x [root@1795769160]\n\
                    NodeName=gpu-18 Arch=x86_64 State=DOWN* Reason=Not responding [slurm@Unknown] Comment=none\n\
                    NodeName=gpu-19 State=IDLE\n\nNode gpu-20 not found\n";
        let nodes = parse(told);
        let shown: Vec<_> = nodes
            .iter()
            .map(|node| (node.name.as_str(), node.reason.as_str(), node.since))
            .collect();
        assert_eq!(
            shown,
            [
                ("gpu-17", "peerless: 1 of 6 [pairs] State=x", Some(1_795_769_160)),
                ("gpu-18", "Not responding", None),
                ("gpu-19", "", None),
            ]
        );
        assert!(nodes[0].state.is("DRAIN") && nodes[1].state.is("DOWN"));
    }
}
