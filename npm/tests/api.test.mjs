// The public face: what each function and method gives, and what it says to wrong calls.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";

import { install } from "./support.mjs";

let taintlab;
before(async () => {
  const folder = await install();
  taintlab = createRequire(join(folder, "main.cjs"))("taintlab");
});

const MAINTENANCE = { key: "example.com/maintenance", effect: "NoExecute" };
const tolerating = (tolerationSeconds) => ({
  key: MAINTENANCE.key,
  operator: "Exists",
  effect: "NoExecute",
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
});
const node = (name, spec = {}) => ({ apiVersion: "v1", kind: "Node", metadata: { name }, spec });
const pod = (name, nodeName, tolerations = []) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default" },
  spec: { nodeName, tolerations },
});

function simulator(objects, options) {
  const made = taintlab.Simulator.fromManifests(objects, options);
  assert.equal(made.ok, true, JSON.stringify(made.errors));
  return made.simulator;
}

test("matchTolerations explains", () => {
  const answer = taintlab.matchTolerations([MAINTENANCE], [tolerating(90), tolerating()]);
  assert.deepEqual(answer.taints[0].outcomes, [
    { type: "used" },
    { type: "shadowed", tolerationIndex: 0 },
  ]);
  assert.deepEqual(answer.verdict, {
    type: "evictedAfter",
    afterMilliseconds: 90_000,
    tolerationIndex: 0,
    overflowed: false,
  });
});

test("minTolerationSeconds: seconds, Infinity, zero", () => {
  const { minTolerationSeconds } = taintlab;
  assert.equal(minTolerationSeconds([tolerating(90), tolerating(30)]), 30);
  assert.equal(minTolerationSeconds([tolerating()]), Infinity);
  assert.equal(minTolerationSeconds([]), 0);
});

test("zoneState counts nodes as the controller does", () => {
  const ready = (status) => ({ status: { conditions: [{ type: "Ready", status }] } });
  const nodes = [ready("True"), ready("True"), ready("Unknown"), ready("False"), {}];
  assert.deepEqual(taintlab.zoneState(nodes), {
    state: "PartialDisruption",
    ready: 2,
    notReady: 3,
  });
});

test("durationText rounds to tenths of a second", () => {
  const texts = [0, 7, 100, 302_045, 11_592_575].map((time) => taintlab.durationText(time));
  assert.deepEqual(texts, ["0s", "7ms", "100ms", "5m2s", "3h13m12.6s"]);
});

test("parseTaint, and what is no taint", () => {
  const add = taintlab.parseTaint("a=b:NoExecute");
  assert.deepEqual(add, {
    ok: true,
    taint: { key: "a", value: "b", effect: "NoExecute" },
    remove: false,
  });
  assert.equal(taintlab.parseTaint("a-").remove, true);
  const { ok, errors } = taintlab.parseTaint("a=b:c:d");
  assert.equal(ok, false);
  assert.deepEqual(errors, [
    { code: "invalidTaint", message: "invalid taint spec: a=b:c:d", path: "" },
  ]);
});

test("validation speaks the API server's words", () => {
  const answer = taintlab.validateTolerations([{ operator: "Equal" }]);
  assert.equal(answer.errors[0].code, "FieldValueInvalid");
  assert.equal(answer.errors[0].path, "spec.tolerations[0].operator");
  assert.match(answer.errors[0].message, /^Invalid value: /, "the path has a field of its own");
  assert.deepEqual(taintlab.validateTaints([MAINTENANCE]), { ok: true });
});

test("parseManifests says line, column and field, and takes what is right", () => {
  const text = `apiVersion: v1
kind: Node
metadata: {name: good}
---
apiVersion: v1
kind: Node
metadata: {name: bad}
spec:
  taints:
  - {key: maintenance, value: yes, effect: NoExecute}
`;
  const answer = taintlab.parseManifests(text, { file: "cluster.yaml" });
  assert.equal(answer.ok, false);
  assert.deepEqual(
    answer.nodes.map(({ metadata }) => metadata.name),
    ["good"],
  );
  assert.deepEqual(answer.errors, [
    {
      code: "invalidManifest",
      message: "expected a string, found the boolean `yes`",
      path: "spec.taints[0].value",
      file: "cluster.yaml",
      line: 10,
      column: 31,
      help: 'put it in quotes: "yes"',
    },
  ]);
});

