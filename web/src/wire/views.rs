//! Requests, replies and views, as bytes.

use super::{Wire, enums, structs};
use crate::files::ExportKind;
use crate::link::Draft;
use crate::protocol::{
    BranchView, Changes, ClockView, Effect, EmbedMade, FlagsView, Notice, NoticeAction, OpenedRun,
    Origin, Pictured, Played, Progress, Reply, Request, Rest, Resumed, Selected, Staged, StartText,
    Update, WarningView, WorkView,
};
use crate::saved::SavedWork;
use crate::session::{Gone, MarkKind, NodeGroups, Outline, StartChange, StartSettings};
use crate::view_models::about_release::AboutRelease;
use crate::view_models::board::density::{Density, Detail};
use crate::view_models::board::patch::{BoardPatch, ZonePatch};
use crate::view_models::board::{DriverDevices, NodeView, PodView, Totals, ZoneView};
use crate::view_models::caption::Caption;
use crate::view_models::console::{Drain, Entry, Outcome, Printed};
use crate::view_models::display::{Category, RowText};
use crate::view_models::import_report::{
    Listed, ListedKind, Listing, ReadKind, ReadView, Show, State,
};
use crate::view_models::inspector_model::{
    Expected, InspectedDevice, InspectedNode, InspectedPod, InspectedPods, InspectedResources,
    InspectedZone, InspectorModel, Overview,
};
use crate::view_models::lanes::{
    Chosen, ChosenArea, ForecastState, Frame, LaneBar, LaneRow, LanesMsg, LanesView, LanesWindow,
    Move, Picture, Wanted,
};
use crate::view_models::log::{LogRow, LogView, LogWanted};
use crate::view_models::runs::{BranchMsg, CompareWith, Compared, Side, Until};
use crate::view_models::selection::{PodGroup, Selection};
use crate::view_models::timeline::{TimelineMark, TimelineView};
use crate::view_models::warning_marks::WarningMarks;
use crate::view_models::workloads::{Track, WorkloadsModel};

/// The browser's blobs are sent beside the bytes: see [`connection`](crate::connection).
impl Wire for StartText {
    fn put(&self, out: &mut Vec<u8>) {
        let text = match self {
            Self::Text(text) => text.clone(),
            Self::Long(..) => "".into(),
        };
        text.put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Wire::take(from).map(Self::Text)
    }
}

structs! {
    OpenedRun { name, scenario, bookmarks, at, select }
    Resumed { console, forgotten, breakpoints, hidden, lanes }
    Staged { contents, differs, dropped, title, now, selection, work }
    EmbedMade { forms, picture }
    Played { over }
    Update { done, effects, changes }
    AboutRelease { rests_on, came, believed }
    FlagsView { release, defaults, others, errors }
    Progress { what, part }
    Changes {
        clock, work, selected, board, marked, warnings, inspector, timeline, workloads, log, lanes,
        console, compared, kept, start, long_start,
    }
    ClockView { now, home, reached, peeks, wall_clock, next, rest, caption }
    Caption { text, about }
    WorkView {
        start, title, cluster, pools, release, node_lifecycle, flags, health_pass, kubelets,
        descheduler,
        autoscaler, options, can_undo, can_redo, branch, branches, breakpoints, story, hidden,
        edits,
    }
    BranchView { id, name, parent, forked_at, edits, reached }
    Selected { selection, at, warnings }
    WarningView { warning, more }
    Notice { id, error, text, action }
    Draft { clear, json, contents }
    SavedWork { title, done, can_undo, edits, branches }
    Gone { pod, node, at, evicted, bare }
    StartSettings {
        release, flags, node_lifecycle, health_pass, kubelets, descheduler, autoscaler,
    }
    BoardPatch { zones, pending, totals }
    NodeView {
        name, zone, ready, unreachable, unschedulable, taints, devices, pods, pod_count, counts,
        gone, gone_count, exists,
    }
    DriverDevices { driver, count, tainted, tainted_count }
    PodView { key, node, state, why, owner }
    Totals { nodes, pods, pending, counts, evictions }
    ZoneView { key, name, region, nodes, ready, counts, pods, state }
    Drain { id, runs, head }
    Entry { number, at, line, outcome }
    Printed { text, failed, drain }
    RowText { category, type_, reason, object, message, component, selects }
    Listed { kinds }
    ListedKind { kind, total, missing, rows }
    Listing { planned, show, filter, most }
    ReadView { found, kind, diagnostics, dropped, counts, missing, size }
    Expected { text, failure, open }
    InspectedNode { view, labels, conditions, yaml, kubelet, resources, has, devices }
    InspectedDevice { view, pods }
    InspectedPod {
        view, labels, tolerations, message, yaml, explanation, decided, budget, earlier, wall_clock,
        options, causes, scheduling, storage,
    }
    InspectedPods { group, pods, gone, total }
    InspectedResources { view, signals, flags, now }
    InspectedZone { key, rates, now }
    Overview { is_first_minute, late_eviction, tried, totals, outcomes }
    Chosen { subject, text, forecast, causes }
    ChosenArea { objects, from, to, states, expect, expected, only_record, place }
    Outline { metadata, release, gates, control_plane, scripted, bookmarks }
    Frame { rows, time }
    LaneBar { left, width, from, state, tainted, forecast, text }
    LaneRow { place, subject, name, under, folded, pinned, in_area, bars, words }
    LanesView { window, wanted, cursor, chosen, area, forecast }
    LanesWindow { total, pinned, objects, rows, from, to, ticks, now, peek, ahead }
    Wanted { filter, changed, folded, pins }
    LogRow { at, later, current, text }
    LogView { shown, passed, any, first, rows, wanted }
    LogWanted { categories, filter, only_selected, first, many, follows }
    CompareWith { sides }
    Side { branch, release, flags, toleration_seconds }
    Compared { comparison, lanes, parts_at, ticks, end }
    TimelineView { end, marks, noted }
    WarningMarks { pods, nodes, counts }
    Track { view, availability, baseline, start_up }
    WorkloadsModel { tracks, more, end, now, has_baseline }
}

