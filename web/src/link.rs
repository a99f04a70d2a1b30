//! A session in the address of the page.
//!
//! An example of the page is named: `#s=NAME&release=1.34&t=40s`, and its edits follow as `&e=`.
//! Any other cluster stands after `#2.`. Both are JSON ([`State`]), deflated without a header (RFC
//! 1951) and in base64url. A cluster is reduced to the data that a run depends on ([`mod@slim`]),
//! as tables ([`compact`]) with short words ([`words`]); `#1.` held it in full. The release and
//! every flag that was set are always written, so that a link means the same when a later version
//! of the page has other defaults.
//!
//! `#d=` is a scenario file, packed in the same way, and `&t=` the moment: demos on other pages
//! lead here with it (`taintlab_manifest::demo::Embed`).
//!
//! The number before the dot is the number of the format. Fields may be added to a format; a link
//! that was once made is read forever. The links in `web/src/link/fixtures` make sure of that.
//!
//! The browser deflates and inflates: [`Draft`] is a link before it is deflated, [`Parsed`] one
//! before it is inflated.

mod compact;
mod hidden;
mod slim;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod words;

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use taintlab_core::api::json_value;
use taintlab_core::order::Order;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::{Bookmark, Scenario};
use taintlab_core::slices::pause;
use taintlab_core::time::{Span, Timestamp, parse_duration};
use taintlab_manifest::demo::escape_in_fragment;
pub(crate) use taintlab_manifest::demo::{LONGEST_FRAGMENT as MOST_ENCODED, LONGEST_LINK};
use taintlab_manifest::{from_json, redact_commands};

pub(crate) use self::hidden::hide_names;
use self::slim::slim;
use self::text::unescape;
use crate::session::{Edit, RowKind, Session, Way};
use crate::text::count;
use crate::view_models::selection::Selection;
use crate::{files, samples};

/// Bytes of a link that are inflated at most.
pub(crate) const MOST_INFLATED: usize = 512 * 1024;
/// Objects of a cluster at most: more do not fit into a link, and are not even tried.
const MOST_OBJECTS: usize = 1_000;

/// The packed part of a link.
#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    /// The initial state, in the form of a scenario file; absent for an example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    s: Option<Value>,
    /// The edits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    e: Vec<Edit>,
    /// The bookmarks of an example, if they are not its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    b: Option<Vec<Bookmark>>,
    /// The time of the clock.
    #[serde(default, skip_serializing_if = "is_zero")]
    t: Span,
    /// The selection.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    x: String,
    /// The hash of the event log until then.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    h: String,
}

fn is_zero(span: &Span) -> bool {
    *span == Span::default()
}

/// A link that is not deflated yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    /// The part in clear text, with its `#`.
    pub(crate) clear: String,
    /// The part that is still to be deflated.
    pub(crate) json: Option<String>,
    /// The contents of the link, in words.
    pub(crate) contents: Vec<String>,
}

impl Draft {
    /// Whether it says no more than the bare address: the sample cluster, unchanged.
    pub(crate) fn says_nothing(&self) -> bool {
        let release = KubernetesRelease::default();
        self.json.is_none() && self.clear == format!("#s={}&release={release}", samples::SAMPLE)
    }

    /// The fragment of the address, with its `#`.
    pub(crate) fn fragment(&self, deflated: &[u8]) -> String {
        format!("{}{}", self.clear, text::base64(deflated))
    }
}

