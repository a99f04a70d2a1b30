//! The options of a report: the failures, their kinds, and the time that each run is watched.

use std::rc::Rc;

use taintlab_core::policy::taints::kubectl::parse_taint;
use taintlab_core::policy::validation::validate_node_taints;
use taintlab_core::report::{DomainKind, DomainList, Fault, ReportOptions};
use taintlab_core::time::{Span, parse_duration};
use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::components::parts::forms::TextField;
use crate::test_id::TestId;
use crate::text::count;

/// Properties of [`ReportForm`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ReportFormProps {
    /// The options of the last report.
    pub(crate) options: Rc<ReportOptions>,
    /// Node labels that define pools, with the number of pools.
    pub(crate) pools: Vec<(String, usize)>,
    /// Whether no report was made of this cluster yet.
    pub(crate) fresh: bool,
    /// Begins a report.
    pub(crate) begin: Callback<ReportOptions>,
}

/// The input of the form.
#[derive(Clone, Debug, PartialEq)]
struct Draft {
    nodes: bool,
    zones: bool,
    regions: bool,
    device_pools: bool,
    zone_pairs: bool,
    /// Node labels that define pools, each with whether its pools fail.
    pools: Vec<(String, bool)>,
    labels: String,
    list: String,
    lost: bool,
    power_off: bool,
    network_cut: bool,
    drained: bool,
    shut_down: bool,
    back_after: String,
    taint: String,
    horizon: String,
    seeds: String,
    remedies: String,
}

impl Draft {
    /// The options of the last report. For a cluster without a report, they include each pool label
    /// with several pools.
    fn of(ReportFormProps { options, pools, fresh, .. }: &ReportFormProps) -> Self {
        let is_pool = |label: &String| pools.iter().any(|(pool, _)| pool == label);
        let labels = options.labels.iter().filter(|label| !is_pool(label)).cloned();
        let pools = pools.iter().map(|(label, number)| {
            (label.clone(), options.labels.contains(label) || *fresh && *number > 1)
        });
        let has = |fault: &Fault| options.faults.contains(fault);
        let back = options.faults.iter().find_map(|fault| match fault {
            Fault::PowerOff { back_after } => Some(back_after.to_string()),
            _ => None,
        });
        let taint = options.faults.iter().find_map(|fault| match fault {
            Fault::Tainted { taint } => Some(taint.to_string()),
            _ => None,
        });
        let list = options
            .lists
            .first()
            .map(|list| list.nodes.iter().map(|node| node.as_str()).collect::<Vec<_>>().join(", "));
        Self {
            nodes: options.nodes,
            zones: options.zones,
            regions: options.regions,
            device_pools: options.device_pools,
            zone_pairs: options.pairs.contains(&DomainKind::Zone),
            pools: pools.collect(),
            labels: labels.collect::<Vec<_>>().join(", "),
            list: list.unwrap_or_default(),
            lost: has(&Fault::Lost),
            power_off: back.is_some(),
            network_cut: has(&Fault::NetworkCut),
            drained: has(&Fault::Drained),
            shut_down: has(&Fault::ShutDown),
            back_after: back.unwrap_or_else(|| "5m".to_owned()),
            taint: taint.unwrap_or_default(),
            horizon: options.horizon.to_string(),
            seeds: options.seeds.to_string(),
            remedies: options.remedies.to_string(),
        }
    }

