// What the installed package weighs and takes. Run by `cargo xtask bench`; it measures, and fails
// where 150,000 pods take too long to load.
//
// Environment: TAINTLAB_PACKAGE, the tarball that `cargo xtask npm` built.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { largeCluster } from "../../tests/large-cluster.mjs";
import { install, project } from "./support.mjs";

const folder = await install();
const rows = [];
const row = (what, figure, aim) => rows.push({ what, figure, aim });
const milliseconds = (number) => `${number.toFixed(number < 10 ? 1 : 0)} ms`;

/** Runs a program of its own, which writes one number; the least of several, since noise only adds. */
function least(text, times = 7) {
  const at = project(folder, "bench", { "main.mjs": text });
  const run = () => Number(execFileSync("node", [join(at, "main.mjs")], { encoding: "utf8" }));
  return Math.min(...Array.from({ length: times }, run));
}

for (const entry of ["taintlab", "taintlab/lite"]) {
  const text = `const start = performance.now();
await import("${entry}");
console.log(performance.now() - start);\n`;
  row(`import "${entry}" in Node`, milliseconds(least(text)), "5 ms");
}

const require = createRequire(join(folder, "main.cjs"));
const taints = [{ key: "a", effect: "NoExecute" }];
const tolerations = [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 90 }];

/** Microseconds a call, when the code is warm: the least of many short rounds, since noise only adds. */
function perCall(call) {
  const [rounds, number] = [200, 500];
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    for (let i = 0; i < number; i++) call();
    best = Math.min(best, ((performance.now() - start) * 1000) / number);
  }
  return `${best.toFixed(1)} µs`;
}

for (const entry of ["taintlab", "taintlab/lite"]) {
  const { matchTolerations, minTolerationSeconds, parseTaint } = require(entry);
  const calls = {
    "matchTolerations, 1 taint and 1 toleration": () => matchTolerations(taints, tolerations),
    "minTolerationSeconds, 1 toleration": () => minTolerationSeconds(tolerations),
    parseTaint: () => parseTaint("a=b:NoExecute"),
  };
  for (const [name, call] of Object.entries(calls)) row(`${entry}: ${name}`, perCall(call), "2 µs");
}

const groups = (podsPerNode) => ({
  apiVersion: "taintlab/v1",
  kind: "Scenario",
  kubernetes: { release: "1.35", nodeLifecycle: true },
  objects: {
    nodeGroups: [1667, 1667, 1666].map((count, index) => ({
      name: `zone-${index}-worker`,
      count,
      zone: `region/zone-${index}`,
      podsPerNode,
      ...(podsPerNode && { pod: { metadata: { name: `web-${index}` } } }),
    })),
  },
});

/** Milliseconds that the work takes in a program of its own, and the most memory that it had. */
function alone(scenario, work) {
  const text = `
import { Simulator } from "taintlab";
const { simulator, errors } = Simulator.fromScenario(${JSON.stringify(scenario)});
if (errors) throw new Error(JSON.stringify(errors));
simulator.advanceTo(1000);
const start = performance.now();
${work}
console.log(JSON.stringify([performance.now() - start, process.resourceUsage().maxRSS / 1024]));\n`;
  const at = project(folder, "bench", { "alone.mjs": text });
  return JSON.parse(execFileSync("node", [join(at, "alone.mjs")], { encoding: "utf8" }));
}

const [idle] = alone(groups(0), "simulator.advanceTo('301s');");
row("300 idle seconds at 5,000 nodes", milliseconds(idle), "200 ms");

const outage = `
simulator.command({ cutZoneNetwork: { zone: "region/zone-0" } });
simulator.runToEnd();
let events = 0;
for (;;) {
  const batch = simulator.events();
  if (batch.length === 0) break;
  events += batch.length;
}
`;
const [time, memory] = alone(groups(30), outage);
row("a zone of 5,000 nodes with 150,000 pods lost, all events read", milliseconds(time), "");
row("its peak memory, Node included", `${memory.toFixed(0)} MB`, "");

/** Seconds that a cluster of 5,000 nodes takes to load, and to load again after `free()`. */
function loading(pods, deployments, as) {
  const file = join(folder, "cluster.json");
  const list = { apiVersion: "v1", kind: "List", items: largeCluster({ pods, deployments }) };
  writeFileSync(file, JSON.stringify(list));
  const text = `
import { readFileSync } from "node:fs";
import { Simulator } from "taintlab";
const text = readFileSync(${JSON.stringify(file)}, "utf8");
const input = ${as === "text" ? "text" : "JSON.parse(text)"};
const took = [1, 2].map(() => {
  const start = performance.now();
  const { ok, simulator } = Simulator.fromManifests(input);
  if (!ok) throw new Error("not loaded");
  simulator.free();
  return (performance.now() - start) / 1000;
});
console.log(JSON.stringify(took));\n`;
  const at = project(folder, "bench", { "loading.mjs": text });
  return JSON.parse(execFileSync("node", [join(at, "loading.mjs")], { encoding: "utf8" }));
}

/** How long 150,000 pods may take to load, in seconds. */
const LOADED = 6;
let over = false;
for (const [deployments, owners] of [
  [0, "without owners"],
  [5_000, "of 5,000 Deployments with budgets"],
]) {
  for (const as of ["objects", "text"]) {
    let before;
    for (const pods of [10_000, 20_000, 40_000, 80_000, 150_000]) {
      const [first, again] = loading(pods, deployments, as);
      const ratio =
        before === undefined
          ? ""
          : `, ${(first / before[1] / (pods / before[0])).toFixed(2)} a pod of the size before`;
      const last = pods === 150_000;
      over ||= last && first > LOADED;
      row(
        `fromManifests of 5,000 nodes and ${pods} pods ${owners} as ${as}`,
        `${first.toFixed(1)} s, again ${again.toFixed(1)} s${ratio}`,
        last ? `${LOADED} s` : "",
      );
      before = [pods, first];
    }
  }
}

const widths = ["what", "figure", "aim"].map((name) =>
  Math.max(...rows.map((r) => r[name].length)),
);
console.log("the npm package");
for (const { what, figure, aim } of rows) {
  console.log(
    `  ${what.padEnd(widths[0])}  ${figure.padStart(widths[1])}${aim && `  (aim: ${aim})`}`,
  );
}
if (over) console.error(`error: 150,000 pods take over ${LOADED} s to load`);
process.exit(over ? 1 : 0);