test("whenEvicted: a taint, and a lost node with its budget", () => {
  const tainted = node("a", { taints: [MAINTENANCE] });
  assert.equal(taintlab.whenEvicted(pod("p", "a", [tolerating(90)]), tainted).at, 90_000);
  assert.equal(taintlab.whenEvicted(pod("p", "a", [tolerating()]), tainted).evicted, false);
  const unreachable = { ...tolerating(300), key: "node.kubernetes.io/unreachable" };
  const lost = taintlab.whenEvicted(pod("p", "a", [unreachable]), node("a"), {
    nodeFault: "unreachable",
    release: "1.31",
  });
  assert.equal(lost.evicted, true);
  const { terms } = lost.budget;
  const total = terms.reduce((sum, { durationMilliseconds }) => sum + durationMilliseconds, 0);
  assert.equal(terms[0].start + total, lost.at);
  assert.ok(terms.some(({ setBy }) => setBy === "--node-monitor-grace-period=40s"));
  // A heartbeat every ten seconds, a health check every five: nobody knows when.
  const { earliest, latest, text } = lost.budget.range;
  assert.equal(Math.round((latest - earliest) / 100), 151);
  assert.ok(earliest < lost.at && lost.at < latest);
  assert.match(text, /^between 5m35\.1s and 5m50\.2s: the last heartbeat was sent up to 10s before /);
  const reported = { ...tolerating(300), key: "node.kubernetes.io/not-ready" };
  const notReady = taintlab.whenEvicted(pod("p", "a", [reported]), node("a"), {
    nodeFault: "notReady",
  });
  assert.equal(notReady.at, 300_000);
  assert.match(notReady.budget.range.text, /^between 5m0s and 5m5\.1s: health checks come at any/);
});

const workload = (kind, spec = {}) => ({
  apiVersion: kind.endsWith("Job") ? "batch/v1" : "apps/v1",
  kind,
  metadata: { name: "web", namespace: "default" },
  spec:
    kind === "CronJob" ? { jobTemplate: { spec: { template: { spec } } } } : { template: { spec } },
});

test("whenEvicted of a workload is that of the pod which its controller makes and admission changes", () => {
  const { whenEvicted } = taintlab;
  const options = { nodeFault: "unreachable" };
  const seconds = ({ matching }) =>
    matching.tolerations.find(({ key }) => key === "node.kubernetes.io/unreachable")
      ?.tolerationSeconds;
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [] } };
  for (const pod of ["Deployment", "ReplicaSet", "StatefulSet", "Job", "CronJob"]
    .map((kind) => workload(kind))
    .concat(template)) {
    const answer = whenEvicted(pod, node("a"), options);
    assert.equal(seconds(answer), 300, pod.kind);
    const added = answer.assumed.filter(({ type }) => type === "tolerationAdded");
    assert.deepEqual(
      added.map(({ by }) => by),
      ["DefaultTolerationSeconds", "DefaultTolerationSeconds"],
      pod.kind,
    );
    assert.match(added[1].text, /^DefaultTolerationSeconds adds the toleration .*unreachable/);
    assert.equal(added[1].toleration.tolerationSeconds, 300);
  }
  const [made] = whenEvicted(workload("Deployment"), node("a"), options).assumed;
  assert.deepEqual(
    [made.type, made.by, made.workload],
    ["podCreated", "replicaset-controller", "deployment/default/web"],
  );
  const daemon = whenEvicted(workload("DaemonSet"), node("a"), options);
  assert.deepEqual([daemon.evicted, "at" in daemon, "budget" in daemon], [false, false, false]);
  assert.ok(daemon.assumed.some(({ by }) => by === "DaemonSetController"));
  const bare = whenEvicted(workload("Deployment"), node("a"), { ...options, admission: false });
  assert.equal(seconds(bare), undefined);
  assert.ok(bare.at < 100_000 && bare.assumed.some(({ type }) => type === "admissionSkipped"));
  const flag = { "default-unreachable-toleration-seconds": "20" };
  assert.equal(
    seconds(whenEvicted(workload("Job"), node("a"), { ...options, apiServerFlags: flag })),
    20,
  );
  const stored = { ...pod("p", "b"), metadata: { name: "p", uid: "1" } };
  const types = whenEvicted(stored, node("a"), options).assumed.map(({ type }) => type);
  assert.deepEqual(types, ["alreadyAdmitted", "moved", "otherNodeHealthy"]);
});

test("whenEvicted reads the old name of its option, and says what it cannot read", () => {
  const { whenEvicted } = taintlab;
  const p = pod("p", "a");
  const [now, before] = [{ nodeFault: "unreachable" }, { trouble: "lost" }];
  assert.deepEqual(whenEvicted(p, node("a"), before), whenEvicted(p, node("a"), now));
  const { kind, apiVersion, ...listed } = workload("Deployment");
  assert.throws(
    () => whenEvicted(listed, node("a")),
    /^TypeError: pod\.kind: expected the kind of the workload/,
  );
  assert.throws(
    () => whenEvicted(node("a"), node("a")),
    /pod\.kind: expected `Pod`, `Deployment`.*found `Node`/,
  );
  const refused = { "default-unreachable-toleration-seconds": "soon" };
  const { errors } = whenEvicted(p, node("a"), { apiServerFlags: refused });
  assert.deepEqual([errors[0].code, errors[0].path], ["invalidConfiguration", "apiServerFlags"]);
});

