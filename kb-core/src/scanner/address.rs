//! Places of devices on the PCI bus, as the kernel, the driver and lspci write them.

/// Addresses that are read of a line, and how much before each, in bytes: a line costs no more than its length.
const MAX_ON_LINE: usize = 32;
const MAX_BEFORE: usize = 64;
/// PCI numbers the devices of a bus with five bits.
const DEVICES_OF_A_BUS: u8 = 32;

/// A device's place on the bus: domain, bus, device. The functions of a board (its audio, its USB) count as the board.
pub(super) type Address = (u32, u8, u8);

pub(super) fn addresses(text: &str) -> impl Iterator<Item = (Address, &str)> {
    let is_part = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.');
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(from..)?;
            let start = from + rest.find(|c: char| c.is_ascii_hexdigit())?;
            let length = text
                .get(start..)?
                .find(|c| !is_part(c))
                .unwrap_or(text.len() - start);
            let word = text.get(start..start + length)?;
            from = start + length;
            let before = text.get(text.floor_char_boundary(start.saturating_sub(MAX_BEFORE))..start)?;
            let is_alone = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
            if let Some(address) = address(word.trim_end_matches([':', '.'])).filter(|_| is_alone) {
                return Some((address, before));
            }
        }
    })
    .take(MAX_ON_LINE)
}

/// `3b:00.0`, `0000:3b:00.0`, `00000000:3B:00.0`, and `0000:3b:00` as the GPU's driver writes it.
pub(super) fn address(word: &str) -> Option<Address> {
    let (place, function) = match word.split_once('.') {
        Some((place, function)) => (place, Some(function)),
        None => (word, None),
    };
    let parts: Vec<&str> = place.split(':').collect();
    let (domain, bus, device) = match parts.as_slice() {
        [domain, bus, device] if matches!(domain.len(), 4 | 8) => (*domain, *bus, *device),
        // Two numbers without a function are a time.
        [bus, device] if function.is_some() => ("0", *bus, *device),
        _ => return None,
    };
    let is_function = function.is_none_or(|function| matches!(function.as_bytes(), [b'0'..=b'7']));
    if bus.len() != 2 || device.len() != 2 || !is_function {
        return None;
    }
    let number = |digits: &str| u8::from_str_radix(digits, 16).ok();
    let device = number(device).filter(|device| *device < DEVICES_OF_A_BUS)?;
    Some((u32::from_str_radix(domain, 16).ok()?, number(bus)?, device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_times_and_numbers() {
        let found = |text: &str| addresses(text).map(|(address, _)| address).collect::<Vec<_>>();
        let gpu = (0, 0x3b, 0);
        for text in [
            "3b:00.0 3D controller",
            "nvidia 0000:3b:00.0: AER",
            "| 00000000:3B:00.0 Off |",
            "NVRM: Xid (PCI:0000:3b:00): 79",
            "Request device [3b:00.0] fault addr fffff000",
        ] {
            assert_eq!(found(text), [gpu], "{text}");
        }
        for text in [
            "10:50:06.313201823",
            "at 10:50:06 it",
            "[139.513963]",
            "1.0",
            "0x3b00",
            "10:50.25",
            "::1",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
