//! The search among the records.

words! {
    "search";
    texts {
        nothing_found,
        near,
        label,
        submit,
        address_before,
        the_box,
        address_after,
        no_record_has,
        searched_for,
        or,
        stop,
        comma,
        passed_over,
        only,
        remove,
        nearest,
        none_here,
        search_all,
        none,
        box_before,
        box_after,
        all,
        next,
        domain,
        category,
        tag,
        tier,
        locale,
    }
    messages {
        record_count(count: u64),
        found(count: u64),
        without(filter: &str, value: &str),
    }
}
