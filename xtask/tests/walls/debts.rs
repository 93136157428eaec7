//! What breaks a wall today, and why it still does. Pay these, and add none.

/// A use that the row of a room does not allow.
pub(crate) struct Use {
    pub(crate) file: &'static str,
    pub(crate) uses: &'static str,
    pub(crate) why: &'static str,
}

/// A circle that a file is part of, and how many files it may have.
pub(crate) struct Circle {
    pub(crate) file: &'static str,
    pub(crate) files: usize,
    pub(crate) why: &'static str,
}

const fn owed(file: &'static str, uses: &'static str, why: &'static str) -> Use {
    Use { file, uses, why }
}

pub(crate) const USES: &[Use] = &[];

pub(crate) const CIRCLES: &[Circle] = &[
    Circle {
        file: "kb-core/src/signature/check.rs",
        files: 5,
        why: "the checks share one error, defined among them",
    },
    Circle {
        file: "kb-core/src/scanner/engine.rs",
        files: 11,
        why: "the steps of a scan share their state",
    },
];
