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
    }
    messages {
        days(count: u64),
        shared_means(made: &str, until: &str),
        kept_until(until: &str),
    }
}
