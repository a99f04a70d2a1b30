// The declarations: strict, complete, and changed only on purpose.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { ROOT, borrow, execute, install, project } from "./support.mjs";

const snapshot = (name) => fileURLToPath(new URL(name, import.meta.url));
const SNAPSHOTS = {
  "dist/taintlab.d.ts": snapshot("taintlab.d.ts.snapshot"),
  "dist/lite/taintlab.d.ts": snapshot("taintlab-lite.d.ts.snapshot"),
  "dist/embed/index.d.ts": snapshot("embed.d.ts.snapshot"),
  "dist/embed/element.d.ts": snapshot("embed-element.d.ts.snapshot"),
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
  Simulator, matchTolerations, minTolerationSeconds, parseManifests, parseTaint, schedule,
  testScenario,
  validateTaints, rankForEviction, whenEvicted, zoneState,
} from "taintlab";
import type {
  Command, SimulationEvent, Explanation, Failure, Happening, Problem, Scenario, Taint, TimeBudget,
} from "taintlab";
import type { V1CronJob, V1Deployment, V1Node, V1Pod } from "@kubernetes/client-node";

declare const node: V1Node;
declare const pod: V1Pod;
declare const deployment: V1Deployment;
declare const cronJob: V1CronJob;

// What the client returns is taken as it is.
const tolerations = pod.spec?.tolerations ?? [];
const explanation: Explanation = matchTolerations(node.spec?.taints ?? [], tolerations);
const when = whenEvicted(pod, node, { nodeFault: "unreachable", release: "1.34" });
if (when.ok) {
  if (when.evicted) {
    const at: number = when.at;
    const budget: TimeBudget = when.budget;
    void [at, budget, when.goneAt?.toFixed()];
  }
  for (const one of when.assumed) {
    if (one.type === "tolerationAdded") void [one.by, one.toleration.key, one.text];
  }
} else {
  const problem: Problem = when.errors[0]!;
  void problem.line;
}
void [deployment, cronJob].map((workload) => whenEvicted(workload, node));
void whenEvicted(
  { spec: { containers: [{ name: "web", image: "web:1" }] } },
  { spec: { podCIDR: "10.0.0.0/24" } },
);
const decision = schedule(pod, [node], [pod]);
if (decision.ok) void decision.verdicts.map((verdict) => verdict.rejection?.plugin);
const taints = [{ key: "a", effect: "NoExecute" }];
const effect: string = "NoExecute";
void matchTolerations(taints, [{ key: "a", effect }], { release: "v1.30.4+k3s1" });
const ranking = rankForEviction([pod], "memory.available", {
  usage: { "default/web-0": { containers: [{ name: "web", memory: { constant: "200Mi" } }] } },
});
if (ranking.ok) {
  void ranking.pods.map(({ qosClass, beforeNextBy }) => [qosClass, beforeNextBy === "priority"]);
}
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
  simulator.runUntil(
    (events: SimulationEvent[], now: number) => now > 5 && events.some(isDeletion),
  );
  for (const event of simulator.events({ limit: 10, text: true })) {
    void event.text;
    if (event.type === "podDeleted") void event.pod;
    if (event.type === "eventRecorded" && event.involvedObject.type === "pod") {
      void event.involvedObject.pod;
    }
  }
  const next = simulator.nextDeadline();
  if (next?.reason.type === "evictionDue") void next.reason.pod;
  const snapshot = simulator.snapshot();
  simulator.restore(snapshot);
  snapshot.free();
  void simulator.zones().map((zone) => zone.rateSource === "smallZoneStopped");
  void simulator.workloads().map((workload) => workload.ready);
  void simulator.storage()?.attachments.map((attachment) => attachment.forcedDetachAt?.toFixed());
  void simulator.workloads()[0]?.job?.nextRetry?.toFixed();
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
void explanation.verdict.type;
`;

const BAD = {
  "a taint without an effect": 'matchTolerations([{ key: "a" }], []);',
  "tolerations as text": 'matchTolerations([], "a");',
  "an unknown command": "simulator.command({ tain: { node: 'a' } });",
  "a release of another kind": "matchTolerations([], [], { release: 1.34 });",
  "a release that is not known": 'matchTolerations([], [], { release: "1.99" });',
  "a misspelt effect of a taint": 'matchTolerations([{ key: "a", effect: "NoExcute" }], []);',
  "a misspelt effect of a toleration": 'matchTolerations([], [{ effect: "NoExcute" }]);',
  "a misspelt effect of a node": 'zoneState([{ spec: { taints: [{ key: "a", effect: "no" }] } }]);',
  "a misspelt effect of a pod": 'schedule({ spec: { tolerations: [{ effect: "no" }] } }, []);',
  "a misspelt effect by its type": 'const taint: TaintInput = { key: "a", effect: "NoExcute" };',
  "an unknown option": 'parseManifests("", { files: "a" });',
  "an unknown signal": 'rankForEviction([], "memory.free");',
  "a misspelt field of a node": "whenEvicted({}, { spec: { tains: [] } });",
  "a misspelt field of a pod": "schedule({ spec: { toleration: [] } }, []);",
  "a misspelt field of a command": "simulator.command({ createNode: { spec: { tains: [] } } });",
  "a number for a duration": "Simulator.fromManifests([], { startUpTime: 300 });",
  "the moment of a pod that is not evicted":
    "const answer = whenEvicted({}, {}); if (answer.ok && !answer.evicted) answer.at;",
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
    const ours = stdout
      .split("\n")
      .filter((line) => /^\S*(main\.ts|node_modules\/taintlab\/)/.test(line));
    assert.deepEqual(ours, []);
    assert.ok(code === 0 || !/error/.test(ours.join()), stdout);
  });
}

test("mistakes do not compile", async () => {
  const head = `import { Simulator, matchTolerations, parseManifests, rankForEviction, schedule, whenEvicted, zoneState } from "taintlab";
