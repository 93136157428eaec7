//! A site of files, which has no server behind it.

words! {
    "files";
    texts {
        promise,
        no_server,
        search_needs_script,
        log_needs_script,
        second_missing,
        read_log,
        read_log_means,
        box_label,
        drop_here,
        by_domain,
        loading,
        broken,
        unsupported,
        log_unsupported,
        more,
        out_of_it,
    }
    messages {
        not_sent(requests: &str),
        found(count: &str),
    }
}