test("whenEvicted of tolerations that the API server refuses has its errors", () => {
  const { matchTolerations, validateTolerations, whenEvicted } = taintlab;
  const tolerations = [
    { operator: "Exists", tolerationSeconds: 90 },
    { key: "a", operator: "Exists", value: "1" },
  ];
  const answer = whenEvicted(pod("p", "a", tolerations), node("a"));
  assert.deepEqual(answer, validateTolerations(tolerations));
  assert.equal(answer.errors[0].path, "spec.tolerations[0].effect");
  const message = `Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`;
  assert.equal(answer.errors[0].message, message);
  // Those functions are Kubernetes' own, which take anything.
  assert.equal(matchTolerations([], tolerations).verdict.type, "noNoExecuteTaints");
});

test("a number where a duration belongs is refused, since nobody can tell its unit", () => {
  const message = /expected a duration with its unit, such as `5m0s`/;
  const { Simulator } = taintlab;
  assert.throws(() => Simulator.fromManifests([node("a")], { startUpTime: 300 }), message);
  assert.throws(() => taintlab.testScenario("", { until: 300 }), message);
  const s = simulator([node("a")]);
  assert.throws(() => s.runUntil(() => false, { until: 300 }), message);
  assert.equal(s.runUntil(() => false, { until: "5m" }).ok, true);
  s.free();
});

test("nothing is null", () => {
  const labels = { app: "web" };
  const deployment = workload("Deployment");
  deployment.spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: {} },
  };
  const s = simulator([node("a"), pod("p", "a", [tolerating(90)]), deployment]);
  s.command({ taint: { node: "a", taint: MAINTENANCE } }, "10s");
  s.command({ stopKubelet: { node: "a" } }, "20s");
  s.advanceTo("30m");
  const { matchTolerations, rankForEviction, schedule, whenEvicted } = taintlab;
  const all = {
    events: s.events({ text: true }),
    views: [s.nodes(), s.pods(), s.zones(), s.workloads(), s.node("a"), s.lint(), s.nextDeadline()],
    storage: [s.storage()],
    pod: [s.explain("p"), s.timeBudget("p"), s.availability("deployment/web")],
    questions: [
      matchTolerations([MAINTENANCE], []),
      rankForEviction([pod("p", "a")], "memory.available"),
      schedule(pod("p", ""), [node("a")]),
      whenEvicted(pod("p", "a"), node("a")),
      taintlab.parseManifests("kind: Node\napiVersion: v1\nmetadata: {name: a}"),
    ],
  };
  const paths = [];
  const look = (value, path) => {
    if (value === null) paths.push(path);
    else if (typeof value === "object")
      Object.entries(value).forEach(([key, one]) => look(one, `${path}.${key}`));
  };
  look(all, "");
  assert.deepEqual(paths, []);
  s.free();
});

test("schedule, in the scheduler's words", () => {
  const nodes = [node("a", { taints: [MAINTENANCE] }), node("b", { unschedulable: true })];
  const nowhere = taintlab.schedule(pod("p", ""), nodes);
  assert.match(nowhere.message, /^0\/2 nodes are available: /);
  assert.equal(taintlab.schedule(pod("p", ""), [...nodes, node("c")]).node, "c");
});

test("taints that are no plain objects are read too", () => {
  class Taint {
    constructor(time) {
      Object.assign(this, MAINTENANCE, { value: null, timeAdded: time });
    }
  }
  const explain = (time) => taintlab.matchTolerations([new Taint(time)], [tolerating()]);
  const { taint } = explain(undefined).taints[0];
  assert.deepEqual(taint, MAINTENANCE, "what is nothing is left out");
  const later = { ...MAINTENANCE, timeAdded: "2026-01-02T03:04:05Z" };
  assert.deepEqual(explain(new Date("2026-01-02T03:04:05Z")).taints[0].taint, later);
  assert.deepEqual(explain("2026-01-02T04:04:05+01:00").taints[0].taint, later);
  assert.throws(
    () => explain(new Date(NaN)),
    /taints\[0\]\.timeAdded: expected a time in RFC 3339/,
  );
  assert.throws(() => explain("soon"), /taints\[0\]\.timeAdded: `soon` is not a time in RFC 3339/);
});

test("what failed is said, with both values", () => {
  const { taints, tolerations, verdict } = taintlab.matchTolerations(
    [{ key: "a", value: "1", effect: "NoExecute" }],
    [
      { key: "a", operator: "Equal", value: "2" },
      { effect: "NoSchedule", operator: "Exists" },
      { operator: "Near", key: "a" },
    ],
  );
  assert.deepEqual(taints[0].outcomes, [
    { type: "failed", test: "value", tolerationValue: "2", taintValue: "1" },
    { type: "failed", test: "effect", tolerationValue: "NoSchedule", taintValue: "NoExecute" },
    { type: "failed", test: "unknownOperator", tolerationValue: "Near" },
  ]);
  assert.deepEqual(["tolerationIndex" in taints[0], taints[0].consequence], [false, "evicted"]);
  assert.deepEqual(verdict, { type: "notTolerated", taintIndex: 0 });
  assert.deepEqual(tolerations[2], { key: "a", operator: "Near" });
});

