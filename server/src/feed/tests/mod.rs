//! The follower in fair and foul weather, and the graph.

mod follower;
mod graph;
mod increments;
mod servers;
