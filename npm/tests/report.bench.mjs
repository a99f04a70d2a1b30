// What a whole resilience report takes: every node and every zone, on two workers, and natively a plan to
// drain ten nodes, the smallest outage of a workload, and a search for settings. Run by `cargo xtask
// bench`; it fails where a report of a managed cluster takes too much of the processor.
//
//     node npm/tests/report.bench.mjs [NODES …]     # 100 and 1,000 unless given
//
// Environment: TAINTLAB_PACKAGE, the tarball that `cargo xtask npm` built; TAINTLAB_BINARY, the native
// command that `cargo xtask cli` built, which makes the same reports beside it; LOOSE=1, on a machine with
// other work: only prints what is over.

import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { eksCluster } from "../../tests/eks-cluster.mjs";
import { install, project } from "./support.mjs";

/** What the managed cluster may take of the processor, in seconds, by the findings to mend. */
const MOST = { 0: 2, 5: 10 };

/** As an export has it: three zones, Deployments of 50 with their ReplicaSets, 30 pods a node. */
const [PODS, REPLICAS] = [30, 50];

function cluster(nodes) {
  const items = [];
  const ready = { type: "Ready", status: "True" };
  for (let index = 0; index < nodes; index++) {
    const name = `node-${index}`;
    const labels = {
      "topology.kubernetes.io/zone": "abc"[index % 3],
      "kubernetes.io/hostname": name,
    };
    const allocatable = { cpu: "64", memory: "256Gi", pods: "110" };
    items.push({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels },
      status: { allocatable },
    });
  }
  const tolerations = ["not-ready", "unreachable"].map((name) => ({
    key: `node.kubernetes.io/${name}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 300,
  }));
  const requests = { cpu: "500m" };
  const spec = { containers: [{ name: "app", image: "app", resources: { requests } }] };
  for (let app = 0; app < (nodes * PODS) / REPLICAS; app++) {
    const [name, set] = [`app-${app}`, `app-${app}-5d`];
    const labels = { app: name, "pod-template-hash": "5d" };
    const owner = (kind, name) => [
      { apiVersion: "apps/v1", kind, name, uid: kind + name, controller: true },
    ];
    const workload = (kind, name, matchLabels, more) => ({
      apiVersion: "apps/v1",
      kind,
      metadata: { name, uid: kind + name, ...more },
      spec: {
        replicas: REPLICAS,
        selector: { matchLabels },
        template: { metadata: { labels: matchLabels }, spec },
      },
    });
    const ownerReferences = owner("Deployment", name);
    items.push(workload("Deployment", name, { app: name }, {}));
    items.push(workload("ReplicaSet", set, labels, { labels, ownerReferences }));
    for (let replica = 0; replica < REPLICAS; replica++) {
      const nodeName = `node-${(app * REPLICAS + replica) % nodes}`;
      items.push({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `${set}-${replica}`, labels, ownerReferences: owner("ReplicaSet", set) },
        spec: { ...spec, nodeName, tolerations },
        status: { phase: "Running", conditions: [ready] },
      });
    }
  }
  return items;
}

/** The report of a cluster: what it took of time, of the processor and of memory, and its score. */
function measure(items, remedies) {
  const file = join(folder, "cluster.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  const text = `import { readFileSync } from "node:fs";
import { report } from "taintlab/report";
const text = readFileSync(${JSON.stringify(file)}, "utf8");
const start = performance.now();
let last = 0;
const onProgress = ({ done, planned }) => {
  if (performance.now() - last > 10000 && process.stderr.isTTY) {
    last = performance.now();
    process.stderr.write(done + " of " + planned + "\\r");
  }
};
const made = await report(text, { workers: 2, remedies: ${remedies}, onProgress });
if (!made.ok) throw new Error(JSON.stringify(made.errors));
const seconds = (performance.now() - start) / 1000;
// Of all threads, with what it takes to start them.
const { user, system } = process.cpuUsage();
const bytes = process.resourceUsage().maxRSS * 1024;
const { runsMade: runs, score } = made;
const cpu = (user + system) / 1e6;
console.log(JSON.stringify({ seconds, cpu, bytes, runs, score: score.score }));
`;
  const at = project(folder, "report-bench", { "main.mjs": text });
  const out = execFileSync("node", ["--max-old-space-size=8192", join(at, "main.mjs")], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(out);
}

/** How long the native command takes, on two threads as well, until it ends with this code, and what it
 * prints. */
function native(args, code = 0) {
  const start = performance.now();
  const settings = { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "inherit"] };
  const line = [...args, "--json", "--workers", "2"];
  const run = spawnSync(process.env.TAINTLAB_BINARY, line, { encoding: "utf8", ...settings });
  if (run.status !== code) throw new Error(`${args[0]} ended with ${run.status}`);
  return [(performance.now() - start) / 1000, run.stdout];
}

/** How long the native command takes to plan the drain of the first ten nodes, in the best order. */
function plan(nodes) {
  if (!process.env.TAINTLAB_BINARY) return;
  const drained = Array.from({ length: 10 }, (_, index) => `node-${index}`);
  const [seconds] = native(["plan", "drain", ...drained, "-f", join(folder, "cluster.json")]);
  console.log(`plan to drain 10 of ${nodes} nodes, natively: ${seconds.toFixed(1)} s`);
}

/** Seconds that the smallest outage of a workload on three of 100 nodes may take, on two threads. */
const MOST_OUTAGE = 60;

/** Pods of a ReplicaSet on these nodes. */
function planted(name, nodes, more = {}) {
  const labels = { app: name };
  const spec = { ...more, containers: [{ name, resources: { requests: { cpu: "500m" } } }] };
  const ownerReferences = [
    { apiVersion: "apps/v1", kind: "ReplicaSet", name, uid: name, controller: true },
  ];
  const replicas = nodes.length;
  const template = { metadata: { labels }, spec };
  return [
    {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { name, namespace: "shop", uid: name },
      spec: { replicas, selector: { matchLabels: labels }, template },
    },
    ...nodes.map((node, index) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `${name}-${index}`, namespace: "shop", labels, ownerReferences },
      spec: { ...spec, nodeName: `node-${node}` },
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    })),
  ];
}

/** How long the native command takes to find a weak point of three faults on 100 nodes, beside pods of a
 * higher priority, which may preempt others: then every pair with their nodes is tried. */
function outage() {
  if (!process.env.TAINTLAB_BINARY) return false;
  const file = join(folder, "planted.json");
  const dns = { priorityClassName: "system-cluster-critical", priority: 2_000_000_000 };
  const items = [
    ...cluster(100),
    ...planted("db", [7, 20, 33, 33, 7]),
    ...planted("coredns", [3, 50], dns),
  ];
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  const [seconds, out] = native(["smallest-outage", "shop/db", "-f", file]);
  const { found, tried, isComplete } = JSON.parse(out);
  const at = found?.faults.map((fault) => fault.node).join(", ");
  if (!isComplete || at !== "node-20, node-33, node-7") throw new Error(out);
  console.log(
    `smallest outage of a workload on 3 of 100 nodes, natively: ${tried} outages, ` +
      `${seconds.toFixed(1)} s (at most ${MOST_OUTAGE} s)`,
  );
  return seconds > MOST_OUTAGE;
}

/** How long the native command takes to find a toleration, and to prove that there is none. */
function solve(nodes) {
  if (!process.env.TAINTLAB_BINARY) return;
  const away = ["--but", "no move if a node is away for 60s"];
  for (const [limit, more, said, code] of [
    ["90s", [], "find", 0],
    ["45s", ["--only", "tolerationSeconds,replicas,flags", "--changes", "1"], "find no", 1],
  ]) {
    const wish = `deployment/default/app-0: below <= ${limit} if a node is lost`;
    const args = ["solve", join(folder, "cluster.json"), "--want", wish, ...away, ...more];
    const [seconds] = native(args, code);
    console.log(`${said} setting for ${nodes} nodes, natively: ${seconds.toFixed(1)} s`);
  }
}

function tell(what, remedies, { seconds, cpu, bytes, runs, score }, most) {
  const helps = remedies > 0 ? ", with what would help" : "";
  const limit = most === undefined ? "" : ` (at most ${most} s)`;
  const figures =
    `${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of the processor${limit}, ` +
    `${Math.round(bytes / 1e6)} MB`;
  console.log(`report of ${what}: ${runs} runs${helps}: ${figures}, score ${score}`);
  if (!process.env.TAINTLAB_BINARY) return;
  const [alone] = native(["report", join(folder, "cluster.json"), "--remedies", remedies]);
  console.log(`  natively: ${alone.toFixed(1)} s, ${(seconds / alone).toFixed(1)} times as fast`);
}

const folder = await install();
let over = false;
for (const remedies of [0, 5]) {
  const figures = measure(eksCluster(), remedies);
  const most = MOST[remedies];
  tell("a managed cluster, 100 nodes and 618 Deployments", remedies, figures, most);
  over ||= figures.cpu > most;
}
const given = process.argv.slice(2).map(Number);
for (const nodes of given.length > 0 ? given : [100, 1_000]) {
  for (const remedies of [0, 5]) {
    tell(`${nodes} nodes and ${nodes * PODS} pods`, remedies, measure(cluster(nodes), remedies));
  }
  plan(nodes);
  solve(nodes);
}
over = outage() || over;
if (over && process.env.LOOSE !== "1") {
  console.error("error: a report or a search takes longer than it may");
  process.exitCode = 1;
}
