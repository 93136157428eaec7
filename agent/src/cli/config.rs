//! The configuration file: long options without their dashes, in TOML, for all verbs or for one.
//!
//! ```toml
//! server = "https://peerless.example"
//! [daemon]
//! interval = 600
//! active = true
//! redact = ["hosts", "paths"]
//! ```
//!
//! Its values stand where the verb's first arguments would, so they are checked like those. The environment and the
//! command line win, also over a setting that cannot stand beside what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, Command, CommandFactory as _};
use serde::Deserialize;

use super::Cli;
use super::expect::{self, Expectation};

/// Read where none is named and it is there.
const DEFAULT: &str = "/etc/peerless-agent.toml";

/// What the node should have, as `--expect` takes it.
const EXPECT: &str = "PEERLESS_EXPECT";

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Setting {
    Switch(bool),
    Number(i64),
    Fraction(f64),
    Text(String),
    List(Vec<String>),
    Verb(BTreeMap<String, Setting>),
}

pub(crate) fn with_file(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let Some(place) = arguments.iter().skip(1).position(|argument| {
        Cli::command()
            .get_subcommands()
            .any(|verb| argument == verb.get_name() && !verb.is_hide_set())
    }) else {
        return Ok(arguments);
    };
    let place = place + 1;
    check_expectations(&arguments)?;
    let verb = arguments
        .get(place)
        .map(|verb| verb.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut added = match file(&arguments)? {
        None => Vec::new(),
        Some(file) => {
            let text =
                std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let given = given(&arguments);
            settings(&text, &verb, &given, &|name| std::env::var_os(name).is_some())
                .map_err(|why| format!("{}: {why}", file.display()))?
        }
    };
    // Behind the file: for each kind the later word counts.
    added.extend(expected_by_environment(&verb)?);
    let (before, behind) = arguments.split_at_checked(place + 1).unwrap_or((&arguments, &[]));
    let added = added.into_iter().map(OsString::from);
    Ok(before
        .iter()
        .cloned()
        .chain(added)
        .chain(behind.iter().cloned())
        .collect())
}

/// Not clap's own: a word on the command line about one kind would take the place of the whole variable.
fn expected_by_environment(verb: &str) -> Result<Option<String>, String> {
    let cli = Cli::command();
    let options = cli.find_subcommand(verb).map(Command::get_arguments);
    let has_option =
        options.is_some_and(|mut options| options.any(|option| option.get_long() == Some("expect")));
    let Some(text) = std::env::var_os(EXPECT).filter(|text| has_option && !text.is_empty()) else {
        return Ok(None);
    };
    let text = text.to_string_lossy();
    expect::check_setting(&text).map_err(|why| format!("the variable {EXPECT}: {why}"))?;
    Ok(Some(format!("--expect={text}")))
}

/// Refuses a command line whose expectations contradict each other. What cannot be parsed is refused later.
fn check_expectations(arguments: &[OsString]) -> Result<(), String> {
    let matches = Cli::command().ignore_errors(true).try_get_matches_from(arguments);
    let said = matches.ok().and_then(|matches| {
        let (_, matches) = matches.subcommand()?;
        let said = matches.try_get_many::<Expectation>("expect").ok()??;
        Some(said.copied().collect::<Vec<_>>())
    });
    expect::contradict(&said.unwrap_or_default())
}

/// Names of what the command line itself says; nothing where it asks for help.
fn given(arguments: &[OsString]) -> BTreeSet<String> {
    let matches = Cli::command().ignore_errors(true).try_get_matches_from(arguments);
    let Ok(matches) = matches else {
        return BTreeSet::new();
    };
    let Some((_, matches)) = matches.subcommand() else {
        return BTreeSet::new();
    };
    let names = matches.ids().map(clap::Id::as_str);
    names
        .filter(|name| matches.value_source(name) == Some(ValueSource::CommandLine))
        .map(str::to_owned)
        .collect()
}

/// True where the option cannot stand beside what is given, whichever of the two says so.
fn conflicts(command: &Command, option: &Arg, given: &BTreeSet<String>) -> bool {
    let is_given = |other: &Arg| given.contains(other.get_id().as_str());
    let forbids = |one: &Arg, other: &Arg| {
        command
            .get_arg_conflicts_with(one)
            .iter()
            .any(|found| found.get_id() == other.get_id())
    };
    command
        .get_arguments()
        .filter(|other| is_given(other))
        .any(|other| forbids(option, other) || forbids(other, option))
}

/// The file that is named, else the default where it is there.
fn file(arguments: &[OsString]) -> Result<Option<PathBuf>, String> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        if word == "--config" {
            let file = words.next().ok_or("--config needs a file")?;
            return Ok(Some(PathBuf::from(file)));
        }
        if let Some(file) = word.strip_prefix("--config=") {
            return Ok(Some(PathBuf::from(file)));
        }
    }
    if let Some(file) = std::env::var_os("PEERLESS_CONFIG").filter(|file| !file.is_empty()) {
        return Ok(Some(PathBuf::from(file)));
    }
    let default = Path::new(DEFAULT);
    match default.try_exists() {
        Ok(there) => Ok(there.then(|| default.to_owned())),
        Err(error) => Err(format!("{DEFAULT}: {error}")),
    }
}

