//! The elements that the page itself and the browser tests find by name, `data-testid`.

use yew::AttrValue;
use yew::html::IntoPropValue;

macro_rules! test_ids {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// The name of an element.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum TestId {
            $(
                #[doc = concat!("`", $text, "`")]
                $name,
            )*
        }

        impl TestId {
            /// All names.
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$name),*];

            /// The value of `data-testid`.
            pub(crate) const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

test_ids! {
    AboutAfter = "about-after",
    AboutBefore = "about-before",
    AboutRelease = "about-release",
    AddNode = "add-node",
    AddPod = "add-pod",
    AddTaint = "add-taint",
    AddToleration = "add-toleration",
    Announcement = "announcement",
    Apply = "apply",
    ApplySettings = "apply-settings",
    Autoscaler = "autoscaler",
    Descheduler = "descheduler",
    DeviceEviction = "device-eviction",
    Devices = "devices",
    NodeDevices = "node-devices",
    Availability = "availability",
    AvailabilityChart = "availability-chart",
    Busy = "busy",
    Bind = "bind",
    Branches = "branches",
    BranchesOpen = "branches-open",
    Board = "board",
    Causes = "causes",
    Cancel = "cancel",
    Caption = "caption",
    CaptionRelease = "caption-release",
    CaptionWhy = "caption-why",
    Cell = "cell",
    CellTip = "cell-tip",
    Cells = "cells",
    BookmarkList = "bookmark-list",
    BookmarkNote = "bookmark-note",
    BookmarksOpen = "bookmarks-open",
    Clock = "clock",
    Clockbar = "clockbar",
    CompareOpen = "compare-open",
    ComparePart = "compare-part",
    CompareRelease = "compare-release",
    CompareWith = "compare-with",
    Compared = "compared",
    Completions = "completions",
    Console = "console",
    ConsoleLine = "console-line",
    ConsoleOpen = "console-open",
    ConsoleOutput = "console-output",
    ControlPlane = "control-plane",
    Density = "density",
    EventsOpen = "events-open",
    Find = "find",
    Fine = "fine",
    Create = "create",
    CreateNode = "create-node",
    CreatePod = "create-pod",
    Diagnostics = "diagnostics",
    Dialog = "dialog",
    DrainRuns = "drain-runs",
    EarlierPod = "earlier-pod",
    EmbedForms = "embed-forms",
    EmbedPreview = "embed-preview",
    EmbedText = "embed-text",
    Empty = "empty",
    End = "end",
    Excerpt = "excerpt",
    Expectations = "expectations",
    Export = "export",
    Fork = "fork",
    Found = "found",
    Help = "help",
    HideNames = "hide-names",
    Home = "home",
    Import = "import",
    ImportActions = "import-actions",
    ImportAdd = "import-add",
    ImportAddNow = "import-add-now",
    ImportCluster = "import-cluster",
    ImportFile = "import-file",
    ImportPlan = "import-plan",
    ImportReplace = "import-replace",
    ImportSecrets = "import-secrets",
    ImportText = "import-text",
    Inspector = "inspector",
    JobFacts = "job-facts",
    KeepAll = "keep-all",
    LabelForm = "label-form",
    Legend = "legend",
    Lanes = "lanes",
    LanesArea = "lanes-area",
    LanesAxis = "lanes-axis",
    LanesDetails = "lanes-details",
    LanesForecast = "lanes-forecast",
    LanesMeasure = "lanes-measure",
    LanesOpen = "lanes-open",
    Pane = "pane",
    PaneFold = "pane-fold",
    PaneFull = "pane-full",
    LanesRows = "lanes-rows",
    LinkContents = "link-contents",
    LinkKeep = "link-keep",
    LinkOpen = "link-open",
    LoadForm = "load-form",
    Log = "log",
    LogMessage = "log-message",
    Next = "next",
    Node = "node",
    NodeHealth = "node-health",
    NodeResources = "node-resources",
    Notice = "notice",
    Objects = "objects",
    Output = "output",
    OwnRelease = "own-release",
    Page = "page",
    PaletteList = "palette-list",
    PaletteSearch = "palette-search",
    Pending = "pending",
    PendingReason = "pending-reason",
    Play = "play",
    PodsPanel = "pods-panel",
    Pressure = "pressure",
    QuestionNode = "question-node",
    QuestionPaste = "question-paste",
    QuestionWhy = "question-why",
    Questions = "questions",
    Ranking = "ranking",
    Redo = "redo",
    Refusals = "refusals",
    PaletteOpen = "palette-open",
    Report = "report",
    ReportForm = "report-form",
    ReportMap = "report-map",
    ReportScore = "report-score",
    ReportHeading = "report-heading",
    ReportVerdict = "report-verdict",
    ReportStale = "report-stale",
    ReportProgress = "report-progress",
    ReportStop = "report-stop",
    ReportFindings = "report-findings",
    ReportCell = "report-cell",
    ReportWorkloads = "report-workloads",
    Release = "release",
    ReplacePod = "replace-pod",
    SameLine = "same-line",
    Scale = "scale",
    ScenarioCount = "scenario-count",
    ScenarioList = "scenario-list",
    ScenarioSearch = "scenario-search",
    ScenarioTags = "scenario-tags",
    Scenarios = "scenarios",
    Sessions = "sessions",
    SessionsList = "sessions-list",
    SetBaseline = "keep-run",
    Settings = "settings",
    SettingsRelease = "settings-release",
    RestsOn = "rests-on",
    Share = "share",
    ShareContents = "share-contents",
    ShareCopy = "share-copy",
    ShareFile = "share-file",
    ShareLength = "share-length",
    ShareLink = "share-link",
    ShuttingDown = "shutting-down",
    Unreachable = "unreachable",
    Similar = "similar",
    Speed = "speed",
    StartUp = "start-up",
    Step = "step",
    StepBack = "step-back",
    Story = "story",
    StoryAnswer = "story-answer",
    StoryEnd = "story-end",
    StoryNext = "story-next",
    StoryOpen = "story-open",
    StoryPrevious = "story-previous",
    TaintForm = "taint-form",
    TaintZone = "taint-zone",
    Theme = "theme",
    ThresholdForm = "threshold-form",
    Thresholds = "thresholds",
    TimeBudget = "time-budget",
    TimeBudgetAt = "time-budget-at",
    TimeBudgetRange = "time-budget-range",
    TimeBudgetTotal = "time-budget-total",
    Timeline = "timeline",
    TolerationForm = "toleration-form",
    Undo = "undo",
    Until = "until",
    UntilOpen = "until-open",
    UsageChart = "usage-chart",
    Verdict = "verdict",
    Volumes = "volumes",
    Warnings = "warnings",
    WarningsAbout = "warnings-about",
    WarningsOpen = "warnings-open",
    Why = "why",
    WorkloadPanel = "workload-panel",
    Workloads = "workloads",
    WorkloadsOpen = "workloads-open",
    Yaml = "yaml",
    ZoneArithmetic = "zone-arithmetic",
    ZonePanel = "zone-panel",
    ZoneQueue = "zone-queue",
    ZoneSummary = "zone-summary",
    ZoneRate = "zone-rate",
    ZoneRates = "zone-rates",
    ZoneState = "zone-state",
}

