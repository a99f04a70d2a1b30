// The plugin `kubectl taintlab`, from the installed package, by the real kubectl, against a small
// API server.
//
// Environment: KUBECTL, a kubectl; unless given, the one on PATH.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { before, test } from "node:test";

import { kubeconfig, serve } from "./api-server.mjs";
import { execute, install, project } from "./support.mjs";

const KUBECTL = process.env.KUBECTL ?? "kubectl";

let folder;
before(async () => {
  folder = await install();
});

const ready = [{ type: "Ready", status: "True", reason: "KubeletReady" }];
const node = (name, spec = {}) => ({
  kind: "Node",
  metadata: {
    name,
    labels: { "topology.kubernetes.io/zone": "a" },
    creationTimestamp: "2026-01-02T03:04:05Z",
  },
  spec,
  status: { conditions: ready, nodeInfo: { kubeletVersion: "v1.30.1" } },
});
const pod = (name, nodeName, tolerationSeconds) => ({
  kind: "Pod",
  metadata: { name, namespace: "shop", uid: name, creationTimestamp: "2026-01-02T03:04:05Z" },
  spec: {
    nodeName,
    containers: [{ name: "main", image: "web:1" }],
    tolerations: ["not-ready", "unreachable"].map((state) => ({
      key: `node.kubernetes.io/${state}`,
      operator: "Exists",
      effect: "NoExecute",
      ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
    })),
  },
  status: { phase: "Running", conditions: ready },
});
const maintenance = { key: "example.com/maintenance", value: "yes", effect: "NoSchedule" };
const OBJECTS = [
  node("worker-1"),
  node("worker-2", { taints: [maintenance] }),
  pod("web-0", "worker-1", 300),
  pod("agent", "worker-1"),
  pod("quick", "worker-2", 30),
  {
    kind: "Lease",
    metadata: { name: "worker-1", namespace: "kube-node-lease" },
    spec: { holderIdentity: "worker-1" },
  },
  { kind: "PersistentVolume", metadata: { name: "data" }, spec: {} },
];

/** Runs `kubectl taintlab` against a server of its own; what it printed, and what it asked for. */
async function taintlab(args, options = {}) {
  const server = await serve(options.objects ?? OBJECTS, options);
  const at = project(folder, `kubectl-${server.url.split(":").at(-1)}`, {
    config: kubeconfig(server.url),
  });
  const path = [join(folder, "node_modules/.bin"), process.env.PATH];
  if (KUBECTL.includes("/")) path.unshift(dirname(KUBECTL));
  const env = { ...process.env, HOME: at, KUBECONFIG: join(at, "config"), NO_PROXY: "127.0.0.1" };
  env.PATH = path.join(delimiter);
  try {
    const ran = await execute(KUBECTL, ["taintlab", ...args], { env, cwd: at });
    return { ...ran, at, requests: server.requests };
  } finally {
    await server.close();
  }
}

const READ =
  "read of context test (v1.31.2): 2 nodes, 1 lease, 3 pods, 0 deployments, 0 replicasets, " +
  "0 statefulsets, 0 daemonsets, 0 jobs, 0 poddisruptionbudgets, 0 priorityclasses, " +
  "1 persistentvolume, 0 persistentvolumeclaims, 0 storageclasses, 0 services";

test("run simulates the cluster, says what it has read, and only reads", async () => {
  const line = ["--kubectl", "drain worker-1 --force", "--at", "30s", "--until", "5m"];
  const { stdout, stderr, code, requests } = await taintlab(["run", ...line]);
  assert.equal(code, 0, stderr);
  const lines = stderr.split("\n");
  assert.deepEqual(lines.slice(0, 3), [
    READ,
    "simulating release 1.31: the API server is v1.31.2",
    "the clock begins at 2026-01-02T03:04:05Z, the newest time in the objects",
  ]);
  assert.match(stdout, /^TIME +OBJECT +REASON +WHAT\n/);
  assert.match(stdout, /shop\/web-0 +podDeleted/);
  assert.deepEqual(
    requests.filter((request) => !request.startsWith("GET ")),
    [],
    "nothing is written",
  );
  const watched = requests.filter((request) => request.includes("watch="));
  assert.deepEqual(watched, []);
  const lists = requests.map((request) => request.split("?")[0]);
  assert.ok(lists.includes("GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"));
});

