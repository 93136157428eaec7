//! Logins and names that fit into lists and logs.

const MAX_LOGIN_CHARACTERS: usize = 100;
const MAX_NAME_CHARACTERS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    #[error("a login has 1 to {MAX_LOGIN_CHARACTERS} letters, digits, and . _ - + @")]
    Login,
    #[error("a name has 1 to {MAX_NAME_CHARACTERS} characters, all in one line")]
    Name,
}

/// A login without blanks around it. Letters of other scripts that look like Latin ones would let one person look like another.
pub fn check_login(text: &str) -> Result<String, Wrong> {
    let login = text.trim();
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-+@".contains(c);
    if login.is_empty() || login.len() > MAX_LOGIN_CHARACTERS || !login.chars().all(allowed) {
        return Err(Wrong::Login);
    }
    Ok(login.to_owned())
}

pub fn check_name(text: &str) -> Result<String, Wrong> {
    let name = text.trim();
    let strange = |c: char| c.is_control() || is_format(c);
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARACTERS || name.chars().any(strange) {
        return Err(Wrong::Name);
    }
    Ok(name.to_owned())
}

/// Marks that turn the direction of writing or are not seen.
fn is_format(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_plain() {
        assert_eq!(check_login(" Ada.L+1@x-y_z "), Ok("Ada.L+1@x-y_z".to_owned()));
        for bad in ["", " ", "a b", "аda", "a\nb", "a/b", &"x".repeat(101)] {
            assert_eq!(check_login(bad), Err(Wrong::Login), "{bad:?}");
        }
    }

    #[test]
    fn names_are_one_line() {
        assert_eq!(check_name(" 爱达 Lovelace "), Ok("爱达 Lovelace".to_owned()));
        for bad in ["", "a\nb", "a\u{202e}b", &"x".repeat(101)] {
            assert_eq!(check_name(bad), Err(Wrong::Name), "{bad:?}");
        }
    }
}
