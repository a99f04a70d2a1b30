//! The command line: what every option means, once for help, completions and man pages.

use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, Parser, Subcommand};
use taintlab_core::kubelet::Signal;

/// What Kubernetes evicts, when and why.
#[derive(Debug, Parser)]
#[command(
    name = "taintlab",
    version,
    after_help = "\
    Exit codes: 0 all is well; 1 a file is wrong or a test failed; 2 the command line is wrong."
)]
pub(crate) struct Line {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What Kubernetes evicts, when and why: of the cluster of the current context, which is read and
/// never written.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-taintlab",
    bin_name = "kubectl taintlab",
    version,
    after_help = "\
    Exit codes: 0 all is well; 1 the cluster cannot be read; 2 the command line is wrong."
)]
pub(crate) struct PluginLine {
    #[command(subcommand)]
    pub(crate) command: PluginCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate a cluster and print what happens
    Run(RunLine),
    /// Run scenarios and check what they expect
    Test(TestLine),
    /// Say which failure hurts most, and what would help
    Report(Box<ReportLine>),
    /// Explain how tolerations answer taints
    Explain(ExplainLine),
    /// Say what is likely to surprise in manifests, with file, line and column
    Lint(LintLine),
    /// Say where the scheduler puts a pod, or why nowhere
    Schedule(ScheduleLine),
    /// Say whom the kubelet evicts first
    Rank(RankLine),
    /// Say what becomes of the cluster while nodes are drained, replaced, taken away or tainted
    Plan(Box<PlanLine>),
    /// Find the fewest faults that take a workload to zero ready pods, or a zone out of Normal
    SmallestOutage(Box<OutageLine>),
    /// Say when a pod is evicted if its node fails now, and why then
    #[command(visible_alias = "why-evicted")]
    When(WhenLine),
    /// Answer the questions of a chat about a cluster: a server of the Model Context Protocol
    Mcp(McpLine),
    /// Find the smallest change of settings that meets wishes in all failures
    Solve(Box<SolveLine>),
    /// Print a policy about tolerations for admission: what nothing matches, tolerates everything, or
    /// stays too long
    Policy(PolicyLine),
    /// Print a scenario as a demo for a page: fence, HTML, iframe, link
    Embed(EmbedLine),
    /// Print the completions of a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print a man page
    Man {
        /// Command, for example plan or plan drain; taintlab itself unless given
        command: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// Simulate the cluster and print what happens
    Run(Box<PluginRun>),
    /// Explain how the tolerations of a pod answer the taints of its node
    Explain(PluginExplain),
    /// Say when a pod is evicted if its node fails now, and why then
    #[command(visible_alias = "why-evicted")]
    When(PluginWhen),
    /// Say which failure hurts most, and what would help
    Report(Box<PluginReport>),
    /// Say what becomes of the cluster while nodes are drained, replaced, taken away or tainted
    Plan(Box<PluginPlan>),
    /// Find the fewest faults that take a workload to zero ready pods, or a zone out of Normal
    SmallestOutage(Box<PluginOutage>),
    /// Find the smallest change of settings that meets wishes in all failures
    Solve(Box<PluginSolve>),
    /// Say what is likely to surprise in the cluster
    Lint(PluginLint),
}

const FILES: &str = "\
A scenario (taintlab/v1), or manifests in YAML or JSON, for example the output of
`kubectl get nodes,pods -A -o yaml`. Several files of manifests make one cluster; - is standard
input. A file may have 500 MB";

/// Manifests that are applied onto a cluster.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ApplyLine {
    /// Manifests that are applied onto the cluster as `kubectl apply` does, for example what `helm
    /// template` prints; - is standard input; may be repeated. The roll-out is simulated
    #[arg(long, value_name = "FILE")]
    pub(crate) apply: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct RunLine {
    #[arg(value_name = "FILE", help = FILES)]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

#[derive(Args, Debug)]
pub(crate) struct PluginRun {
    #[arg(hide = true)]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) options: RunOptions,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct RunOptions {
    /// How far to go: 5m0s, 90s, or a number of seconds. Unless given, until nothing more happens; a
    /// day at most
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesLine,
    #[command(flatten)]
    pub(crate) steps: Steps,
    /// Let the roll-out of --apply end first, without its events. --at and --until count from then, the
    /// times of events from the beginning of the roll-out
    #[arg(long)]
    pub(crate) settled: bool,
    /// Keep what no simulation reads and is left out otherwise, secrets too: environment, commands,
    /// annotations, data of Secrets and so on
    #[arg(long)]
    pub(crate) keep_all: bool,
    /// Print every event, not only what a cluster would show
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the events as JSON, one a line; times are milliseconds
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a picture instead: what becomes of each zone, node and pod
    #[arg(long)]
    pub(crate) svg: bool,
}

/// Release and flags of Kubernetes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct KubernetesLine {
    /// The release of Kubernetes, for example 1.34. Unless given, the one that the API server or the
    /// nodes report, or else the newest known one
    #[arg(long)]
    pub(crate) release: Option<String>,
    /// A flag of kube-controller-manager, for example node-monitor-grace-period=20s; may be repeated
    #[arg(long = "flag", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub(crate) flags: Vec<String>,
}

/// Steps of a simulated cluster, in the order of the line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps(pub(crate) Vec<Step>);

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) what: StepKind,
    pub(crate) value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    Kubectl,
    Json,
    At,
}