test("when says the moment and its terms, and why a pod stays", async () => {
  const { stdout, stderr, code } = await taintlab(["when", "web-0", "-n", "shop"]);
  assert.equal(code, 0, stderr);
  const [head, ...rows] = stdout.trimEnd().split("\n");
  assert.match(
    head,
    /^shop\/web-0: if worker-1 is unreachable from now on, it is evicted after 5m/,
  );
  assert.match(rows[0], /^TIME +WHAT +SET BY$/);
  assert.ok(
    rows.some((row) => /^5m0s .*tolerationSeconds/.test(row)),
    stdout,
  );
  const range =
    /^between 5m\S+ and 5m\S+: the last heartbeat .*, and health checks come .*-period=5s\)$/;
  assert.match(rows.at(-3), range);
  assert.equal(rows.at(-2), "its object stays until the kubelet is back");
  assert.equal(rows.at(-1), "release 1.31: the API server is v1.31.2");
  const agent = await taintlab(["when", "shop/agent", "--fault", "kubelet-stopped"]);
  assert.equal(
    agent.stdout,
    "shop/agent: if the kubelet of worker-1 stops now, it is not evicted\n" +
      "a running pod stays: every NoExecute taint is tolerated forever\n" +
      "release 1.31: the API server is v1.31.2\n",
  );
  const tainted = ["when", "pod/web-0", "-n", "shop", "--taint", "a=b:NoExecute", "--json"];
  const { pod, node, release, budget } = JSON.parse((await taintlab(tainted)).stdout);
  assert.deepEqual([pod, node, budget.evictedAt], ["shop/web-0", "worker-1", 0]);
  assert.equal(release, "1.31");
  const asItIs = await taintlab(["when", "shop/web-0", "--if", "nothing"]);
  const off = await taintlab(["when", "shop/web-0", "--fault", "power-off"]);
  assert.match(off.stdout, /^shop\/web-0: if worker-1 is off from now on, it is evicted after 5m/);
  const again = await taintlab(["when", "shop/web-0", "--fault", "tainted=a=b:NoExecute"]);
  assert.match(again.stdout, /if worker-1 is tainted with a=b:NoExecute now, it is evicted/);
  assert.match(asItIs.stdout, /^shop\/web-0: if nothing happens, it is not evicted\n/);
});

test("why-evicted is a name of when, and lint looks at the cluster", async () => {
  const line = ["shop/quick", "--fault", "tainted=a:NoExecute"];
  const when = await taintlab(["when", ...line]);
  const why = await taintlab(["why-evicted", ...line]);
  assert.deepEqual([why.code, why.stdout], [0, when.stdout], why.stderr);
  const lint = await taintlab(["lint", "--format", "json", "--fail-on", "never"]);
  assert.equal(lint.code, 0, lint.stderr);
  const { warnings, release } = JSON.parse(lint.stdout);
  assert.equal(release, "1.31");
  const text = await taintlab(["lint", "--fail-on", "never"], { forbidden: ["persistentvolumes"] });
  assert.match(text.stdout, /\nrelease 1\.31: the API server is v1\.31\.2\nnot read: persistentvol/);
  const forever = warnings.find(({ code }) => code === "tolerates-unreachable-forever");
  assert.equal(forever.file, "kubectl get pods");
  assert.ok(lint.requests.every((request) => request.startsWith("GET ")));
});

