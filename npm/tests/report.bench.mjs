// What a whole resilience report takes: every node and every zone, on two workers. Run by `cargo
// xtask bench`; it measures, and fails on nothing.
//
//     node npm/tests/report.bench.mjs [NODES …]     # 100 and 1,000 unless given
//
// Environment: TAINTLAB_PACKAGE, the tarball that `cargo xtask npm` built.

import { execFileSync } from "node:child_process";
import { join } from "node:path";

import { install, project } from "./support.mjs";

/** As an export has it: three zones, Deployments of 50 with their ReplicaSets, 30 pods a node. */
const CLUSTER = `
const [PODS, REPLICAS] = [30, 50];
const key = (name) => ({ key: "node.kubernetes.io/" + name, operator: "Exists",
  effect: "NoExecute", tolerationSeconds: 300 });
const resources = { requests: { cpu: "500m" } };
const spec = { containers: [{ name: "app", image: "app", resources }] };
function cluster(nodes) {
  const items = [];
  for (let index = 0; index < nodes; index++) {
    const labels = { "topology.kubernetes.io/zone": "abc"[index % 3],
      "kubernetes.io/hostname": "node-" + index };
    items.push({ apiVersion: "v1", kind: "Node", metadata: { name: "node-" + index, labels },
      status: { allocatable: { cpu: "64", memory: "256Gi", pods: "110" } } });
  }
  for (let app = 0; app < (nodes * PODS) / REPLICAS; app++) {
    const [name, set] = ["app-" + app, "app-" + app + "-5d"];
    const labels = { app: name, "pod-template-hash": "5d" };
    const owner = (kind, of) => [
      { apiVersion: "apps/v1", kind, name: of, uid: kind + of, controller: true },
    ];
    const workload = (kind, of, labels, metadata) => items.push({ apiVersion: "apps/v1", kind,
      metadata: { name: of, uid: kind + of, ...metadata },
      spec: { replicas: REPLICAS, selector: { matchLabels: labels },
        template: { metadata: { labels }, spec } } });
    workload("Deployment", name, { app: name }, {});
    workload("ReplicaSet", set, labels, { labels, ownerReferences: owner("Deployment", name) });
    for (let replica = 0; replica < REPLICAS; replica++) {
      items.push({ apiVersion: "v1", kind: "Pod",
        metadata: { name: set + "-" + replica, labels, ownerReferences: owner("ReplicaSet", set) },
        spec: { ...spec, nodeName: "node-" + ((app * REPLICAS + replica) % nodes),
          tolerations: [key("not-ready"), key("unreachable")] },
        status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } });
    }
  }
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}
`;

const folder = await install();
const given = process.argv.slice(2).map(Number);
for (const nodes of given.length > 0 ? given : [100, 1_000]) {
  for (const remedies of [0, 5]) {
    const text = `import { report } from "taintlab/report";
${CLUSTER}
const text = cluster(${nodes});
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
const bytes = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ seconds, bytes, runs: made.runsMade, score: made.score.score }));
`;
    const at = project(folder, "report-bench", { "main.mjs": text });
    const out = execFileSync("node", ["--max-old-space-size=8192", join(at, "main.mjs")], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { seconds, bytes, runs, score } = JSON.parse(out);
    const size = `${nodes} nodes and ${nodes * 30} pods`;
    const helps = remedies > 0 ? ", with what would help" : "";
    const figures = `${seconds.toFixed(1)} s, ${Math.round(bytes / 1e6)} MB`;
    console.log(`report of ${size}: ${runs} runs${helps}: ${figures}, score ${score}`);
  }
}
