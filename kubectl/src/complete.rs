//! Completion of a line at the cursor.

use taintlab_core::api::{TaintEffect, well_known};
use taintlab_core::order::OrderedSet;

use crate::Context;
use crate::flags::Kind;
use crate::objects::Object;
use crate::resources::{self, RESOURCES, Resource};
use crate::session::Session;
use crate::verb::Verb;
use crate::verbs::{VERBS, verb};
use crate::words;

/// A word that fits at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Byte index in the line where the replaced word begins; it ends at the cursor.
    pub start: usize,
    /// The whole new word.
    pub text: String,
    /// Short description of the word; may be empty.
    pub hint: String,
    /// Whether a space follows; not after `--image=`, for example, or `node/`.
    pub ends_word: bool,
}

/// Words offered at most: nobody reads more.
const MOST: usize = 200;

/// The words that fit at `cursor`, a byte index into `line` (inside a character it counts as before
/// it): verbs, types, names, flags and their values, taints. The most likely kind comes first, and
/// each kind is in the order of its texts.
#[must_use]
pub fn complete(context: &Context<'_>, line: &str, cursor: usize) -> Vec<Completion> {
    let before = line.get(..line.floor_char_boundary(cursor)).unwrap_or(line);
    let start = before.rfind(char::is_whitespace).map_or(0, |at| {
        at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    });
    let word = before.get(start..).unwrap_or("");
    let Ok(words) = words::split(before.get(..start).unwrap_or("")) else { return Vec::new() };
    let session = Session::new(context);
    let mut completer = Completer { session, start, word, found: Vec::new() };
    completer.line(&words);
    completer.found.truncate(MOST);
    completer.found
}

struct Completer<'a> {
    session: Session<'a>,
    start: usize,
    word: &'a str,
    found: Vec<Completion>,
}

