//! The contract: each case is named once here and runs on each engine.

mod alerts;
mod anonymous;
mod audit;
mod baseline;
mod bundles;
mod codes;
mod deliveries;
mod edges;
mod facets;
mod feed;
mod feedback;
mod fleet;
mod fleet_lists;
mod fleet_summary;
mod handled;
mod heads;
mod imports;
mod judged;
mod lists;
mod moves;
mod nodes;
mod open_faults;
mod outcomes;
pub(crate) mod persons;
mod races;
mod reports;
mod reviews;
mod seeds;
pub(crate) mod sessions;
mod tokens;
mod unmatched;

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
    alerts {
        a_beginning_and_an_end_are_told_once
        what_is_harmless_now_has_ended
        what_is_acknowledged_or_silenced_is_not_told
        one_server_has_a_turn
        a_node_is_silent_after_three_looks_of_the_servers_own
    }
    handled {
        a_silence_covers_the_fault_that_was_seen
        an_acknowledgement_covers_no_other_gpu
    }
    deliveries {
        rows_of_the_audit_are_queued_once
        one_server_has_a_delivery_until_its_claim_ends
        a_clock_that_was_ahead_holds_no_delivery_up
        what_is_given_up_stands_in_the_audit
        the_queue_is_bounded
    }
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
    reviews {
        a_record_has_one_open_review
        publishing_a_revision_approves_its_review
        what_a_review_asks_is_kept_with_it
        a_seed_ends_what_was_asked_of_the_revision_before
        one_question_ends_no_other
        what_a_review_asked_for_relies_on_it
        no_open_review_outlives_its_record
        a_review_ends_once
        comments_stand_in_order_and_are_done_once
        a_withdrawn_record_says_why_and_what_replaces_it
    }
    feed {
        publishing_and_withdrawing_take_the_next_seq
        a_publication_is_refused_where_the_feed_went_on
        publishing_again_changes_nothing
        an_older_revision_can_be_brought_back
        a_newer_draft_does_not_move_the_time_of_publishing
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
    codes {
        codes_are_found_whatever_the_case_and_blanks
        codes_follow_the_published_revision
        aliases_lead_to_the_record
        an_alias_belongs_to_one_record
        a_former_id_is_not_given_away
    }
    edges {
        edges_are_kept_as_stated_and_seen_from_both_ends
        an_unknown_target_is_resolved_when_it_appears
        edges_are_rebuilt_with_the_published_revision
    }
    lists {
        pages_come_in_id_order
        changes_come_in_seq_order_with_tombstones
        lists_are_narrowed_by_state_and_domain
        ids_are_ordered_by_bytes
    }
    moves {
        a_merged_record_leads_to_the_other
        a_renamed_record_is_found_under_its_former_id
        votes_go_where_their_record_goes
        a_split_saves_both_or_none
    }
    bundles {
        the_bundle_that_was_taken_last_is_known
    }
    imports {
        the_program_never_takes_back_what_was_imported
        an_import_keeps_what_somebody_edited
    }
    seeds {
        new_seeds_are_published
        it_is_known_who_ever_brought_records
        a_set_is_remembered_while_all_of_it_is_in
        unchanged_seeds_write_nothing
        a_changed_seed_makes_a_revision
        an_edit_survives_and_the_conflict_is_listed
        an_edit_that_equals_the_seed_ends_the_conflict
        withdrawn_stays_withdrawn
        another_published_revision_is_an_edit
        gone_from_the_seeds_is_kept
        a_local_record_of_that_name_is_kept
        a_seed_whose_name_is_taken_keeps_no_other_out
        a_seed_whose_name_moved_keeps_no_other_out
        two_servers_seed_once
        one_bad_seed_leaves_everything_as_it_was
    }
    reports {
        a_report_is_kept_once
        every_verdict_comes_back
        another_body_under_the_same_id_is_a_conflict
        two_uploads_at_once_store_once
        an_id_of_two_nodes_needs_the_node
        lists_come_newest_first_in_pages
        findings_are_replaced
        newer_findings_are_not_replaced_by_older
        latest_reports_wait_for_correlation
        reports_in_earnest_of_a_time_are_counted
    }
    open_faults {
        what_is_open_is_told_in_the_order_of_the_runs
        more_faults_than_are_read_at_once_are_told
        a_fault_that_is_open_is_named_later
        a_warning_stands_behind_the_fault_that_is_over
        a_run_that_warns_is_open_until_it_is_ended
        reports_around_a_time_are_those_whose_runs_ended_there
    }
    judged {
        what_is_open_is_judged_again_by_another_policy
        verdict_and_findings_change_together_with_the_rules
        a_part_that_rules_take_away_tells_of_the_node_until_it_is_back
        what_was_over_when_rules_took_it_is_known_until_it_is_back
        what_a_fault_may_have_refuted_is_judged_again_without_it
        a_simulated_report_that_is_judged_anew_says_nothing_of_a_real_node
        what_tells_of_a_node_in_a_database_of_before_is_judged_once_more
    }
    nodes {
        nodes_come_with_their_latest_report
        a_late_arrival_does_not_take_the_place_of_a_later_one
        the_latest_is_the_run_that_ended_last
        a_clock_that_runs_ahead_does_not_stay_the_latest
        a_known_end_goes_before_the_nodes_clock
        a_proven_fault_stands_until_a_later_proof
        an_alarm_displaces_none_that_is_worse
        a_simulated_run_ends_no_proven_fault
        a_simulated_run_says_nothing_of_a_real_node
        a_real_look_takes_no_real_proof_away
        a_simulated_fault_takes_the_place_of_no_real_one
        a_fault_that_comes_late_refutes_later_health
        proven_health_ends_with_an_alarm
        a_fault_ends_alone
        what_another_tool_failed_at_stands_until_a_proof
        another_tools_look_hides_no_alarm
        without_a_proof_the_latest_stands
        a_standing_fault_is_correlated_again_too
        nodes_come_in_pages
        nodes_are_narrowed_by_the_labels_of_their_join_token
        what_happened_to_a_node_is_kept_on_every_node_that_it_concerns
    }
    fleet {
        nodes_are_counted_by_the_verdict_that_stands
        faults_are_counted_by_node
        the_silent_are_counted_and_the_oldest_come_first
    }
    fleet_summary {
        a_summary_is_kept_with_the_report
        a_verdict_stands_since_the_run_that_showed_it_first
        a_late_report_tells_nothing_of_the_machine
        the_worst_that_is_open_is_the_cause
        findings_open_go_on_end_and_come_again
        findings_follow_their_record_into_another
        a_database_of_before_has_summaries
    }
    fleet_lists {
        each_condition_narrows
        every_order_has_its_pages
        counts_are_the_lengths_of_the_lists_that_they_stand_for
    }
    outcomes {
        each_voter_has_one_vote_for_an_action_and_a_model
        a_person_and_a_token_of_one_id_are_two_voters
        a_voter_votes_for_so_many_models
        models_and_kinds_are_kept_apart
        votes_need_a_record
        votes_at_once_count_once
        changed_votes_are_told_once
    }
    feedback {
        a_second_vote_takes_the_place_of_the_first
        what_nobody_signs_goes_with_its_room
        an_entry_is_decided_once
        feedback_goes_where_its_record_goes
        pages_of_the_queue_go_back_in_time
    }
    anonymous {
        an_address_has_a_quota_for_each_day
        removing_an_entry_gives_back_room_and_no_quota
        a_full_room_loses_its_oldest
        entries_expire
        a_writer_takes_back_with_the_key
        an_answer_is_read_by_its_name_until_its_time_is_over
        many_writers_at_once_stay_within_the_limits
    }
    tokens {
        tokens_are_kept_and_revoked_once
        a_token_id_is_used_once
        a_node_has_one_credential
        an_old_join_token_takes_no_id_over
        a_join_token_that_is_used_up_renews_no_credential
        who_had_a_revoked_credential_is_known
        one_of_many_machines_gets_an_id
        a_join_token_is_not_used_too_often
    }
    persons {
        a_login_belongs_to_one_person_whatever_its_case
        a_subject_belongs_to_one_person
        a_change_of_role_ends_the_sessions
        the_last_administrator_stays
        who_is_shut_out_has_no_session_and_no_token
        another_password_ends_the_sessions
        the_first_administrator_is_made_once
    }
    sessions {
        a_session_ends_idle_and_absolutely
        a_login_takes_the_place_of_the_session_before
        a_session_is_ended_by_its_owner_alone
        a_session_of_another_role_is_none
    }
    unmatched {
        lines_are_counted_by_node_and_day
        what_is_kept_has_bounds
        a_full_queue_takes_new_lines
        two_servers_widen_one_template
        an_editor_does_not_undo_what_was_not_shown
        editors_say_what_becomes_of_lines
        a_template_names_the_record_that_its_own_became
    }
    baseline {
        a_newer_figure_takes_the_place_of_an_older_one
        cohorts_are_kept_apart
        earlier_figures_are_those_of_good_runs
    }
    facets {
        the_report_that_ended_last_tells_and_kinds_are_apart
        what_a_report_cannot_tell_stays_and_pages_go_on
    }
    audit {
        what_happens_to_a_record_is_noted_with_it
        what_happens_to_a_token_is_noted_with_it
        the_audit_is_narrowed_and_comes_in_pages
        rows_are_counted_without_gaps_however_many_write
        the_audit_cannot_be_changed_in_the_database
    }
}