/// The link of a session.
///
/// # Errors
/// The reason why no link can be made.
pub(crate) fn write(session: &Session, selection: Option<&Selection>) -> Result<Draft, String> {
    let timeline = session.timeline();
    let start = &timeline.start;
    let objects = &start.objects;
    let most = [objects.nodes.len(), objects.pods.len(), objects.others.len()];
    if most.iter().sum::<usize>() > MOST_OBJECTS {
        return Err("the cluster is too large for a link".to_owned());
    }
    let mut edits: Vec<Edit> = timeline.log.iter().map(|edit| Edit::clone(edit)).collect();
    redact_commands(edits.iter_mut().flat_map(|edit| &mut edit.commands))?;
    let mut contents = contents(session, selection);
    let selected = selection.map(Selection::to_text).unwrap_or_default();
    let hash = hash(session);
    if let Some((base, example)) = example_of(start) {
        let bookmarks = (base.bookmarks != start.bookmarks).then(|| start.bookmarks.clone());
        let mut clear = example;
        let mut add = |key: &str, value: &str| {
            if !value.is_empty() {
                clear.push_str(&format!("&{key}={}", escape_in_fragment(value)));
            }
        };
        if session.now() > Timestamp::ZERO {
            add("t", &Span::from(session.now()).to_string());
        }
        add("x", &selected);
        let is_changed = !edits.is_empty() || bookmarks.is_some();
        if is_changed || session.now() > Timestamp::ZERO {
            add("h", &hash);
        }
        let state = State { e: edits, b: bookmarks, ..State::default() };
        let json = is_changed.then(|| to_json(&state).and_then(check_inflated)).transpose()?;
        if json.is_some() {
            clear.push_str("&e=");
        }
        return Ok(Draft { clear, json, contents });
    }
    contents.push(
        "Of objects only what a run reads: names, labels, taints, tolerations, resources, owners, \
         times"
            .to_owned(),
    );
    contents.push(
        "Never environment, commands, probes, messages, or the data of Secrets and ConfigMaps"
            .to_owned(),
    );
    let commands = edits.iter().flat_map(|edit| &edit.commands);
    let slim = slim(start, commands)?;
    let mut start = json_value(&slim).map_err(|error| error.to_string())?;
    shorten(&mut start);
    compact::pack(&mut start);
    let state =
        State { s: Some(start), e: edits, b: None, t: session.now().into(), x: selected, h: hash };
    let json = check_inflated(words::shorten(&to_json(&state)?))?;
    Ok(Draft { clear: "#2.".to_owned(), json: Some(json), contents })
}

fn to_json(state: &State) -> Result<String, String> {
    serde_json::to_string(state).map_err(|error| error.to_string())
}

/// Checks that whoever opens a link can inflate its packed part: inflating stops at
/// [`MOST_INFLATED`], however well the part deflates.
fn check_inflated(json: String) -> Result<String, String> {
    let length = json.len();
    if length <= MOST_INFLATED {
        return Ok(json);
    }
    Err(format!("it would unpack to {length} bytes, and {MOST_INFLATED} is the most that opens"))
}

/// The contents of a link, in words.
fn contents(session: &Session, selection: Option<&Selection>) -> Vec<String> {
    let timeline = session.timeline();
    let cluster = session.simulator().cluster();
    let title = &timeline.start.metadata.title;
    let mut contents: Vec<String> =
        Some(title.clone()).filter(|it| !it.is_empty()).into_iter().collect();
    contents.extend([
        format!("Kubernetes {}", session.simulator().config().release),
        format!(
            "{} and {} as they are now",
            count(cluster.nodes().len(), "node"),
            count(cluster.pods().count(), "pod")
        ),
    ]);
    let flags = timeline.start.kubernetes.controller_manager_flags.len();
    for (number, what) in [
        (flags, "flag"),
        (timeline.start.steps.len(), "step"),
        (timeline.log.len(), "edit"),
        (timeline.start.bookmarks.len(), "bookmark"),
    ] {
        if number > 0 {
            contents.push(count(number, what));
        }
    }
    if session.now() > Timestamp::ZERO {
        contents.push(format!("The clock at {}", crate::text::at(session.now())));
    }
    if selection.is_some() {
        contents.push("What is selected".to_owned());
    }
    contents
}