const STEPS: [(StepKind, &str, &str, &str); 3] = [
    (
        StepKind::Kubectl,
        "kubectl",
        "LINE",
        "A line of kubectl, for example 'taint node a x:NoExecute'; it changes the simulation alone, \
         and what it prints goes to standard error; may be repeated",
    ),
    (
        StepKind::Json,
        "command",
        "JSON",
        "A command as in the steps of scenarios, for example '{\"taint\": {\"node\": \"a\", \"taint\": \
         {\"key\": \"x\", \"effect\": \"NoExecute\"}}}'; may be repeated",
    ),
    (
        StepKind::At,
        "at",
        "TIME",
        "When the --kubectl or --command before it happens; 0s unless given",
    ),
];

impl Args for Steps {
    fn augment_args(command: clap::Command) -> clap::Command {
        let arg = |(_, name, value, help): (StepKind, &'static str, &'static str, &'static str)| {
            let arg = Arg::new(name).long(name).value_name(value).help(help);
            arg.action(ArgAction::Append)
        };
        command.args(STEPS.map(arg))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Steps {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut steps = Vec::new();
        for (what, name, ..) in STEPS {
            let places = matches.indices_of(name).into_iter().flatten();
            let values = matches.get_many::<String>(name).into_iter().flatten();
            steps.extend(places.zip(values).map(|(place, value)| (place, what, value.clone())));
        }
        steps.sort_by_key(|(place, ..)| *place);
        Ok(Self(steps.into_iter().map(|(_, what, value)| Step { what, value }).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
    Exit codes: 0 every expectation was met; 1 one was not, or a file is wrong; 2 the command line is \
    wrong.")]
pub(crate) struct TestLine {
    /// Scenarios (taintlab/v1)
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// spec, tap or junit
    #[arg(long, value_name = "NAME", default_value = "spec")]
    pub(crate) reporter: String,
    /// Another release than the one that the scenarios name
    #[arg(long)]
    pub(crate) release: Option<String>,
}

#[derive(Args, Debug)]
#[command(
    override_usage = "taintlab report FILE… [options]\n       \
        taintlab report merge PART… [--cluster FILE…] [options]",
    long_about = "Say which failure hurts most, and what would help.\n\n\
        Every node, zone and region fails by itself; each run says what becomes of every workload. \
        Ctrl+C keeps the runs that are finished.",
    after_help = "\
    Exit codes: 0 all is well; 1 a rule of --fail-if holds, a file is wrong, or there is no score: it \
    was interrupted, a part is missing, nothing can fail; 2 the command line is wrong."
)]
pub(crate) struct ReportLine {
    /// As with `run`: manifests, for example the output of `kubectl get
    /// nodes,leases,pods,deploy,rs,sts,ds,jobs,pdb,pc,pvc,pv,sc -A -o yaml`, or a scenario, whose
    /// steps do not count
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) options: ReportOptions,
    /// Make only part I of N, and print it; `report merge` puts parts together: the same bytes as one
    /// report
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// The files of the cluster, for merge: what would help is computed then; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) cluster: Vec<String>,
}

#[derive(Args, Debug)]
#[command(long_about = "Say which failure hurts most, and what would help.\n\n\
    Every node, zone and region of the cluster fails by itself; each run says what becomes of every \
    workload. Ctrl+C keeps the runs that are finished.")]
pub(crate) struct PluginReport {
    #[arg(hide = true)]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) options: ReportOptions,
    /// Make only part I of N, and print it; `taintlab report merge` puts parts together
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ReportOptions {
    /// Of node,zone,region,device-pool, with commas; all of them unless given
    #[arg(
        long,
        value_name = "LIST",
        default_value = "node,zone,region,device-pool",
        hide_default_value = true,
        help_heading = "What fails"
    )]
    pub(crate) domains: String,
    /// Each value of this label of nodes, too; may be repeated
    #[arg(long = "label", value_name = "NAME", help_heading = "What fails")]
    pub(crate) labels: Vec<String>,
    /// These nodes together, with commas; may be repeated
    #[arg(long = "list", value_name = "NAME=NODES", help_heading = "What fails")]
    pub(crate) lists: Vec<String>,
    /// Every pair of a kind: node, zone, region, label or list; may be repeated
    #[arg(long, value_name = "KIND", help_heading = "What fails")]
    pub(crate) pairs: Vec<String>,
    /// lost (unless given), power-off=5m (and back), network-cut, drained, shut-down, or
    /// tainted=KEY:EFFECT; may be repeated
    #[arg(long = "fault", value_name = "NAME", help_heading = "What fails")]
    pub(crate) faults: Vec<String>,
    /// How long each run is watched; 1h unless given
    #[arg(long, value_name = "TIME", help_heading = "How")]
    pub(crate) horizon: Option<String>,
    /// How long the cluster may take to come to rest before; 10m unless given
    #[arg(long, value_name = "TIME", help_heading = "How")]
    pub(crate) settle: Option<String>,
    /// How far a scenario is played first, with its steps until then; none of its steps counts
    /// unless given
    #[arg(long, value_name = "TIME", help_heading = "How")]
    pub(crate) after: Option<String>,
    /// Runs per failure (heartbeat timing varied); 1 unless given. Times are then the shortest, the
    /// median and the 95th percentile
    #[arg(long, value_name = "COUNT", help_heading = "How")]
    pub(crate) seeds: Option<String>,
    /// Groups of findings to try fixes for; 5 unless given
    #[arg(long, value_name = "COUNT", help_heading = "How")]
    pub(crate) remedies: Option<String>,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesLine,
    /// How many threads; as many as there are processors unless given
    #[arg(long, value_name = "COUNT", help_heading = "How")]
    pub(crate) workers: Option<String>,
    /// The report as JSON; times are milliseconds
    #[arg(long, help_heading = "What is written")]
    pub(crate) json: bool,
    /// For a pull request
    #[arg(long, help_heading = "What is written")]
    pub(crate) markdown: bool,
    /// For CI: a test for each workload
    #[arg(long, help_heading = "What is written")]
    pub(crate) junit: bool,
    /// Annotations of a workflow of GitHub: what is worse than the baseline, with file and line
    #[arg(long, help_heading = "What is written")]
    pub(crate) github: bool,
    /// The same for code scanning
    #[arg(long, help_heading = "What is written")]
    pub(crate) sarif: bool,
    /// Gauges of Prometheus: scores, time at zero and below by kind of failure
    #[arg(long, help_heading = "What is written")]
    pub(crate) prometheus: bool,
    /// A page with a heat map and pictures of the worst, besides
    #[arg(long, value_name = "FILE", help_heading = "What is written")]
    pub(crate) html: Option<String>,
    /// Report of before (--json), or manifests of before, which fail in the same way; may be repeated.
    /// Written is then the difference, with the changes in the objects; exit code 1 if anything got
    /// worse
    #[arg(long, value_name = "FILE", help_heading = "What is written")]
    pub(crate) baseline: Vec<String>,
    /// Targets of workloads, as a map in YAML: 'deployment/shop/*: "node: atZero <= 30s, below <=
    /// 5m; drain: atZero <= 0s"'. They come in the place of those in the annotation
    /// taintlab/targets
    #[arg(long, value_name = "FILE", help_heading = "How")]
    pub(crate) targets: Option<String>,
    /// Exit with 1 if it holds: 'deployment/shop/web: zeroReady > 60s', or of every workload 'below >
    /// 5m'; may be repeated. There are zeroReady, below, longestGap, wholeAgain, leastReady, evicted,
    /// pending, stuck, lost, budgetsNotAsked, deadEndpoints, score, targetsMissed and targetsNotAsked
    #[arg(long, value_name = "RULE", help_heading = "What is written")]
    pub(crate) fail_if: Vec<String>,
}

#[derive(Args, Debug)]
#[command(
    mut_args(|arg| arg.global(true)),
    long_about = "Say what becomes of the cluster while nodes are drained, replaced, taken away or \
        tainted: how long it takes, what blocks it, how many pods of each workload are ready at the \
        least, which pods find no node, and which order of the nodes hurts less. Nothing is changed.",
    after_help = "\
    Exit codes: 0 it comes to its end; 1 it does not, or a file is wrong; 2 the command line is wrong."
)]
pub(crate) struct PlanLine {
    #[command(subcommand)]
    pub(crate) act: PlanAct,
    /// The cluster: a scenario, or manifests, for example the output of `kubectl get
    /// nodes,pods,deploy,rs,sts,ds,jobs,pdb -A -o yaml`; - is standard input; may be repeated
    #[arg(long, short, value_name = "FILE")]
    pub(crate) filename: Vec<String>,
    #[command(flatten)]
    pub(crate) options: PlanOptions,
}