fn settings(
    text: &str,
    verb: &str,
    given: &BTreeSet<String>,
    is_set: &dyn Fn(&str) -> bool,
) -> Result<Vec<String>, String> {
    let mut settings: BTreeMap<String, Setting> =
        basic_toml::from_str(text).map_err(|error| error.to_string())?;
    share_places(&mut settings)?;
    let cli = Cli::command();
    let mut arguments = Vec::new();
    let mut own = Vec::new();
    for (name, setting) in &settings {
        if let Setting::Verb(of_verb) = setting {
            let Some(command) = cli.find_subcommand(name) else {
                return Err(format!("[{name}] is no verb"));
            };
            for (name, setting) in of_verb {
                let argument = argument(command, (name, setting), true, given, is_set)?
                    .ok_or_else(|| format!("{} has no option --{name}", command.get_name()))?;
                if command.get_name() == verb {
                    own.extend(argument);
                }
            }
            continue;
        }
        let mut known = false;
        for command in cli.get_subcommands() {
            if let Some(argument) = argument(command, (name, setting), false, given, is_set)? {
                known = true;
                if command.get_name() == verb {
                    arguments.extend(argument);
                }
            }
        }
        if !known {
            return Err(format!("no verb has an option --{name}"));
        }
    }
    arguments.extend(own);
    Ok(arguments)
}

/// Where the daemon keeps what it knows, and of which node, is the same for all who ask for it: two of these are refused.
fn share_places(settings: &mut BTreeMap<String, Setting>) -> Result<(), String> {
    const PLACES: [&str; 3] = ["state", "node-id", "host-root"];
    let Some(Setting::Verb(of_daemon)) = settings.get("daemon") else {
        return Ok(());
    };
    let places = PLACES.map(|name| (name, of_daemon.get(name).cloned()));
    for (name, place) in places {
        let Some(place) = place else { continue };
        let of_all = settings.entry(name.to_owned()).or_insert_with(|| place.clone());
        if *of_all != place {
            return Err(format!(
                "{name} is {} at the top, for all verbs, and {} in [daemon]: the daemon would keep what no other verb \
                 reads; remove one of the two",
                of_all.told(),
                place.told()
            ));
        }
    }
    Ok(())
}

impl Setting {
    fn told(&self) -> String {
        match self {
            Self::Text(text) => format!("{text:?}"),
            other => format!("{other:?}"),
        }
    }
}

/// Why a setting is refused that would change what a verb is asked, and not how it answers.
fn refused(verb: &str, name: &str, is_own: bool) -> Option<&'static str> {
    match name {
        "simulate" => {
            Some("simulate stands on the command line alone: no node is to run on a machine that is made up")
        }
        "alive" => Some(
            "alive stands on the command line alone: whoever asks for the node's state would be told of it as well",
        ),
        "devices" if verb == "gate" && is_own => {
            Some("devices of [gate] stand on the command line alone: the scheduler names the GPUs of a job")
        }
        _ => None,
    }
}

