//! The contract: each case is named once here and runs on each engine.

mod codes;
mod edges;
mod feed;
mod heads;
mod lists;
mod nodes;
mod races;
mod reports;
mod seeds;
mod tokens;

macro_rules! contract {
    ($($room:ident { $($case:ident)* })*) => {
        contract!(@engine sqlite Sqlite $($room { $($case)* })*);
        contract!(@engine postgres Postgres $($room { $($case)* })*);
    };
    (@engine $module:ident $engine:ident $($room:ident { $($case:ident)* })*) => {
        mod $module {
            $(mod $room {
                $(
                    #[test]
                    fn $case() {
                        crate::support::on(crate::support::Engine::$engine, crate::contract::$room::$case);
                    }
                )*
            })*
        }
    };
}

contract! {
    heads {
        texts_come_back_byte_for_byte
        a_draft_is_not_seen_by_readers
        equal_texts_make_no_revision
        a_stale_editor_is_told_the_head
        revisions_are_numbered_and_never_reused
        a_nul_is_refused
        an_unreadable_text_is_kept_but_not_published
        a_document_under_another_id_is_not_published
        revisions_cannot_be_changed_in_the_database
    }
    feed {
        publishing_and_withdrawing_take_the_next_seq
        publishing_again_changes_nothing
        an_older_revision_can_be_brought_back
        each_record_comes_once_in_seq_order
        pages_cover_everything
        what_cannot_be_published_is_refused
    }
    races {
        one_of_many_savers_wins
        one_of_many_makers_wins
        seqs_have_no_gaps_and_no_twins
        readers_never_miss_a_change
        a_failed_publish_leaves_no_gap
    }
    lists {
        pages_come_in_id_order
        changes_come_in_seq_order_with_tombstones
        ids_are_ordered_by_bytes
    }
    seeds {
        new_seeds_are_published
        unchanged_seeds_write_nothing
        a_changed_seed_makes_a_revision
        an_edit_survives_and_the_conflict_is_listed
        an_edit_that_equals_the_seed_ends_the_conflict
        withdrawn_stays_withdrawn
        another_published_revision_is_an_edit
        gone_from_the_seeds_is_kept
        a_local_record_of_that_name_is_kept
        two_servers_seed_once
        one_bad_seed_leaves_everything_as_it_was
    }
    tokens {
        tokens_are_kept_and_revoked_once
        a_token_id_is_used_once
    }
}