test("rankForEviction: who goes first, why, and what would change it", () => {
  const asking = (name, memory, priority) => ({
    ...pod(name, "a"),
    spec: { priority, containers: [{ name: "main", resources: { requests: { memory } } }] },
  });
  const using = (constant) => ({ containers: [{ name: "main", memory: { constant } }] });
  const pods = [
    asking("calm", "1Gi", 0),
    asking("greedy", "100Mi", 0),
    asking("dear", "100Mi", 1000),
  ];
  const usage = { calm: using("500Mi"), "default/greedy": using("300Mi"), dear: using("900Mi") };
  const ranking = taintlab.rankForEviction(pods, "memory.available", { usage });
  assert.equal(ranking.ok, true, JSON.stringify(ranking.errors));
  assert.deepEqual(ranking.keys, ["exceedsRequest", "priority", "usageAboveRequest"]);
  const order = ranking.pods.map((ranked) => [ranked.pod, ranked.beforeNextBy]);
  assert.deepEqual(order, [
    ["default/greedy", "priority"],
    ["default/dear", "exceedsRequest"],
    ["default/calm", undefined],
  ]);
  const [greedy] = ranking.pods;
  assert.deepEqual(
    [greedy.usage, greedy.request, greedy.qosClass],
    [300 * 2 ** 20, "100Mi", "Burstable"],
  );
  assert.deepEqual(
    greedy.behindNextIf[0],
    { type: "raisePriority", to: 1000 },
    "then the other one is further above its request",
  );
  const old = taintlab.rankForEviction(pods, "memory.available", { release: "1.5", usage });
  assert.deepEqual(old.keys, ["qosClass", "usageAboveRequest"]);
});

test("rankForEviction says what is wrong", () => {
  const wrong = (pods, signal, options) => {
    const { ok, errors } = taintlab.rankForEviction(pods, signal, options);
    assert.equal(ok, false);
    return [errors[0].code, errors[0].path];
  };
  const p = pod("p", "a");
  assert.deepEqual(wrong([p], "memory.free"), ["invalidSignal", "signal"]);
  assert.deepEqual(wrong([p], "containerfs.available", { release: "1.28" }), [
    "invalidSignal",
    "signal",
  ]);
  assert.deepEqual(wrong([p, p], "pid.available"), ["podAlreadyExists", "pods[1]"]);
  assert.deepEqual(wrong([p], "pid.available", { usage: { q: {} } }), [
    "podNotFound",
    "options.usage",
  ]);
  const containers = [{ name: "c", resources: { requests: { memory: "much" } } }];
  assert.deepEqual(wrong([{ ...p, spec: { containers } }], "pid.available"), [
    "invalidObject",
    "pods",
  ]);
  assert.throws(
    () => taintlab.rankForEviction([p], 5),
    /signal: expected a string, found the number `5`/,
  );
  assert.throws(() => taintlab.rankForEviction([p], "pid.available", { use: {} }), TypeError);
});

test("time passes only when told, in milliseconds with fractions", () => {
  const s = simulator([node("a"), pod("p", "a", [tolerating(90)])]);
  assert.equal(s.now, 0);
  assert.equal(s.command({ taint: { node: "a", taint: MAINTENANCE } }, "10s").ok, true);
  assert.equal(s.advanceTo(10_000.000001).now, 10_000.000001);
  assert.deepEqual(s.nextDeadline(), {
    at: 100_000,
    reason: { type: "evictionDue", pod: "default/p" },
    text: "default/p is deleted",
  });
  assert.equal(s.advanceToNext().now, 100_000);
  const events = s.events();
  assert.ok(events.length > 0);
  assert.deepEqual(s.events(), [], "what was given is not given again");
  assert.equal(s.timeBudget("p").evictedAt, 100_000);
  assert.equal(s.wallClock(1_000), "2020-01-01T00:00:01Z");
  s.free();
});

test("exact to the nanosecond for 99 days", () => {
  const s = simulator([node("a")], { nodeLifecycle: false });
  const [nanos, start] = [8_553_600_000_000_001n, 8_553_600_000.000001];
  assert.equal(s.advanceTo(start).now, start);
  assert.equal(BigInt(Math.round((start % 1000) * 1e6)), nanos % 1_000_000_000n);
  s.free();
});

test("runUntil a predicate, with batches of one moment", () => {
  const s = simulator([node("a"), pod("p", "a", [tolerating(90)])]);
  s.command({ taint: { node: "a", taint: MAINTENANCE } });
  const moments = [];
  const answer = s.runUntil((events, now) => {
    moments.push(now);
    assert.ok(Array.isArray(events));
    return events.some(({ type }) => type === "podDeleted");
  });
  assert.equal(answer.stopped, "predicate");
  assert.equal(answer.now, 120_000);
  assert.deepEqual(
    moments,
    [...moments].sort((a, b) => a - b),
  );
  assert.equal(s.runUntil(() => false).stopped, "idle");
  s.free();
});

