//! Which segments of the index are made one. Each commit adds a segment, and a document that is taken out leaves its words
//! behind, which only cost time: they are not counted (see [`super::view`]), save where the commonest of several words
//! are chosen. Asking many segments takes longer than asking one, and writing a large one anew takes longer still, while
//! requests wait.

/// So much may lie beside the largest segment or be deleted in it, as a share of all.
const LOOSE_SHARE: u64 = 20;

/// One segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// Documents, deleted ones among them.
    pub(super) documents: u32,
    /// Those that are deleted.
    pub(super) deleted: u32,
}

/// For each segment, whether it is to be joined with the others that are. Afterwards there are two at most.
pub(super) fn to_join(segments: &[Segment]) -> Vec<bool> {
    let largest = (0..).zip(segments).max_by_key(|(_, segment)| segment.documents);
    let Some((largest, Segment { documents, deleted })) = largest else {
        return Vec::new();
    };
    let all: u64 = segments.iter().map(|segment| u64::from(segment.documents)).sum();
    let loose = all - u64::from(*documents) + u64::from(*deleted);
    let with_largest = loose > all / LOOSE_SHARE;
    let is_beside = |place: usize| place != largest;
    let beside_deleted = (0..)
        .zip(segments)
        .any(|(place, segment)| is_beside(place) && segment.deleted > 0);
    let without_largest = segments.len() > 2 || beside_deleted;
    let join = |place| with_largest || (without_largest && is_beside(place));
    (0..segments.len()).map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(segments: &[(u32, u32)]) -> Vec<bool> {
        let segments = segments.iter().map(|(documents, deleted)| Segment {
            documents: *documents,
            deleted: *deleted,
        });
        to_join(&segments.collect::<Vec<_>>())
    }

    #[test]
    fn a_tiny_index_is_one_segment_without_deleted_documents() {
        assert_eq!(joined(&[]), Vec::<bool>::new());
        assert_eq!(joined(&[(19, 0)]), [false]);
        assert_eq!(joined(&[(19, 1)]), [true]);
        assert_eq!(joined(&[(18, 0), (1, 0)]), [true, true]);
    }

    #[test]
    fn the_bulk_of_a_large_one_is_left_alone_until_it_pays() {
        assert_eq!(joined(&[(700, 1), (1, 0)]), [false, false]);
        assert_eq!(joined(&[(65_000, 0), (1, 0)]), [false, false]);
        assert_eq!(joined(&[(1, 0), (65_000, 9), (1, 0)]), [true, false, true]);
        assert_eq!(joined(&[(65_000, 9), (2, 1)]), [false, true]);
        assert_eq!(joined(&[(65_000, 3_500), (1, 0)]), [true, true]);
        assert_eq!(joined(&[(20_000, 0), (20_000, 0)]), [true, true]);
    }
}
