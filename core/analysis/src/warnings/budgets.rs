//! Warnings about PodDisruptionBudgets.

use alloc::borrow::ToOwned;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use taintlab_rules::api::{IntOrPercent, LabelSelector, Pod, PodKey};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::OrderedMap;
use taintlab_rules::plural::count;
use taintlab_rules::policy::admission::default_tolerations;

use super::lost::is_evicted;
use super::pods::{Group, Nodes, yaml_of};
use super::{Fix, FixLanguage, PACE, Settings, Severity, Subject, Warning, WarningCode};

/// A valid budget, and the pods that it selects.
struct Read<'a> {
    key: &'a PodKey,
    selector: Option<LabelSelector>,
    limits: [Option<IntOrPercent>; 2],
    pods: Vec<(&'a PodKey, &'a Pod)>,
    /// Number of them that a taint evicts now.
    going: usize,
}

pub(super) async fn look(
    cluster: &Cluster,
    groups: &[Group<'_>],
    nodes: &Nodes<'_>,
    settings: &Settings,
    found: &mut Vec<Warning>,
) {
    let mut by_namespace: OrderedMap<&str, Vec<Read<'_>>> = OrderedMap::new();
    for (key, budget) in cluster.budgets() {
        // Invalid budgets are reported where they are read.
        let (Ok(selector), Ok(limits)) = (budget.selector(), budget.limits()) else { continue };
        let read = Read { key, selector, limits, pods: Vec::new(), going: 0 };
        by_namespace.entry(key.namespace()).or_default().push(read);
    }
    let mut several: OrderedMap<Vec<&PodKey>, Vec<&PodKey>> = OrderedMap::new();
    let mut pace = PACE;
    for group in groups {
        let Some(budgets) = by_namespace.get_mut(group.namespace) else { continue };
        for (key, pod) in &group.pods {
            pace.step().await;
            let taints = nodes.evicting(pod);
            let going = is_evicted(group.tolerations, taints, settings.comparison_operators);
            let mut of_pod = Vec::new();
            for budget in &mut *budgets {
                let labels = &pod.metadata.labels;
                if budget.selector.as_ref().is_some_and(|selector| selector.matches(labels)) {
                    budget.pods.push((key, pod));
                    budget.going += usize::from(going);
                    of_pod.push(budget.key);
                }
            }
            if of_pod.len() > 1 {
                several.entry(of_pod).or_default().push(key);
            }
        }
    }
    for (budgets, pods) in several {
        found.push(twice(&budgets, &pods));
    }
    for budget in by_namespace.values().flatten() {
        found.push(one(budget));
    }
}

fn warn(
    budget: &Read<'_>,
    severity: Severity,
    field: &str,
    (message, explanation): (String, &str),
    fix: Option<Fix>,
) -> Warning {
    let pods = budget.pods.iter().map(|(key, _)| Subject::Pod { name: (*key).clone() });
    Warning {
        severity,
        code: WarningCode::BudgetDoesNotHelp,
        subjects: [Subject::Budget { name: budget.key.clone() }].into_iter().chain(pods).collect(),
        field: field.to_owned(),
        message: format!("PodDisruptionBudget {}: {message}", budget.key),
        explanation: explanation.to_owned(),
        fix,
    }
}

/// Warning about the first problem of a budget. No budget protects against taints.
fn one(budget: &Read<'_>) -> Warning {
    let number = budget.pods.len();
    if number == 0 {
        let message = "selects no pod, so that it protects nothing".to_owned();
        let why = "A budget counts the pods of its namespace whose labels its selector matches. \
                   There is none now.";
        let text = format!("kubectl get pods -n {} --show-labels", budget.key.namespace());
        let what = "Compare the selector with the labels of the pods.".to_owned();
        let fix = Fix { what, language: FixLanguage::Kubectl, text };
        return warn(budget, Severity::Warning, "spec.selector", (message, why), Some(fix));
    }
    let all = i64::try_from(number).unwrap_or(i64::MAX);
    let [least, most] = budget.limits;
    let needs_none = least.is_some_and(|least| least.of(all, true) <= 0)
        || most.is_some_and(|most| most.of(all, true) >= all && all > 1);
    if needs_none {
        let field = if least.is_some() { "spec.minAvailable" } else { "spec.maxUnavailable" };
        let message = "lets all of its pods be evicted at once".to_owned();
        let why = "It requires no available pods, so every eviction is allowed.";
        let text = "spec:\n  maxUnavailable: 1\n".to_owned();
        let what = "Let one pod go at a time.".to_owned();
        let fix = Fix { what, language: FixLanguage::Yaml, text };
        return warn(budget, Severity::Warning, field, (message, why), Some(fix));
    }
    let (severity, message) = if budget.going > 0 {
        let going = count(budget.going, "pod");
        (Severity::Critical, format!("does not help {going} that a NoExecute taint evicts"))
    } else {
        let message = "does not help when a node is lost or tainted with NoExecute".to_owned();
        (Severity::Note, message)
    };
    let why = "Only the eviction API asks budgets, which kubectl drain uses. The taint-eviction \
               controller deletes pods, and a delete asks no budget. What spreads the loss is \
               another time for each pod, more replicas, and more zones.";
    let [not_ready, unreachable] = default_tolerations();
    let longer = [not_ready, unreachable].map(|mut toleration| {
        toleration.toleration_seconds = Some(900);
        yaml_of(&toleration)
    });
    let fix = Fix {
        what: "Give the pods more time on nodes that are lost, in the template of the workload."
            .to_owned(),
        language: FixLanguage::Yaml,
        text: format!("tolerations:\n{}", longer.concat()),
    };
    warn(budget, severity, "", (message, why), Some(fix))
}

/// Warning about pods that several budgets select.
fn twice(budgets: &[&PodKey], pods: &[&PodKey]) -> Warning {
    let names: Vec<&str> = budgets.iter().map(|key| key.as_str()).collect();
    let budgets = budgets.iter().map(|key| Subject::Budget { name: (*key).clone() });
    let subjects = budgets.chain(pods.iter().map(|key| Subject::Pod { name: (*key).clone() }));
    Warning {
        severity: Severity::Warning,
        code: WarningCode::BudgetDoesNotHelp,
        subjects: subjects.collect(),
        field: "spec.selector".into(),
        message: format!(
            "PodDisruptionBudgets {} select the same {}: it can never be evicted",
            names.join(" and "),
            if pods.len() == 1 { "pod".to_owned() } else { count(pods.len(), "pod") }
        ),
        explanation: "The eviction API does not support a pod with more than one budget and \
                      answers 500. kubectl drain does not try that again: it fails at once. A \
                      taint evicts such a pod all the same."
            .into(),
        fix: Some(Fix {
            what: "Leave one of them.".into(),
            language: FixLanguage::Kubectl,
            text: format!(
                "kubectl delete poddisruptionbudget {} -n {}",
                names.last().and_then(|name| name.split('/').next_back()).unwrap_or_default(),
                names.last().and_then(|name| name.split('/').next()).unwrap_or_default()
            ),
        }),
    }
}