/// The example with which a session begins, and its name in a link; none if more of it was changed
/// than a link says in clear text.
fn example_of(start: &Scenario) -> Option<(Scenario, String)> {
    let name = &start.metadata.name;
    let (_, text) = samples::all().find(|(known, _)| known == name)?;
    let base = files::scenario(name, text).ok()?;
    let mut like = base.clone();
    let (own, its) = (&start.kubernetes, &mut like.kubernetes);
    let release = own.release.unwrap_or_default();
    let mut clear = format!("#s={}&release={release}", escape_in_fragment(name));
    for (flag, value) in &own.controller_manager_flags {
        clear.push_str(&format!("&--{}={}", escape_in_fragment(flag), escape_in_fragment(value)));
    }
    let gates = own.feature_gates.iter().map(|(gate, on)| format!("{gate}={on}"));
    let gates = gates.collect::<Vec<_>>().join(",");
    if !gates.is_empty() {
        clear.push_str(&format!("&feature-gates={}", escape_in_fragment(&gates)));
    }
    for (key, own, its) in [
        ("node-lifecycle", own.node_lifecycle, its.node_lifecycle),
        ("control-plane", own.control_plane, its.control_plane),
    ] {
        if let Some(own) = own
            && Some(own) != its
        {
            clear.push_str(&format!("&{key}={own}"));
        }
    }
    its.release = own.release;
    its.feature_gates.clone_from(&own.feature_gates);
    its.controller_manager_flags.clone_from(&own.controller_manager_flags);
    // A link cannot say that a setting of the example was taken away.
    its.node_lifecycle = own.node_lifecycle.or(its.node_lifecycle);
    its.control_plane = own.control_plane.or(its.control_plane);
    like.bookmarks.clone_from(&start.bookmarks);
    (like == *start).then_some((base, clear))
}

/// Takes out fields that [`lengthen`] puts back, or that go without saying: the kinds of objects.
fn shorten(start: &mut Value) {
    let Value::Object(scenario) = start else { return };
    scenario.retain(|key, value| {
        !["apiVersion", "kind"].contains(&key.as_str()) && value.as_object() != Some(&Map::new())
    });
    let Some(Value::Object(objects)) = scenario.get_mut("objects") else { return };
    for list in ["nodes", "pods", "budgets"] {
        let Some(Value::Array(items)) = objects.get_mut(list) else { continue };
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            item.retain(|key, _| !["apiVersion", "kind"].contains(&key.as_str()));
        }
    }
}

fn lengthen(start: &mut Value) {
    if let Value::Object(scenario) = start {
        for (key, value) in [("apiVersion", "taintlab/v1"), ("kind", "Scenario")] {
            scenario.entry(key).or_insert_with(|| value.into());
        }
    }
}

/// Four bytes of hash (FNV-1a) of all events until now: the time, the kind and the object of each.
pub(crate) fn hash(session: &Session) -> String {
    let mut hash = 0x811c_9dc5_u32;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    };
    for row in session.rows().iter() {
        let RowKind::Happened(what) = &row.kind else { continue };
        add(&row.at.as_nanos().to_le_bytes());
        add(what.pod().map_or("", |pod| pod.as_str()).as_bytes());
        add(what.node().map_or("", |node| node.as_str()).as_bytes());
        // The name of the kind comes first. More words may be added to a kind without changing the
        // hash.
        let json = serde_json::to_string(what).unwrap_or_default();
        add(json.split(',').next().unwrap_or_default().as_bytes());
    }
    format!("{hash:08x}")
}

/// A link as it stands in the address.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Parsed {
    /// The part that names an example, still to be read.
    example: Option<String>,
    clear: Clear,
    /// The part to inflate, in base64url; empty if there is none.
    pub(crate) packed: String,
    form: Form,
}

/// The form of the packed part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// A [`State`] in full.
    #[default]
    State,
    /// A [`State`] whose objects are tables ([`compact`]), with short words ([`words`]).
    Tables,
    /// A scenario file.
    File,
}

/// The part of a link in clear text.
#[derive(Clone, Debug, Default, PartialEq)]
struct Clear {
    at: Timestamp,
    selection: String,
    hash: String,
}

