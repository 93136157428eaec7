//! What sets affected nodes apart from others.

use crate::domain::facets::FacetPart;

words! {
    "facets";
    texts {
        title,
        nodes,
        association,
        means,
        are_more,
        only,
        all,
        wrong,
        slower,
        facet,
        with,
        without,
        racks,
        chance,
        chance_means,
        lists_mean,
        list_affected,
        list_affected_with,
        list_with,
        part_driver,
        part_gpu,
        part_link,
        part_fabric,
        part_host,
        no_nodes,
        nothing_tried,
        no_racks,
        nothing_about,
        nothing_apart,
        no_more,
        next,
        simulated,
        real,
    }
    messages {
        of_nodes(count: u64),
        of_simulated(count: u64),
        tries(count: u64),
        computed(at: &str),
        without_rack(count: u64, nodes: u64, label: &str),
        some_of(some: u64, all: u64),
    }
}

impl Words {
    pub(crate) fn part(&self, part: FacetPart) -> &'static str {
        match part {
            FacetPart::Driver => self.part_driver,
            FacetPart::Gpu => self.part_gpu,
            FacetPart::Link => self.part_link,
            FacetPart::Fabric => self.part_fabric,
            FacetPart::Host => self.part_host,
        }
    }
}
