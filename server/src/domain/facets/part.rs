//! What a version or setting is of.

/// It says where to look, not what is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FacetPart {
    Driver,
    Gpu,
    Link,
    Fabric,
    Host,
}

impl FacetPart {
    /// The part of a facet: `driver` of `driver.version`.
    pub(super) fn of(facet: &str) -> Self {
        match facet.split('.').next().unwrap_or_default() {
            "driver" | "cuda" | "nccl" => Self::Driver,
            "vbios" | "inforom" | "ecc" | "mig" | "power" | "persistence" => Self::Gpu,
            "nvlink" | "pcie" => Self::Link,
            "fabric_manager" => Self::Fabric,
            _ => Self::Host,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Gpu => "gpu",
            Self::Link => "link",
            Self::Fabric => "fabric",
            Self::Host => "host",
        }
    }
}
