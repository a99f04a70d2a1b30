//! Flags as `pflag` reads them.

use crate::failure::Failure;
use crate::session::{DryRun, Session};

/// The kind of value that a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `true` or `false`; without a value it is `true`.
    Bool,
    /// Any text.
    Text,
    /// A whole number.
    Int,
    /// A duration in Go's format.
    Duration,
    /// Any text; this one if the flag comes without a value.
    Optional(&'static str),
}

/// A flag of a verb.
#[derive(Debug)]
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    pub(crate) short: Option<char>,
    pub(crate) kind: Kind,
    pub(crate) help: &'static str,
}

macro_rules! flags {
    ($($constant:ident = $name:literal, $short:expr, $kind:expr, $help:literal;)+) => {
        $(pub(crate) static $constant: Flag =
            Flag { name: $name, short: $short, kind: $kind, help: $help };)+
    };
}

flags! {
    ALL = "all", None, Kind::Bool, "Take all objects of that type.";
    ALL_NAMESPACES = "all-namespaces", Some('A'), Kind::Bool, "Take all namespaces.";
    CASCADE = "cascade", None, Kind::Optional("background"),
        "What becomes of what the object owns: background, foreground or orphan.";
    DELETE_EMPTYDIR_DATA = "delete-emptydir-data", None, Kind::Bool,
        "Go on even if pods use emptyDir; what is in it will be lost.";
    DELETE_LOCAL_DATA = "delete-local-data", None, Kind::Bool,
        "The old name of --delete-emptydir-data.";
    DISABLE_EVICTION = "disable-eviction", None, Kind::Bool,
        "Delete the pods instead of evicting them, whatever budgets say.";
    DRY_RUN = "dry-run", None, Kind::Optional("unchanged"),
        "none, client (only say what would be done) or server (have it checked as well).";
    FIELD_SELECTOR = "field-selector", None, Kind::Text,
        "Take only objects with these fields, for example spec.nodeName=worker-1.";
    FILENAME = "filename", Some('f'), Kind::Text, "Read objects; only - is possible here.";
    FORCE = "force", None, Kind::Bool, "Do it at once, or although something is lost.";
    GRACE_PERIOD = "grace-period", None, Kind::Int,
        "How many seconds pods have to end; negative for what they say themselves.";
    HELP = "help", Some('h'), Kind::Bool, "Say how this is used.";
    IGNORE_DAEMONSETS = "ignore-daemonsets", None, Kind::Bool,
        "Leave pods of DaemonSets where they are.";
    IGNORE_ERRORS = "ignore-errors", None, Kind::Bool,
        "Go on with the next node after an error; in 1.21 and 1.22 only.";
    IGNORE_NOT_FOUND = "ignore-not-found", None, Kind::Bool,
        "It is no error if the object is not there.";
    IMAGE = "image", None, Kind::Text, "The image of the container.";
    LABELS = "labels", Some('l'), Kind::Text, "Labels of the pod, as a=b,c=d.";
    LABEL_COLUMNS = "label-columns", Some('L'), Kind::Text,
        "Labels to be shown as columns, separated by commas.";
    LIST = "list", None, Kind::Bool, "Print the labels afterwards.";
    NAMESPACE = "namespace", Some('n'), Kind::Text, "The namespace.";
    NOW = "now", None, Kind::Bool, "As --grace-period=1.";
    NO_HEADERS = "no-headers", None, Kind::Bool, "Leave the line with the titles out.";
    OUTPUT = "output", Some('o'), Kind::Text,
        "wide, yaml, json, name, jsonpath=…, custom-columns=…";
    OVERWRITE = "overwrite", None, Kind::Bool, "Allow to replace what is there.";
    OVERRIDES = "overrides", None, Kind::Text, "Fields of the pod as JSON, laid over the rest.";
    PATCH = "patch", Some('p'), Kind::Text, "The fields to be changed, as JSON or YAML.";
    PATCH_TYPE = "type", None, Kind::Text, "merge or strategic.";
    POD_SELECTOR = "pod-selector", None, Kind::Text, "Drain only pods with these labels.";
    WATCH_OBJECTS = "watch", Some('w'), Kind::Bool, "Not possible here.";
    REPLICAS = "replicas", None, Kind::Int, "How many pods.";
    CURRENT_REPLICAS = "current-replicas", None, Kind::Int,
        "Scale only if there are so many now.";
    RESTART = "restart", None, Kind::Text, "Always, OnFailure or Never.";
    SELECTOR = "selector", Some('l'), Kind::Text, "Take only objects with these labels.";
    SHORT = "short", None, Kind::Bool, "Only the releases, which is all here.";
    SHOW_EVENTS = "show-events", None, Kind::Bool, "Show the events of the object.";
    SHOW_KIND = "show-kind", None, Kind::Bool, "Show the type with the name.";
    SHOW_LABELS = "show-labels", None, Kind::Bool, "Show the labels in a column.";
    SKIP_WAIT_FOR_DELETE_TIMEOUT = "skip-wait-for-delete-timeout", None, Kind::Int,
        "Leave pods alone that should have been gone for more seconds than this; 0 is never.";
    SORT_BY = "sort-by", None, Kind::Text, "Sort by a field, for example .metadata.name.";
    TIMEOUT = "timeout", None, Kind::Duration, "How long to try; 0 is forever.";
    WAIT = "wait", None, Kind::Bool, "Wait until the objects are gone; time stands still here.";
    WATCH = "watch", None, Kind::Bool, "Wait until it is done; time stands still here.";
}

