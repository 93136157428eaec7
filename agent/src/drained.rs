//! Whether somebody took the node out of service: then nobody waits for its GPUs, and a run disturbs no one.

use std::path::{Path, PathBuf};

use crate::slurm::{Scontrol, own_name};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Drained {
    Slurm,
    /// A file that is there for as long as the node is out of service.
    File(PathBuf),
}

impl std::str::FromStr for Drained {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "slurm" => Ok(Self::Slurm),
            path if path.starts_with('/') => Ok(Self::File(path.into())),
            _ => Err("give slurm, or the absolute path of a file".to_owned()),
        }
    }
}

impl Drained {
    /// True when the node is out of service and no job is left on it; an error where that cannot be told.
    pub(crate) fn is_so(&self) -> Result<bool, String> {
        match self {
            Self::File(path) => path.try_exists().map_err(|error| cannot_look(path, &error)),
            Self::Slurm => {
                let node = Scontrol::default().node(&own_name())?;
                Ok(node.state.is_drained_and_empty())
            }
        }
    }
}

fn cannot_look(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_is_no_answer() {
        assert_eq!("slurm".parse(), Ok(Drained::Slurm));
        assert_eq!("/run/drained".parse(), Ok(Drained::File("/run/drained".into())));
        assert!("drained".parse::<Drained>().is_err());
    }
}
