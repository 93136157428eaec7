//! Names of the fields of a record, for forms and comparisons.

macro_rules! fields {
    ($($name:ident,)+) => {
        words! {
            "field";
            texts { $($name,)+ }
        }

        impl Words {
            pub(crate) fn named(&self, name: &str) -> Option<&'static str> {
                match name {
                    $(stringify!($name) => Some(self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

fields! {
    section_what,
    section_cause,
    section_works,
    section_wastes,
    section_environment,
    section_edges,
    section_sources,
    section_recognised,
    section_rules,
    section_found,
    title,
    title_zh,
    signature,
    signature_zh,
    domain,
    category,
    subcategory,
    severity,
    first_action,
    who,
    fault_source,
    fault_note,
    harmless_unless,
    harmless_unless_zh,
    root_cause,
    root_cause_zh,
    root_cause_type,
    workarounds,
    workarounds_zh,
    annex_workarounds_zh,
    workaround_notes,
    kind,
    cost,
    cost_zh,
    stop_first,
    stop_first_zh,
    resolvable,
    fix_success_rate,
    dead_ends,
    dead_ends_zh,
    applies_to,
    versions,
    os_specific,
    hardware,
    leads_to,
    preceded_by,
    frequently_confused_with,
    cancels,
    only_alone,
    wraps_others,
    only_with,
    window_seconds,
    of_gpu,
    not_of_others,
    superseded_by,
    sources,
    official_doc_url,
    official_doc_section,
    reproduced,
    disputes,
    verification_tier,
    confidence,
    evidence_count,
    first_seen,
    last_confirmed,
    last_updated,
    examples,
    near_misses,
    regex,
    patterns,
    phrases,
    codes,
    error_code,
    probe,
    asked_as,
    tags,
    aliases,
    locale,
    origin,
    provenance,
    action,
    how,
    condition,
    success_rate,
    why_fails,
    fail_rate,
    component,
    introduced,
    fixed,
    last_affected,
    any_of,
    version,
    deprecated,
    removed,
    behavior_change,
    status,
    error_id,
    probability,
    typical_delay,
    distinction,
    url,
    read_on,
    supports,
    note,
    report,
    on,
    output,
    pointer,
    why,
    why_zh,
    source,
    text,
    captures,
    id,
    flags,
    context,
    numbers,
    scope,
    when,
    evidence,
}

pub(crate) fn name(part: kb_core::text::Part, pointer: &str) -> &str {
    match (part, pointer) {
        (kb_core::text::Part::Annex, "/action") => "first_action",
        (kb_core::text::Part::Annex, "/at_fault/source") => "fault_source",
        (kb_core::text::Part::Annex, "/at_fault/note") => "fault_note",
        (kb_core::text::Part::Annex, "/harmless/unless") => "harmless_unless",
        (kb_core::text::Part::Annex, "/harmless/unless_zh") => "harmless_unless_zh",
        (kb_core::text::Part::Annex, "/workarounds_zh") => "annex_workarounds_zh",
        (_, pointer) => pointer.rsplit('/').next().unwrap_or_default(),
    }
}

/// What a reader calls the field at a pointer, with the number of its row: `What works 2, how to do it`.
pub(crate) fn spoken(words: &Words, part: kb_core::text::Part, pointer: &str) -> String {
    use kb_core::form::SECTIONS;
    let fields = SECTIONS.iter().flat_map(|section| section.fields);
    let fields = fields.filter(|field| field.part == part);
    let holder = fields
        .filter(|field| {
            pointer
                .strip_prefix(field.pointer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
        .max_by_key(|field| field.pointer.len());
    let Some(field) = holder else {
        return pointer.to_owned();
    };
    let label = words.named(name(part, field.pointer)).unwrap_or(field.pointer);
    let rest = pointer.get(field.pointer.len()..).unwrap_or_default();
    let mut steps = rest.split('/').skip(1);
    let row = steps.next().and_then(|row| row.parse::<usize>().ok());
    let column = steps.next().and_then(|key| words.named(key));
    match (row, column) {
        (Some(row), Some(column)) => format!("{label} {}, {column}", row + 1),
        (Some(row), None) => format!("{label} {}", row + 1),
        _ => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use kb_core::form::{Input, SECTIONS};
    use kb_core::text::Part;

    use super::*;
    use crate::render::i18n::Language;

    #[test]
    fn every_field_has_a_label() {
        let words = Words::of(Language::Chinese);
        for section in SECTIONS {
            let heading = format!("section_{}", section.key);
            assert!(words.named(&heading).is_some(), "{heading}");
            for field in section.fields {
                let name = name(field.part, field.pointer);
                assert!(words.named(name).is_some(), "{name}");
                if let Input::Rows(columns) = field.input {
                    for column in columns {
                        assert!(words.named(column.key).is_some(), "{}", column.key);
                    }
                }
            }
        }
    }

    #[test]
    fn a_field_is_called_by_its_row() {
        let words = Words::of(Language::English);
        let told = |pointer| spoken(words, Part::Document, pointer);
        assert_eq!(told("/workarounds/1/how"), "What works 2, How to do it");
        assert_eq!(told("/workarounds/0"), "What works 1");
        assert_eq!(told("/root_cause"), "Cause");
        assert_eq!(told("/unknown/7"), "/unknown/7");
    }
}
