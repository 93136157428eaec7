//! The pages of the graph.

use kb_core::transition::EdgeKind;

words! {
    "graph";
    texts {
        around,
        drawing_means,
        skip,
        before,
        this,
        after,
        confused,
        steps,
        show,
        everything,
        causes,
        lookalikes,
        nothing,
        as_list,
        further,
        leads_to,
        taken_for,
        probability,
        no_such_record,
        whole,
        map,
        map_means,
        map_drawing,
        records,
        domain,
        inner,
        apart,
        links,
        edges,
        between,
        way,
        way_means,
        from,
        to,
        find,
        no_way,
        other_way,
        same,
        more_ways,
        language,
    }
    messages {
        truncated(count: u64),
    }
}

impl Words {
    /// Between the two ends of an edge, the earlier first.
    pub(crate) fn relation(&self, kind: EdgeKind) -> &'static str {
        match kind {
            EdgeKind::LeadsTo | EdgeKind::PrecededBy => self.leads_to,
            EdgeKind::FrequentlyConfusedWith => self.taken_for,
        }
    }
}