impl TestId {
    /// The selector that finds the element.
    pub(crate) fn selector(self) -> String {
        format!("[data-testid={}]", self.as_str())
    }
}

impl IntoPropValue<Option<AttrValue>> for TestId {
    fn into_prop_value(self) -> Option<AttrValue> {
        Some(AttrValue::Static(self.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// A name that the browser tests look for in vain would make a test wait, or pass for nothing.
    #[test]
    fn the_browser_tests_find_only_elements_of_the_page() {
        let known: BTreeSet<&str> = TestId::ALL.iter().map(|id| id.as_str()).collect();
        assert_eq!(known.len(), TestId::ALL.len(), "two elements have one name");
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/e2e");
        let mut unknown = Vec::new();
        for folder in [tests.clone(), tests.join("support")] {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_none_or(|extension| extension != "mjs") {
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                for start in ["getByTestId(\"", "data-testid=\"", "data-testid="] {
                    for after in text.split(start).skip(1) {
                        let name: String = after
                            .chars()
                            .take_while(|c| c.is_ascii_lowercase() || *c == '-')
                            .collect();
                        if !name.is_empty() && !known.contains(name.as_str()) {
                            unknown.push(format!("{}: {name}", path.display()));
                        }
                    }
                }
            }
        }
        assert!(unknown.is_empty(), "{unknown:#?}");
    }
}
