//! Where the devices of the PCI bus lie: what is above each GPU, and what is no GPU. An error of the bus names a device.

use std::collections::BTreeSet;

use super::{LineEvent, canonical};

/// The PCI bus, as far as a look has seen it.
#[derive(Debug, Clone, Default)]
pub struct Bus {
    /// Each bridge above a GPU, with the GPU. Of a GPU of the bus also the GPU with itself.
    bridges: Vec<(String, String)>,
    /// Devices of the bus that are no GPU and above none; `None`: the bus was not looked at.
    others: Option<BTreeSet<String>>,
}

impl Bus {
    /// Adds where a GPU lies, whether or not the look is about it: an error of the bus may be of it all the same.
    pub fn add_gpu(&mut self, gpu: &str, above: &[String]) {
        let gpu = canonical(gpu);
        let above = above.iter().map(|bridge| canonical(bridge));
        for device in above.filter(|bridge| *bridge != gpu).chain([gpu.clone()]) {
            self.add_bridge(device, gpu.clone());
        }
    }

    /// Adds the devices of the bus that are no GPU: an error of the bus may be theirs.
    pub fn add_others(&mut self, devices: impl IntoIterator<Item = String>) {
        self.others = Some(devices.into_iter().map(|device| canonical(&device)).collect());
    }

    pub(super) fn add_bridge(&mut self, bridge: String, gpu: String) {
        let place = (bridge, gpu);
        if !self.bridges.contains(&place) {
            self.bridges.push(place);
        }
    }

    /// Each bridge above a GPU that was seen, with the GPU.
    pub(crate) fn bridges(&self) -> &[(String, String)] {
        &self.bridges
    }

    /// The GPUs below a device, or the GPU itself.
    pub(super) fn below(&self, device: &str) -> impl Iterator<Item = &String> {
        let below = self.bridges.iter().filter(move |(bridge, _)| bridge == device);
        below.map(|(_, gpu)| gpu)
    }

    /// True where the bus was looked at and the device that the event is about is not there, or is a port below which nothing is left:
    /// what was there is not known.
    pub(crate) fn is_without_device_of(&self, event: &LineEvent) -> bool {
        let device = event.source.as_ref().unwrap_or(&event.device);
        let others = self.others.as_ref();
        others.is_some_and(|others| !others.contains(device))
    }
}
