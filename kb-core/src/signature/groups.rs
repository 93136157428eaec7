//! Capture groups of a pattern.

use regex_syntax::hir::{Hir, HirKind};

pub(super) fn named_groups(hir: &Hir) -> usize {
    let mut groups = Vec::new();
    collect_groups(hir, &mut groups);
    groups.iter().filter(|(_, name)| name.is_some()).count()
}

pub(super) fn collect_groups(hir: &Hir, into: &mut Vec<(usize, Option<String>)>) {
    match hir.kind() {
        HirKind::Capture(group) => {
            let index = usize::try_from(group.index).unwrap_or(usize::MAX);
            into.push((index, group.name.as_ref().map(ToString::to_string)));
            collect_groups(&group.sub, into);
        }
        HirKind::Repetition(repetition) => collect_groups(&repetition.sub, into),
        HirKind::Concat(children) | HirKind::Alternation(children) => {
            for child in children {
                collect_groups(child, into);
            }
        }
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => {}
    }
}
