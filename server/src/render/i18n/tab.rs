//! A log that is read in the tab. Where a text has a place for something that the tab finds, its script puts it there.

words! {
    "tab";
    texts {
        title,
        choice,
        choice_means,
        read_text,
        loading,
        broken,
        unsupported,
        unreadable,
        unexplained_more,
        none_found,
        no_candidates,
        needs_script,
        sent,
    }
    messages {
        progress(size: &str),
        found(count: &str),
        read(lines: &str, size: &str),
        not_sent(requests: &str),
        line(line: &str),
        unknown_cause(line: &str, error: &str),
        unknown_raised(line: &str, error: &str),
        unexplained(lines: &str),
        interrupted(line: &str, error: &str),
        because_of_line(line: &str),
        shown_of(shown: &str, all: &str),
    }
}
