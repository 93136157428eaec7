//! Lines of pasted texts that are kept.

words! {
    "kept";
    texts {
        title,
        own,
        offer,
        none,
        are_more,
        would_be_kept,
        lines,
        means,
        keep,
        link,
        link_means,
        delete,
        delete_means,
        deleted,
    }
    messages {
        kept(until: &str),
    }
}