#[derive(Args, Debug)]
#[command(mut_args(|arg| arg.global(true)))]
pub(crate) struct PluginPlan {
    #[command(subcommand)]
    pub(crate) act: PlanAct,
    #[command(flatten)]
    pub(crate) options: PlanOptions,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum PlanAct {
    /// Drain nodes one after the other, as `kubectl drain --ignore-daemonsets --delete-emptydir-data`
    Drain {
        /// The nodes, in the order in which they are drained
        #[arg(value_name = "NODE")]
        nodes: Vec<String>,
        /// How many nodes at a time
        #[arg(long, value_name = "COUNT", default_value = "1")]
        parallel: String,
        #[command(flatten)]
        flags: ForcedDrainFlags,
    },
    /// Replace the nodes of a pool: drain (--force) and delete each, a new one takes its place
    Upgrade {
        /// A label of the pool's nodes
        #[arg(long, value_name = "LABEL=VALUE")]
        pool: String,
        /// How many nodes may be missing
        #[arg(long, value_name = "COUNT", default_value = "0")]
        max_unavailable: String,
        /// How many new nodes may come before the old ones go
        #[arg(long, value_name = "COUNT", default_value = "1")]
        surge: String,
        /// How long a new node takes until it is ready
        #[arg(long, value_name = "TIME", default_value = "90s")]
        node_start_up: String,
        #[command(flatten)]
        flags: DrainFlags,
    },
    /// Lose nodes after a notice of the provider
    Spot {
        /// The nodes that are lost
        #[arg(value_name = "NODE")]
        nodes: Vec<String>,
        /// How long before it is announced
        #[arg(long, value_name = "TIME", default_value = "2m")]
        notice: String,
        /// Program that acts on the notice: drain (--force), taint=KEY:NoExecute or none
        #[arg(long, value_name = "NAME", default_value = "drain")]
        handler: String,
        /// A row for each number of nodes: the first one of the list, the first two, and so on
        #[arg(long)]
        by_count: bool,
        #[command(flatten)]
        flags: DrainFlags,
    },
    /// Drain all nodes of a zone
    ZoneEvacuation {
        /// Value of the label topology.kubernetes.io/zone, or REGION/ZONE
        zone: String,
        /// How many nodes at a time
        #[arg(long, value_name = "COUNT", default_value = "1")]
        parallel: String,
        #[command(flatten)]
        flags: ForcedDrainFlags,
    },
    /// Taint nodes: NODE… KEY:NoExecute
    Taint {
        /// The nodes, and at the end the taint as kubectl taint takes it: key=value:NoExecute
        #[arg(value_name = "NODE… TAINT")]
        words: Vec<String>,
        /// A row for each number of nodes: the first one of the list, the first two, and so on
        #[arg(long)]
        by_count: bool,
    },
}

/// Flags of `kubectl drain`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ForcedDrainFlags {
    /// As that of kubectl drain: pods without a controller go, too
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) others: DrainFlags,
}

