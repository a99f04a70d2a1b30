//! Findings: the rules that an object breaks.

use serde_json::Value;
use taintlab_answers::fields::{Misread, did_you_mean};
use taintlab_core::api::{Taint, TaintEffect, Toleration, TolerationOperator, well_known};
use taintlab_core::controllers::node_lifecycle::NodeLifecycleConfig;
use taintlab_core::policy::admission::{AdmissionConfig, add_default_tolerations};
use taintlab_core::policy::matching::matching_tolerations;

use crate::settings::{Bounds, Settings};
use crate::subject::Subject;

/// The longest message in characters: API clients may cut longer warnings.
pub const LONGEST: usize = 120;

/// The domains in which no key is anybody's own.
pub(crate) const DOMAINS: [&str; 2] = ["node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"];

/// The taints of nodes that are lost or not ready.
pub(crate) const LOST: [&str; 2] = [well_known::NOT_READY, well_known::UNREACHABLE];

/// A rule of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A key that no taint has. DaemonSets are exempt: they run everywhere, in other clusters, too.
    UnknownTaintKey,
    /// A key that taints have, with another value or effect.
    TolerationMatchesNothing,
    /// Every taint is tolerated forever, and no DaemonSet makes the pods.
    ToleratesEveryTaint,
    /// A time on a lost node beyond the bounds. The pods of a DaemonSet stay there anyway.
    TolerationSeconds,
    /// A `NoExecute` taint of the cluster that evicts the pods of a DaemonSet.
    DaemonIsEvicted,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 5] = [
        Self::UnknownTaintKey,
        Self::TolerationMatchesNothing,
        Self::ToleratesEveryTaint,
        Self::TolerationSeconds,
        Self::DaemonIsEvicted,
    ];

    /// The name of the rule.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTaintKey => "unknown-taint-key",
            Self::TolerationMatchesNothing => "toleration-matches-nothing",
            Self::ToleratesEveryTaint => "tolerates-every-taint",
            Self::TolerationSeconds => "toleration-seconds",
            Self::DaemonIsEvicted => "daemon-is-evicted",
        }
    }
}

/// A rule that an object breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Sentence, of at most [`LONGEST`] characters.
    pub message: String,
}

/// The findings and notes of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The rules that it breaks.
    pub findings: Vec<Finding>,
    /// Sentences that break no rule: the time that its pods stay on a lost node.
    pub notes: Vec<String>,
}

/// Judges an object of Kubernetes, as an API server has it. One that makes no pods, or only static
/// ones, breaks no rule.
///
/// # Errors
/// A toleration that cannot be read; an API server would have refused it.
pub fn judge(object: &Value, settings: &Settings) -> Result<Judgement, Misread> {
    let mut judgement = Judgement::default();
    let Some(subject) = Subject::of(object)? else { return Ok(judgement) };
    let mut found = Vec::new();
    for (index, toleration) in subject.tolerations.iter().enumerate() {
        let Some((rule, message)) = of_toleration(&subject, toleration, settings) else { continue };
        found.push((rule, format!("tolerations[{index}]: {message}")));
    }
    if subject.daemon {
        found.extend(evicted_daemon(&subject, settings));
    } else {
        let tolerations = admitted(&subject.tolerations);
        let late = LOST.into_iter().filter_map(|key| {
            let time = Time::of(&tolerations, key);
            let wrong = beyond(time, settings.toleration_seconds)?;
            Some((Rule::TolerationSeconds, format!("{key} is tolerated {time}; {wrong}")))
        });
        found.extend(late);
        let is_said = |(rule, _): &(Rule, String)| *rule == Rule::TolerationSeconds;
        if settings.say_time || found.iter().any(is_said) {
            let own = subject.tolerations.len() == tolerations.len();
            judgement.notes.push(cut(lost_node(&tolerations, own, settings)));
        }
    }
    let finding = |(rule, message)| Finding { rule, message: cut(message) };
    judgement.findings = found.into_iter().map(finding).collect();
    Ok(judgement)
}

/// A message of at most [`LONGEST`] characters.
fn cut(message: String) -> String {
    if message.chars().count() <= LONGEST {
        return message;
    }
    message.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// The tolerations with those that admission adds.
pub(crate) fn admitted(tolerations: &[Toleration]) -> Vec<Toleration> {
    let mut all = tolerations.to_vec();
    add_default_tolerations(&AdmissionConfig::default(), &mut all);
    all
}

/// The first toleration that answers a taint, which is the one that counts.
pub(crate) fn answering(tolerations: &[Toleration], taint: &Taint) -> Option<usize> {
    // An API server whose gate is off refuses the operators Lt and Gt, so they never come here.
    matching_tolerations(std::slice::from_ref(taint), tolerations, true).used.first().copied()
}

/// Time that pods stay on a node because of their tolerations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    Forever,
    Seconds(i64),
}