test("report makes the cluster fail, node by node", async () => {
  const line = ["report", "--domains", "node", "--workers", "0", "--json"];
  const { stdout, stderr, code, requests } = await taintlab(line);
  assert.equal(code, 0, stderr);
  assert.equal(stderr.split("\n")[0], READ);
  const { outline } = JSON.parse(stdout);
  assert.deepEqual(
    outline.domains.map(({ name }) => name),
    ["worker-1", "worker-2"],
  );
  assert.ok(requests.every((request) => request.startsWith("GET ")));
});

test("explain is about the pod and its node", async () => {
  const { stdout, stderr, code } = await taintlab(["explain", "shop/quick"]);
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^shop\/quick on worker-2\ntaint 1: example\.com\/maintenance=yes:NoSchedule/,
  );
  const said = /a running pod stays: there is no NoExecute taint\nrelease 1\.31: the API server is /;
  assert.match(stdout, said);
  const json = JSON.parse((await taintlab(["explain", "shop/quick", "--json"])).stdout);
  const { pod, node, release, releaseText, verdict } = json;
  assert.deepEqual([pod, node, release], ["shop/quick", "worker-2", "1.31"]);
  assert.deepEqual([releaseText, verdict.type], ["the API server is v1.31.2", "noNoExecuteTaints"]);
  const asked = await taintlab(["explain", "shop/quick", "--release", "1.30"]);
  assert.match(asked.stdout, /\nrelease 1\.30\n$/);
  const elsewhere = ["explain", "shop/quick", "--node", "worker-1"];
  const taint = ["--taint", "node.kubernetes.io/unreachable:NoExecute"];
  assert.match(
    (await taintlab([...elsewhere, ...taint])).stdout,
    /a running pod is evicted after 30s: toleration 2 limits the time\nrelease 1\.31: .*\n$/,
  );
});