/// Reads the fragment of an address; none if it is no link of the page.
///
/// # Errors
/// The link is broken; the text says how.
pub(crate) fn parse(fragment: &str) -> Result<Option<Parsed>, String> {
    let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
    if let Some(example) = fragment.strip_prefix("s=") {
        check_length(fragment)?;
        let packed = example.split('&').find_map(|part| part.strip_prefix("e="));
        let packed = packed.map(unescape).transpose()?.unwrap_or_default();
        let example = Some(example.to_owned());
        return Ok(Some(Parsed { example, packed, ..Parsed::default() }));
    }
    if let Some(file) = fragment.strip_prefix("d=") {
        return check_length(fragment).and_then(|()| parse_file(file)).map(Some);
    }
    let Some((version, packed)) = fragment.split_once('.') else { return Ok(None) };
    if version.is_empty() || !version.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(None);
    }
    let form = match version {
        "1" => Form::State,
        "2" => Form::Tables,
        _ => {
            return Err(format!(
                "it has format {version}, and this version of Taintlab reads formats 1 and 2; a \
                 newer one made it"
            ));
        }
    };
    check_length(packed)?;
    if packed.is_empty() {
        return Err(format!("nothing stands after `#{version}.`"));
    }
    Ok(Some(Parsed { packed: packed.to_owned(), form, ..Parsed::default() }))
}

/// Checks that a fragment is short enough to be opened.
///
/// # Errors
/// The fragment is too long.
pub(crate) fn check_fragment(fragment: &str) -> Result<(), String> {
    let length = fragment.len();
    if length <= MOST_ENCODED {
        return Ok(());
    }
    Err(format!("it would have {length} characters, and {MOST_ENCODED} is the most that opens"))
}

fn check_length(text: &str) -> Result<(), String> {
    let length = text.len();
    if length <= MOST_ENCODED {
        return Ok(());
    }
    Err(format!("it has {length} characters, and {MOST_ENCODED} is the most; send a file instead"))
}

/// The example that a link names, with its settings.
fn read_example(text: &str) -> Result<(Scenario, Clear), String> {
    let mut parts = text.split('&');
    let name = unescape(parts.next().unwrap_or_default())?;
    let missing = || format!("no example is called `{name}`; Scenarios lists all of them");
    let (_, text) = samples::all().find(|(known, _)| *known == name).ok_or_else(missing)?;
    let mut start = files::scenario(&name, text)?;
    let mut clear = Clear::default();
    let mut flags = BTreeMap::new();
    let kubernetes = &mut start.kubernetes;
    for part in parts.filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = unescape(value)?;
        let bad = |why: &str| format!("`{key}={value}`: {why}");
        let yes = || value.parse::<bool>().map_err(|_| bad("write `true` or `false`"));
        match key {
            "release" => {
                let release = KubernetesRelease::parse(&value).map_err(|e| bad(&e.to_string()))?;
                kubernetes.release = Some(release);
            }
            "t" => {
                let at = parse_duration(&value).map_err(|error| bad(&error))?;
                clear.at = Span(at).timestamp();
            }
            "x" => clear.selection = value,
            "h" => clear.hash = value,
            // Is inflated elsewhere.
            "e" => {}
            "node-lifecycle" => kubernetes.node_lifecycle = Some(yes()?),
            "control-plane" => kubernetes.control_plane = Some(yes()?),
            "feature-gates" => {
                kubernetes.feature_gates.clear();
                for gate in value.split(',') {
                    let (gate, on) = gate.split_once('=').unwrap_or((gate, ""));
                    let on = on.parse().map_err(|_| bad("write `Gate=true` or `Gate=false`"))?;
                    kubernetes.feature_gates.insert(gate.to_owned(), on);
                }
            }
            flag if flag.starts_with("--") => {
                flags.insert(flag.trim_start_matches('-').to_owned(), value);
            }
            _ => {
                return Err(format!(
                    "`{key}` means nothing in a link; known are `release`, `t`, `x`, `h`, `e`, \
                     `feature-gates`, `node-lifecycle`, `control-plane` and flags such as \
                     `--node-monitor-period`"
                ));
            }
        }
    }
    kubernetes.controller_manager_flags = flags;
    Ok((start, clear))
}