test("a predicate that throws or calls back does no harm", () => {
  const s = simulator([node("a"), pod("p", "a", [tolerating(90)])]);
  s.command({ taint: { node: "a", taint: MAINTENANCE } });
  assert.throws(
    () =>
      s.runUntil(() => {
        throw new RangeError("mine");
      }),
    /mine/,
  );
  assert.throws(() => s.runUntil(() => s.advanceTo(5)), /cannot be called from its own predicate/);
  assert.throws(() => s.runUntil(() => "yes"), TypeError);
  assert.equal(s.advanceTo("5m").ok, true);
  s.free();
});

test("snapshot and restore, as often as wanted", () => {
  const s = simulator([node("a"), pod("p", "a", [tolerating(90)])]);
  s.command({ taint: { node: "a", taint: MAINTENANCE } }, 1_000);
  const snapshot = s.snapshot();
  const events = () => JSON.stringify((s.advanceTo("10m"), s.events()));
  const first = events();
  s.restore(snapshot);
  assert.equal(s.now, 1_000);
  assert.equal(events(), first);
  s.restore(snapshot);
  assert.equal(events(), first);
  snapshot.free();
  s.free();
});

test("a snapshot of another simulation brings its steps and its end", () => {
  const of = (until, at) => {
    const steps = [{ at, do: { taint: { node: "a", taint: MAINTENANCE } } }];
    const objects = { nodes: [node("a")] };
    const scenario = { apiVersion: "taintlab/v1", kind: "Scenario", objects, steps, until };
    return taintlab.Simulator.fromScenario(scenario).simulator;
  };
  const [one, other] = [of("20s", "1s"), of("90s", "70s")];
  const snapshot = other.snapshot();
  one.runToEnd();
  assert.equal(one.now, 20_000);
  one.restore(snapshot);
  assert.equal(one.now, 0);
  assert.equal(one.runToEnd().ok, true);
  assert.equal(one.now, 90_000);
  assert.ok(one.events().some(({ at }) => at === 70_000));
  for (const it of [one, other, snapshot]) it.free();
});

test("lanes, as data and as a picture, are the same however time passes", () => {
  const of = (drive) => {
    const s = simulator([node("a"), pod("p", "a", [tolerating(90)])]);
    assert.equal(s.lanes(), undefined);
    assert.equal(s.timelineSvg(), undefined);
    s.recordLanes();
    s.command({ taint: { node: "a", taint: MAINTENANCE } }, 1_000);
    drive(s);
    const { lanes } = s.lanes();
    const svg = s.timelineSvg({ title: "A & B", id: "x", at: "10s" });
    s.free();
    return { lanes, svg };
  };
  const once = of((s) => s.advanceTo("10m"));
  const { segments } = once.lanes.find(({ subject }) => subject.pod === "default/p");
  assert.deepEqual(
    segments.map(({ state, from, to }) => [state, from, to]),
    [
      ["ready", 0, 1_000],
      ["counting", 1_000, 91_000],
      ["terminating", 91_000, 121_000],
    ],
  );
  assert.match(segments[1].cause.text, /^node a /);
  assert.match(once.svg, /^<svg xmlns.*<title id="xt">A &amp; B<\/title>.*class="at".*<\/svg>$/s);
  const stepwise = of((s) => {
    while (s.nextDeadline()?.at <= 600_000) s.advanceToNext();
    s.advanceTo("10m");
  });
  const predicate = of((s) => {
    s.runUntil(() => false, { until: "5m" });
    s.advanceTo("10m");
  });
  assert.deepEqual(stepwise, once);
  assert.deepEqual(predicate, once);
});

test("the timeline of a scenario", () => {
  const scenario = {
    apiVersion: "taintlab/v1",
    kind: "Scenario",
    metadata: { title: "A node is tainted" },
    objects: { nodes: [node("a")], pods: [pod("p", "a")] },
    steps: [{ at: "10s", do: { taint: { node: "a", taint: MAINTENANCE } } }],
  };
  const { ok, svg, lanes } = taintlab.timelineSvg(scenario);
  assert.equal(ok, true);
  assert.match(svg, /<title id="t">A node is tainted<\/title>/);
  assert.deepEqual(
    lanes.lanes.map(({ subject }) => subject.type),
    ["zone", "node", "pod"].slice(-lanes.lanes.length),
  );
  assert.equal(taintlab.timelineSvg("kind: Scenario").ok, false);
  assert.throws(() => taintlab.timelineSvg(scenario, {}, { colour: "red" }), TypeError);
});

test("views: nodes, pods, zones, kubelets, explanations", () => {
  const s = simulator([node("a"), node("b"), pod("p", "a", [tolerating(90)]), pod("q", "b")]);
  s.advanceTo("1m");
  assert.deepEqual(
    s.nodes().map(({ metadata }) => metadata.name),
    ["a", "b"],
  );
  assert.deepEqual(
    s.pods({ node: "b" }).map(({ metadata }) => metadata.name),
    ["q"],
  );
  assert.equal(s.zones()[0].ready, 2);
  assert.equal(s.node("a").kubeletRuns, true);
  assert.equal(s.node("c"), undefined);
  assert.equal(s.explain("default/p").matching.verdict.type, "noNoExecuteTaints");
  assert.equal(s.explain("default/z"), undefined);
  s.command({ stopKubelet: { node: "a" } });
  assert.equal(s.timeBudget("default/p").over, false, "a forecast");
  assert.equal(s.timeBudget("default/q"), undefined);
  s.free();
});

