//! The answer to a text: the paragraph, the rows of faults, the environment, the log beside it.

use crate::domain::whose::Whose;

words! {
    "answer";
    texts {
        faults,
        first_cause,
        another_cause,
        harmless,
        worse,
        none_unknown,
        none_unknown_so_far,
        not_looked,
        do_first,
        details,
        reader,
        admin,
        vendor,
        nobody,
        whose,
        environment,
        given,
        not_told,
        matters_for,
        matters_nowhere,
        log,
        log_marks,
        first_mark,
        last_mark,
        next_mark,
        unknown_mark,
        only_show,
        host,
        rank,
        all,
        show,
        ticket,
        as_text,
        as_markdown,
        heading_unknown,
        heading_interrupted,
    }
    messages {
        read(lines: u64, size: &str),
        only(title: &str, line: u64),
        only_at(title: &str, line: u64, place: &str),
        cause(title: &str, line: u64),
        cause_at(title: &str, line: u64, place: &str),
        unknown_cause(line: u64, error: &str),
        unknown_raised(line: u64, error: &str),
        interrupted(line: u64, error: &str),
        it_ended(who: &str),
        of_process(process: &str),
        tells_only(title: &str, line: u64),
        also_found(title: &str, line: u64),
        because_of_line(line: u64),
        it_led_to(count: u64, which: &str),
        other_causes(count: u64, which: &str),
        unplaced(count: u64, which: &str),
        are_harmless(count: u64, which: &str),
        unknown(count: u64, which: &str),
        unknown_and_more(count: u64, which: &str),
        may_be_meant(count: u64),
        sentence(text: &str),
        because_of(number: &str),
        same_line(number: &str),
        called_fatal(title: &str),
        led_to(which: &str),
        of_rank(ranks: &str),
        at_line(line: u64),
        lines_between(count: u64),
        lines_with_hits(count: u64, hits: u64),
        shown_of(shown: u64, all: u64),
    }
}

impl Words {
    pub(crate) fn whose(&self, whose: Whose) -> &'static str {
        match whose {
            Whose::Reader => self.reader,
            Whose::Admin => self.admin,
            Whose::Vendor => self.vendor,
            Whose::Nobody => self.nobody,
        }
    }
}