enums! {
    Request {
        Stage(origin), Take, Resume(known), LeaveVisit(entry), Visit(entry, present),
        Edit(commands), EditYaml(of, text, replaces), ReplacePod(pod, tolerations), Undo, Redo,
        Playing(playing), Play(to), Step, StepBack, RunToEnd, Seek(to), StepAbout(later), EndPeek,
        Select(selection), Find(name), Draw(density), Log(wanted), Lanes(msg, narrow),
        Warnings(about), Nodes, AboutRelease, Flags(releases, values), CheckKubeletFlags(values),
        ToggleKind(kind),
        Load(scenario), Catalogue, Preview(name), OpenExample(name), LateEviction,
        Read(text, name, keep_all), ReadAgain(keep_all), Replace(own_release), Plan, Add,
        List(listing), Excerpt(line), ReadYaml(selection, text), StoredScenario(edits, start),
        Export(what), Picture(of, as_), ExportShared(hide),
        ChangeStart(change),
        SetBaseline, Kubectl(line), Complete(line, cursor), Offers(line), PodsNamed(name),
        Until(until),
        Branch(msg), Compare(with), SetBookmarks(bookmarks), Tell(number), TellNext(forth),
        Link(hide), Embed(page), EmbedForms(packed), Report(options), OpenRun(run), Cancel,
    }
    Origin { Sample, Saved(edits, start), Link(fragment, inflated) }
    Reply {
        Done, Staged(staged), Edited(done), Played(played), Nodes(nodes), Read(read),
        Listed(listed), Lines(lines), Text(text), Diagnostics(found), Completions(found),
        Offers(lines), AboutRelease(about), Flags(flags), FlagErrors(errors), Catalogue(all),
        Link(draft),
        Embed(made),
    }
    Effect {
        Say(notice), Announce(words), CloseDialog, Stop, Turn, Reveal(what),
        Picture(of, svg, pixels), Progress(progress),
    }
    Pictured { Lanes, Board }
    Rest { Hint(hint), Ended(at, parts) }
    NoticeAction { Download(name, text), Continue(id), Sessions }
    ExportKind { State, Apply, Json, Scenario, Incident }
    MarkKind { Other, Node, Zone, Eviction, Change }
    NodeGroups { Present(most), Like(node, most) }
    StartChange {
        Release(release), ControlPlane(run), NodeLifecycle, Gate(name, on), Settings(settings),
    }
    Density { Auto, Cards, Rows, Cells }
    Detail { Full, Compact, Rows, Cells }
    ZonePatch { Same(key), Whole(zone), Nodes(head, nodes) }
    Outcome { Typed(printed), Clicked }
    Category { Event, Change, Fact }
    ReadKind { Nothing, Scenario, Objects(release, any, time), Planned }
    Show { All, Only(state), Assumed, Dropped }
    State { LeftOut, Refused, Read, Kept, Unchanged, Replaced, Created }
    InspectorModel {
        Overview(overview), Node(node), Pod(pod), Pods(pods), Gone(gone, budget, causes),
        Zone(zone), Workload(track, pods),
    }
    LanesMsg {
        Show(show, chosen), Look(first, rows, pixels), Zoom(by, around), Pan(by),
        Range(from, to), Fit, Filter(text), ToggleChanged, Fold(subject), FoldAll(fold),
        Pin(subject), PinHere, Move(to), Go, Peek(at), PeekNow, PeekAt(at), Choose(subject, at),
        Area(frame), AreaHere(ends), Picture(picture), Forecast(on),
    }
    Move { Up, Down, PageUp, PageDown, First, Last, Earlier, Later }
    ForecastState { Done, Runs(part), Stopped }
    Picture { Svg, Png }
    BranchMsg { Fork, Switch(id), Rename(id, name), Delete(id) }
    Until { Run(line), Back(line), Stop(line), Pass(index) }
    PodGroup { Verdict(verdict), Health(health), Outcome(outcome) }
    Selection { Node(name), Pod(key), Zone(key), Workload(key), Pods(group) }
    TimelineMark { Due, Node, Zone, Eviction, Change }
}