test("kubectl, and what it did", () => {
  const s = simulator([node("a"), pod("p", "a", [tolerating(90)])]);
  const answer = s.kubectl(`kubectl taint nodes a ${MAINTENANCE.key}:NoExecute`, "30s");
  assert.equal(answer.stdout, "node/a tainted\n");
  assert.equal(answer.exitCode, 0);
  assert.equal(answer.commands.length, 1);
  s.advanceTo("2m1s");
  assert.match(s.kubectl("get events").stdout, /TaintManagerEviction/);
  const wrong = s.kubectl("taint nodes b x:NoExecute");
  assert.deepEqual([wrong.ok, wrong.exitCode], [true, 1]);
  assert.match(wrong.stderr, /nodes "b" not found/);
  s.free();
});

test("workloads are seen, and how they fare", () => {
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: {} },
    },
  };
  const s = simulator([node("a"), deployment]);
  s.advanceTo("1m");
  const view = s.workloads().find(({ workload }) => workload === "deployment/default/web");
  assert.equal(view.desired, 2);
  assert.equal("owner" in view, false);
  const [set] = s.workloads().filter(({ owner }) => owner === "deployment/default/web");
  assert.equal(set.workload.startsWith("replicaset/default/web-"), true);
  const ready = s
    .workloads()
    .filter(({ owner }) => owner === undefined)
    .map((one) => one.ready);
  assert.deepEqual(ready, [2], "the pods of the ReplicaSet are those of the Deployment");
  assert.ok(s.availability("deployment/web").steps.length > 0);
  assert.equal(s.availability("deployment/other"), undefined);
  s.free();
});

test("volumes are seen: claims, classes, and where they are attached", () => {
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "v" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "10Gi" },
      claimRef: { namespace: "default", name: "c" },
      csi: { driver: "disk", volumeHandle: "v" },
    },
  };
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "c", namespace: "default" },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", volumeName: "v" },
    status: { phase: "Bound" },
  };
  const db = pod("db", "a");
  db.spec.volumes = [{ name: "data", persistentVolumeClaim: { claimName: "c" } }];
  const s = simulator([node("a"), node("b"), db, volume, claim], { controlPlane: true });
  s.advanceTo("1m");
  const { volumes, claims, classes, attachments } = s.storage();
  assert.deepEqual(
    volumes.map(({ volume, phase, claim, capacity }) => [volume, phase, claim, capacity]),
    [["v", "Bound", "default/c", "10Gi"]],
  );
  assert.deepEqual([claims[0].volume, claims[0].pods], ["v", ["default/db"]]);
  assert.deepEqual(classes, []);
  assert.deepEqual(
    attachments.map(({ node, mounted, pods }) => [node, mounted, pods]),
    [["a", true, ["default/db"]]],
  );
  s.command({ stopKubelet: { node: "a" } }, "1m");
  s.command({ deletePod: { pod: "db", force: true } }, "2m");
  s.advanceTo("3m");
  assert.equal(s.storage().attachments[0].forcedDetachAt, 480_000);
  s.free();
  const without = simulator([node("a")]);
  assert.equal(without.storage(), undefined);
  without.free();
});

test("a Job that waits says when it goes on", () => {
  const job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "sum", namespace: "default" },
    spec: { template: { metadata: {}, spec: { restartPolicy: "Never" } } },
  };
  const s = simulator([node("a"), job]);
  s.advanceTo("1m");
  const retry = () => s.workloads().find(({ workload }) => workload === "job/default/sum").job.nextRetry;
  assert.equal(retry(), undefined);
  s.command({ deletePod: { pod: s.workloads()[0].pods[0] } }, "1m");
  s.advanceTo("1m1s");
  assert.equal(retry(), 70_000);
  s.free();
});

test("lint says what is the matter, why, and what to do", () => {
  const answer = taintlab.lint([
    node("a"),
    pod("p", "a", [{ key: "nonsense", operator: "Exists" }]),
  ]);
  assert.equal(answer.ok, true);
  const found = answer.warnings.find(({ code }) => code === "toleration-matches-nothing");
  assert.equal(found.field, "spec.tolerations[0].key");
  assert.ok(found.message && found.explanation);
  const s = simulator([node("a"), pod("p", "a")]);
  assert.ok(s.lint().some(({ code }) => code === "bare-pod-lost"));
  s.free();
});

