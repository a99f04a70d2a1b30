// What `--help` prints.

export const USAGE = `What Kubernetes evicts, when and why.

Usage: taintlab <command> [options]

Commands:
  run FILE…      Simulate a cluster and print what happens
  test FILE…     Run scenarios and check what they expect
  report FILE…   Say which failure hurts most, and what would help
  explain        Explain how tolerations answer taints
  embed FILE…    Print a scenario as a demo for a page: fence, HTML, iframe, link

Options:
  -h, --help     Print this, or the help of a command
  --version      Print the version

Exit codes: 0 all is well; 1 a file is wrong or a test failed; 2 the command line is wrong.
`;

const RUN_OPTIONS = `  --until TIME         How far to go: 5m0s, 90s, or a number of seconds. Unless given, until
                       nothing more happens; a day at most
  --release RELEASE    The release of Kubernetes, for example 1.34. Unless given, @release
  --flag NAME=VALUE    A flag of kube-controller-manager, for example
                       node-monitor-grace-period=20s; may be repeated
  --kubectl LINE       A line of kubectl, for example 'taint node a x:NoExecute'; what it prints
                       goes to standard error@simulated; may be repeated
  --command JSON       A command as in the steps of scenarios, for example
                       '{"taint": {"node": "a", "taint": {"key": "x", "effect": "NoExecute"}}}';
                       may be repeated
  --at TIME            When the --kubectl or --command before it happens; 0s unless given
  --keep-all           Keep what no simulation reads and is left out otherwise, secrets too:
                       environment, commands, annotations, data of Secrets and so on
  --all                Print every event, not only what a cluster would show
  --json               Print the events as JSON, one a line; times are milliseconds
  --svg                Print a picture instead: what becomes of each zone, node and pod
`;

/** The options of `run`: which release is simulated, and what is said of `--kubectl`. */
const runOptions = (release, simulated = "") =>
  RUN_OPTIONS.replace("@release", release).replace("@simulated", simulated);

/** What a report is made of, and how it is written. */
const REPORT_OPTIONS = `What fails:
  --domains LIST       Of node,zone,region,device-pool, with commas; all of them unless given
  --label NAME         Each value of this label of nodes, too; may be repeated
  --list NAME=NODES    These nodes together, with commas; may be repeated
  --pairs KIND         Every pair of a kind: node, zone, region, label or list
  --fault NAME         lost (unless given), power-off=5m (and back), network-cut, drained,
                       shut-down, or tainted=KEY:EFFECT; may be repeated

How:
  --horizon TIME       How long each run is watched; 1h unless given
  --settle TIME        How long the cluster may take to come to rest before; 10m unless given
  --after TIME         How far a scenario is played first, with its steps until then; none
                       of its steps counts unless given
  --seeds COUNT        Runs per failure (heartbeat timing varied); 1 unless given. Times are
                       then the shortest, the median and the 95th percentile
  --remedies COUNT     Groups of findings to try fixes for; 5 unless given
  --release, --flag    As with \`run\`
  --workers COUNT      How many threads; as many as there are cores unless given, 0 for none

What is written:
  --json               The report as JSON; times are milliseconds
  --markdown           For a pull request
  --junit              For CI: a test for each workload
  --html FILE          A page with a heat map and pictures of the worst, besides
  --fail-if RULE       Exit with 1 if it holds: 'deployment/shop/web: zeroReady > 60s', or of every
                       workload 'below > 5m'; may be repeated. There are zeroReady, below,
                       longestGap, wholeAgain, leastReady, evicted, pending, stuck, lost,
                       budgetsNotAsked and score

`;

