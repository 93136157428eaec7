//! Commands within the prose of records.

/// The first code of a line that a shell takes: records write code `between backquotes`, and not all of it is a command.
fn first_command(line: &str) -> Option<&str> {
    // Between the first and the second mark, the third and the fourth, …
    let mut parts = line.split('`');
    parts.next()?;
    let mut is_code = true;
    while let Some(part) = parts.next() {
        let is_closed = parts.clone().next().is_some();
        if is_code && is_closed && is_command(part.trim()) {
            return Some(part.trim());
        }
        is_code = !is_code;
    }
    None
}

/// Words that may stand before a command that is the step itself.
const VERBS: [&str; 17] = [
    "run", "set", "use", "try", "export", "add", "start", "install", "execute", "call", "运行", "设置",
    "使用", "执行", "安装", "用", "设",
];

/// The command that a step begins with. One further behind may only look at what the step did.
pub fn leading_command(text: &str) -> Option<&str> {
    let (before, _) = text.split_once('`')?;
    let before = before.trim().trim_end_matches([':', '：']).to_lowercase();
    if !before.is_empty() && !VERBS.contains(&before.as_str()) {
        return None;
    }
    let inside = text.split('`').nth(1)?.trim();
    first_command(text.lines().find(|line| line.contains('`'))?).filter(|command| *command == inside)
}

/// A program with arguments, or a variable with its value.
fn is_command(code: &str) -> bool {
    let mut words = code.split_whitespace();
    let Some(first) = words.next() else {
        return false;
    };
    if let Some((name, value)) = first.split_once('=') {
        let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        return !name.is_empty() && !value.is_empty() && name.chars().all(is_name);
    }
    let Some(second) = words.next() else {
        return false;
    };
    let is_program = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    let begins = first.starts_with(|c: char| c.is_ascii_lowercase() || c == '.' || c == '/');
    begins && first.chars().all(is_program) && !second.starts_with(['=', '+', '<'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_behind_other_words_is_not_the_step() {
        for (text, command) in [
            ("Run `nvidia-smi -r -i 0` as root", Some("nvidia-smi -r -i 0")),
            ("运行 `dmesg -T`。", Some("dmesg -T")),
            ("Afterwards `lspci -d 10de:` must list every GPU", None),
            ("`x` and `lspci -v`", None),
            ("no code", None),
        ] {
            assert_eq!(leading_command(text), command, "{text}");
        }
    }

    #[test]
    fn commands_are_told_from_other_code() {
        for (line, command) in [
            ("Set `NCCL_P2P_DISABLE=1` for the job", Some("NCCL_P2P_DISABLE=1")),
            ("The line `NET/IB` and `ibstat -v` of each", Some("ibstat -v")),
            (
                "`systemctl enable --now nvidia-persistenced`.",
                Some("systemctl enable --now nvidia-persistenced"),
            ),
            ("`w = p.full_tensor()` before copying", None),
            (
                "`torch.cuda.set_device(int(os.environ['LOCAL_RANK']))` before",
                None,
            ),
            ("leave out `fully_shard`", None),
            ("an open `nvidia-smi -r", None),
            ("no code", None),
            ("", None),
        ] {
            assert_eq!(first_command(line), command, "{line}");
        }
    }
}
