//! What each test of nvbandwidth measures, by its name.

use super::OTHER;
use crate::convert::draft::Figure;
use crate::report::{Engine, Operation};

#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) layout: Layout,
    pub(super) figure: Figure<'static>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One row; the column's GPU receives from the host.
    FromHost,
    /// One row; the column's GPU sends to the host.
    ToHost,
    /// The row's GPU sends to the column's.
    Push,
    /// The row's GPU fetches from the column's.
    Pull,
    /// Both directions between row and column.
    Both {
        /// Whether the source issues the copies.
        push: bool,
    },
    /// One row; all others send to the column's GPU.
    IntoOne,
    /// One row; the column's GPU sends to all others.
    OutOfOne,
    /// One row; within the column's GPU.
    Local,
}

impl Layout {
    pub(super) fn is_square(self) -> bool {
        matches!(self, Self::Push | Self::Pull | Self::Both { .. })
    }

    /// Source and destination of a cell; `None` where there can be none.
    pub(super) fn ends(self, row: u32, column: u32) -> Option<(Option<u32>, Option<u32>)> {
        let one_row = row == 0;
        match self {
            Self::Push | Self::Both { .. } => (row != column).then_some((Some(row), Some(column))),
            Self::Pull => (row != column).then_some((Some(column), Some(row))),
            Self::FromHost | Self::IntoOne => one_row.then_some((None, Some(column))),
            Self::ToHost | Self::OutOfOne => one_row.then_some((Some(column), None)),
            Self::Local => one_row.then_some((Some(column), Some(column))),
        }
    }
}

pub(super) fn case(name: &str, bytes: u64) -> Option<Case> {
    let (base, engine) = if name == "device_local_copy" {
        (name, Engine::Ce)
    } else {
        let (base, engine) = name.rsplit_once('_')?;
        match engine {
            "ce" => (base, Engine::Ce),
            "sm" => (base, Engine::Sm),
            _ => return None,
        }
    };
    let both = |push| Layout::Both { push };
    let (metric, layout, operation) = match base {
        "host_to_device_memcpy" => ("h2d_bandwidth", Layout::FromHost, OTHER),
        "device_to_host_memcpy" => ("d2h_bandwidth", Layout::ToHost, OTHER),
        "host_to_device_bidirectional_memcpy" => ("h2d_bandwidth_beside_d2h", Layout::FromHost, OTHER),
        "device_to_host_bidirectional_memcpy" => ("d2h_bandwidth_beside_h2d", Layout::ToHost, OTHER),
        "host_to_all_memcpy" => ("h2d_bandwidth_all_at_once", Layout::FromHost, OTHER),
        "all_to_host_memcpy" => ("d2h_bandwidth_all_at_once", Layout::ToHost, OTHER),
        "host_to_all_bidirectional_memcpy" => {
            ("h2d_bandwidth_all_at_once_beside_d2h", Layout::FromHost, OTHER)
        }
        "all_to_host_bidirectional_memcpy" => ("d2h_bandwidth_all_at_once_beside_h2d", Layout::ToHost, OTHER),
        "device_to_device_memcpy_read" => ("d2d_bandwidth", Layout::Pull, Operation::Pull),
        "device_to_device_memcpy_write" => ("d2d_bandwidth", Layout::Push, Operation::Push),
        "device_to_device_bidirectional_memcpy_read" => {
            ("d2d_bandwidth_both_ways", both(false), Operation::Pull)
        }
        "device_to_device_bidirectional_memcpy_write" => {
            ("d2d_bandwidth_both_ways", both(true), Operation::Push)
        }
        "all_to_one_write" => ("all_to_one_bandwidth", Layout::IntoOne, Operation::Push),
        "all_to_one_read" => ("all_to_one_bandwidth", Layout::IntoOne, read(engine)),
        "one_to_all_write" => ("one_to_all_bandwidth", Layout::OutOfOne, Operation::Push),
        "one_to_all_read" => ("one_to_all_bandwidth", Layout::OutOfOne, read(engine)),
        "host_device_latency" => ("host_load_latency", Layout::FromHost, OTHER),
        "device_to_device_latency" => ("load_latency", Layout::Pull, Operation::Pull),
        "device_local_copy" => ("local_copy_bandwidth", Layout::Local, OTHER),
        _ => return None,
    };
    let is_latency = metric.ends_with("latency");
    Some(Case {
        layout,
        figure: Figure {
            metric,
            unit: if is_latency { "ns" } else { "GB/s" },
            engine,
            operation,
            // A hop of the pointer chase loads one 8-byte address.
            bytes: if is_latency { 8 } else { bytes },
            peer_access: matches!(
                layout,
                Layout::Push | Layout::Pull | Layout::Both { .. } | Layout::IntoOne | Layout::OutOfOne
            )
            .then_some(true),
        },
    })
}

/// The kernels of the SM variants push whatever their name says.
fn read(engine: Engine) -> Operation {
    match engine {
        Engine::Sm => Operation::Push,
        _ => Operation::Pull,
    }
}
