//! The condition `EvictionInProgress` of rules.

use alloc::format;
use alloc::string::String;

use taintlab_rules::api::{DeviceTaintRule, RuleCondition, TaintEffect};
use taintlab_rules::plural::count;
use taintlab_rules::policy::devices::device_toleration_time;
use taintlab_rules::time::Time;

use super::eviction::hits;
use super::queue::Item;
use super::{
    DeviceTaintEvictionAction, DeviceTaintEvictionController, RULE_STATUS_PERIOD, Reason, Request,
    count_pods,
};
use crate::controllers::Context;

impl DeviceTaintEvictionController {
    /// Writes the condition of a rule if it is not what it says. Mirrors
    /// `Controller.maybeUpdateRuleStatus`.
    pub(super) fn maybe_update_rule(
        &mut self,
        context: &mut Context<'_>,
        name: String,
        uid: String,
    ) {
        let rule = context.cluster.devices().and_then(|devices| devices.rule(&name));
        let item = Item::Rule(name, uid);
        let rule = rule.filter(|rule| matches!(&item, Item::Rule(_, uid) if *uid == rule.uid));
        let Some(rule) = rule else {
            self.queue.forget(&item);
            return;
        };
        let known = rule.condition.as_ref();
        let now = context.wall_clock();
        if let Some(known) = known.filter(|known| known.observed_generation == rule.generation) {
            let since = now.since(known.last_transition_time);
            if known.last_transition_time > now || since < RULE_STATUS_PERIOD {
                let rest = RULE_STATUS_PERIOD.saturating_sub(since);
                self.queue.add_after(context, item, context.now.saturating_add(rest));
                return;
            }
        }
        let mut condition = self.condition(context, rule);
        condition.last_transition_time =
            known.map_or(Time::ZERO_OF_GO, |known| known.last_transition_time);
        if Some(&condition) == known {
            self.queue.forget(&item);
            return;
        }
        condition.last_transition_time = now.truncated_to_seconds();
        let (id, rule) = (self.new_id(), rule.name.clone());
        self.requests.insert(id, Request::Status(item));
        self.actions.push_back(DeviceTaintEvictionAction::UpdateRuleStatus { id, rule, condition });
    }

    /// The condition of a rule as it is to be, without its time.
    fn condition(&self, context: &Context<'_>, rule: &DeviceTaintRule) -> RuleCondition {
        let evicted = self.evicted_by_rule.get(&rule.uid).copied().unwrap_or_default();
        let mut status = false;
        let (reason, mut message) = match &rule.taint.effect {
            TaintEffect::NoExecute => match self.pending_pods(context, rule) {
                (0, _) if evicted > 0 => ("Completed", String::new()),
                (0, _) => ("NotStarted", String::new()),
                (pods, namespaces) => {
                    status = true;
                    let verb = if pods == 1 { "needs" } else { "need" };
                    let (pods, namespaces) = (count(pods, "pod"), in_namespaces(namespaces));
                    let message = format!("{pods} {verb} to be evicted in {namespaces}.");
                    ("PodsPendingEviction", message)
                }
            },
            effect if effect.as_str() == "None" => ("NoEffect", self.preview(context, rule)),
            _ => ("OtherEffect", "Eviction only happens for the NoExecute effect.".into()),
        };
        if evicted > 0 {
            if !message.is_empty() {
                message.push(' ');
            }
            message += &format!("{} evicted since starting the controller.", count(evicted, "pod"));
        }
        RuleCondition {
            status,
            reason: reason.into(),
            message,
            observed_generation: rule.generation,
            last_transition_time: Time::ZERO_OF_GO,
        }
    }

    /// The pods that are to be evicted because of a rule, and in how many namespaces they are.
    /// Mirrors `Controller.countPendingPods`.
    fn pending_pods(&self, context: &Context<'_>, rule: &DeviceTaintRule) -> (u64, u64) {
        count_pods(context.cluster, &|pod| {
            self.pod_eviction(pod).is_some_and(|eviction| {
                let mut reasons = eviction.reasons.iter();
                reasons.any(|reason| matches!(reason, Reason::Rule(it) if it.uid == rule.uid))
            })
        })
    }

    /// The message of a rule with the effect `None`: its outcome with the effect `NoExecute`.
    fn preview(&self, context: &Context<'_>, rule: &DeviceTaintRule) -> String {
        let mut taint = rule.taint.clone();
        taint.effect = TaintEffect::NoExecute;
        let (pods, namespaces) = count_pods(context.cluster, &|pod| {
            self.claims_of(pod).any(|known| {
                known.claim.allocation.iter().flatten().any(|device| {
                    hits(rule, device)
                        && device_toleration_time(&taint, &device.tolerations).is_some()
                })
            })
        });
        let published = self.taints.newest_slices().map(|slice| {
            let selector = rule.selector.as_ref();
            let selects = |device: &str| {
                selector.is_some_and(|it| it.selects(&slice.driver, &slice.pool, device))
            };
            slice.devices.iter().filter(|device| selects(&device.name)).count()
        });
        let allocated = self.claims.values().flat_map(|known| known.claim.allocation.iter());
        let allocated = allocated.flatten().filter(|device| hits(rule, device)).count();
        let devices = |devices: usize, what: &str| {
            let devices =
                count(u64::try_from(devices).unwrap_or(u64::MAX), &format!("{what} device"));
            format!("{devices} selected.")
        };
        format!(
            "{} {} {} would be evicted in {} if the effect was NoExecute. This information \
             will not be updated again. Recreate the DeviceTaintRule to trigger an update.",
            devices(published.sum(), "published"),
            devices(allocated, "allocated"),
            count(pods, "pod"),
            in_namespaces(namespaces),
        )
    }
}

fn in_namespaces(count: u64) -> String {
    match count {
        1 => "1 namespace".into(),
        count => format!("{count} different namespaces"),
    }
}
