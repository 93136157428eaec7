//! The documents say what the program does.

use peerless::web::error::Code;
use peerless::web::limits::LIMITS;

const API_DESIGN: &str = include_str!("../../../docs/API-DESIGN.md");

#[test]
fn every_code_is_documented() {
    for code in Code::ALL {
        let row = format!(
            "| `{}` | {} | {} |",
            code.name(),
            code.status().as_u16(),
            code.meaning()
        );
        assert!(API_DESIGN.contains(&row), "docs/API-DESIGN.md lacks: {row}");
    }
}

#[test]
fn every_limit_is_documented() {
    for limit in LIMITS {
        let row = format!("| {} | {} | {} |", limit.what, limit.value, limit.unit);
        assert!(API_DESIGN.contains(&row), "docs/API-DESIGN.md lacks: {row}");
    }
}