/// Flags of `kubectl drain` but `--force`, which whoever takes nodes away always gives.
#[derive(Args, Clone, Debug)]
pub(crate) struct DrainFlags {
    /// As that of kubectl drain: budgets are not asked
    #[arg(long)]
    pub(crate) disable_eviction: bool,
    /// As that of kubectl drain: seconds that pods get to end; their own unless given
    #[arg(long, value_name = "SECONDS")]
    pub(crate) grace_period: Option<String>,
    /// As that of kubectl drain: how long each drain may take; for ever unless given
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PlanOptions {
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesLine,
    /// How long it is watched; 12h unless given, with --by-count 1h
    #[arg(long, value_name = "TIME")]
    pub(crate) horizon: Option<String>,
    /// How long pods take to be ready; as long as those of their workload took, or 2s, unless given
    #[arg(long, value_name = "TIME")]
    pub(crate) start_up: Option<String>,
    /// How many orders of the nodes are tried; 40 unless given
    #[arg(long, value_name = "COUNT")]
    pub(crate) orders: Option<String>,
    /// How many threads; as many as there are processors unless given
    #[arg(long, value_name = "COUNT")]
    pub(crate) workers: Option<String>,
    /// The plan as JSON, with the ready pods of each workload at every moment; times are milliseconds
    #[arg(long)]
    pub(crate) json: bool,
    /// For a ticket or a pull request
    #[arg(long)]
    pub(crate) markdown: bool,
    /// A scenario that does it, to be played
    #[arg(long)]
    pub(crate) scenario: bool,
    /// Where the playground is: prints a link that plays it there, in the better order
    #[arg(long, value_name = "URL")]
    pub(crate) playground: Option<String>,
}

#[derive(Args, Debug)]
#[command(
    long_about = "Find the fewest faults, at once or one after the other, that take a workload to \
        zero ready pods, or a zone out of Normal. Outages are tried from the smallest on; those that \
        cannot do it are ruled out by what they hit. Nothing is changed.",
    after_help = "\
    Exit codes: 0 it was answered; 1 with --fail there is such an outage, or a file is wrong; 2 the \
    command line is wrong."
)]
pub(crate) struct OutageLine {
    /// A workload, or a pod without one: deployment/shop/web, deployment/web in the namespace default,
    /// or shop/web if there is only one
    pub(crate) workload: Option<String>,
    /// The cluster: a scenario, or manifests, for example the output of `kubectl get
    /// nodes,pods,deploy,rs,sts,ds,jobs,pdb,pc -A -o yaml`; - is standard input; may be repeated
    #[arg(long, short, value_name = "FILE")]
    pub(crate) filename: Vec<String>,
    #[command(flatten)]
    pub(crate) options: OutageOptions,
}

