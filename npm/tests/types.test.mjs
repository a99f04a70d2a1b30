// The declarations: strict, complete, and changed only on purpose.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { ROOT, borrow, execute, install, project } from "./support.mjs";

const snapshot = (name) => fileURLToPath(new URL(name, import.meta.url));
const SNAPSHOTS = {
  "dist/taintlab.d.ts": snapshot("taintlab.d.ts.snapshot"),
  "dist/lite/taintlab.d.ts": snapshot("taintlab-lite.d.ts.snapshot"),
};
const TSC = join(ROOT, "node_modules/.bin/tsc");

let folder;
let declarations;
before(async () => {
  folder = await install();
  borrow(folder, "@kubernetes/client-node", "@types/node");
  declarations = declared("dist/taintlab.d.ts");
});

const declared = (file) => readFileSync(join(folder, "node_modules/taintlab", file), "utf8");

const GOOD = `
import {
  Simulator, matchTolerations, minTolerationSeconds, parseManifests, parseTaint, schedule, testScenario,
  validateTaints, rankForEviction, whenEvicted, zoneState,
} from "taintlab";
import type { Command, Event, Explanation, Failure, Happening, Problem, Scenario, Taint, TimeBudget } from "taintlab";
import type { V1Node, V1Pod } from "@kubernetes/client-node";

declare const node: V1Node;
declare const pod: V1Pod;

// What the client returns is taken as it is.
const explanation: Explanation = matchTolerations(node.spec?.taints ?? [], pod.spec?.tolerations ?? []);
const when = whenEvicted(pod, node, { trouble: "lost", release: "1.34" });
if (when.ok) {
  const at: number | undefined = when.at;
  const budget: TimeBudget | undefined = when.budget;
  void [at, budget];
} else {
  const problem: Problem = when.errors[0]!;
  void problem.line;
}
const decision = schedule(pod, [node], [pod]);
if (decision.ok) void decision.verdicts.map((verdict) => verdict.rejection?.plugin);
const ranking = rankForEviction([pod], "memory.available", {
  usage: { "default/web-0": { containers: [{ name: "web", memory: { constant: "200Mi" } }] } },
});
if (ranking.ok) void ranking.pods.map(({ qosClass, beforeNextBy }) => [qosClass, beforeNextBy === "priority"]);
void zoneState([node], { unhealthyZoneThreshold: 0.55 }).state;
void minTolerationSeconds(pod.spec?.tolerations ?? []).toFixed();
const valid = validateTaints([{ key: "a", effect: "NoExecute", timeAdded: new Date() }]);
if (!valid.ok) void valid.errors;
const taint = parseTaint("a=b:NoExecute");
const parsed: Taint | Failure = taint.ok ? taint.taint : taint;
const manifests = parseManifests("", { file: "a.yaml" });
void [manifests.nodes.length, manifests.ok ? manifests.warnings : manifests.errors, parsed];

const made = Simulator.fromManifests([node, pod], { release: "1.35", nodeLifecycle: true });
if (!made.ok) throw new Error(made.errors.map((error) => error.message).join());
{
  using simulator = made.simulator;
  const command: Command = { taint: { node: "a", taint: { key: "x", effect: "NoExecute" } } };
  const progress = simulator.command(command, "10s");
  if (!progress.ok) void progress.errors;
  simulator.command("restartControllerManager", 1500.5);
  simulator.runUntil((events: Event[], now: number) => now > 5 && events.some(isDeletion));
  for (const event of simulator.events({ limit: 10, text: true })) {
    void event.text;
    if (event.type === "podDeleted") void event.pod;
    if (event.type === "eventRecorded" && event.involvedObject.kind === "Pod") void event.involvedObject.pod;
  }
  const next = simulator.nextDeadline();
  if (next?.reason.type === "evictionDue") void next.reason.pod;
  const snapshot = simulator.snapshot();
  simulator.restore(snapshot);
  snapshot.free();
  void simulator.zones().map((zone) => zone.rateSource === "smallZoneStopped");
  void simulator.workloads().map((workload) => workload.ready);
  void simulator.availability("deployment/web")?.longestBelow?.from;
  void simulator.timeBudget("default/web-0")?.terms.map((term) => term.setBy);
}
function isDeletion(happening: Happening): boolean {
  return happening.type === "podDeleted";
}
const scenario: Scenario = {
  apiVersion: "taintlab/v1",
  kind: "Scenario",
  steps: [{ at: "10s", do: { cutZoneNetwork: { zone: "a" } } }],
};
const report = testScenario(scenario);
if (report.ok) void report.outcomes.every((outcome) => outcome.passed);
void explanation.verdict.verdict;
`;