test("the namespace is that of the context, as for kubectl", async () => {
  const { stdout, stderr, code } = await taintlab(["when", "web-0"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^shop\/web-0: if worker-1 is unreachable/);
  assert.match((await taintlab(["explain", "quick"])).stdout, /^shop\/quick on worker-2\n/);
  const other = await taintlab(["explain", "quick", "-n", "other"]);
  assert.deepEqual([other.code, other.stdout], [1, ""]);
  assert.match(other.stderr, /error: pods "quick" not found in the namespace other\n$/);
});

test("for one pod only what it takes is asked for", async () => {
  const more = Array.from({ length: 3_000 }, (_, index) => pod(`p-${index}`, "worker-1", 300));
  const objects = [...OBJECTS, ...more];
  const asked = ({ requests }) =>
    requests
      .map((request) => request.replace(/^GET |\?.*/g, ""))
      .filter((path) => !/^\/(version|apis?(\/[^/]+)?(\/v1)?)$/.test(path))
      .sort();
  assert.deepEqual(asked(await taintlab(["when", "shop/web-0"], { objects })), [
    "/api/v1/namespaces/shop/pods/web-0",
    "/api/v1/nodes",
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
  ]);
  assert.deepEqual(asked(await taintlab(["explain", "shop/web-0"], { objects })), [
    "/api/v1/namespaces/shop/pods/web-0",
    "/api/v1/nodes/worker-1",
  ]);
});

const CLUSTER = ["nodes", "pods", "deployments", "persistentvolumes", "kube-node-lease/leases"];

test("rights in one namespace are enough, and every output says what was not read", async () => {
  const rights = { forbidden: [...CLUSTER, "shop/deployments"] };
  const when = await taintlab(["when", "web-0"], rights);
  assert.equal(when.code, 0, when.stderr);
  assert.match(when.stdout, /^shop\/web-0: if worker-1 is unreachable .* evicted after 5m/);
  const unread = /not read: nodes: nodes is forbidden: .*; all others are taken for healthy/;
  for (const text of [when.stdout, when.stderr]) assert.match(text, unread);
  const json = JSON.parse((await taintlab(["when", "web-0", "--json"], rights)).stdout);
  assert.deepEqual(json.notRead.map(({ kind }) => kind), ["nodes", "leases"]);

  const run = await taintlab(["run", "--until", "1m"], rights);
  assert.equal(run.code, 0, run.stderr);
  assert.match(run.stderr, /2 nodes \(those of the pods\), 3 pods \(of the namespace shop alone\)/);
  const kinds = ["nodes", "leases", "pods", "deployments", "persistentvolumes"];
  for (const text of [run.stdout, run.stderr]) {
    const told = [...text.matchAll(/^not read: (\w+): .*forbidden/gm)].map(([, kind]) => kind);
    assert.deepEqual(told, kinds);
  }
  const lines = (await taintlab(["run", "--until", "1m", "--json"], rights)).stdout.split("\n");
  const { at, type, kind } = JSON.parse(lines[1]);
  assert.deepEqual([at, type, kind], [0, "notRead", "nodes"]);

  const report = async (...args) => {
    const ran = await taintlab(["report", "--workers", "0", "--remedies", "0", ...args], rights);
    assert.equal(ran.code, 0, ran.stderr);
    return ran;
  };
  const { stdout, at: folder } = await report("--html", "report.html", "--json");
  const { source } = JSON.parse(stdout).outline.options;
  assert.deepEqual(source.notRead.map((line) => line.split(":")[0]), kinds);
  assert.match(JSON.parse(stdout).heading, new RegExp(`^${source.context}.*: 2 nodes, 3 pods`));
  const texts = [readFileSync(join(folder, "report.html"), "utf8")];
  for (const form of [[], ["--markdown"], ["--junit"]]) texts.push((await report(...form)).stdout);
  for (const text of texts) {
    const note = "room on nodes is overstated: pods of other namespaces were not read";
    assert.ok(text.includes(note), text.slice(0, 2_000));
    for (const kind of kinds) assert.match(text, new RegExp(`not read: ${kind}: .*forbidden`));
  }
});

test("without any right to read nodes a pod is taken to be on a healthy one", async () => {
  const rights = { forbidden: ["nodes", "get nodes", "kube-node-lease/leases"] };
  const { stdout, stderr, code } = await taintlab(["when", "web-0"], rights);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^shop\/web-0: if worker-1 is unreachable .* evicted after 5m/);
  assert.match(stdout, /not read: nodes: /);
  const agent = await taintlab(["when", "agent"], rights);
  assert.match(agent.stdout, /it is not evicted\na running pod stays: every NoExecute taint is/);
  const tainted = await taintlab(["when", "agent", "--taint", "a:NoExecute"], rights);
  assert.match(tainted.stdout, /it is evicted after 0s/);
  const run = await taintlab(["run"], rights);
  assert.deepEqual([run.code, run.stdout], [1, ""]);
  assert.match(run.stderr, /^error: kubectl cannot list nodes: nodes is forbidden: User/m);
  const explained = await taintlab(["explain", "web-0"], rights);
  assert.deepEqual([explained.code, explained.stdout], [1, ""]);
  assert.match(explained.stderr, /^error: nodes .*is forbidden.*; name its taints with --taint$/m);
  const taint = ["--taint", "node.kubernetes.io/unreachable:NoExecute"];
  const alone = await taintlab(["explain", "web-0", ...taint], rights);
  assert.equal(alone.code, 0, alone.stderr);
  const [head, ...rows] = alone.stdout.trimEnd().split("\n");
  const known = "whose taints are not known but for those of --taint";
  assert.equal(head, `shop/web-0 on worker-1, ${known}`);
  assert.match(rows.at(-3), /^a running pod is evicted after 5m0s: toleration 2 limits the time$/);
  for (const text of [alone.stdout, alone.stderr]) {
    assert.match(text, /^not read: nodes: nodes .*is forbidden/m);
  }
  const json = JSON.parse((await taintlab(["explain", "web-0", ...taint, "--json"], rights)).stdout);
  assert.deepEqual([json.notRead[0].kind, json.verdict.afterMilliseconds], ["nodes", 300_000]);
});