#[derive(Args, Debug)]
pub(crate) struct PluginOutage {
    /// A workload, or a pod without one: deployment/shop/web, deployment/web in the namespace default,
    /// or shop/web if there is only one
    pub(crate) workload: Option<String>,
    #[command(flatten)]
    pub(crate) options: OutageOptions,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct OutageOptions {
    /// A zone that leaves Normal, in place of a workload; its loss as a whole is no answer
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    /// The greatest number of faults, up to 4; 3 unless given
    #[arg(long, value_name = "COUNT")]
    pub(crate) most_faults: Option<String>,
    /// Of node-lost,zone-lost,kubelet-stopped,drained,control-plane-paused, with commas; all of them
    /// unless given
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    pub(crate) faults: String,
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesLine,
    /// How long each run is watched; 1h unless given
    #[arg(long, value_name = "TIME")]
    pub(crate) horizon: Option<String>,
    /// How many outages are tried at most; 20000 unless given
    #[arg(long, value_name = "COUNT")]
    pub(crate) most_runs: Option<String>,
    /// How many threads; as many as there are processors unless given
    #[arg(long, value_name = "COUNT")]
    pub(crate) workers: Option<String>,
    /// Exit with 1 if there is such an outage, or not all were tried
    #[arg(long)]
    pub(crate) fail: bool,
    /// The answer as JSON; times are milliseconds
    #[arg(long)]
    pub(crate) json: bool,
    /// For a ticket or a pull request
    #[arg(long)]
    pub(crate) markdown: bool,
    /// A scenario that does it, to be played
    #[arg(long)]
    pub(crate) scenario: bool,
    /// Where the playground is: prints a link that opens the outage there
    #[arg(long, value_name = "URL")]
    pub(crate) playground: Option<String>,
}

#[derive(Args, Debug)]
#[command(
    long_about = "Find the smallest change of settings that meets wishes in all failures, as a patch \
        that was applied and run again; or say that none in reach does, and what comes nearest. Nothing \
        is changed.",
    after_help = "\
    Exit codes: 0 a change meets all wishes, or none is needed; 1 none does, or a file is wrong; 2 the \
    command line is wrong."
)]
pub(crate) struct SolveLine {
    /// As with `report`: manifests, or a scenario, whose steps do not count
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) options: SolveOptions,
}

