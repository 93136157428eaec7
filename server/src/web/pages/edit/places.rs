//! What the check finds in fields, once more at the head of the form: it is long, and a finding far below is not seen.

use super::view::{Entry, FieldView, Finding, SectionView};

#[derive(Debug)]
pub(super) struct Place {
    /// Id of the field in the page.
    pub(super) id: String,
    pub(super) label: String,
    pub(super) finding: Finding,
}

/// In the order of the form.
pub(super) fn places(sections: &[SectionView]) -> Vec<Place> {
    let mut places = Vec::new();
    for entry in sections.iter().flat_map(|section| &section.entries) {
        match entry {
            Entry::Field(field) => of_field(field, None, &mut places),
            Entry::List(list) => {
                add(&list.name, list.label, &list.findings, &mut places);
                for row in &list.rows {
                    for field in &row.fields {
                        of_field(field, Some(&row.heading), &mut places);
                    }
                }
            }
        }
    }
    places
}

fn of_field(field: &FieldView, row: Option<&str>, places: &mut Vec<Place>) {
    let label = match row {
        Some(row) => format!("{row}, {}", field.label),
        None => field.label.clone(),
    };
    add(&field.name, &label, &field.findings, places);
}

fn add(id: &str, label: &str, findings: &[Finding], places: &mut Vec<Place>) {
    places.extend(findings.iter().map(|finding| Place {
        id: id.to_owned(),
        label: label.to_owned(),
        finding: finding.clone(),
    }));
}