fn parse_file(text: &str) -> Result<Parsed, String> {
    let mut parts = text.split('&');
    let packed = parts.next().unwrap_or_default().to_owned();
    if packed.is_empty() {
        return Err("nothing stands after `#d=`".to_owned());
    }
    let mut parsed = Parsed { packed, form: Form::File, ..Parsed::default() };
    for part in parts.filter(|part| !part.is_empty()) {
        match part.split_once('=').unwrap_or((part, "")) {
            ("t", at) => {
                let at = parse_duration(&unescape(at)?).map_err(|e| format!("`{part}`: {e}"))?;
                parsed.clear.at = Span(at).timestamp();
            }
            (key, _) => {
                return Err(format!("`{key}` means nothing in a link to a file; known is `t`"));
            }
        }
    }
    Ok(parsed)
}

/// A link that was opened.
pub(crate) struct Opened {
    /// The session at its beginning.
    pub(crate) session: Session,
    /// The way to the moment of the link.
    pub(crate) way: Way,
    /// The selection.
    pub(crate) selection: Option<Selection>,
    /// The hash of the event log until then where the link was made, for [`differs`]; empty if
    /// unknown.
    pub(crate) hash: String,
}

/// Whether the events until now differ from those where a link was made.
pub(crate) fn differs(session: &Session, made: &str) -> bool {
    !made.is_empty() && made != hash(session)
}

impl Parsed {
    /// The session of the link, from its inflated part, which is read in slices.
    ///
    /// # Errors
    /// The link is broken; the text says how.
    pub(crate) async fn open(self, inflated: &str) -> Result<Opened, String> {
        if self.form == Form::File {
            let start = files::linked_scenario(inflated).await?;
            let begun = Session::begin_resume(start, Vec::new(), self.clear.at);
            let (session, way) = begun.map_err(|error| error.to_string())?;
            return Ok(Opened { session, way, selection: None, hash: String::new() });
        }
        let whole = match self.form {
            Form::Tables => words::lengthen(inflated)?,
            Form::State | Form::File => inflated.to_owned(),
        };
        let state = match whole.as_str() {
            "" => State::default(),
            json => from_json::<State>(json).map_err(|error| {
                format!("what is packed in it is not what it should be: {error}")
            })?,
        };
        pause().await;
        let State { s, mut e, b, t, x, h } = state;
        let (start, clear) = match (self.example, s) {
            (Some(example), _) => {
                let (mut start, clear) = read_example(&example)?;
                start.bookmarks = b.unwrap_or(start.bookmarks);
                (start, clear)
            }
            (None, Some(mut scenario)) => {
                if self.form == Form::Tables {
                    compact::unpack(&mut scenario)?;
                }
                lengthen(&mut scenario);
                let clear = Clear { at: t.timestamp(), selection: x, hash: h };
                (files::linked_scenario(&scenario.to_string()).await?, clear)
            }
            (None, None) => return Err("its `s`, the cluster, is missing".to_owned()),
        };
        redact_commands(e.iter_mut().flat_map(|edit| &mut edit.commands))?;
        e.order_by_key(|edit| edit.at);
        let begun = Session::begin_resume(start, e, clear.at);
        let (session, way) = begun.map_err(|error| error.to_string())?;
        let selection = Selection::parse(&clear.selection);
        Ok(Opened { session, way, selection, hash: clear.hash })
    }
}

/// The edits of a session, in the form of its timeline.
pub(crate) fn edits_of(session: &Session) -> Vec<Edit> {
    session.timeline().log.iter().map(|edit: &Rc<Edit>| Edit::clone(edit)).collect()
}
