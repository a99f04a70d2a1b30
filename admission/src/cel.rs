//! The rules as expressions of the Common Expression Language, for policies that API servers and
//! Kyverno evaluate by themselves.
//!
//! The matching of tolerations is written here a second time, in CEL, since no engine runs there. The
//! tests evaluate every expression on random pods, and compare it with [`judge`](crate::judge()).

use taintlab_core::api::{MIRROR_ANNOTATION, Taint, well_known};
use taintlab_core::policy::admission::DEFAULT_TOLERATION_SECONDS;
use taintlab_core::policy::matching::parse_canonical;

use crate::judge::{DOMAINS, LOST, Rule};
use crate::settings::{Bounds, Settings};

/// An expression with a name, which those after it may use as `variables.NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its expression.
    pub expression: String,
}

/// A rule in CEL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// The rule.
    pub rule: Rule,
    /// Condition that holds for an object without a finding.
    pub expression: String,
    /// Text for an object with a finding.
    pub message_expression: String,
}

/// Condition of a request that is judged: its object is no static pod.
#[must_use]
pub fn is_judged() -> String {
    format!(
        "!has(object.metadata.annotations) || \
         !('{MIRROR_ANNOTATION}' in object.metadata.annotations)"
    )
}

/// The variables of all rules, in their order.
#[must_use]
pub fn variables(settings: &Settings) -> Vec<Variable> {
    let known = settings.known_taints();
    let mut keys: Vec<&str> = Vec::from([well_known::OUT_OF_SERVICE]);
    for taint in &known {
        if !keys.contains(&taint.key.as_str()) {
            keys.push(&taint.key);
        }
    }
    let evicting = settings.taints.iter().filter(|taint| taint.is_no_execute());
    let numbers = settings.taints.iter().any(|taint| parse_canonical(&taint.value).is_some());
    let matches = tolerates(["n.key", "n.value", "n.effect"], numbers);
    let own = if settings.taints.is_empty() {
        let domains = DOMAINS.map(|domain| format!("t.key.startsWith({})", quoted(domain)));
        format!(" &&\n  ({})", domains.join(" || "))
    } else {
        String::new()
    };
    let mut all = Vec::new();
    let mut add = |name, expression: &str| {
        all.push(Variable { name, expression: expression.to_owned() });
    };
    add("podSpec", POD_SPEC);
    add("tolerations", TOLERATIONS);
    add("daemon", DAEMON);
    add("limits", LIMITS);
    add("knownKeys", &list(keys.into_iter().map(quoted)));
    add("taints", &list(known.iter().map(map)));
    add(
        "unknown",
        &format!(
            "variables.tolerations.filter(t, has(t.key) && t.key != '' &&\n  \
             !(t.key in variables.knownKeys) && !variables.limits.exists(l, t.key in l){own})"
        ),
    );
    add(
        "unmatched",
        &format!(
            "variables.tolerations.filter(t, has(t.key) && t.key in variables.knownKeys &&\n  \
             t.key != {} && !variables.limits.exists(l, t.key in l) &&\n  \
             !variables.taints.exists(n,{matches}))",
            quoted(well_known::OUT_OF_SERVICE)
        ),
    );
    add("blanket", BLANKET);
    add("evictingTaints", &list(evicting.map(map)));
    add(
        "evictingDaemons",
        &format!(
            "variables.evictingTaints.filter(n, ![variables.tolerations.filter(t,{matches})]\n  \
             .exists(answers, size(answers) > 0 && !has(answers[0].tolerationSeconds)))"
        ),
    );
    let bounded = settings.toleration_seconds != Bounds::default();
    for (key, [first, seconds]) in LOST.into_iter().zip(OF_LOST).filter(|_| bounded) {
        let key = quoted(key);
        let matching = tolerates([&key, "''", "'NoExecute'"], false);
        add(first, &format!("variables.tolerations.filter(t,{matching})"));
        add(
            seconds,
            &format!(
                "size(variables.{first}) > 0\n  ? (has(variables.{first}[0].tolerationSeconds) ? \
                 variables.{first}[0].tolerationSeconds : {FOREVER})\n  : \
                 variables.tolerations.exists(t, (!has(t.key) || t.key in ['', {key}]) &&\n      \
                 (!has(t.effect) || t.effect in ['', 'NoExecute'])) ? 0 : \
                 {DEFAULT_TOLERATION_SECONDS}"
            ),
        );
    }
    all
}

/// Variables for each of the taints of lost nodes: the tolerations that answer it, and the seconds
/// of the first one.
const OF_LOST: [[&str; 2]; 2] =
    [["notReady", "notReadySeconds"], ["unreachable", "unreachableSeconds"]];

/// Seconds that stand for no time.
const FOREVER: i64 = i64::MAX;

