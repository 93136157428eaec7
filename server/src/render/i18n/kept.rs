//! Lines of pasted texts that are kept.

words! {
    "kept";
    texts {
        title,
        offer,
        none,
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