    /// The options, or the field that is wrong and the error.
    fn options(&self) -> Result<ReportOptions, (&'static str, String)> {
        let span = |name, text: &str| match parse_duration(text.trim()) {
            Ok(duration) => Ok(Span(duration)),
            Err(error) => Err((name, error)),
        };
        let number = |name, text: &str, least: u32| match text.trim().parse::<u32>() {
            Ok(number) if number >= least => Ok(number),
            _ => Err((name, format!("expected a whole number from {least} on, found `{text}`"))),
        };
        let words = |text: &str| -> Vec<String> {
            let words = text.split(',').map(|word| word.trim().to_owned());
            words.filter(|word| !word.is_empty()).collect()
        };
        let mut faults = Vec::new();
        for (wanted, fault) in [
            (self.lost, Fault::Lost),
            (self.network_cut, Fault::NetworkCut),
            (self.drained, Fault::Drained),
            (self.shut_down, Fault::ShutDown),
        ] {
            if wanted {
                faults.push(fault);
            }
        }
        if self.power_off {
            faults.push(Fault::PowerOff { back_after: span("back", &self.back_after)? });
        }
        if !self.taint.trim().is_empty() {
            let taint = parse_taint(self.taint.trim()).map_err(|error| ("taint", error))?;
            let wrong = validate_node_taints(std::slice::from_ref(&taint), "taint");
            if let Some(error) = wrong.first() {
                return Err(("taint", error.to_string()));
            }
            faults.push(Fault::Tainted { taint });
        }
        if faults.is_empty() {
            return Err(("faults", "choose at least one way to fail".to_owned()));
        }
        let list = words(&self.list).iter().map(|name| name.as_str().into()).collect::<Vec<_>>();
        let mut lists = Vec::new();
        if !list.is_empty() {
            lists.push(DomainList { name: "chosen".to_owned(), nodes: list });
        }
        let pools = self.pools.iter().filter(|(_, on)| *on).map(|(label, _)| label);
        Ok(ReportOptions {
            nodes: self.nodes,
            zones: self.zones,
            regions: self.regions,
            device_pools: self.device_pools,
            labels: pools.cloned().chain(words(&self.labels)).collect(),
            lists,
            pairs: if self.zone_pairs { vec![DomainKind::Zone] } else { Vec::new() },
            faults,
            horizon: span("horizon", &self.horizon)?,
            seeds: number("seeds", &self.seeds, 1)?,
            remedies: number("remedies", &self.remedies, 0)? as usize,
            ..ReportOptions::default()
        })
    }
}

/// The form for a report's options.
#[component]
pub(crate) fn ReportForm(props: &ReportFormProps) -> Html {
    let draft = use_state(|| Draft::of(props));
    let options = draft.options();
    let errors = |field: &str| -> Vec<AttrValue> {
        let error = options.as_ref().err().filter(|(name, _)| *name == field);
        error.map(|(_, text)| text.clone().into()).into_iter().collect()
    };
    let check = |label: &'static str, value: bool, set: fn(&mut Draft, bool)| {
        let draft = draft.clone();
        let onchange = move |event: Event| {
            let mut new = (*draft).clone();
            set(&mut new, event.target_unchecked_into::<HtmlInputElement>().checked());
            draft.set(new);
        };
        html! {
            <label class="check">
                <input type="checkbox" checked={value} {onchange} />{ label }
            </label>
        }
    };
    let typed = |set: fn(&mut Draft, String)| {
        let draft = draft.clone();
        Callback::from(move |text: String| {
            let mut new = (*draft).clone();
            set(&mut new, text);
            draft.set(new);
        })
    };
    let onsubmit = {
        let (options, begin) = (options.clone(), props.begin.clone());
        move |event: SubmitEvent| {
            event.prevent_default();
            if let Ok(options) = &options {
                begin.emit(options.clone());
            }
        }
    };
    html! {
        <form class="stack" {onsubmit} data-testid={TestId::ReportForm}>
            <div class="rform">
                <fieldset class="stack">
                    <legend>{ "What fails" }</legend>
                    { check("each node", draft.nodes, |it, on| it.nodes = on) }
                    { check("each zone", draft.zones, |it, on| it.zones = on) }
                    { check("each region", draft.regions, |it, on| it.regions = on) }
                    { check("each pool of devices", draft.device_pools, |it, on| {
                        it.device_pools = on;
                    }) }
                    { check("every pair of zones", draft.zone_pairs, |it, on| {
                        it.zone_pairs = on;
                    }) }
                    { for props.pools.iter().map(|(label, number)| pool(label, *number, &draft)) }
                    <TextField label="Each value of these node labels"
                        value={draft.labels.clone()} placeholder="topology.example.com/rack"
                        oninput={typed(|it, text| it.labels = text)} />
                    <TextField label="These nodes together" value={draft.list.clone()}
                        placeholder="worker-1, worker-2"
                        oninput={typed(|it, text| it.list = text)} />
                </fieldset>
                <fieldset class="stack">
                    <legend>{ "How" }</legend>
                    { check("lost: the kubelet is unreachable", draft.lost, |it, on| it.lost = on) }
                    { check("network cut", draft.network_cut, |it, on| it.network_cut = on) }
                    { check("drained", draft.drained, |it, on| it.drained = on) }
                    { check("shut down gracefully", draft.shut_down, |it, on| it.shut_down = on) }
                    { check("power off, and back", draft.power_off, |it, on| it.power_off = on) }
                    if draft.power_off {
                        <TextField label="Back after" value={draft.back_after.clone()}
                            errors={errors("back")}
                            oninput={typed(|it, text| it.back_after = text)} />
                    }
                    <TextField label="Tainted with" value={draft.taint.clone()}
                        placeholder="example.com/failed:NoExecute" errors={errors("taint")}
                        oninput={typed(|it, text| it.taint = text)} />
                    { crate::components::parts::forms::error_list(&errors("faults")) }
                </fieldset>
                <fieldset class="stack">
                    <legend>{ "How long, how often" }</legend>
                    <TextField label="Each run is watched for" value={draft.horizon.clone()}
                        errors={errors("horizon")}
                        oninput={typed(|it, text| it.horizon = text)} />
                    <TextField label="Runs per failure (heartbeat timing varied)"
                        value={draft.seeds.clone()} errors={errors("seeds")}
                        oninput={typed(|it, text| it.seeds = text)} />
                    <TextField label="Findings to try fixes for"
                        value={draft.remedies.clone()} errors={errors("remedies")}
                        oninput={typed(|it, text| it.remedies = text)} />
                </fieldset>
            </div>
            <div class="actions">
                <button class="btn primary" disabled={options.is_err()}>
                    { "Run the report" }
                </button>
            </div>
        </form>
    }
}