import type { TaintInput } from "taintlab"; declare const simulator: Simulator;\n`;
  const names = Object.keys(BAD);
  const { stdout } = await compile("bad", "nodenext", head + Object.values(BAD).join("\n"));
  names.forEach((name, index) => {
    assert.match(stdout, new RegExp(`main\\.ts[(:]${index + 3}[,:]`), `${name} compiles`);
  });
});

test("the releases of the type are those that the engine knows", async () => {
  const { releases } = createRequire(join(folder, "main.cjs"))("taintlab");
  const [, minors] = /type KubernetesRelease = .*1\.\$\{([\d |]+)\}/.exec(declarations);
  assert.deepEqual(
    minors.split(" | ").map((minor) => `1.${minor}`),
    releases(),
  );
});

test("no two types share a name, for TypeScript would merge them", () => {
  const names = [...declarations.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name);
  assert.ok(names.length > 100);
  assert.deepEqual(names.filter((name, at) => names.indexOf(name) !== at), []);
});

test("nothing is `any`, and everything exported is documented", () => {
  const code = declarations.replace(/\/\*[\s\S]*?\*\//g, "");
  assert.doesNotMatch(code, /\bany\b/);
  const lines = declarations.split("\n");
  const bare = lines.filter(
    (line, index) =>
      /^export (interface|type|class|function) /.test(line) && lines[index - 1].trim() !== "*/",
  );
  assert.deepEqual(bare, []);
  const members = lines.filter(
    (line, index) =>
      /^    (readonly |static )?[a-zA-Z]+\??[:(]/.test(line) && lines[index - 1].trim() !== "*/",
  );
  assert.deepEqual(members, Array(3).fill("    free(): void;"), "of each class");
});

test("what is exported hides nothing of the language's and the browser's", () => {
  const lib = join(ROOT, "node_modules/@arethetypeswrong/core/node_modules/typescript/lib");
  const files = readdirSync(lib).filter((file) => /^lib\..*\.d\.ts$/.test(file));
  const names = (text, pattern) => [...text.matchAll(pattern)].map(([, name]) => name);
  const globals = new Set(
    files.flatMap((file) =>
      names(
        readFileSync(join(lib, file), "utf8"),
        /^(?:declare )?(?:interface|type|var|class|function) (\w+)/gm,
      ),
    ),
  );
  assert.ok(globals.has("Node") && globals.has("Event") && globals.has("Map"));
  const ours = names(declarations, /^export (?:interface|type|class|function) (\w+)/gm);
  assert.ok(ours.length > 100);
  assert.deepEqual(
    ours.filter((name) => globals.has(name)),
    [],
  );
});

test("the declarations name only types that are there, without those of browsers", async () => {
  const at = project(folder, "no-dom", {
    "main.ts": 'import * as taintlab from "taintlab";\nvoid taintlab;\n',
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: "es2022",
        lib: ["es2022", "esnext.disposable"],
        types: [],
        module: "nodenext",
      },
      files: ["main.ts"],
    }),
  });
  const { stdout } = await execute(TSC, ["-p", at]);
  assert.equal(stdout, "");
});

test("Kubernetes' fields are all there", async () => {
  const pairs = [
    ["V1NodeSpec", "NodeSpec"],
    ["V1NodeStatus", "NodeStatus"],
    ["V1PodSpec", "PodSpec"],
    ["V1PodStatus", "PodStatus"],
    ["V1ObjectMeta", "ObjectMeta"],
    ["V1Container", "Container"],
    ["V1OwnerReference", "OwnerReference"],
    ["V1DeploymentSpec", "WorkloadSpec"],
    ["V1ReplicaSetSpec", "WorkloadSpec"],
    ["V1StatefulSetSpec", "WorkloadSpec"],
    ["V1DaemonSetSpec", "WorkloadSpec"],
    ["V1JobSpec", "WorkloadSpec"],
    ["V1CronJobSpec", "CronJobSpecInput"],
  ];
  const [theirs, ours] = [0, 1].map((side) =>
    [...new Set(pairs.map((pair) => pair[side]))].join(", "),
  );
  const check = ([their, our]) =>
    `const ${their}: Exclude<keyof ${their}, keyof ${our}> extends never ? true : never = true;`;
  const text = `import type { ${theirs} } from "@kubernetes/client-node";
import type { ${ours} } from "taintlab";
${pairs
  .map(check)
  .join("\n")
  .replaceAll(/^const (\w+):/gm, "export const is$1:")}
`;
  const { stdout } = await compile("fields", "nodenext", text);
  assert.deepEqual(
    stdout.split("\n").filter((line) => line.includes("main.ts")),
    [],
  );
});

test("the words are JavaScript's, not Rust's", () => {
  const docs = ["dist/taintlab.d.ts", "dist/lite/taintlab.d.ts"].flatMap((file) =>
    declared(file).match(/\/\*\*[\s\S]*?\*\//g),
  );
  const rust =
    /`(None|Some|Ok|Err|Vec|Option|String|Self|self)\b|\[`|::|`[a-z0-9]+(_[a-z0-9]+)+(\(\))?`|\b(u8|u16|u32|u64|i32|i64|f32|f64|usize|struct|enum|trait|serde)\b/;
  assert.deepEqual(
    docs.filter((doc) => rust.test(doc)),
    [],
  );
});

test("one tag, no null", () => {
  const code = declarations.replace(/\/\*[\s\S]*?\*\//g, "");
  assert.doesNotMatch(code, /\bnull\b/);
  // Of a union of objects, whatever tells them apart is named `type`; what is keyed by its name is
  // not tagged at all.
  const tags = [...code.matchAll(/\{ (\w+): "\w+"/g)].map(([, tag]) => tag);
  assert.ok(tags.length > 50);
  assert.deepEqual([...new Set(tags)], ["type"]);
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
  assert.deepEqual(
    lite.filter((line) => !whole.includes(line)),
    [],
  );
  const text = `import { matchTolerations, zoneState } from "taintlab/lite";
void [matchTolerations([{ key: "a", effect: "NoExecute" }], []).verdict.type, zoneState([]).state];
import { Simulator } from "taintlab/lite";
`;
  const { stdout } = await compile("lite", "nodenext", text);
  const errors = stdout.split("\n").filter((line) => line.includes("error"));
  assert.equal(errors.length, 1, stdout);
  assert.match(errors[0], /main\.ts\(3,.*has no exported member.*Simulator/);
});

const ELEMENT = `
import type { TaintLab, Recording } from "taintlab/embed";
import { makeDemo } from "taintlab";

const element: TaintLab = document.createElement("taint-lab");
element.addEventListener("timechange", ({ detail }) => void detail.currentTime.toFixed());
element.addEventListener("edit", ({ detail }) => void detail.knobs["release"]);
element.currentTime = element.duration;
const made = makeDemo("");
if (made.ok) {
  // What the engine writes is what the element reads.
  const recording: Recording = made.recording;
  void element.load(recording);
}
type Attributes = JSX.IntrinsicElements["taint-lab"];
const attributes: Attributes = { scenario: "a", "start-at": "5s", view: "log", editable: true };
void attributes;
// @ts-expect-error there is no such view
const wrong: Attributes = { view: "all" };
void wrong;
`;

test("the element is typed in the DOM and in JSX, and reads what the engine writes", async () => {
  const at = project(folder, "element", { "element.ts": ELEMENT });
  const args = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2023"];
  args.push("--module", "nodenext", "--lib", "es2023,esnext.disposable,dom,dom.iterable", "element.ts");
  const { stdout, code } = await execute(TSC, args, { cwd: at });
  assert.equal(stdout, "");
  assert.equal(code, 0);
});

test("the public face is the one that was agreed on", () => {
  for (const [file, path] of Object.entries(SNAPSHOTS)) {
    // Set BLESS=1 to agree on a new one.
    if (process.env.BLESS) writeFileSync(path, declared(file));
    assert.ok(existsSync(path), `${path} is missing; set BLESS=1 to write it`);
    assert.equal(declared(file), readFileSync(path, "utf8"), `${file}: set BLESS=1 if it is meant`);
  }
});