test("a scenario's steps happen as time passes, and testScenario judges", () => {
  const scenario = {
    apiVersion: "taintlab/v1",
    kind: "Scenario",
    objects: { nodes: [node("a")], pods: [pod("p", "a")] },
    steps: [{ at: "10s", do: { taint: { node: "a", taint: MAINTENANCE } } }],
    expect: [
      { evicted: { pod: "default/p", at: "10s" } },
      { evicted: { pod: "default/p", at: "11s" } },
    ],
  };
  const { simulator: s } = taintlab.Simulator.fromScenario(scenario);
  assert.equal(s.nextDeadline().reason.type === "scenarioStep" || s.nextDeadline().at === 0, true);
  assert.equal(s.runToEnd().ok, true);
  assert.ok(s.events().some(({ type, at }) => type === "podDeleted" && at === 40_000));
  s.free();
  const report = taintlab.testScenario(scenario, { file: "s.yaml" });
  assert.deepEqual(
    report.outcomes.map(({ passed }) => passed),
    [true, false],
  );
  assert.equal(report.passed, false);
  const { code, path, file } = report.outcomes[1].failure;
  assert.deepEqual([code, path, file], ["expectationNotMet", "expect[1]", "s.yaml"]);
});

test("what a user gets wrong comes back", () => {
  const s = simulator([node("a")]);
  const code = (answer) => (answer.ok ? "ok" : answer.errors[0].code);
  s.advanceTo(5_000);
  assert.equal(code(s.advanceTo(4_999)), "timeWentBack");
  assert.equal(code(s.command({ deleteNode: { node: "z" } })), "nodeNotFound");
  assert.equal(code(s.advanceTo("soon")), "invalidDuration");
  assert.equal(s.now, 5_000, "nothing has changed");
  const wrong = { featureGates: { Nonsense: true } };
  const made = taintlab.Simulator.fromManifests([node("a")], wrong);
  assert.deepEqual([code(made), made.errors[0].path], ["invalidConfiguration", "featureGates"]);
  assert.equal(code(taintlab.Simulator.fromManifests("kind: [")), "invalidManifest");
  assert.equal(code(taintlab.Simulator.fromScenario("a: b")), "invalidScenario");
  s.free();
});

test("a wrong call throws a TypeError that says what was expected", () => {
  const s = simulator([node("a")]);
  const circle = {};
  circle.metadata = circle;
  const cases = [
    [() => taintlab.matchTolerations("x", []), "taints: expected an array, found the string `x`"],
    [
      () => taintlab.matchTolerations([{ key: 5 }], []),
      "taints[0].key: expected a string, found the number `5`",
    ],
    [() => taintlab.matchTolerations([], [], { release: "1.99" }), `use 1.18 to ${taintlab.releases().at(-1)}`],
    [() => taintlab.parseTaint(), "text: expected a string, found nothing"],
    [() => taintlab.durationText("5m"), "expected a finite number of milliseconds, found the string"],
    [() => taintlab.durationText(Infinity), "milliseconds, found the number `Infinity`"],
    [
      () => taintlab.Simulator.fromManifests(5),
      "manifests: expected an object or an array, found the number `5`",
    ],
    [() => s.advanceTo(-1), "at: expected milliseconds since the start"],
    [() => s.advanceTo(NaN), "at: expected milliseconds since the start"],
    [
      () => taintlab.whenEvicted({}, {}, new Date(0)),
      "options: expected an object, found an object that JSON writes as the string `1970-01-01T",
    ],
    [() => taintlab.whenEvicted({}, {}, new Date(NaN)), "an object that JSON writes as `null`"],
    [() => taintlab.whenEvicted(circle, {}), "pod: there is an object that contains itself"],
    [() => taintlab.schedule({}, [circle]), "nodes: there is an object that contains itself"],
    [() => taintlab.schedule({ spec: { priority: 1n } }, []), "pod: there is a BigInt"],
    [() => s.command({ explode: {} }), "command"],
    [() => s.events({ limit: "all" }), "options.limit"],
    [() => s.timeBudget("a/b/c"), "write `namespace/name`"],
  ];
  for (const [call, message] of cases) {
    assert.throws(call, (error) => {
      assert.ok(error instanceof TypeError, `${error}`);
      assert.ok(error.message.includes(message), error.message);
      return true;
    });
  }
  s.free();
});

test("errors about values say nothing of YAML", () => {
  const { schedule } = taintlab;
  for (const [spec, message] of [
    [{ tolerations: { key: "a" } }, "expected an array, found an object with `key`"],
    [{ tolerations: ["a"] }, 'expected an object, found the string "a"'],
    [{ tolerations: [{ key: 5 }] }, "key: expected a string, found the number `5`"],
    [{ tolerations: [{ tolerationSeconds: "5" }] }, 'expected an integer, found the string "5"'],
    [{ tolerations: [[]] }, "expected an object, found an array"],
  ]) {
    assert.throws(
      () => schedule({ spec }, []),
      (error) => error instanceof TypeError && error.message.endsWith(message),
      message,
    );
  }
});

test("memory is given back: by free, and by using", () => {
  const s = simulator([node("a")]);
  assert.equal(typeof s[Symbol.dispose ?? "free"], "function");
  s.free();
  assert.throws(() => s.now, "a freed simulator cannot be called");
});

