//! What does not enter a simulation: what may be secret, and what only one API server can use.
//!
//! A cluster that is pasted holds passwords in many places, and a simulation needs none of them.
//! The rule of what is left out is here alone; [`Dropped`] says what it is. It goes by the shape of
//! the fields, not by their path, so that it also holds for pod templates in objects of unknown
//! kinds.
//!
//! Of kinds that the engine does not use more is left out, since nobody knows what they hold.

mod dropped;
mod stored;
mod tree;

use std::collections::BTreeMap;

use serde_json::Value as Json;
use taintlab_core::time::Time;

pub use self::dropped::Dropped;
pub use self::stored::{redact_commands, redact_console_command, redact_scenario};
use self::tree::Tree;

/// The annotation in which `kubectl apply` remembers what it applied: a copy of the object.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Texts that are longer are documents.
const LONGEST_TEXT: usize = 256;

/// What becomes of copies that `kubectl apply` made of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastApplied {
    /// They go.
    Dropped,
    /// Those stay that hold nothing which would be dropped: `kubectl apply` of the console wrote
    /// them.
    KeptIfClean,
    /// They stay.
    Kept,
}

/// Where a field stands, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It is one of an object itself.
    Object,
    /// In `metadata`.
    Metadata,
    /// In `metadata.annotations`.
    Annotations,
    /// In the state of a container that terminated.
    Terminated,
    /// Anywhere else.
    Inside,
}

/// Takes out of objects what is dropped, and notes the newest time in them.
#[derive(Debug)]
pub(crate) struct Redactor {
    keep_all: bool,
    last_applied: LastApplied,
    /// Whether the engine uses objects of this kind.
    used: bool,
    /// The kind and the name of the object at hand.
    subject: (String, String),
    dropped: Dropped,
    newest: Newest,
    /// Which names are names of secrets: a large cluster has few names, each very often.
    secrets: BTreeMap<String, bool>,
}

/// How many names are remembered: what somebody pastes may have any number of them.
const MOST_NAMES: usize = 1_000;

impl Redactor {
    pub(crate) fn new(keep_all: bool) -> Self {
        Self {
            keep_all,
            last_applied: LastApplied::Dropped,
            used: false,
            subject: Default::default(),
            dropped: Dropped::default(),
            newest: Newest::default(),
            secrets: BTreeMap::new(),
        }
    }

    /// What was dropped since this was asked last.
    pub(crate) fn take_dropped(&mut self) -> Dropped {
        std::mem::take(&mut self.dropped)
    }

    /// The newest time in the objects so far.
    pub(crate) fn newest_time(&self) -> Option<Time> {
        self.newest.time
    }

    /// Cleans an object. `used` says whether the engine uses objects of this kind.
    pub(crate) fn object<T: Tree>(&mut self, object: &mut T, kind: &str, used: bool) {
        if self.keep_all {
            return self.times(object);
        }
        self.used = used;
        let name = object.get("metadata").and_then(|metadata| metadata.get("name"));
        let name = name.and_then(T::text).unwrap_or("").to_owned();
        self.subject = (kind.to_owned(), name);
        if !used && holds_secrets(kind) {
            self.drop_data(object, kind);
        }
        object.retain_entries(&mut |key, value| self.entry(key, value, Place::Object));
    }

    /// Leaves only type and metadata.
    fn drop_data<T: Tree>(&mut self, object: &mut T, kind: &str) {
        let mut dropped = false;
        object.retain_entries(&mut |key, _| {
            let stays = matches!(key, "apiVersion" | "kind" | "metadata" | "type" | "immutable");
            dropped |= !stays;
            stays
        });
        let count = if kind == "ConfigMap" {
            &mut self.dropped.config_maps
        } else {
            &mut self.dropped.secrets
        };
        *count += usize::from(dropped);
    }

