//! The pattern workbench.

words! {
    "workbench";
    texts {
        title,
        heading,
        means,
        lines,
        pattern,
        pattern_hint,
        submit,
        result,
        proposal,
        take,
        no_proposal,
        tried,
        literal,
        or,
        cost,
        captures,
        no_captures,
        comma,
        refused,
        findings,
        pasted,
        line,
        is_taken,
        not_taken,
        generic,
        taken_now,
        examples,
        near_misses,
        clean,
        logs,
        own,
        none,
    }
    messages {
        ways(ways: u64, most: u64),
        looked(texts: u64, size: &str),
        looked_in_part(texts: u64, size: &str),
        more(count: u64),
    }
}