#[derive(Args, Debug)]
pub(crate) struct PluginSolve {
    #[command(flatten)]
    pub(crate) options: SolveOptions,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SolveOptions {
    /// A wish: 'deployment/shop/web: below <= 90s if a node is lost'. There are atZero, below and 'no
    /// move'; a node, a zone, a region, or one by its name; is lost, is drained, is away for 60s. May be
    /// repeated
    #[arg(long, value_name = "WISH")]
    pub(crate) want: Vec<String>,
    /// A wish besides: 'no move if a node is away for 60s', of every workload unless one is named; may be
    /// repeated
    #[arg(long, value_name = "WISH")]
    pub(crate) but: Vec<String>,
    /// Which settings may change, with commas: tolerationSeconds, budget, spread, antiAffinity, replicas,
    /// priority, outOfService, flags; all of them unless given
    #[arg(long, value_name = "LIST")]
    pub(crate) only: Option<String>,
    /// How many fields, objects and flags a change may have; 3 unless given
    #[arg(long, value_name = "COUNT")]
    pub(crate) changes: Option<String>,
    /// How many changes are tried; 2000 unless given
    #[arg(long, value_name = "COUNT")]
    pub(crate) tries: Option<String>,
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesLine,
    /// How long each run is watched; 1h unless given
    #[arg(long, value_name = "TIME")]
    pub(crate) horizon: Option<String>,
    /// How long pods take to be ready; 2s unless given
    #[arg(long, value_name = "TIME")]
    pub(crate) start_up: Option<String>,
    /// How many threads; as many as there are processors unless given
    #[arg(long, value_name = "COUNT")]
    pub(crate) workers: Option<String>,
    /// The result as JSON; times are milliseconds
    #[arg(long)]
    pub(crate) json: bool,
    /// For a ticket or a pull request
    #[arg(long)]
    pub(crate) markdown: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainLine {
    #[arg(hide = true)]
    pub(crate) files: Vec<String>,
    /// As kubectl taint takes it: key=value:NoExecute; may be repeated
    #[arg(long = "taint", value_name = "TAINT")]
    pub(crate) taints: Vec<String>,
    /// key=value:NoExecute for the operator Equal, key:NoExecute for Exists, * for everything;
    /// @SECONDS at the end for tolerationSeconds, as in node.kubernetes.io/unreachable:NoExecute@300.
    /// Or JSON. The API server has to take it. May be repeated
    #[arg(long = "toleration", value_name = "TOLERATION")]
    pub(crate) tolerations: Vec<String>,
    /// The release of Kubernetes, for example 1.34
    #[arg(long)]
    pub(crate) release: Option<String>,
    /// Print the explanation as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PluginExplain {
    /// NAME or NAMESPACE/NAME
    #[arg(value_name = "POD")]
    pub(crate) pods: Vec<String>,
    /// Another node than the one that it is on
    #[arg(long)]
    pub(crate) node: Option<String>,
    /// A taint besides, as kubectl taint takes it: key=value:NoExecute; may be repeated
    #[arg(long = "taint", value_name = "TAINT")]
    pub(crate) taints: Vec<String>,
    /// The release of Kubernetes; that of the API server unless given
    #[arg(long)]
    pub(crate) release: Option<String>,
    /// Print the explanation as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// Fault of a node, and output, of the question when a pod is evicted.
#[derive(Args, Clone, Debug)]
pub(crate) struct WhenOptions {
    /// What happens to its node now: lost (unless given), network-cut, power-off, kubelet-stopped,
    /// tainted=TAINT as kubectl taint takes it, or none
    #[arg(long, value_name = "NAME", alias = "if")]
    pub(crate) fault: Option<String>,
    /// As --fault tainted=TAINT
    #[arg(long)]
    pub(crate) taint: Option<String>,
    /// Print the terms that add up to the moment as JSON; times are milliseconds
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct WhenLine {
    /// NAMESPACE/NAME, or NAME in the namespace default
    #[arg(value_name = "POD")]
    pub(crate) pods: Vec<String>,
    /// The cluster: a scenario, whose steps do not count, or manifests; - is standard input; may be
    /// repeated
    #[arg(long, short, value_name = "FILE")]
    pub(crate) filename: Vec<String>,
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) options: WhenOptions,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesLine,
}

#[derive(Args, Debug)]
pub(crate) struct PluginWhen {
    /// NAME or NAMESPACE/NAME
    #[arg(value_name = "POD")]
    pub(crate) pods: Vec<String>,
    #[command(flatten)]
    pub(crate) options: WhenOptions,
    /// The release of Kubernetes; that of the API server unless given
    #[arg(long)]
    pub(crate) release: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Answer the questions of a chat about a cluster: a server of the Model Context Protocol \
        on standard input and output.\n\n\
        The files are read once, at the start. No tool changes them, and none reaches a cluster.",
    after_help = "\
    Exit codes: 0 the client is gone; 1 a file is wrong, or the cluster is too large; 2 the command line \
    is wrong."
)]
pub(crate) struct McpLine {
    /// A scenario (taintlab/v1), or manifests in YAML or JSON, for example the output of `kubectl get
    /// nodes,pods,deploy,rs,sts,ds,jobs,pdb -A -o yaml`. Standard input belongs to the protocol
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesLine,
    /// Where the playground is: the links of answers open there
    #[arg(long, value_name = "URL", default_value = "https://taintlab.github.io/taintlab/")]
    pub(crate) playground: String,
}

#[derive(Args, Debug)]
#[command(after_help = "\
    Exit codes: 0 nothing, or only notes; 1 a warning (or what --fail-on names), or a file is wrong; 2 \
    the command line is wrong.")]
pub(crate) struct LintLine {
    #[arg(value_name = "FILE", help = FILES)]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) options: LintOptions,
}

#[derive(Args, Debug)]
pub(crate) struct PluginLint {
    #[arg(hide = true)]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) apply: ApplyLine,
    #[command(flatten)]
    pub(crate) options: LintOptions,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct LintOptions {
    /// text, json, sarif (for code scanning) or github (for annotations of a pull request)
    #[arg(long, value_name = "NAME", default_value = "text")]
    pub(crate) format: String,
    /// From which severity on it ends with 1: critical, warning, note or never
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    pub(crate) fail_on: String,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesLine,
}

#[derive(Args, Debug)]
#[command(after_help = "\
    Exit codes: 0 there is a node for it; 1 there is none, or a file is wrong; 2 the command line is \
    wrong.")]
pub(crate) struct ScheduleLine {
    /// A manifest of the pod, or of what makes it (a Deployment and so on); - is standard input. Or
    /// NAMESPACE/NAME of a pod in the files of --nodes
    #[arg(value_name = "POD")]
    pub(crate) pod: Vec<String>,
    /// Manifests with the nodes, and the pods that are there already, or a scenario, as it begins;
    /// those of POD unless given; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Vec<String>,
    /// Print what every filter and every plugin says of every node
    #[arg(long)]
    pub(crate) scores: bool,
    /// The release of Kubernetes, for example 1.34
    #[arg(long)]
    pub(crate) release: Option<String>,
    /// Print the decision as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Help of `rank --signal`: the signals of all kubelets.
fn signals() -> String {
    let known = Signal::ALL.map(Signal::name).join(", ");
    format!("What there is too little of, one of {known}")
}

#[derive(Args, Debug)]
pub(crate) struct RankLine {
    /// Manifests with the pods of the node; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
    #[arg(long, default_value = "memory.available", help = signals())]
    pub(crate) signal: String,
    /// The node; needed if the pods are on several, since a kubelet evicts only its own
    #[arg(long)]
    pub(crate) node: Option<String>,
    /// What pods use: the output of `kubectl top pods -A`, or of `kubectl top pods` for the namespace
    /// default; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) top: Option<String>,
    /// The release of the kubelet, for example 1.34
    #[arg(long)]
    pub(crate) release: Option<String>,
    /// Print the ranking as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(
    long_about = "Print a policy about tolerations for admission: what nothing matches, tolerates \
    everything, or stays too long.\n\n\
    Admission sees one object. It can say how long a pod stays on a lost node; what becomes of a \
    service, `taintlab report` says."
)]
pub(crate) struct PolicyLine {
    /// vap (ValidatingAdmissionPolicy and its binding), kyverno (ValidatingPolicy) or kubewarden
    /// (ClusterAdmissionPolicy)
    #[arg(long = "as", value_name = "NAME", default_value = "vap")]
    pub(crate) target: String,
    /// Settings in YAML or JSON: mode (warn, deny or mutate), release, taints,
    /// tolerationSeconds.min and .max, allowBlanketExists, sayTime; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<String>,
    /// Manifests with the nodes of the cluster, whose taints are added to the settings; - is standard
    /// input; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Vec<String>,
    /// Print JSON, a List of the manifests
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct EmbedLine {
    /// Scenarios (taintlab/v1)
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// What stands after the word taintlab of a fence, for example 'start-at=40s
    /// knob=tolerationSeconds:0,30,300'
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    pub(crate) fence: String,
    /// Only fence, html, iframe, link or json (the recording)
    #[arg(long, value_name = "FORM")]
    pub(crate) only: Option<String>,
    /// Where taint-lab.js and frame.html are
    #[arg(long, value_name = "URL", default_value = "embed/")]
    pub(crate) base: String,
    /// Where the playground is: the link opens there. With scenario=NAME in --fence, which names one
    /// of its examples, demos lead there, too
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    pub(crate) playground: String,
    /// Another release than the one that the scenario names
    #[arg(long)]
    pub(crate) release: Option<String>,
    /// Write NAME.json (the recording) and NAME.html there, of one or more files; the folder is made if
    /// there is none
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<String>,
}

/// Which cluster: options as those of kubectl. They come after `taintlab`, since kubectl takes none
/// before the name of a plugin.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Connection {
    /// As that of kubectl
    #[arg(long, help_heading = "Which cluster")]
    pub(crate) context: Option<String>,
    /// As that of kubectl
    #[arg(long, help_heading = "Which cluster")]
    pub(crate) kubeconfig: Option<String>,
    /// As that of kubectl
    #[arg(long, help_heading = "Which cluster")]
    pub(crate) cluster: Option<String>,
    /// As that of kubectl
    #[arg(long, help_heading = "Which cluster")]
    pub(crate) user: Option<String>,
    /// As that of kubectl
    #[arg(long = "as", value_name = "USER", help_heading = "Which cluster")]
    pub(crate) as_user: Option<String>,
    /// As that of kubectl
    #[arg(long, value_name = "GROUP", help_heading = "Which cluster")]
    pub(crate) as_group: Vec<String>,
    /// How long each answer of the API server may take
    #[arg(long, value_name = "T", default_value = "60s", help_heading = "Which cluster")]
    pub(crate) request_timeout: String,
    /// The namespace of POD, and what is read where the whole cluster may not be listed; that of the
    /// context unless given
    #[arg(long, short, help_heading = "Which cluster")]
    pub(crate) namespace: Option<String>,
}