test("batches hold as many events as wanted", () => {
  const s = simulator(Array.from({ length: 20 }, (_, i) => node(`n${i}`)));
  for (let i = 0; i < 20; i++) {
    s.command({ taint: { node: `n${i}`, taint: MAINTENANCE } });
  }
  s.advanceTo("1m");
  const all = [];
  for (;;) {
    const batch = s.events({ limit: 7, text: true });
    if (batch.length === 0) break;
    assert.ok(batch.length <= 7);
    all.push(...batch);
  }
  assert.ok(all.length > 20);
  assert.ok(all.every(({ text }) => text.length > 0));
  s.free();
});

test("the text of a decision says what was decided, as the page and text scenarios do", () => {
  const s = simulator([node("a"), pod("stays", "a", [tolerating(90)]), pod("leaves", "a")]);
  s.command({ taint: { node: "a", taint: MAINTENANCE } }, "10s");
  s.advanceTo("11s");
  const decided = s.events({ text: true }).filter(({ type }) => type === "decided");
  const of = (name) =>
    decided
      .filter(({ pod }) => pod === `default/${name}`)
      .map(({ text }) => text)
      .join();
  assert.match(of("stays"), /deletion scheduled for 1m40s/);
  assert.match(of("leaves"), /does not tolerate/);
  s.free();
});

test("names and numbers that JavaScript knows too are as they are in JSON", () => {
  const text = JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data: { x: "y" },
  }).replace('"x"', '"__proto__"');
  const { others } = taintlab.parseManifests(text, { keepAll: true });
  assert.deepEqual(Object.entries(others[0].data), [["__proto__", "y"]]);
  const options = JSON.parse('{ "__proto__": { "text": true } }');
  const s = simulator([node("a"), pod("p", "a")]);
  assert.throws(() => s.events(options), /options\.__proto__: there is no field `__proto__` here/);
  s.free();
  // Beyond what JavaScript counts exactly, the nearest number.
  const most = "9223372036854775807";
  const manifests = JSON.stringify([node("a"), pod("p", "a", [tolerating(1)])]);
  const { simulator: forever } = taintlab.Simulator.fromManifests(
    manifests.replace('"tolerationSeconds":1', `"tolerationSeconds":${most}`),
  );
  const [toleration] = forever.explain("default/p").matching.tolerations;
  assert.equal(toleration.tolerationSeconds, Number(most));
  forever.free();
});

test("a command in an answer can be given as it is: durations are texts, as they are declared", () => {
  const scenario = {
    apiVersion: "taintlab/v1",
    kind: "Scenario",
    kubernetes: { nodeLifecycle: true },
    objects: { nodes: [node("a")] },
    steps: [{ at: "10s", do: { flapKubelet: { node: "a", down: "5m", up: "1500ms", times: 1 } } }],
  };
  const { simulator: s } = taintlab.Simulator.fromScenario(scenario);
  s.advanceTo("9.9s");
  const { at, reason } = s.nextDeadline();
  assert.deepEqual([at, reason.type], [10_000, "scenarioStep"]);
  assert.deepEqual(reason.command.flapKubelet, { node: "a", down: "5m0s", up: "1.5s", times: 1 });
  assert.equal(s.command(reason.command).ok, true);
  s.free();
});

test("a scenario keeps what may be secret if it is told to, and says what it has left out", () => {
  const container = { name: "web", env: [{ name: "PASSWORD", value: "hunter2" }] };
  const secret = { ...pod("p", "a"), spec: { nodeName: "a", containers: [container] } };
  const scenario = {
    apiVersion: "taintlab/v1",
    kind: "Scenario",
    objects: { nodes: [node("a")], pods: [secret] },
  };
  for (const keepAll of [false, true]) {
    const made = taintlab.Simulator.fromScenario(scenario, { keepAll });
    const { env } = made.simulator.pods()[0].spec.containers[0];
    assert.equal(env?.[0]?.value, keepAll ? "hunter2" : undefined);
    assert.equal(made.imported.dropped, keepAll ? undefined : "1 field");
    made.simulator.free();
  }
});

test("events say who would see them in a cluster, if they are asked for in words", () => {
  const s = simulator([node("a"), pod("p", "a")]);
  s.command({ taint: { node: "a", taint: MAINTENANCE } });
  s.runToEnd();
  const events = s.events({ text: true });
  const seen = (wanted) =>
    new Set(events.filter((e) => e.visibility === wanted).map((e) => e.reason ?? e.type));
  assert.ok(seen("notable").has("TaintManagerEviction") && seen("notable").has("podDeleted"));
  assert.ok(seen("routine").has("RegisteredNode"));
  assert.ok(seen("internal").has("request") && !seen("internal").has("podDeleted"));
  assert.ok(events.every((event) => event.visibility !== undefined));
  s.free();
  const bare = simulator([node("a")]);
  bare.advanceTo("1s");
  assert.equal(bare.events()[0].visibility, undefined);
  bare.free();
});

test("numbers of 32 bits are those that the flag has", () => {
  const s = simulator([node("a")]);
  s.advanceTo("10s");
  const [zone] = s.zones();
  assert.deepEqual([zone.unhealthyZoneThreshold, zone.qps], [0.55, 0.1]);
  s.free();
});
