//! The resilience report, as bytes.

use taintlab_core::report::{
    Cell, Domain, DomainKind, DomainList, DrainResult, Effect, FailureRow, FailureTotal,
    FalseAlarm, Fault, Finding, FindingGroup, Headroom, MadeWorse, Millis, Outline, OverAll,
    PendingReason, Remedy, Report, ReportOptions, ReportSource, ReportSubject, Run, RunResult,
    RunSummary, Score, Shortfall, Spread, WorkloadRun, WorkloadScore, ZoneStep,
};

use super::{Wire, enums, structs};

structs! {
    Cell {
        domain, fault, seed, harm, worst, below_spread, at_zero_spread, longest_gap_spread,
        whole_again_spread, never_whole_again,
    }
    Domain {
        kind, name, nodes, pair, whole_cluster, same_nodes_as, pods, headroom, runs_out_first,
    }
    DomainList { name, nodes }
    DrainResult { ended, failed, error }
    Effect { remedy, what, yaml, helps, harm, figures, drain, over_all, text }
    FailureRow { name, what, kind, fault, domains, harm, harmed, at_zero, never, cells }
    FailureTotal { domain, fault, harm, harmed, down, never_whole_again }
    FalseAlarm { seconds, outage, evicted, longest_gap }
    Finding {
        subject, run, harm, at, what, why, cause, effects, no_help, false_alarms,
    }
    FindingGroup { findings, domains, harm, what, why }
    Headroom { resource, needed, free }
    MadeWorse { domain, fault, subject, before, after }
    Outline {
        version, cluster, release, options, fault_at, nodes, pods, subjects, lost_already,
        short_already, idle, served, taint_spread, domains,
    }
    OverAll { tried, failures, before, after, made_worse, worse }
    PendingReason { reason, pods }
    Report {
        heading, notes, missing, verdict, outline, runs_made, runs_planned, score, workloads,
        failures, findings, groups, cells, rows, runs,
    }
    ReportOptions {
        nodes, zones, regions, device_pools, labels, lists, pairs, faults, horizon, after, settle,
        seeds, remedies, source,
    }
    ReportSource { context, server, namespace, not_read }
    Run { remedy, seed, fault, domain }
    RunResult { run, at_rest, evicted, zones, drain, yaml, workloads }
    RunSummary { domain, fault, seed, at_rest, evicted, zones, drain }
    Score { score, arithmetic }
    Shortfall { subject, ready, desired }
    Spread { min, median, p95, max }
    WorkloadRun {
        subject, wanted, evicted, moved, preempted, pending, stuck, lost, budgets_not_asked,
        least_ready, worst_at, below, at_zero, longest_gap, replica_time_lost, dead_endpoints,
        whole_again,
    }
    WorkloadScore { subject, score, arithmetic, domain, fault, worst, cell }
    ZoneStep { at, zone, state, rate }
}

enums! {
    DomainKind { Node, Zone, Region, Label, List, Pair, DevicePool }
    Fault {
        Lost, PowerOff { back_after }, NetworkCut, Drained, ShutDown, DevicesTainted,
        Tainted { taint },
    }
    Remedy {
        TolerationSeconds { workload, seconds }, Spread { workload, topology_key, softens },
        OneMoreNode { like }, Priority { workload }, Budget { budget }, OutOfService { after },
    }
    ReportSubject { Workload(workload), Pod(pod) }
}

impl Wire for Millis {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Wire::take(from).map(Self)
    }
}