/// The rules that the settings ask for.
#[must_use]
pub fn validations(settings: &Settings) -> Vec<Validation> {
    let mut rules = Vec::new();
    let mut add = |rule, holds: &str, message: &str| {
        let (expression, message_expression) = (holds.to_owned(), message.to_owned());
        rules.push(Validation { rule, expression, message_expression });
    };
    add(
        Rule::UnknownTaintKey,
        "variables.daemon || size(variables.unknown) == 0",
        "'nothing taints with ' + variables.unknown[0].key",
    );
    add(
        Rule::TolerationMatchesNothing,
        "variables.daemon || size(variables.unmatched) == 0",
        "'no taint matches the toleration of ' + variables.unmatched[0].key",
    );
    if !settings.allow_blanket_exists {
        add(
            Rule::ToleratesEveryTaint,
            "variables.daemon || size(variables.blanket) == 0",
            "'every ' + (has(variables.blanket[0].effect) && variables.blanket[0].effect != ''\n  ? \
             variables.blanket[0].effect + ' ' : '') + 'taint is tolerated forever'",
        );
    }
    let Bounds { min, max } = settings.toleration_seconds;
    for (key, [_, seconds]) in LOST.into_iter().zip(OF_LOST) {
        // Less than nothing is nothing, so that 0 is no bound.
        let least = min.filter(|min| *min > 0).map(|min| format!("variables.{seconds} >= {min}"));
        let most = max.map(|max| format!("variables.{seconds} <= {max}"));
        let bounds: Vec<String> = least.into_iter().chain(most).collect();
        if bounds.is_empty() {
            continue;
        }
        let words =
            [min.map(|it| format!("least is {it} s")), max.map(|it| format!("most is {it} s"))];
        let words: Vec<String> = words.into_iter().flatten().collect();
        add(
            Rule::TolerationSeconds,
            &format!("variables.daemon || {}", bounds.join(" && ")),
            &format!(
                "{} + (variables.{seconds} == {FOREVER}\n  ? 'forever' : 'for ' + \
                 string(variables.{seconds}) + ' s') + '; the {}'",
                quoted(&format!("{key} is tolerated ")),
                words.join(", the ")
            ),
        );
    }
    add(
        Rule::DaemonIsEvicted,
        "!variables.daemon || size(variables.evictingDaemons) == 0",
        "'a node evicts this daemon because of its taint ' + variables.evictingDaemons[0].key",
    );
    rules
}

/// The tolerations of the pods.
const TOLERATIONS: &str = "has(variables.podSpec.tolerations) ? variables.podSpec.tolerations : []";

/// The tolerations of every key, without end.
const BLANKET: &str = "variables.tolerations.filter(t, (!has(t.key) || t.key == '') &&
  has(t.operator) && t.operator == 'Exists' && !has(t.tolerationSeconds))";

/// Condition that a DaemonSet owns the pods.
const DAEMON: &str = "object.kind == 'DaemonSet' || object.kind == 'Pod' &&
  has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o,
  o.kind == 'DaemonSet' && has(o.controller) && o.controller)";

/// The limits of the containers: for a resource among them the API server may have added a
/// toleration.
const LIMITS: &str = "has(variables.podSpec.containers) ? variables.podSpec.containers
  .filter(c, has(c.resources) && has(c.resources.limits)).map(c, c.resources.limits) : []";

/// The specification of an object's pods. `dyn` says that the types of kinds differ.
const POD_SPEC: &str = "object.kind == 'Pod' ? dyn(object).spec
  : object.kind == 'CronJob' ? dyn(object).spec.jobTemplate.spec.template.spec
  : dyn(object).spec.template.spec";

/// Condition that the toleration `t` tolerates a taint. Mirrors `Toleration.ToleratesTaint`; `numbers`
/// adds the operators `Lt` and `Gt`.
fn tolerates([key, value, effect]: [&str; 3], numbers: bool) -> String {
    let compares = if numbers {
        format!(
            " ||\n  has(t.operator) && t.operator in ['Lt', 'Gt'] && has(t.value) &&\n  {} &&\n  {} \
             &&\n  (t.operator == 'Lt' ? int({value}) < int(t.value) : int({value}) > int(t.value))",
            is_number("t.value"),
            is_number(value)
        )
    } else {
        String::new()
    };
    format!(
        "\n  (!has(t.effect) || t.effect in ['', {effect}]) &&\n  (!has(t.key) || t.key in ['', \
         {key}]) &&\n  (has(t.operator) && t.operator == 'Exists' || (!has(t.operator) || t.operator \
         in ['', 'Equal']) &&\n  (has(t.value) ? t.value : '') == {value}{compares})"
    )
}

/// Condition that a text is a number that Kubernetes compares: canonical, and within 64 bits.
fn is_number(text: &str) -> String {
    format!(
        "{text}.matches('^(0|-?[1-9][0-9]*)$') && (size({text}) < 19 ||\n  size({text}) == 19 && \
         ({text}.startsWith('-') || {text} <= '{}') || size({text}) == 20 && \
         {text}.startsWith('-') && {text} <= '{}')",
        i64::MAX,
        i64::MIN
    )
}

/// A list with a line for each item.
fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("\n  {item}")).collect();
    if items.is_empty() { "[]".to_owned() } else { format!("[{}]", items.join(",")) }
}

fn map(taint: &Taint) -> String {
    let [key, value, effect] =
        [taint.key.as_str(), &taint.value, taint.effect.as_str()].map(quoted);
    format!("{{'key': {key}, 'value': {value}, 'effect': {effect}}}")
}

/// A text as CEL has it. Keys, values and effects are of letters, digits and `-_./`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
