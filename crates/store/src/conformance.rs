//! The suite that every backend passes, without exceptions.
//!
//! A backend says how its store is opened (a [`Lab`]) and calls
//! [`conformance!`](crate::conformance!), which makes one test per case. Cases speak only the words
//! of [`Store`]. What they write is real: the events and states come from core's own decisions on
//! small workflows.

#![expect(
    clippy::unwrap_used,
    reason = "a case that fails is to panic, as a test does"
)]

pub mod admit;
pub mod advance;
pub mod alerts;
pub mod backup;
pub mod breakers;
pub mod bulk;
pub mod callbacks;
pub mod catalog;
pub mod claim;
mod execution;
pub mod fires;
pub mod history;
pub mod letter_lists;
pub mod letters;
pub mod list_bounds;
pub mod list_filters;
pub mod lists;
pub mod minutes;
pub mod nodes;
pub mod notices;
pub mod prune;
pub mod reopen;
pub mod requests;
pub mod room;
pub mod scheduled;
pub mod sessions;
pub mod snapshot;
mod stage;
pub mod summary;
pub mod task_locks;
pub mod tasks;
mod trigger;
pub mod triggers;
pub mod work;
pub mod workers;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use crate::Store;

/// Where the cases of one test find their store.
#[async_trait]
pub trait Lab: Send + Sync {
    /// Opens the lab's store: empty the first time, with the same data after it was closed.
    async fn open(&self) -> Arc<dyn Store>;

    /// Opens what a backup wrote to `path`.
    async fn open_backup(&self, path: &Path) -> Arc<dyn Store>;

    /// A directory for files of the case, gone with the lab.
    fn directory(&self) -> &Path;
}

/// Runs one case in a lab of its own.
pub fn run<L: Lab>(lab: &L, case: impl AsyncFnOnce(&dyn Lab)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be built");
    runtime.block_on(case(lab));
}

/// Makes the tests of one topic.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_topic {
    ($lab:expr, $topic:ident: $($case:ident),+ $(,)?) => {
        mod $topic {
            use super::*;
            $(
                #[test]
                fn $case() {
                    $crate::conformance::run(&$lab, async |lab| {
                        $crate::conformance::$topic::$case(lab).await;
                    });
                }
            )+
        }
    };
}

