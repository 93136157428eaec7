//! Labels of nodes and join tokens: a name and a value, as `rack=r17`.

use kb_core::terminal::harmless;

use crate::store::Labels;

pub const MAX_LABELS: usize = 16;
pub const MAX_LABEL_NAME_BYTES: usize = 63;
pub const MAX_LABEL_VALUE_CHARACTERS: usize = 100;

/// Reads `rack=r17`.
pub fn parse(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!(
            "{:?} is no label: write NAME=VALUE, as rack=r17",
            harmless(text)
        ));
    };
    check_one(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

pub fn from_pairs(given: Vec<(String, String)>) -> Result<Labels, String> {
    let mut labels = Labels::new();
    for (name, value) in given {
        if labels.contains_key(&name) {
            return Err(format!("{name} is given twice, give each name once"));
        }
        labels.insert(name, value);
    }
    Ok(labels)
}

pub fn check(labels: &Labels) -> Result<(), String> {
    if labels.len() > MAX_LABELS {
        return Err(format!("there are {}, give at most {MAX_LABELS}", labels.len()));
    }
    labels.iter().try_for_each(|(name, value)| check_one(name, value))
}

fn check_one(name: &str, value: &str) -> Result<(), String> {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    if name.is_empty() || name.len() > MAX_LABEL_NAME_BYTES || !name.bytes().all(is_name_byte) {
        return Err(format!(
            "{:?} is no name of a label: give 1 to {MAX_LABEL_NAME_BYTES} letters, digits, dots, dashes, slashes and \
             underscores",
            harmless(name)
        ));
    }
    let length = value.chars().count();
    if length == 0 || length > MAX_LABEL_VALUE_CHARACTERS || harmless(value) != value || value.contains('\t')
    {
        return Err(format!(
            "the value of the label {name} has 1 to {MAX_LABEL_VALUE_CHARACTERS} printable characters"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_a_name_and_a_value() {
        assert_eq!(parse("rack=r17"), Ok(("rack".to_owned(), "r17".to_owned())));
        assert_eq!(parse("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        for bad in [
            "",
            "rack",
            "=r17",
            "rack=",
            "ra ck=1",
            "rack=\u{1b}[2J",
            "rack=a\nb",
        ] {
            let told = parse(bad).unwrap_err();
            assert!(!told.contains('\u{1b}'), "{told}");
        }
    }
}
