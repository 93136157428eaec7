//! What stands around every page, the box, lists of hits and lines of logs.

words! {
    "site";
    texts {
        skip,
        site,
        look_up,
        records,
        graph,
        nodes,
        log_in,
        changes_of_records,
        all_records,
        changes,
        licence,
        box_label,
        environment,
        environment_means,
        driver,
        gpu_model,
        os,
        submit,
        choose_file,
        log_file,
        nothing_kept,
        drop_here,
        stop,
        sending,
        reading,
        unreadable,
        broken,
        stopped,
        line,
        find,
        suggested,
        demo,
        editing,
        reviews,
        feedback,
        unmatched,
        workbench,
        new_record,
    }
    messages {
        as_of(seq: &str),
    }
}
