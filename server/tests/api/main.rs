//! The HTTP interface from outside: a real server on a free port for each test, real requests, snapshots of bodies.
#![allow(
    unreachable_pub,
    dead_code,
    reason = "helpers of a test binary, not all of them used by all"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of #[test] functions"
)]

mod access;
mod accounts;
mod agreement;
mod alike;
mod answer_page;
mod apart;
mod attacks;
mod bad_input;
mod baseline;
mod bounded;
mod browser;
mod codes;
mod crowds;
mod database;
mod demo;
mod deployment;
mod docs;
mod durability;
mod edit;
mod edit_command;
mod empty_database;
mod enrol;
mod error_pages;
mod evaluated;
mod every_call;
mod feedback;
mod feedback_command;
mod fleet_alerts;
mod flood;
mod forged_shares;
mod gate;
mod graph;
mod health;
mod history;
mod hostile_patterns;
mod import_deadends;
mod kb;
mod kept;
mod killed_curation;
mod match_command;
mod match_fatal;
mod matching;
mod mcp;
mod move_pages;
mod moves;
mod node_events;
mod node_findings;
mod node_names;
mod nodes;
mod older_server;
mod openapi;
mod openid;
mod outcomes;
mod outside;
mod page_form;
mod people;
mod plain_words;
mod policy;
mod policy_changes;
mod process;
mod proxy;
mod real_provider;
mod receiver;
mod record_command;
mod record_page;
mod records;
mod replicas;
mod reports;
mod reviews;
mod round_trip;
mod round_trip_changes;
mod round_trip_kept;
mod round_trip_renames;
mod search_command;
mod second_person;
mod secrecy;
mod shared;
mod site;
mod sixty_patterns;
mod slow;
mod split;
mod startup;
mod strict;
mod tab;
mod test_app;
mod twenty_editors;
mod unknown_cause;
mod unmatched;
mod unread;
mod webhook;
mod withdrawals;
mod workbench;
