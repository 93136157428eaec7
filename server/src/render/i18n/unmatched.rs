//! Lines that no record knows.

use crate::store::UnmatchedState;

words! {
    "unmatched";
    texts {
        title,
        means,
        state_label,
        open,
        ignored,
        known,
        all,
        assignee,
        node,
        nodes,
        text,
        sort,
        filter,
        nothing,
        template,
        lines,
        first_seen,
        last_seen,
        next,
        reason,
        changed,
        elsewhere,
        known_label,
        known_now,
        examples,
        redacted,
        pattern,
        no_pattern,
        begin,
        new_id,
        begin_means,
        begin_button,
        steps,
        take,
        release,
        reopen,
        assign_to,
        assign,
        known_record,
        mark_known,
        ignore_reason,
        ignore,
        seen,
        days,
        day,
        pasted,
        pasted_mean,
        texts,
    }
}

impl Words {
    pub fn state(&self, state: UnmatchedState) -> &'static str {
        match state {
            UnmatchedState::Open => self.open,
            UnmatchedState::Ignored => self.ignored,
            UnmatchedState::Known => self.known,
        }
    }
}