    /// Whether an entry stays; what is in it is cleaned.
    fn entry<T: Tree>(&mut self, key: &str, value: &mut T, place: Place) -> bool {
        match (place, key) {
            (Place::Metadata, "managedFields") => {
                self.dropped.managed_fields += 1;
                return false;
            }
            _ if value.is_left_out() => return true,
            (Place::Annotations, _) => return self.annotation(key, value),
            (Place::Object, "status") if !self.used => {
                self.times(value);
                self.dropped.statuses += 1;
                return false;
            }
            (Place::Terminated, "message") => {
                self.dropped.termination_messages += 1;
                return false;
            }
            // What is a name in there is no name of a field.
            (_, "labels" | "matchLabels" | "nodeSelector" | "selector") => return true,
            (_, "command" | "args") if value.is_words() => {
                self.dropped.commands += 1;
                return false;
            }
            (_, "env") if !value.is_words() => self.env(value),
            (_, "metadata") => self.mapping(value, Place::Metadata),
            (Place::Metadata, "annotations") => self.mapping(value, Place::Annotations),
            (_, "terminated") => self.mapping(value, Place::Terminated),
            _ if value.is_words() => return self.words(key, value),
            _ if value.is_list() => self.list(value),
            _ => self.mapping(value, Place::Inside),
        }
        true
    }

    fn mapping<T: Tree>(&mut self, mapping: &mut T, place: Place) {
        let holds_data = ["data", "stringData", "binaryData"];
        if holds_data.iter().any(|key| mapping.get(key).is_some())
            && let Some(kind) = mapping.get("kind").and_then(T::text).map(str::to_owned)
            && holds_secrets(&kind)
        {
            // An object in another one.
            self.drop_data(mapping, &kind);
        }
        mapping.retain_entries(&mut |key, value| self.entry(key, value, place));
    }

    fn list<T: Tree>(&mut self, list: &mut T) {
        list.each_item(&mut |item| {
            if item.is_list() {
                return self.list(item);
            }
            let is_pair = item.get("name").is_some() && item.get("value").is_some_and(T::is_words);
            if is_pair {
                self.dropped.values += 1;
                item.retain_entries(&mut |key, _| key != "value");
            }
            self.mapping(item, Place::Inside);
        });
    }

    /// Environment variables: a list of names and values, or a mapping from one to the other.
    fn env<T: Tree>(&mut self, env: &mut T) {
        let mut variable = |key: &str, value: &mut T, is_value: bool| {
            if is_value && value.is_words() {
                self.dropped.env_values += 1;
                return false;
            }
            self.entry(key, value, Place::Inside)
        };
        if env.is_list() {
            env.each_item(&mut |item| {
                item.retain_entries(&mut |key, value| variable(key, value, key == "value"));
            });
        } else {
            env.retain_entries(&mut |key, value| variable(key, value, true));
        }
    }

    fn annotation<T: Tree>(&mut self, key: &str, value: &T) -> bool {
        let text = value.text().unwrap_or("");
        if key == LAST_APPLIED {
            let stays = match self.last_applied {
                LastApplied::Dropped => false,
                LastApplied::KeptIfClean => self.is_clean_copy(text),
                LastApplied::Kept => true,
            };
            self.dropped.last_applied += usize::from(!stays);
            return stays;
        }
        let stays = !(self.names_a_secret(key) || is_document(text));
        self.dropped.annotations += usize::from(!stays);
        stays
    }

    /// Whether a text is an object of the name at hand, of which nothing would be dropped.
    fn is_clean_copy(&self, text: &str) -> bool {
        let Ok(mut copy) = serde_json::from_str::<Json>(text) else { return false };
        let (kind, name) = &self.subject;
        let is_of = |pointer: &str, wanted: &str| {
            copy.pointer(pointer).and_then(Json::as_str) == Some(wanted)
        };
        if !is_of("/kind", kind) || !is_of("/metadata/name", name) {
            return false;
        }
        let mut redactor = Self::new(false);
        redactor.object(&mut copy, kind, self.used);
        redactor.dropped.is_empty()
    }

