//! Nodes: all together, the list, and one of them.

words! {
    "fleet";
    texts {
        nodes,
        none_yet,
        token_for,
        together,
        by_verdict,
        faults,
        fault,
        no_faults,
        unexplained,
        oldest,
        node,
        verdict,
        why,
        findings,
        run_ended,
        reports,
        simulated,
        last_seen,
        with_label,
        all_nodes,
        events,
        next,
        by_the_run,
        last_seen_at,
        stands,
        received,
        older,
    }
    messages {
        node_count(count: u64),
        gpu_count(count: u64),
        simulated_nodes(count: u64),
        silent(count: u64, hours: u64),
        report_count(count: u64),
        host(hostname: &str),
    }
}
