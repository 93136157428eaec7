//! Passwords that are guessed first: patterns, and words alone or with little beside them.

/// Rows of keyboards and the alphabet, along which many passwords run.
const ROWS: [&str; 8] = [
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "qwertzuiop",
    "azertyuiop",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
];
/// As many characters in a row are a run.
const RUN: usize = 4;
/// Fewer different characters than this are a repetition.
const FEW_CHARACTERS: usize = 5;
/// So many characters beside runs and words, or less, add nothing that is not guessed.
const LITTLE: usize = 5;

pub(super) fn is_pattern(password: &str) -> bool {
    let mut different: Vec<char> = password.chars().collect();
    different.sort_unstable();
    different.dedup();
    if different.len() < FEW_CHARACTERS || is_repetition(password) {
        return true;
    }
    let in_runs = run_characters(password);
    in_runs > 0 && password.chars().count() - in_runs < LITTLE
}

fn is_repetition(password: &str) -> bool {
    let chars: Vec<char> = password.chars().collect();
    (1..=chars.len() / 2).any(|length| {
        chars.len().is_multiple_of(length)
            && chars
                .chunks(length)
                .all(|piece| piece == chars.get(..length).unwrap_or_default())
    })
}

fn run_characters(password: &str) -> usize {
    let chars: Vec<char> = password.chars().collect();
    let mut total = 0;
    let mut start = 0;
    while start < chars.len() {
        let longest = (start + RUN..=chars.len())
            .take_while(|end| chars.get(start..*end).is_some_and(is_run))
            .last();
        match longest {
            Some(end) => {
                total += end - start;
                start = end;
            }
            None => start += 1,
        }
    }
    total
}

fn is_run(piece: &[char]) -> bool {
    let forwards: String = piece.iter().collect();
    let backwards: String = piece.iter().rev().collect();
    ROWS.iter()
        .any(|row| row.contains(&forwards) || row.contains(&backwards))
}

/// Whether the password, in lower case, is common words but for little. Digits and signs count as letters they stand for.
pub(super) fn is_common(password: &str) -> bool {
    let read: String = password.chars().map(letter).collect();
    [password, read.as_str()]
        .into_iter()
        .any(|text| beside_words(text) < LITTLE)
}

fn letter(character: char) -> char {
    match character {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    }
}

fn beside_words(text: &str) -> usize {
    let mut left = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let longest = WORDS
            .iter()
            .filter(|word| rest.starts_with(**word))
            .map(|word| word.len())
            .max();
        let taken = longest.unwrap_or_else(|| {
            // Digits, blanks and signs between words are guessed with them.
            left += usize::from(first.is_alphanumeric());
            first.len_utf8()
        });
        rest = rest.get(taken..).unwrap_or_default();
    }
    left
}

/// Words that passwords are most often made of.
const WORDS: [&str; 211] = [
    "password",
    "passwort",
    "passwd",
    "passcode",
    "passphrase",
    "pass",
    "secret",
    "letmein",
    "welcome",
    "hello",
    "login",
    "logon",
    "signin",
    "enter",
    "access",
    "open",
    "admin",
    "administrator",
    "root",
    "superuser",
    "user",
    "username",
    "guest",
    "test",
    "testing",
    "tester",
    "demo",
    "example",
    "sample",
    "temp",
    "temporary",
    "default",
    "change",
    "changeme",
    "please",
    "monkey",
    "dragon",
    "tiger",
    "lion",
    "shadow",
    "master",
    "superman",
    "batman",
    "spiderman",
    "pokemon",
    "starwars",
    "matrix",
    "hunter",
    "ranger",
    "killer",
    "ninja",
    "wizard",
    "magic",
    "princess",
    "prince",
    "queen",
    "king",
    "angel",
    "devil",
    "heaven",
    "jesus",
    "christ",
    "god",
    "love",
    "iloveyou",
    "loveyou",
    "lovely",
    "lover",
    "baby",
    "sweet",
    "honey",
    "sugar",
    "cookie",
    "chocolate",
    "banana",
    "orange",
    "cherry",
    "pepper",
    "ginger",
    "flower",
    "rose",
    "lily",
    "jasmine",
    "sunshine",
    "sunset",
    "moon",
    "star",
    "summer",
    "winter",
    "spring",
    "autumn",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "football",
    "baseball",
    "basketball",
    "soccer",
    "hockey",
    "tennis",
    "golf",
    "michael",
    "jordan",
    "jennifer",
    "jessica",
    "michelle",
    "daniel",
    "thomas",
    "robert",
    "charlie",
    "george",
    "andrew",
    "joshua",
    "matthew",
    "ashley",
    "nicole",
    "amanda",
    "samantha",
    "maggie",
    "buster",
    "computer",
    "internet",
    "google",
    "facebook",
    "microsoft",
    "windows",
    "apple",
    "linux",
    "ubuntu",
    "debian",
    "server",
    "system",
    "network",
    "database",
    "oracle",
    "mysql",
    "postgres",
    "nvidia",
    "geforce",
    "tesla",
    "cuda",
    "nccl",
    "gpu",
    "peerless",
    "cluster",
    "slurm",
    "docker",
    "kubernetes",
    "grafana",
    "prometheus",
    "company",
    "office",
    "manager",
    "service",
    "support",
    "security",
    "qwerty",
    "qwertz",
    "azerty",
    "asdf",
    "asdfgh",
    "zxcv",
    "zxcvbn",
    "qazwsx",
    "abc",
    "abcd",
    "trustno",
    "whatever",
    "nothing",
    "freedom",
    "liberty",
    "america",
    "london",
    "berlin",
    "paris",
    "beijing",
    "china",
    "germany",
    "france",
    "india",
    "mustang",
    "ferrari",
    "porsche",
    "mercedes",
    "yamaha",
    "harley",
    "silver",
    "golden",
    "diamond",
    "purple",
    "yellow",
    "money",
    "family",
    "forever",
    "lucky",
    "happy",
];