export const HELP = {
  run: `Simulate a cluster and print what happens.

Usage: taintlab run FILE… [options]

FILE is a scenario (taintlab/v1), or manifests in YAML or JSON, for example the output of
\`kubectl get nodes,pods -A -o yaml\`. Several files of manifests make one cluster; - is standard
input. A file may have 500 MB.

Options:
${runOptions(
  "the one that the\n                       nodes report, or else the newest known one",
)}`,
  test: `Run scenarios and check what they expect.

Usage: taintlab test FILE… [options]

Options:
  --reporter NAME      spec (the default), tap or junit
  --release RELEASE    Another release than the one that the scenarios name

Exit codes: 0 every expectation was met; 1 one was not, or a file is wrong; 2 the command line is
wrong.
`,
  report: `Say which failure hurts most, and what would help.

Usage: taintlab report FILE… [options]
       taintlab report merge PART… [--cluster FILE…] [options]

FILE is as with \`run\`: manifests, for example the output of
\`kubectl get nodes,leases,pods,deploy,rs,sts,ds,jobs,pdb,pc,pvc,pv,sc -A -o yaml\`, or a
scenario, whose steps do not count. Every node, zone and region fails by itself; each run says
what becomes of every workload. Ctrl+C keeps the runs that are finished.

${REPORT_OPTIONS}On several machines:
  --shard I/N          Make only part I of N, and print it
  merge PART…          Put parts together: the same bytes as one report
  --cluster FILE       The files of the cluster, for merge: what would help is computed then

Exit codes: 0 all is well; 1 a rule of --fail-if holds, a file is wrong, or there is no score:
it was interrupted, a part is missing, nothing can fail; 2 the command line is wrong.
`,
  explain: `Explain how tolerations answer taints.

Usage: taintlab explain --taint TAINT… --toleration TOLERATION… [options]

Options:
  --taint TAINT            As kubectl taint takes it: key=value:NoExecute; may be repeated
  --toleration TOLERATION  key=value:NoExecute for the operator Equal, key:NoExecute for Exists, *
                           for everything; @SECONDS at the end for tolerationSeconds, as in
                           node.kubernetes.io/unreachable:NoExecute@300. Or JSON. May be repeated
  --release RELEASE        The release of Kubernetes, for example 1.34
  --json                   Print the explanation as JSON
`,
  embed: `Print a scenario as a demo for a page: fence, HTML, iframe, link.

Usage: taintlab embed FILE… [options]

Options:
  --fence WORDS      What stands after the word taintlab of a fence, for example
                     'start-at=40s knob=tolerationSeconds:0,30,300'
  --only FORM        Only fence, html, iframe, link or json (the recording)
  --base URL         Where taint-lab.js and frame.html are; embed/ unless given
  --playground URL   Where the playground is: the link opens there. With scenario=NAME in --fence,
                     which names one of its examples, demos lead there, too
  --release RELEASE  Another release than the one that the scenario names
  --out FOLDER       Write NAME.json (the recording) and NAME.html there, of one or more files
`,
};

export const CLUSTER_USAGE = `What Kubernetes evicts, when and why: of the cluster of the current context, which is read and
never written.

Usage: kubectl taintlab <command> [options]

Commands:
  run            Simulate the cluster and print what happens
  explain POD    Explain how the tolerations of a pod answer the taints of its node
  when POD       Say when a pod is evicted if its node fails now, and why then
  report         Say which failure hurts most, and what would help

Options:
  -h, --help     Print this, or the help of a command
  --version      Print the version

Exit codes: 0 all is well; 1 the cluster cannot be read; 2 the command line is wrong.
`;

const CONNECTION = `Which cluster:
  --context, --kubeconfig, --cluster, --user, --as, --as-group
                       As those of kubectl
  -n, --namespace NAME The namespace of POD, and what is read where the whole cluster may not be
                       listed; that of the context unless given
  --request-timeout T  How long each answer of the API server may take; 60s unless given

Options come after \`taintlab\`: \`kubectl taintlab report --context prod\`. kubectl takes none
before the name of a plugin.

It runs \`kubectl get … -o json\`, says what it has read and what it may not read, and writes
nothing.
`;

export const CLUSTER_HELP = {
  run: `Simulate the cluster and print what happens.

Usage: kubectl taintlab run [options]

Options:
${runOptions("that of the\n                       API server", ", and it\n                       changes the simulation alone")}
${CONNECTION}`,
  explain: `Explain how the tolerations of a pod answer the taints of its node.

Usage: kubectl taintlab explain POD [options]

POD is NAME or NAMESPACE/NAME.

Options:
  --node NODE          Another node than the one that it is on
  --taint TAINT        A taint besides, as kubectl taint takes it: key=value:NoExecute; may be
                       repeated
  --release RELEASE    The release of Kubernetes; that of the API server unless given
  --json               Print the explanation as JSON

${CONNECTION}`,
  when: `Say when a pod is evicted if its node fails now, and why then.

Usage: kubectl taintlab when POD [options]

POD is NAME or NAMESPACE/NAME.

Options:
  --fault NAME         What happens to its node now: lost (unless given), network-cut, power-off,
                       kubelet-stopped, tainted=TAINT as kubectl taint takes it, or none
  --taint TAINT        As --fault tainted=TAINT
  --release RELEASE    The release of Kubernetes; that of the API server unless given
  --json               Print the terms that add up to the moment as JSON; times are milliseconds

${CONNECTION}`,
  report: `Say which failure hurts most, and what would help.

Usage: kubectl taintlab report [options]

Every node, zone and region of the cluster fails by itself; each run says what becomes of every
workload. Ctrl+C keeps the runs that are finished.

${REPORT_OPTIONS}${CONNECTION}`,
};