test("a list that expires between two pages is asked for at once", async () => {
  const options = { expired: ["pods"] };
  const { stderr, code, requests } = await taintlab(["run", "--until", "1m"], options);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /3 pods,/);
  assert.ok(requests.some((request) => request.includes("continue=")));
});

test("an API that the server does not have is said and is no error", async () => {
  const { stderr, code } = await taintlab(["run", "--until", "1m"], { absent: ["policy/v1"] });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^not read: poddisruptionbudgets: .*doesn't have a resource type/m);
});

test("a server that is slow or breaks off ends the run: half a cluster is none", async () => {
  const slow = await taintlab(["run", "--request-timeout=1s"], { slow: ["pods"] });
  assert.deepEqual([slow.code, slow.stdout], [1, ""], slow.stderr);
  assert.match(slow.stderr, /error: kubectl cannot list pods: .*(imeout|deadline|timed out)/);
  const broken = await taintlab(["when", "shop/web-0"], { broken: ["leases"] });
  assert.deepEqual([broken.code, broken.stdout], [1, ""]);
  assert.match(broken.stderr, /error: kubectl cannot list leases: .*EOF/);
});

test("a release that is not known gives the nearest, unless one is asked for", async () => {
  const commands = [
    ["explain", "shop/web-0"],
    ["when", "shop/web-0"],
    ["run", "--until", "1m"],
    ["report", "--workers", "0", "--remedies", "0", "--json"],
  ];
  for (const command of commands) {
    const newer = await taintlab(command, { version: "v1.99.2" });
    assert.equal(newer.code, 0, newer.stderr);
    const said = /^simulating release 1\.\d+: the API server is v1\.99\.2, and 1\.\d+ is the/m;
    assert.match(newer.stderr, said, command[0]);
    // What is explained has no clock.
    if (command[0] !== "explain") assert.match(newer.stderr, /the clock begins at 2026-/);
  }
  const run = ["run", "--until", "1m"];
  assert.match(
    (await taintlab(run, { version: "v1.2.0" })).stderr,
    /simulating release 1\.18: the API server is v1\.2\.0, and 1\.18 is the nearest that is known/,
  );
  const asked = await taintlab([...run, "--release", "1.30"]);
  assert.doesNotMatch(asked.stderr, /simulating release/);
  const lines = (await taintlab([...run, "--json"])).stdout.split("\n");
  const { type, release } = JSON.parse(lines[0]);
  assert.deepEqual([type, release], ["simulating", "1.31"]);
});

test("wrong command lines", async () => {
  const cases = [
    [[], /^What Kubernetes evicts/],
    [["help", "nope"], /error: unrecognized subcommand 'nope'/],
    [["jump"], /error: unrecognized subcommand 'jump'\n\nUsage: kubectl taintlab <COMMAND>/],
    [["when"], /error: when: which pod\? POD or NAMESPACE\/POD/],
    [["when", "a/b/c"], /error: when: expected POD or NAMESPACE\/POD, found `a\/b\/c`/],
    [["when", "a", "--if", "rain"], /error: --fault: expected lost, network-cut, power-off, kub/],
    [["run", "cluster.yaml"], /error: run: it takes no files, since it reads the cluster/],
  ];
  for (const [args, message] of cases) {
    const { stderr, code, requests } = await taintlab(args);
    assert.equal(code, 2, `${args.join(" ")}\n${stderr}`);
    assert.match(stderr, message);
    assert.deepEqual(requests, [], "nothing is asked of the server");
  }
  for (const args of [["--help"], ["when", "--help"], ["help", "run"]]) {
    const { stdout, code } = await taintlab(args);
    assert.equal(code, 0);
    assert.match(stdout, /Usage: kubectl taintlab/);
  }
  const missing = await taintlab(["when", "shop/nobody"]);
  assert.deepEqual([missing.code, missing.stdout], [1, ""]);
  assert.match(missing.stderr, /error: pods "nobody" not found in the namespace shop\n$/);
});
