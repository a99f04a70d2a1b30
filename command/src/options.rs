//! Values of options.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use taintlab_answers::problem::Problem;
use taintlab_answers::read::decode;
use taintlab_core::api::{Taint, TaintEffect};
use taintlab_core::policy::taints::kubectl::parse_taints;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::{Span, format_duration, parse_duration};

use crate::line::KubernetesLine;
use crate::stop::{Done, Stop, bare};

/// The longest time that is simulated at once.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// `name=value` pairs.
pub(crate) fn pairs(list: &[String], option: &str) -> Done<BTreeMap<String, String>> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => {
            Ok((name.strip_prefix("--").unwrap_or(name).to_owned(), value.to_owned()))
        }
        _ => Err(Stop::usage(format!("{option}: expected name=value, found `{text}`"))),
    };
    list.iter().map(pair).collect()
}

/// A time: with units, or a bare number of seconds.
pub(crate) fn moment(option: &str, text: &str) -> Done<Span> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = match text.split_once('.') {
        Some((whole, rest)) => is_digits(whole) && is_digits(rest),
        None => is_digits(text),
    };
    let seconds = if is_number { format!("{text}s") } else { text.to_owned() };
    let time = parse_duration(&seconds).map_err(|why| Stop::usage(format!("{option}: {why}")))?;
    if time > A_YEAR {
        let most = format_duration(A_YEAR);
        let why = format!("expected a year ({most}) at most, found `{text}`");
        return Err(Stop::usage(format!("{option}: {why}")));
    }
    Ok(Span(time))
}

/// A release that the engine knows.
pub(crate) fn release(text: Option<&String>) -> Done<Option<KubernetesRelease>> {
    let parse = |text: &String| KubernetesRelease::parse(text);
    text.map(parse).transpose().map_err(|why| Stop::usage(format!("--release: {why}")))
}

/// A whole number.
pub(crate) fn number(option: &str, text: Option<&String>, least: u32) -> Done<Option<u32>> {
    let Some(text) = text else { return Ok(None) };
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_number && number >= least => Ok(Some(number)),
        parsed => {
            let most = match parsed {
                Err(_) if is_number => format!("to {}", u32::MAX),
                Ok(_) | Err(_) => "on".into(),
            };
            let wanted = format!("expected a whole number from {least} {most}");
            Err(Stop::usage(format!("{option}: {wanted}, found `{text}`")))
        }
    }
}

/// A whole number, for a count.
pub(crate) fn whole(option: &str, text: Option<&String>, least: u32) -> Done<Option<usize>> {
    Ok(number(option, text, least)?.and_then(|number| usize::try_from(number).ok()))
}

/// An error if more than one output is chosen.
pub(crate) fn one_output(outputs: &[(&str, bool)]) -> Done<()> {
    let mut chosen = outputs.iter().filter(|it| it.1).map(|it| it.0);
    match (chosen.next(), chosen.next()) {
        (Some(one), Some(other)) => {
            Err(Stop::usage(format!("--{one} and --{other} cannot be used together")))
        }
        _ => Ok(()),
    }
}

/// One of several names.
pub(crate) fn one_of<'n>(option: &str, text: &str, names: &[&'n str]) -> Done<&'n str> {
    names.iter().find(|name| **name == text).copied().ok_or_else(|| {
        Stop::usage(format!("{option}: expected one of {}, found `{text}`", names.join(", ")))
    })
}

/// A value in JSON.
pub(crate) fn json(option: &str, text: &str) -> Done<Value> {
    serde_json::from_str(text)
        .map_err(|why| Stop::usage(format!("{option}: this is not JSON: {why}")))
}

/// A value of the engine in JSON.
pub(crate) fn value<T: DeserializeOwned>(option: &str, value: Value) -> Done<T> {
    decode(value, "").map_err(|wrong| {
        Stop::usage(format!("{option}: {}", wrong.0.trim_start_matches(['.', ':', ' '])))
    })
}

/// A taint as `kubectl taint` reads it.
pub(crate) fn taint(option: &str, text: &str) -> Done<Taint> {
    let mut changes = parse_taints(KubernetesRelease::NEWEST, &[text]).map_err(|why| {
        let effects: Vec<&str> = TaintEffect::KNOWN.iter().map(TaintEffect::as_str).collect();
        let wanted = format!("expected KEY[=VALUE]:EFFECT, with one of {}", effects.join(", "));
        Stop::usage(format!("{option}: {why}; {wanted}"))
    })?;
    changes.add.pop().ok_or_else(|| {
        let why = if changes.remove.is_empty() {
            "is no taint"
        } else {
            "removes a taint; leave out the `-`"
        };
        Stop::usage(format!("{option}: `{text}` {why}"))
    })
}

/// Problems with what was read: said of `--flag` if they are about one.
pub(crate) fn stop_for(line: &KubernetesLine, problems: &[Problem]) -> Stop {
    let about_flag = || {
        let first = problems.first().filter(|it| it.path.ends_with("controllerManagerFlags"))?;
        let flags = pairs(&line.flags, "--flag").ok()?;
        let named = flags.keys().find(|name| first.message.contains(&format!("--{name}")))?;
        Some(Stop::usage(format!("--flag {named}: {}", bare(first))))
    };
    about_flag().unwrap_or_else(|| Stop::problems(problems))
}
