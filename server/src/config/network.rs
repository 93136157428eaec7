//! Networks as the settings name them: `10.0.0.0/8`.

use std::net::IpAddr;
use std::str::FromStr;

/// An address or a network such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write an address (10.0.0.1) or a network (10.0.0.0/8)")]
pub struct NetworkError;

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NetworkError)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().map_err(|_| NetworkError)?,
            None => most,
        };
        if bits > most {
            return Err(NetworkError);
        }
        Ok(Self { address, bits })
    }
}

impl Network {
    pub fn contains(self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let shift = 32 - u32::from(self.bits);
                (own.to_bits() ^ other.to_bits()).checked_shr(shift).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let shift = 128 - u32::from(self.bits);
                (own.to_bits() ^ other.to_bits()).checked_shr(shift).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_what_they_say() {
        let holds = |network: &str, address: &str| {
            network
                .parse::<Network>()
                .unwrap()
                .contains(address.parse().unwrap())
        };
        assert!(holds("10.0.0.0/8", "10.255.1.2"));
        assert!(!holds("10.0.0.0/8", "11.0.0.0"));
        assert!(holds("10.0.0.1", "10.0.0.1"));
        assert!(holds("10.0.0.1", "::ffff:10.0.0.1"));
        assert!(!holds("10.0.0.1", "10.0.0.2"));
        assert!(holds("0.0.0.0/0", "203.0.113.9"));
        assert!(holds("2001:db8::/32", "2001:db8:1::1"));
        assert!(!holds("2001:db8::/32", "10.0.0.1"));
        for bad in ["", "10.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/x"] {
            assert_eq!(bad.parse::<Network>(), Err(NetworkError), "{bad:?}");
        }
    }
}