impl Completer<'_> {
    fn offer(&mut self, text: &str, hint: &str) {
        self.offer_open(text, hint, true);
    }

    fn offer_open(&mut self, text: &str, hint: &str, ends_word: bool) {
        let known = |found: &Completion| found.text == text;
        if text.starts_with(self.word) && !self.found.iter().any(known) && self.found.len() < MOST {
            let (start, text, hint) = (self.start, text.to_owned(), hint.to_owned());
            self.found.push(Completion { start, text, hint, ends_word });
        }
    }

    fn line(&mut self, words: &[String]) {
        let mut words = words;
        while let [first, rest @ ..] = words
            && matches!(first.as_str(), "$" | "kubectl" | "k")
        {
            words = rest;
        }
        let Some(at) = words.iter().position(|word| !word.starts_with('-')) else {
            for verb in &VERBS {
                self.offer(verb.name, verb.about);
            }
            if words.is_empty() {
                self.offer("kubectl", "");
            }
            return;
        };
        let (Some(verb), Some(rest)) = (words.get(at).and_then(|w| verb(w)), words.get(at + 1..))
        else {
            return;
        };
        self.namespace(words);
        if let Some(flag) = rest.last().and_then(|last| waits_for_value(verb, last)) {
            return self.value(flag, "");
        }
        if self.word.starts_with('-') && *self.word != *"-" {
            return self.flags(verb);
        }
        let mut positional: Vec<&str> = Vec::new();
        let mut skip = false;
        for word in rest {
            if std::mem::take(&mut skip) {
                continue;
            }
            if word.starts_with('-') && word != "-" {
                skip = waits_for_value(verb, word).is_some();
            } else {
                positional.push(word);
            }
        }
        self.positional(verb, &positional);
        if self.word.is_empty() {
            self.flags(verb);
        }
    }

    fn namespace(&mut self, words: &[String]) {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = match word.as_str() {
                "-n" | "--namespace" => words.next().cloned(),
                word => word.strip_prefix("--namespace=").map(str::to_owned),
            };
            if let Some(value) = value {
                self.session.namespace = value;
            }
        }
    }

    fn flags(&mut self, verb: &Verb) {
        if let Some((name, _)) = self.word.split_once('=') {
            let name = name.trim_start_matches('-').to_owned();
            return self.value(&name, &format!("--{name}="));
        }
        for flag in verb.all_flags() {
            match flag.kind {
                Kind::Bool => self.offer(&format!("--{}", flag.name), flag.help),
                _ => self.offer_open(&format!("--{}=", flag.name), flag.help, false),
            }
            if let (Some(short), true) = (flag.short, self.word.len() == 2) {
                self.offer(&format!("-{short}"), flag.help);
            }
        }
    }

    /// Offers values of a flag.
    fn value(&mut self, flag: &str, prefix: &str) {
        let values: &[&str] = match flag {
            "namespace" | "n" => {
                for name in self.session.namespaces() {
                    self.offer(&format!("{prefix}{name}"), "namespace");
                }
                return;
            }
            "output" | "o" => &["wide", "yaml", "json", "name"],
            "dry-run" => &["client", "server", "none"],
            "cascade" => &["background", "foreground", "orphan"],
            "restart" => &["Always", "OnFailure", "Never"],
            "type" => &["merge", "strategic"],
            "filename" | "f" => &["-"],
            "sort-by" => &[".metadata.name", ".metadata.creationTimestamp", ".spec.nodeName"],
            "field-selector" => {
                for name in self.names(&resources::NODES) {
                    self.offer(&format!("{prefix}spec.nodeName={name}"), "pods of that node");
                }
                &["status.phase=", "metadata.name="]
            }
            "selector" | "l" | "pod-selector" => {
                let mut pairs = OrderedSet::new();
                for resource in [&resources::NODES, &resources::PODS] {
                    for object in self.session.list(resource, None) {
                        let labels = object.labels();
                        pairs.extend(labels.iter().map(|(key, value)| format!("{key}={value}")));
                    }
                }
                for pair in pairs {
                    self.offer(&format!("{prefix}{pair}"), "label");
                }
                return;
            }
            _ => return,
        };
        for value in values {
            self.offer_open(&format!("{prefix}{value}"), "", !value.ends_with('='));
        }
    }

    fn positional(&mut self, verb: &Verb, before: &[&str]) {
        match (verb.name, before) {
            ("help", []) => VERBS.iter().for_each(|verb| self.offer(verb.name, verb.about)),
            ("cordon" | "uncordon" | "drain", _) => self.unnamed(&resources::NODES, before),
            ("taint", []) => ["nodes", "node"].iter().for_each(|word| self.offer(word, "")),
            ("taint", [_, names @ ..]) => self.taint(names),
            ("rollout", []) => {
                ["status", "restart"].iter().for_each(|word| self.offer(word, ""));
            }
            ("rollout", [_, rest @ ..]) => self.objects(rest),
            ("get" | "describe" | "delete" | "scale" | "patch", _) => self.objects(before),
            ("label" | "annotate", [type_, _, ..]) => {
                self.objects(before);
                self.pairs(verb.name == "label", type_);
            }
            ("label" | "annotate", _) => self.objects(before),
            _ => {}
        }
    }

    /// Offers types, or names of the given type.
    fn objects(&mut self, before: &[&str]) {
        if let Some((type_, _)) = self.word.split_once('/') {
            if let Ok(resource) = resources::find(type_) {
                for name in self.names(resource) {
                    self.offer(&format!("{type_}/{name}"), resource.singular);
                }
            }
            return;
        }
        match before {
            [] => {
                for resource in RESOURCES {
                    self.offer(resource.plural, resource.kind);
                }
                for resource in RESOURCES {
                    self.offer(resource.singular, resource.kind);
                    resource.short.iter().for_each(|short| self.offer(short, resource.kind));
                }
                self.offer("all", "pods and workloads");
            }
            [type_, names @ ..] => {
                if let Ok(resource) = resources::find(type_) {
                    self.unnamed(resource, names);
                }
            }
        }
    }

    /// Offers names that the line does not have yet.
    fn unnamed(&mut self, resource: &'static Resource, before: &[&str]) {
        for name in self.names(resource) {
            if !before.contains(&name.as_str()) {
                self.offer(&name, resource.singular);
            }
        }
    }

    fn names(&self, resource: &'static Resource) -> Vec<String> {
        let namespace = resource.namespaced.then_some(&*self.session.namespace);
        let objects = self.session.list(resource, namespace);
        objects.iter().map(|object| object.name().to_owned()).collect()
    }

    /// Offers nodes, then taints that they have or could have.
    fn taint(&mut self, before: &[&str]) {
        if let Some((key, _)) = self.word.split_once(':') {
            for effect in TaintEffect::KNOWN {
                self.offer(&format!("{key}:{effect}"), "");
            }
        }
        let is_spec = |word: &&&str| word.contains(['=', ':']) || word.ends_with('-');
        if !before.iter().any(|word| is_spec(&word)) {
            self.unnamed(&resources::NODES, before);
        }
        let nodes = self.session.list(&resources::NODES, None);
        let mut there = OrderedSet::new();
        for object in &nodes {
            let Object::Node(node) = object else { continue };
            if before.is_empty() || before.contains(&node.metadata.name.as_str()) {
                for taint in &node.spec.taints {
                    there.insert(format!("{}:{}-", taint.key, taint.effect));
                    there.insert(format!("{}-", taint.key));
                    there.insert(taint.to_string());
                }
            }
        }
        for taint in there {
            self.offer(&taint, if taint.ends_with('-') { "remove" } else { "set" });
        }
        if !self.word.is_empty() {
            for key in well_known::ALL {
                self.offer_open(&format!("{key}:"), "known to Kubernetes", false);
            }
        }
    }

    fn pairs(&mut self, labels: bool, type_: &str) {
        let Ok(resource) = resources::find(type_) else { return };
        let mut keys = OrderedSet::new();
        for object in self.session.list(resource, None) {
            if labels {
                keys.extend(object.labels().keys().cloned());
            }
        }
        for key in keys {
            self.offer_open(&format!("{key}="), "set", false);
            self.offer(&format!("{key}-"), "remove");
        }
    }
}

/// The flag, if this word is one that takes the next word as its value.
fn waits_for_value(verb: &Verb, word: &str) -> Option<&'static str> {
    let takes_next = |kind: Kind| !matches!(kind, Kind::Bool | Kind::Optional(_));
    if let Some(name) = word.strip_prefix("--") {
        let flag = verb.all_flags().find(|flag| flag.name == name)?;
        return takes_next(flag.kind).then_some(flag.name);
    }
    let name = word.strip_prefix('-').filter(|name| name.chars().count() == 1)?;
    let flag = verb.all_flags().find(|flag| flag.short == name.chars().next())?;
    takes_next(flag.kind).then_some(flag.name)
}
