//! The level that logging writes in front of a message.

/// How grave what a level stands for is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// A notice, information, or what helps to find faults.
    Info,
    Warning,
    Error,
}

impl Level {
    /// What a word stands for, as loggers write it. glog writes `I0710`, with the day.
    pub(crate) fn of(word: &[u8]) -> Option<Self> {
        match word {
            b"INFO" | b"DEBUG" | b"NOTICE" | b"TRACE" => Some(Self::Info),
            b"WARNING" | b"WARN" => Some(Self::Warning),
            b"ERROR" | b"CRITICAL" | b"FATAL" | b"E" => Some(Self::Error),
            [letter, day @ ..] if day.len() == 4 && day.iter().all(u8::is_ascii_digit) => match letter {
                b'I' | b'V' => Some(Self::Info),
                b'W' => Some(Self::Warning),
                b'E' | b'F' => Some(Self::Error),
                _ => None,
            },
            _ => None,
        }
    }

    /// The same in lower case, which is a level only in brackets or as a value.
    fn of_lower(word: &[u8]) -> Option<Self> {
        match word {
            b"info" | b"debug" | b"notice" | b"trace" => Some(Self::Info),
            b"warning" | b"warn" => Some(Self::Warning),
            b"error" | b"err" | b"critical" | b"fatal" => Some(Self::Error),
            _ => None,
        }
    }
}

/// Further on, a word such as `DEBUG` is part of the message.
const HEAD_BYTES: usize = 128;

/// The last level before a place of a line. The line is read once, however many places are asked for.
pub(super) struct Levels<'a> {
    line: &'a [u8],
    at: usize,
    last: Option<Level>,
}

impl<'a> Levels<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self {
            line,
            at: 0,
            last: None,
        }
    }

    /// The last level before `to` or there; the places come in order.
    pub(super) fn until(&mut self, to: usize) -> Option<Level> {
        while self.at <= to && self.at < self.line.len() {
            let rest = self.line.get(self.at..).unwrap_or_default();
            let length = rest.iter().take_while(|byte| is_of_word(**byte)).count();
            if length > 0 {
                let level = self.level(self.at, self.at + length);
                if level != Some(Level::Info) || self.at < HEAD_BYTES {
                    self.last = level.or(self.last);
                }
            }
            self.at += length + 1;
        }
        self.last
    }

    fn level(&self, from: usize, to: usize) -> Option<Level> {
        let word = self.line.get(from..to)?;
        let before = self.line.get(..from).unwrap_or_default();
        let after = self.line.get(to);
        let is_value = ["level=", "level\":\"", "level\": \"", "level=\"", "levelname="]
            .iter()
            .any(|key| before.ends_with(key.as_bytes()));
        let is_bracketed = matches!(
            (before.last(), after),
            (Some(b'<'), Some(b'>')) | (Some(b'['), Some(b']'))
        );
        if is_value || is_bracketed {
            return Level::of(word).or_else(|| Level::of_lower(word));
        }
        // The kernel writes `INFO: task x blocked for more than 120 seconds` and `rcu: INFO: rcu_preempt self-detected stall` as faults.
        let message = self.line.get(to..).unwrap_or_default();
        if message.starts_with(b": task ") || message.starts_with(b": rcu") {
            return None;
        }
        // `NCCL_DEBUG=INFO` is a setting.
        let is_setting = before.last() == Some(&b'=') || after == Some(&b'=');
        Level::of(word).filter(|level| *level == Level::Error || !is_setting)
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