/// A setting as arguments; nothing where the verb does not have it.
fn argument(
    command: &Command,
    (name, setting): (&str, &Setting),
    is_own: bool,
    given: &BTreeSet<String>,
    is_set: &dyn Fn(&str) -> bool,
) -> Result<Option<Vec<String>>, String> {
    let Some(option) = command
        .get_arguments()
        .find(|option| option.get_long() == Some(name))
    else {
        return Ok(None);
    };
    if let Some(why) = refused(command.get_name(), name, is_own) {
        return Err(why.to_owned());
    }
    if command.get_name() == "gate" && !is_own && matches!(name, "devices" | "metrics-file") {
        // Those of other verbs: a job has its own GPUs, and the gate's file beside the daemon's has another name.
        return Ok(Some(Vec::new()));
    }
    let by_environment = option
        .get_env()
        .is_some_and(|variable| is_set(&variable.to_string_lossy()));
    if by_environment || conflicts(command, option, given) {
        return Ok(Some(Vec::new()));
    }
    let takes_value = option.get_action().takes_values();
    let value = match setting {
        Setting::Switch(on) if !takes_value => {
            return Ok(Some(if *on {
                vec![format!("--{name}")]
            } else {
                Vec::new()
            }));
        }
        _ if !takes_value => return Err(format!("{name} is true or false")),
        Setting::Number(number) => number.to_string(),
        Setting::Fraction(number) => number.to_string(),
        Setting::Text(text) => text.clone(),
        Setting::List(values) => values.join(","),
        Setting::Switch(_) | Setting::Verb(_) => return Err(format!("{name} needs a value")),
    };
    if name == "expect" {
        expect::check_setting(&value)?;
    }
    Ok(Some(vec![format!("--{name}={value}")]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_the_verbs_first_arguments() {
        let text = "server = \"http://a\"\ntimeout = 60\n[daemon]\ninterval = 600\nactive = true\nredact = [\"hosts\", \"paths\"]\n";
        let of = |verb| settings(text, verb, &BTreeSet::new(), &|_| false).unwrap();
        assert_eq!(
            of("daemon"),
            [
                "--server=http://a",
                "--timeout=60",
                "--active",
                "--interval=600",
                "--redact=hosts,paths"
            ]
        );
        assert_eq!(of("probe"), ["--timeout=60"]);
        let in_environment = settings(text, "upload", &BTreeSet::new(), &|name| {
            name == "PEERLESS_SERVER"
        })
        .unwrap();
        assert!(in_environment.is_empty(), "{in_environment:?}");
    }

    #[test]
    fn a_setting_that_the_command_line_excludes_is_left_out() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let of = |line: &str, verb, text| settings(text, verb, &given(&words(line)), &|_| false).unwrap();
        let quiet = "quiet = true";
        assert_eq!(of("peerless-agent probe", "probe", quiet), ["--quiet"]);
        assert!(of("peerless-agent probe --json", "probe", quiet).is_empty());
        assert!(of("peerless-agent watch a.log", "watch", "[watch]\njournal = true").is_empty());
    }

    #[test]
    fn what_the_daemon_keeps_is_found_by_all_and_its_gpus_are_no_jobs() {
        let text = "devices = \"0,1\"\nmetrics-file = \"a\"\n[daemon]\nstate = \"x\"\nnode-id = \"n\"\n[clear]\nstate = \"y\"\n";
        let of = |verb| settings(text, verb, &BTreeSet::new(), &|_| false).unwrap();
        assert_eq!(of("gate"), ["--node-id=n", "--state=x"]);
        assert_eq!(of("status"), ["--node-id=n", "--state=x"]);
        assert_eq!(of("clear"), ["--state=x", "--state=y"]);
        assert_eq!(of("probe"), ["--devices=0,1", "--node-id=n", "--state=x"]);
    }

    #[test]
    fn what_nobody_understands_is_refused() {
        for (text, expected) in [
            ("sever = \"http://a\"", "no verb has an option --sever"),
            ("[deamon]\ninterval = 1", "[deamon] is no verb"),
            ("[probe]\ninterval = 1", "probe has no option --interval"),
            ("[daemon]\nactive = 1", "active is true or false"),
            ("server = ", "line 1 column 10"),
            ("[probe]\nsimulate = \"healthy\"", "on the command line alone"),
            ("[status]\nalive = true", "on the command line alone"),
            ("alive = true", "on the command line alone"),
            ("[gate]\ndevices = \"0,1\"", "on the command line alone"),
            (
                "state = \"a\"\n[daemon]\nstate = \"b\"",
                "state is \"a\" at the top, for all verbs, and \"b\" in [daemon]",
            ),
        ] {
            let error = settings(text, "daemon", &BTreeSet::new(), &|_| false).unwrap_err();
            assert!(error.contains(expected), "{expected:?} is not in {error:?}");
        }
    }
}