/// The words after the verb.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// Words that are not flags.
    pub(crate) positional: Vec<String>,
    /// Number of those words before `--`.
    pub(crate) before_dash: usize,
    /// Flags in order, with their values.
    flags: Vec<(&'static str, String)>,
}

impl Arguments {
    /// Reads the words after a verb that has these flags. Mirrors `FlagSet.Parse`.
    pub(crate) fn parse(
        verb: &str,
        flags: &[&'static Flag],
        words: &[String],
    ) -> Result<Self, Failure> {
        let mut arguments = Self::default();
        let mut dash = None;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if dash.is_some() || word == "-" || !word.starts_with('-') {
                arguments.positional.push(word.clone());
            } else if word == "--" {
                dash = Some(arguments.positional.len());
            } else {
                let next = |words: &mut std::slice::Iter<'_, String>| words.next().cloned();
                arguments
                    .flag(flags, word, || next(&mut words))
                    .map_err(|text| wrong_flag(verb, &text))?;
            }
        }
        arguments.before_dash = dash.unwrap_or(arguments.positional.len());
        Ok(arguments)
    }

    fn flag(
        &mut self,
        flags: &[&'static Flag],
        word: &str,
        mut next: impl FnMut() -> Option<String>,
    ) -> Result<(), String> {
        if let Some(body) = word.strip_prefix("--") {
            let (name, value) = match body.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (body, None),
            };
            if name.is_empty() || name.starts_with('-') {
                return Err(format!("bad flag syntax: {word}"));
            }
            let Some(flag) = flags.iter().find(|flag| flag.name == name) else {
                return Err(format!("unknown flag: --{name}"));
            };
            let value = match (value, flag.kind) {
                (Some(value), _) => value,
                (None, Kind::Bool) => "true".to_owned(),
                (None, Kind::Optional(default)) => default.to_owned(),
                (None, _) => next().ok_or_else(|| format!("flag needs an argument: --{name}"))?,
            };
            return self.set(flag, value);
        }
        let body = word.strip_prefix('-').unwrap_or(word);
        let mut rest = body.chars();
        while let Some(short) = rest.next() {
            let Some(flag) = flags.iter().find(|flag| flag.short == Some(short)) else {
                return Err(format!("unknown shorthand flag: '{short}' in -{body}"));
            };
            if let Some(value) = rest.as_str().strip_prefix('=') {
                return self.set(flag, value.to_owned());
            }
            match flag.kind {
                Kind::Bool => self.set(flag, "true".to_owned())?,
                Kind::Optional(default) => self.set(flag, default.to_owned())?,
                _ if !rest.as_str().is_empty() => return self.set(flag, rest.as_str().to_owned()),
                _ => {
                    let value = next()
                        .ok_or_else(|| format!("flag needs an argument: '{short}' in -{body}"))?;
                    return self.set(flag, value);
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, flag: &Flag, value: String) -> Result<(), String> {
        let parser = match flag.kind {
            Kind::Bool if parse_bool(&value).is_none() => Some("strconv.ParseBool: parsing"),
            Kind::Int if value.parse::<i64>().is_err() => Some("strconv.ParseInt: parsing"),
            Kind::Duration if taintlab_core::time::parse_duration(&value).is_err() => {
                Some("time: invalid duration")
            }
            _ => None,
        };
        if let Some(parser) = parser {
            let name = match flag.short {
                Some(short) => format!("-{short}, --{}", flag.name),
                None => format!("--{}", flag.name),
            };
            let why = if flag.kind == Kind::Duration {
                format!("{parser} {value:?}")
            } else {
                format!("{parser} {value:?}: invalid syntax")
            };
            return Err(format!("invalid argument {value:?} for \"{name}\" flag: {why}"));
        }
        self.flags.push((flag.name, value));
        Ok(())
    }

    /// The value of a flag, the last one if it is repeated.
    pub(crate) fn get(&self, flag: &Flag) -> Option<&str> {
        let found = self.flags.iter().rev().find(|(name, _)| *name == flag.name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether a flag is set to true.
    pub(crate) fn is(&self, flag: &Flag) -> bool {
        self.get(flag).and_then(parse_bool).unwrap_or(false)
    }

    /// The value of a flag that takes a number.
    pub(crate) fn number(&self, flag: &Flag) -> Option<i64> {
        self.get(flag).and_then(|value| value.parse().ok())
    }

    /// The mode that `--dry-run` sets. Mirrors `cmdutil.GetDryRunStrategy`.
    pub(crate) fn dry_run(&self, session: &mut Session<'_>) -> Result<DryRun, Failure> {
        match self.get(&DRY_RUN) {
            None | Some("none" | "false") => Ok(DryRun::No),
            Some("client") => Ok(DryRun::Client),
            Some("server") => Ok(DryRun::Server),
            Some("unchanged" | "true") => {
                session.warn("--dry-run is deprecated and can be replaced with --dry-run=client.");
                Ok(DryRun::Client)
            }
            Some(other) => Err(Failure::plain(format!(
                "Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\"."
            ))),
        }
    }
}

fn wrong_flag(verb: &str, text: &str) -> Failure {
    Failure::plain(format!("{text}\nSee 'kubectl {verb} --help' for usage."))
}

/// Mirrors `strconv.ParseBool`.
fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}
