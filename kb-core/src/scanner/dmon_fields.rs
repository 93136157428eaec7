//! Columns of `dcgmi dmon`: what dcgm-exporter calls the same field, and when its value is trouble.

/// When a cell tells of trouble, by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    /// A history, or a state that asks for nothing: told where a record speaks of it.
    Never,
    NotZero,
    Zero,
    From(u64),
    /// One of these bits.
    Bits(u64),
}

use Bad::{Bits, From as AtLeast, Never, NotZero, Zero};

/// HW slowdown, SW thermal, HW thermal and power brake (`nvmlClocksEventReasons`); other reasons are no trouble.
const SLOWED: u64 = 0x8 | 0x20 | 0x40 | 0x80;

/// Short name, the field as dcgm-exporter names it, and when its value is trouble. Names are those of `dcgmi dmon -l`
/// (`dcgmlib/src/dcgm_fields.cpp` of NVIDIA/DCGM).
pub(super) const HEALTH: [(&str, &str, Bad); 42] = [
    ("XIDER", "DCGM_FI_DEV_XID_ERRORS", NotZero),
    ("EDVTL", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", NotZero),
    ("EDVL1", "DCGM_FI_DEV_ECC_DBE_VOL_L1", NotZero),
    ("EDVL2", "DCGM_FI_DEV_ECC_DBE_VOL_L2", NotZero),
    ("EDVDV", "DCGM_FI_DEV_ECC_DBE_VOL_DEV", NotZero),
    ("EDVRG", "DCGM_FI_DEV_ECC_DBE_VOL_REG", NotZero),
    ("EDVTX", "DCGM_FI_DEV_ECC_DBE_VOL_TEX", NotZero),
    ("EDATL", "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", Never),
    ("ESVTL", "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", Never),
    ("ESATL", "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", Never),
    ("RRF", "DCGM_FI_DEV_ROW_REMAP_FAILURE", NotZero),
    ("RRP", "DCGM_FI_DEV_ROW_REMAP_PENDING", NotZero),
    ("RRAN", "DCGM_FI_DEV_BANK_REMAP_AVAIL_NONE", NotZero),
    ("URMPS", "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", Never),
    ("CRMPS", "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", Never),
    ("RPPEN", "DCGM_FI_DEV_RETIRED_PENDING", NotZero),
    ("RPDBE", "DCGM_FI_DEV_RETIRED_DBE", Never),
    ("RPSBE", "DCGM_FI_DEV_RETIRED_SBE", Never),
    ("NFELT", "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", NotZero),
    ("NDELT", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", NotZero),
    ("NRELT", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", NotZero),
    ("NRCLT", "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", NotZero),
    ("NLCRC", "DCGM_FI_DEV_NVLINK_CRC_TOTAL", NotZero),
    ("NLREP", "DCGM_FI_DEV_NVLINK_REPLAY_TOTAL", NotZero),
    ("NLREC", "DCGM_FI_DEV_NVLINK_RECOVERY_TOTAL", NotZero),
    ("NVLFCE", "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_TOTAL", NotZero),
    ("NVLDCE", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_TOTAL", NotZero),
    ("NVLRPE", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_TOTAL", NotZero),
    ("NVLRCE", "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_TOTAL", NotZero),
    ("NLLRF", "DCGM_FI_DEV_NVLINK_RECOVERY_FAILED_TOTAL", NotZero),
    ("GNVERR", "DCGM_FI_DEV_GPU_NVLINK_ERRORS", NotZero),
    ("RPCTR", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", NotZero),
    ("DVCCTR", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", Bits(SLOWED)),
    ("TVIOL", "DCGM_FI_DEV_THERMAL_VIOLATION", NotZero),
    ("RVIOL", "DCGM_FI_DEV_RELIABILITY_VIOLATION", NotZero),
    ("PVIOL", "DCGM_FI_DEV_POWER_VIOLATION", Never),
    ("GPURECOV", "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", NotZero),
    ("FMHSUM", "DCGM_FI_DEV_FABRIC_HEALTH_SUMMARY", AtLeast(2)),
    ("ICVLD", "DCGM_FI_DEV_INFOROM_CONFIG_VALID", Zero),
    ("SEN00", "DCGM_FI_DEV_NVSWITCH_FATAL_ERRORS", NotZero),
    ("SEN01", "DCGM_FI_DEV_NVSWITCH_NON_FATAL_ERRORS", NotZero),
    ("ECPEN", "DCGM_FI_DEV_ECC_PENDING", Never),
];
/// Columns that say how much is done, not how well: nothing is said of them.
const LOAD: [&str; 22] = [
    "GPUTL", "MCUTL", "ECUTL", "DCUTL", "TMPTR", "MMTMP", "POWER", "TOTEC", "SMCLK", "MMCLK", "FBTTL",
    "FBFRE", "FBUSD", "FBRSV", "PSTAT", "FANSP", "GRACT", "SMACT", "SMOCC", "TENSO", "DRAMA", "ECCUR",
];

/// Whether it is said what the column is.
pub(super) fn is_known(name: &str) -> bool {
    LOAD.contains(&name) || HEALTH.iter().any(|(known, ..)| *known == name)
}

impl Bad {
    /// Whether a value tells of trouble.
    pub(super) fn is(self, value: u64) -> bool {
        match self {
            Never => false,
            NotZero => value != 0,
            Zero => value == 0,
            AtLeast(least) => value >= least,
            Bits(bits) => value & bits != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_once() {
        let mut names: Vec<&str> = HEALTH.iter().map(|(name, ..)| *name).chain(LOAD).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