/// The choice whether each pool of a label fails.
fn pool(label: &str, number: usize, draft: &UseStateHandle<Draft>) -> Html {
    let is_on = draft.pools.iter().any(|(known, on)| known == label && *on);
    let onchange = {
        let (draft, label) = (draft.clone(), label.to_owned());
        move |event: Event| {
            let on = event.target_unchecked_into::<HtmlInputElement>().checked();
            let mut new = (*draft).clone();
            new.pools.retain(|(known, _)| *known != label);
            new.pools.push((label.clone(), on));
            draft.set(new);
        }
    };
    html! {
        <label class="check" title={label.to_owned()}>
            <input type="checkbox" checked={is_on} {onchange} />
            <span>
                { format!("each of {} by ", count(number, "node pool")) }<code>{ label }</code>
            </span>
        </label>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(pools: &[(&str, usize)], labels: &[&str], fresh: bool) -> Draft {
        let labels = labels.iter().map(|it| (*it).to_owned()).collect();
        Draft::of(&ReportFormProps {
            options: Rc::new(ReportOptions { labels, ..ReportOptions::default() }),
            pools: pools.iter().map(|(label, number)| ((*label).to_owned(), *number)).collect(),
            fresh,
            begin: Callback::noop(),
        })
    }

    #[test]
    fn several_pools_fail_by_default() {
        let (gke, karpenter) = ("cloud.google.com/gke-nodepool", "karpenter.sh/nodepool");
        let pools = [(gke, 3), (karpenter, 1)];
        let labels = |draft: Draft| draft.options().unwrap().labels;
        assert_eq!(labels(draft(&pools, &[], true)), [gke]);
        assert_eq!(labels(draft(&pools, &["rack"], true)), [gke, "rack"]);
        // An earlier report was requested without pools, or with the other label.
        assert!(labels(draft(&pools, &[], false)).is_empty());
        assert_eq!(labels(draft(&pools, &[karpenter, "rack"], false)), [karpenter, "rack"]);
        assert_eq!(draft(&pools, &[karpenter, "rack"], false).labels, "rack");
    }
}
