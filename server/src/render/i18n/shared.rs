//! Answers that are shared.

words! {
    "shared";
    texts {
        title,
        offer,
        would_be_kept,
        was_changed,
        keep_for,
        make,
        as_kept,
        shared,
        made,
        link,
        copy,
        delete_link,
        delete_means,
        not_confirmed,
        unconfirmed,
        unnamed,
        on_lines,
        said,
        nothing_known,
        none_unknown,
        not_all_looked,
        others_none,
        others_more,
        others_unsaid,
        given,
        elsewhere_only,
    }
    messages {
        read(lines: u64, size: &str),
        saw(count: u64),
        not_shared(count: u64),
        days(count: u64),
        shared_means(made: &str, until: &str),
        kept_until(until: &str),
    }
}