const BAD = {
  "a taint without an effect": 'matchTolerations([{ key: "a" }], []);',
  "tolerations as text": 'matchTolerations([], "a");',
  "an unknown command": "simulator.command({ tain: { node: 'a' } });",
  "a release of another kind": 'matchTolerations([], [], { release: 1.34 });',
  "an unknown option": 'parseManifests("", { files: "a" });',
  "an unknown signal": 'rankForEviction([], "memory.free");',
  "an unknown state": 'zoneState([]).state === "Broken";',
};

function compile(name, module, text) {
  const moduleResolution = module === "nodenext" ? "nodenext" : "bundler";
  const config = {
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: false,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      target: "es2022",
      lib: ["es2022", "dom", "esnext.disposable"],
      types: [],
      module,
      moduleResolution,
    },
    files: ["main.ts"],
  };
  const at = project(folder, name, { "main.ts": text, "tsconfig.json": JSON.stringify(config) });
  return execute(TSC, ["-p", at]);
}

for (const module of ["nodenext", "esnext"]) {
  test(`strict TypeScript, module ${module}`, async () => {
    // The client's own declarations are not what is tested.
    const { stdout, code } = await compile(`good-${module}`, module, GOOD);
    const ours = stdout.split("\n").filter((line) => /main\.ts|taintlab/.test(line));
    assert.deepEqual(ours, []);
    assert.ok(code === 0 || !/error/.test(ours.join()), stdout);
  });
}

test("mistakes do not compile", async () => {
  const head = `import { Simulator, matchTolerations, parseManifests, rankForEviction, zoneState } from "taintlab";
declare const simulator: Simulator;\n`;
  const names = Object.keys(BAD);
  const { stdout } = await compile("bad", "nodenext", head + Object.values(BAD).join("\n"));
  names.forEach((name, index) => {
    assert.match(stdout, new RegExp(`main\\.ts[(:]${index + 3}[,:]`), `${name} compiles`);
  });
});

test("nothing is `any`, and everything exported is documented", () => {
  const code = declarations.replace(/\/\*[\s\S]*?\*\//g, "");
  assert.doesNotMatch(code, /\bany\b/);
  const lines = declarations.split("\n");
  const bare = lines.filter(
    (line, index) => /^export (interface|type|class|function) /.test(line) && lines[index - 1].trim() !== "*/",
  );
  assert.deepEqual(bare, []);
  const members = lines.filter(
    (line, index) =>
      /^    (readonly |static )?[a-zA-Z]+\??[:(]/.test(line) && lines[index - 1].trim() !== "*/",
  );
  assert.deepEqual(members, ["    free(): void;", "    free(): void;"]);
});

test("both kinds of modules have the same declarations", () => {
  for (const build of ["dist", "dist/lite"]) {
    assert.equal(declared(`${build}/taintlab.d.cts`), declared(`${build}/taintlab.d.ts`), build);
    assert.equal(declared(`${build}/manual.d.cts`), declared(`${build}/manual.d.ts`), build);
  }
});

test("lite declares what it has, as the whole does", async () => {
  const functions = (text) => text.match(/^export function [^(]+\(.*$/gm);
  const [whole, lite] = [functions(declarations), functions(declared("dist/lite/taintlab.d.ts"))];
  assert.ok(lite.length > 0 && lite.length < whole.length);
  assert.deepEqual(lite.filter((line) => !whole.includes(line)), []);
  const text = `import { matchTolerations, zoneState } from "taintlab/lite";
void [matchTolerations([{ key: "a", effect: "NoExecute" }], []).verdict.verdict, zoneState([]).state];
import { Simulator } from "taintlab/lite";
`;
  const { stdout } = await compile("lite", "nodenext", text);
  const errors = stdout.split("\n").filter((line) => line.includes("error"));
  assert.equal(errors.length, 1, stdout);
  assert.match(errors[0], /main\.ts\(3,.*has no exported member.*Simulator/);
});

test("the public face is the one that was agreed on", () => {
  for (const [file, path] of Object.entries(SNAPSHOTS)) {
    // Set BLESS=1 to agree on a new one.
    if (process.env.BLESS) writeFileSync(path, declared(file));
    assert.ok(existsSync(path), `${path} is missing; set BLESS=1 to write it`);
    assert.equal(declared(file), readFileSync(path, "utf8"), `${file}: set BLESS=1 if it is meant`);
  }
});
