//! Whole scans over real log lines, and what must hold for any bytes.

mod causes;
mod clocks;
mod devices;
mod error_lines;
mod folds;
mod harmless;
mod late;
mod logs;
mod phrases;
mod places;
mod properties;
mod ranks;
mod several;
mod unexplained;
mod unknown;
mod unread;
mod warnings;
mod writers;