impl Time {
    /// The time after which the taint `key` with effect `NoExecute` evicts.
    pub(crate) fn of(tolerations: &[Toleration], key: &str) -> Self {
        let taint = Taint::new(key, "", TaintEffect::NoExecute);
        let Some(index) = answering(tolerations, &taint) else { return Self::Seconds(0) };
        let seconds = tolerations.get(index).and_then(|first| first.toleration_seconds);
        seconds.map_or(Self::Forever, |seconds| Self::Seconds(seconds.max(0)))
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Forever => f.write_str("forever"),
            Self::Seconds(seconds) => write!(f, "for {seconds} s"),
        }
    }
}

/// The bound that a time exceeds, in words.
fn beyond(time: Time, Bounds { min, max }: Bounds) -> Option<String> {
    match (time, min, max) {
        (Time::Seconds(seconds), Some(min), _) if seconds < min => {
            Some(format!("the least is {min} s"))
        }
        (Time::Seconds(seconds), _, Some(max)) if seconds > max => {
            Some(format!("the most is {max} s"))
        }
        (Time::Forever, _, Some(max)) => Some(format!("the most is {max} s")),
        _ => None,
    }
}

/// Sentence about the time that pods stay on a lost node, with the part that their author chose.
fn lost_node(tolerations: &[Toleration], own: bool, settings: &Settings) -> String {
    match Time::of(tolerations, well_known::UNREACHABLE) {
        Time::Forever => "a lost node: never evicted, and not replaced".to_owned(),
        Time::Seconds(seconds) => {
            let found = NodeLifecycleConfig::of(settings.release).lost_within().as_secs();
            let all = found.saturating_add(seconds.unsigned_abs());
            let whose = if own { "yours" } else { "the default" };
            format!("a lost node: evicted after about {all} s, of which {seconds} are {whose}")
        }
    }
}

fn of_toleration(
    subject: &Subject<'_>,
    toleration: &Toleration,
    settings: &Settings,
) -> Option<(Rule, String)> {
    if subject.daemon {
        return None;
    }
    let Toleration { key, operator, effect, toleration_seconds, .. } = toleration;
    if key.is_empty() {
        let blanket = *operator == TolerationOperator::Exists && toleration_seconds.is_none();
        return (blanket && !settings.allow_blanket_exists).then(|| {
            let which = if effect.is_empty() { String::new() } else { format!("{effect} ") };
            (Rule::ToleratesEveryTaint, format!("every {which}taint is tolerated forever"))
        });
    }
    // `out-of-service` may have any value, and is set by hand.
    if key == well_known::OUT_OF_SERVICE || subject.asks_for(key) {
        return None;
    }
    let known = settings.known_taints();
    let mut same = known.iter().filter(|taint| taint.key == *key).peekable();
    if same.peek().is_none() {
        let judged = !settings.taints.is_empty() || DOMAINS.iter().any(|it| key.starts_with(it));
        let keys: Vec<&str> = known.iter().map(|taint| taint.key.as_str()).collect();
        let meant = did_you_mean(key, &keys);
        let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        let message = format!("nothing taints with `{key}`{meant}");
        return judged.then_some((Rule::UnknownTaintKey, message));
    }
    let first = same.clone().next()?;
    if same.any(|taint| answering(std::slice::from_ref(toleration), taint).is_some()) {
        return None;
    }
    let message = format!("`{toleration}` matches no taint, but there is `{first}`");
    Some((Rule::TolerationMatchesNothing, message))
}

/// The taints of the cluster that evict the pods of a DaemonSet.
fn evicted_daemon(
    subject: &Subject<'_>,
    settings: &Settings,
) -> impl Iterator<Item = (Rule, String)> {
    let evicting = settings.taints.iter().filter(|taint| taint.is_no_execute());
    evicting.filter_map(|taint| {
        let first = answering(&subject.tolerations, taint);
        let first = first.and_then(|index| subject.tolerations.get(index));
        let message = match first.map(|first| first.toleration_seconds) {
            Some(None) => return None,
            Some(Some(seconds)) => {
                format!("a node with `{taint}` evicts this daemon after {} s", seconds.max(0))
            }
            None => format!("a node with `{taint}` evicts this daemon"),
        };
        Some((Rule::DaemonIsEvicted, message))
    })
}