    /// Whether a text, or a list of texts, stays.
    fn words<T: Tree>(&mut self, key: &str, value: &mut T) -> bool {
        if let Some(text) = value.text() {
            self.newest.see(key, text);
        }
        if self.names_a_secret(key) {
            self.dropped.passwords += 1;
            return false;
        }
        if self.used {
            return true;
        }
        let mut document = value.text().is_some_and(is_document);
        value.each_item(&mut |item| document |= item.text().is_some_and(is_document));
        self.dropped.documents += usize::from(document);
        !document
    }

    /// Only notes the times in a tree.
    fn times<T: Tree>(&mut self, tree: &mut T) {
        tree.each_item(&mut |item| self.times(item));
        tree.retain_entries(&mut |key, value| {
            match value.text() {
                Some(text) => self.newest.see(key, text),
                None => self.times(value),
            }
            true
        });
    }

    /// Whether what has this name is probably a secret, not something about one: `password`, but
    /// not `passwordFile`, `secretName` or `tokenTTLSeconds`.
    fn names_a_secret(&mut self, name: &str) -> bool {
        const WORDS: [&str; 11] = [
            "password",
            "passwd",
            "passphrase",
            "secret",
            "token",
            "credential",
            "apikey",
            "accesskey",
            "privatekey",
            "connectionstring",
            "kubeconfig",
        ];
        const ABOUT: [&str; 12] = [
            "name",
            "names",
            "ref",
            "file",
            "path",
            "policy",
            "type",
            "namespace",
            "class",
            "seconds",
            "mode",
            "version",
        ];
        if name.len() < 5 {
            return false;
        }
        if let Some(known) = self.secrets.get(name) {
            return *known;
        }
        let letters = name.bytes().filter(u8::is_ascii_alphabetic);
        let letters: String = letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
        let has = |word: &&str| letters.contains(*word);
        let is_secret = WORDS.iter().any(has) && !ABOUT.iter().any(|end| letters.ends_with(end));
        if self.secrets.len() < MOST_NAMES {
            self.secrets.insert(name.to_owned(), is_secret);
        }
        is_secret
    }
}

/// Whether objects of this kind, which the engine does not use, are made to hold what is secret.
fn holds_secrets(kind: &str) -> bool {
    kind == "ConfigMap" || kind.contains("Secret")
}

/// Whether a text is more than a word or a sentence.
fn is_document(text: &str) -> bool {
    text.len() > LONGEST_TEXT || text.contains('\n') || text.trim_start().starts_with(['{', '['])
}

/// The newest of the times that were seen.
#[derive(Debug, Default)]
struct Newest {
    time: Option<Time>,
    text: String,
}

impl Newest {
    /// Fields that say when something was. `deletionTimestamp` says when something will be.
    const FIELDS: [&str; 17] = [
        "creationTimestamp",
        "renewTime",
        "acquireTime",
        "lastHeartbeatTime",
        "lastTransitionTime",
        "lastUpdateTime",
        "lastProbeTime",
        "timeAdded",
        "startTime",
        "startedAt",
        "finishedAt",
        "completionTime",
        "firstTimestamp",
        "lastTimestamp",
        "eventTime",
        "lastObservedTime",
        "lastScheduleTime",
    ];

    fn see(&mut self, field: &str, text: &str) {
        // Most texts are no times, and most times are older than the newest.
        let is_time = |text: &str| {
            let bytes = text.as_bytes();
            bytes.len() >= 20 && bytes.get(4) == Some(&b'-') && bytes.get(10) == Some(&b'T')
        };
        if !is_time(text) || !Self::FIELDS.contains(&field) {
            return;
        }
        let seconds = |text: &str| text.get(..19).unwrap_or("").to_owned();
        if text.ends_with('Z') && !self.text.is_empty() && seconds(text) < self.text {
            return;
        }
        let Ok(time) = Time::parse(text) else { return };
        if self.time.is_none_or(|newest| newest < time) {
            self.time = Some(time);
            self.text = seconds(&time.to_string());
        }
    }
}
