//! The follower in fair and foul weather, the index and the graph.

mod fake_feed;
mod follower;
mod graph;
mod increments;
mod index;
mod servers;
