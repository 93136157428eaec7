//! Measurements beside figures of their kind.

words! {
    "baseline";
    texts {
        compared,
        means,
        no_outliers,
        normal,
        watch,
        low,
        no_gpu,
        no_model,
        several_models,
        no_driver,
        node,
        no_peers,
        no_in_node,
        no_own,
        no_reference,
        disturbed,
        case_file,
    }
    messages {
        cohort(model: &str, branch: &str, nodes: u64),
        no_cohort(reason: &str),
        gpu(gpu: &str),
        pair(a: &str, b: &str),
        test(difference: &str, title: &str),
        peers(range: &str, median: &str, figures: u64, nodes: u64),
        few_peers(have: &str, need: &str),
        in_node(range: &str, median: &str, figures: u64),
        few_in_node(have: &str, need: &str),
        own(range: &str),
        reference(range: &str, median: &str, machines: u64),
        nominal(range: &str, nominal: &str),
        range(lowest: &str, highest: &str),
    }
}
