// The plugin `kubectl taintlab`, from the installed package, by the real kubectl, against a small
// API server.
//
// Environment: KUBECTL, a kubectl; unless given, the one on PATH.

import assert from "node:assert/strict";
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
    return { ...ran, requests: server.requests };
  } finally {
    await server.close();
  }
}

const READ =
  "read of context test (v1.31.2): 2 nodes, 1 leases, 3 pods, 0 deployments, 0 replicasets, " +
  "0 statefulsets, 0 daemonsets, 0 jobs, 0 poddisruptionbudgets, 0 priorityclasses, " +
  "1 persistentvolumes, 0 persistentvolumeclaims, 0 storageclasses";

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
  assert.match(rows.at(-2), range);
  assert.equal(rows.at(-1), "its object stays until the kubelet is back");
  const agent = await taintlab(["when", "shop/agent", "--if", "stopped"]);
  assert.equal(
    agent.stdout,
    "shop/agent: if the kubelet of worker-1 stops now, it is not evicted\n" +
      "a running pod stays: every NoExecute taint is tolerated forever\n",
  );
  const tainted = ["when", "pod/web-0", "-n", "shop", "--taint", "a=b:NoExecute", "--json"];
  const { pod, node, budget } = JSON.parse((await taintlab(tainted)).stdout);
  assert.deepEqual([pod, node, budget.evictedAt], ["shop/web-0", "worker-1", 0]);
  const asItIs = await taintlab(["when", "shop/web-0", "--if", "nothing"]);
  assert.match(asItIs.stdout, /^shop\/web-0: if nothing happens, it is not evicted\n/);
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
  assert.match(stdout, /a running pod stays: there is no NoExecute taint\n$/);
  const elsewhere = ["explain", "shop/quick", "--node", "worker-1"];
  const taint = ["--taint", "node.kubernetes.io/unreachable:NoExecute"];
  assert.match(
    (await taintlab([...elsewhere, ...taint])).stdout,
    /a running pod is evicted after 30s: toleration 2 limits the time\n$/,
  );
});

test("what is forbidden is said, and read of the namespace where that is allowed", async () => {
  const forbidden = ["pods", "persistentvolumes", "deployments", "shop/deployments", "leases"];
  const { stdout, stderr, code } = await taintlab(["when", "shop/web-0"], {
    forbidden: [...forbidden, "kube-node-lease/leases"],
  });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /3 pods \(of the namespace of the context alone\)/);
  assert.match(
    stderr,
    /^not read: leases: leases\.coordination\.k8s\.io is forbidden|not read: leases: /m,
  );
  assert.match(stderr, /^not read: persistentvolumes: persistentvolumes is forbidden: User/m);
  assert.match(stderr, /^not read: deployments: .* forbidden/m);
  assert.match(stdout, /it is evicted after 5m/);
  const nothing = await taintlab(["run"], { forbidden: ["nodes"] });
  assert.deepEqual([nothing.code, nothing.stdout], [1, ""]);
  assert.match(nothing.stderr, /^error: kubectl cannot list nodes: nodes is forbidden: User/m);
});

test("an API that the server does not have is said and is no error", async () => {
  const { stderr, code } = await taintlab(["when", "shop/web-0"], { absent: ["policy/v1"] });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^not read: poddisruptionbudgets: .*doesn't have a resource type/m);
});

test("a server that is slow or breaks off ends the run: half a cluster is none", async () => {
  const slow = await taintlab(["run", "--request-timeout=1s"], { slow: ["pods"] });
  assert.deepEqual([slow.code, slow.stdout], [1, ""], slow.stderr);
  assert.match(slow.stderr, /error: kubectl cannot list pods: .*(imeout|deadline|timed out)/);
  const broken = await taintlab(["when", "shop/web-0"], { broken: ["replicasets"] });
  assert.deepEqual([broken.code, broken.stdout], [1, ""]);
  assert.match(broken.stderr, /error: kubectl cannot list replicasets: .*EOF/);
});

test("a release that is not known gives the nearest, unless one is asked for", async () => {
  const newer = await taintlab(["explain", "shop/web-0"], { version: "v1.99.0" });
  assert.equal(newer.code, 0, newer.stderr);
  const run = ["run", "--until", "1m"];
  assert.match(
    (await taintlab(run, { version: "v1.2.0" })).stderr,
    /simulating release 1\.18: the API server is v1\.2\.0, and 1\.18 is the nearest that is known/,
  );
  const asked = await taintlab([...run, "--release", "1.30"]);
  assert.doesNotMatch(asked.stderr, /simulating release/);
});

test("wrong command lines", async () => {
  const cases = [
    [[], /^What Kubernetes evicts/],
    [["jump"], /error: there is no command `jump`\nTry `kubectl taintlab --help`\./],
    [["when"], /error: when: which pod\? POD or NAMESPACE\/POD/],
    [["when", "a/b/c"], /error: when: expected POD or NAMESPACE\/POD, found `a\/b\/c`/],
    [["when", "a", "--if", "rain"], /error: --if: expected unreachable, stopped, nothing/],
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