/// Makes a test of every case. `$lab` is an expression that makes a new [`Lab`](crate::conformance::Lab).
#[macro_export]
macro_rules! conformance {
    ($lab:expr) => {
        $crate::conformance_topic!($lab, admit:
            a_new_execution_is_found_again, a_used_key_gives_the_first_execution,
            one_key_twice_in_a_batch, an_expired_key_is_free_again,
            a_key_is_taken_over_from_who_was_seen,
            keys_of_other_scopes_do_not_meet, an_id_is_admitted_once,
            an_unknown_workflow_is_refused, a_deleted_workflow_is_refused,
        );
        $crate::conformance_topic!($lab, advance:
            a_wrong_version_is_refused_alone, an_unknown_execution_is_refused,
            a_change_of_what_has_begun_is_noticed,
            several_moves_in_one_batch, a_failing_statement_leaves_nothing,
        );
        $crate::conformance_topic!($lab, work:
            put_replaces_the_steps_row, restore_spares_the_running_attempt,
            remove_takes_one_or_all, pausing_removes_what_has_not_begun,
            begin_marks_only_owned_rows_of_that_attempt, what_was_withdrawn_does_not_begin,
            release_gives_back_what_was_owned, released_work_has_a_due_time,
            release_removes_work_of_a_paused_execution,
            orphans_are_what_others_own, a_node_finds_what_it_owns_and_is_due,
            open_counts_follow_the_work,
        );
        $crate::conformance_topic!($lab, tasks:
            an_offer_is_found_again,
            workers_get_them_by_priority_then_age,
            a_task_is_given_out_when_its_time_has_come,
            a_retry_that_is_wanted_now_is_taken_from_nobody,
            a_worker_is_known_by_its_lock,
            where_a_token_is_required_a_name_is_not_enough,
            nobody_ends_what_he_has_not_seen,
            a_pause_holds_back_what_nobody_has,
            a_failing_execution_retires_what_nobody_has,
            clocks_are_found_in_their_order,
            lists_are_newest_first,
            a_task_goes_with_its_execution, a_workflow_with_tasks_is_not_deleted,
        );
        $crate::conformance_topic!($lab, callbacks:
            a_wait_is_found_again, what_a_target_says_is_kept, each_attempt_has_its_row,
            windows_are_found_in_their_order, a_cancel_closes_all,
            a_move_that_is_refused_leaves_its_callbacks, callbacks_go_with_their_execution,
            a_workflow_that_waits_is_not_deleted, what_is_sealed_is_sealed_anew,
        );
        $crate::conformance_topic!($lab, workers:
            what_is_seen_is_added, a_worker_is_forgotten, only_the_newest_stay,
            what_workers_have_is_found, executions_that_wait_for_workers_are_open,
            a_cancel_names_what_workers_have,
        );
        $crate::conformance_topic!($lab, task_locks:
            a_task_may_be_made_for_a_worker, workers_with_other_wishes_are_served_together,
            what_waits_hides_nothing_that_is_ready, what_is_refused_is_refused_alone,
            a_heartbeat_cuts_no_extension, a_call_is_remembered_until_the_next_lock_ends,
            a_backup_has_the_tasks,
        );
        $crate::conformance_topic!($lab, nodes:
            a_node_is_seen_until_it_leaves, only_the_expired_are_reaped,
            without_a_lease_nothing_is_written, the_dead_leave_orphans,
            another_nodes_work_does_not_begin, an_old_version_is_not_admitted,
        );
        $crate::conformance_topic!($lab, claim:
            claims_go_by_priority_then_time_then_age, claims_take_what_is_wanted_and_no_more,
            unowned_work_queues_by_its_time,
            timers_are_claimed_by_their_time, later_timers_do_not_hide_ready_work,
            ready_workflows_have_due_unowned_work,
        );
        $crate::conformance_topic!($lab, room:
            claims_pass_over_what_has_no_room, a_full_key_hides_no_other,
            keys_that_fill_up_hide_no_other, waiting_retries_hide_no_first_attempt,
            bounds_hold_over_all_nodes, bounds_of_keys_hold_over_all_nodes,
            strange_keys_are_told_apart, claims_take_what_a_full_walk_would,
            parallel_steps_of_one_execution_run_together,
        );
        $crate::conformance_topic!($lab, snapshot:
            a_snapshot_with_every_commit, a_snapshot_now_and_then, no_snapshot_at_all,
        );
        $crate::conformance_topic!($lab, history:
            filters_choose_events, pages_meet_without_gaps, payloads_come_back_byte_for_byte,
            values_are_found_by_their_event,
        );
        $crate::conformance_topic!($lab, lists:
            newest_come_first_page_by_page, each_status_lists_its_own, begun_work_shows_as_running,
            filters_combine,
        );
        $crate::conformance_topic!($lab, list_filters:
            workflows_are_named_or_begun, a_trigger_lists_what_it_started,
            times_are_those_of_the_ids, versions_and_ids_choose, errors_are_found,
            texts_are_found_in_names_and_errors, a_trace_is_found, keys_find_their_executions,
        );
        $crate::conformance_topic!($lab, list_bounds:
            a_search_stops_and_goes_on, the_shortest_way_is_taken, a_list_that_is_full_says_nothing,
            counts_stop, counts_say_how_far_they_came,
        );
        $crate::conformance_topic!($lab, letters:
            a_letter_says_what_happened, a_retry_resolves_it, a_failed_retry_leaves_it_pending,
            only_a_pending_letter_is_retried, a_retry_on_an_old_generation_is_refused,
            a_letter_is_given_up_once,
            a_stray_settlement_changes_nothing,
        );
        $crate::conformance_topic!($lab, bulk:
            a_job_is_kept_as_it_was_asked_for, a_retry_is_made_once_for_each_job,
            what_is_refused_leaves_no_row, letters_are_given_up_with_their_rows,
            a_purge_takes_the_execution_along, a_job_that_moved_on_is_not_moved,
            counts_are_exact_wherever_the_cursor_is, old_rows_go_and_counts_stay,
            what_is_there_is_told_from_what_is_not, a_backup_has_the_jobs,
        );
        $crate::conformance_topic!($lab, letter_lists:
            filters_choose_letters, pages_of_letters_meet,
        );
        $crate::conformance_topic!($lab, summary:
            counts_equal_the_walk, a_crowded_millisecond_is_told_exactly,
            settling_moves_the_counts, an_empty_queue_counts_nothing,
        );
        $crate::conformance_topic!($lab, catalog:
            new_content_makes_a_version, an_expected_version_is_compared,
            equal_content_makes_none, deleted_ones_come_back,
            open_executions_keep_a_workflow, the_last_saved_come_first, lists_leave_the_deleted_out,
        );
        $crate::conformance_topic!($lab, prune:
            old_ended_executions_go, letters_in_use_keep_their_execution,
            chunks_reach_the_end, long_logs_make_short_chunks, expired_keys_go,
        );
        $crate::conformance_topic!($lab, triggers:
            a_new_trigger_is_found_again, ids_and_addresses_are_taken_once,
            a_change_needs_what_it_saw, a_state_can_come_later, a_change_writes_the_ledger,
            a_ledger_begins_with_the_state, a_change_cuts_the_ledger,
            a_disabled_trigger_is_never_due,
            a_deleted_workflow_disables_its_triggers, a_deleted_trigger_is_not_shown,
            filters_choose_triggers, what_a_deleted_trigger_left_goes_later,
        );
        $crate::conformance_topic!($lab, fires:
            a_slot_is_fired_once, a_fire_needs_what_it_saw, a_refused_execution_is_not_fired,
            a_fire_with_a_key_is_whole, stretches_become_one_row, the_ledger_is_cut_now_and_then,
            what_was_missed_is_kept_apart, a_success_is_in_nobodys_way,
            filters_choose_slots, the_earliest_are_due_first, an_end_clears_what_was_waited_for,
            an_end_wakes_what_waits, several_ends_in_one_batch, ends_and_fires_meet_in_order,
            an_execution_may_end_at_once, pruning_executions_leaves_the_ledger,
        );
        $crate::conformance_topic!($lab, scheduled:
            a_task_is_made_with_all_that_belongs_to_it, a_refused_task_leaves_nothing,
            a_change_of_a_task_needs_what_it_saw, a_deleted_task_is_hidden,
            workflows_of_tasks_are_not_listed, filters_choose_tasks,
            a_paused_task_can_be_run_by_hand,
        );
        $crate::conformance_topic!($lab, requests:
            a_request_is_kept_with_its_execution, a_changed_trigger_starts_nothing,
            a_trigger_that_started_something_may_change,
            a_refused_request_can_be_run, a_refused_request_is_run_once, filters_choose_requests, refused_requests_are_counted_by_webhook,
            a_ring_keeps_the_newest, rings_are_cut_apart, a_ring_has_a_weight, old_requests_go,
            of_what_was_accepted_the_newest_stay,
        );
        $crate::conformance_topic!($lab, sessions:
            a_session_is_found_until_it_ends, a_link_is_taken_once, ended_sessions_go_with_the_next,
            only_so_many_sessions_stay, a_backup_has_no_sessions,
        );
        $crate::conformance_topic!($lab, breakers:
            a_breaker_moves_by_its_revision, those_that_stand_are_found, one_of_two_moves_counts,
            breakers_are_listed_by_host, only_so_many_closed_breakers_stay, a_backup_has_breakers,
            work_that_waits_for_a_target_is_counted, letters_are_found_by_their_target,
        );
        $crate::conformance_topic!($lab, notices:
            a_notice_is_written_with_what_it_is_about, a_notice_is_taken_once,
            a_group_is_told_of_with_its_message, a_channel_changes_as_it_was_seen,
            only_so_many_channels_are_kept, what_the_server_runs_is_in_no_list,
            a_backup_has_notices_and_channels,
        );
        $crate::conformance_topic!($lab, minutes:
            minutes_are_added_to, minutes_are_added_up, old_minutes_go,
        );
        $crate::conformance_topic!($lab, alerts:
            a_change_needs_what_it_saw, alerts_are_listed_newest_first,
            what_has_been_over_for_long_goes, a_rule_has_a_name_of_its_own,
            silences_are_kept_in_bounds, a_backup_has_the_alerts,
        );
        $crate::conformance_topic!($lab, backup:
            a_backup_holds_everything, an_existing_file_is_refused,
            a_missing_directory_is_named, commits_go_on_during_a_backup,
        );
        $crate::conformance_topic!($lab, reopen:
            everything_survives_a_restart, nothing_works_after_closing,
        );
    };
}
