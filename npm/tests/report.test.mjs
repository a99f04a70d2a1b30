// The resilience report: `npx taintlab report` and `taintlab/report`.
//
// Environment: TAINTLAB_BINARY, the native command.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

import { FLAGS } from "../../tests/e2e/support/flags.mjs";
import { nativeReport } from "../../tests/native.mjs";
import { ROOT, execute, install, project, succeed } from "./support.mjs";

let folder;
let cluster;
before(async () => {
  folder = await install();
  const node = (name) => `{apiVersion: v1, kind: Node,
 metadata: {name: ${name}, labels: {kubernetes.io/hostname: ${name}}},
 status: {allocatable: {cpu: "1", pods: "10"}}}
---
`;
  const text = `${node("a")}${node("b")}apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 300m}}}]}
`;
  cluster = join(project(folder, "report", { "cluster.yaml": text }), "cluster.yaml");
});

const program = () => join(folder, "node_modules/.bin/taintlab");
const taintlab = (...args) => execute(program(), ["report", ...args], { cwd: folder });

test("a table of workloads, findings and what would help; no bar without a terminal", async () => {
  const { stdout, stderr, code } = await taintlab(cluster);
  assert.equal(code, 0, stderr);
  // Which cluster, which release, which version; what survives what; then the score.
  const [first, second, third, fourth] = stdout.split("\n");
  assert.match(first, /^Cluster [0-9a-f]{16}.*: 2 nodes, 2 pods, Kubernetes 1\.\d+, Taintlab \d/);
  assert.match(second, /^Losing any one node is survived by the only workload\.$/);
  assert.equal(third, "Score 97 of 100  the score of the only workload");
  assert.equal(fourth, "2 failure domains, 2 runs, each watched for 1h0m0s");
  assert.match(stdout, /^harm: /m);
  // Nodes that hurt in the same way are one row.
  assert.match(stdout, /^NODES +WORKLOADS HARMED +NO READY POD +NEVER WHOLE AGAIN +HARM$/m);
  assert.match(stdout, /^2 nodes like \w lost +1 +0 +0 +\dm/m);
  assert.match(stdout, /97 +deployment\/shop\/web +node a lost +1\/2 +5m2(\.\d)?s +0s +\dm\d+\.\ds\n/);
  assert.match(stdout, /tolerationSeconds 0 for deployment\/shop\/web: 1\/2 ready at least/);
  assert.match(stdout, /unnecessary evictions, by outage \(30s, 1m0s, 2m0s, 5m0s, 10m0s\)/);
  // Tenths of a second, never milliseconds.
  assert.doesNotMatch(stdout, /\d\.\d\d+s/);
  assert.doesNotMatch(stdout + stderr, /[\x1b█\r]/);
});

test("parts are the whole, byte for byte, and so are any number of threads", async () => {
  const whole = (await taintlab(cluster, "--json", "--seeds", "2")).stdout;
  assert.equal(JSON.parse(whole).runsMade, 4);
  for (const workers of ["0", "1", "3"]) {
    const other = await taintlab(cluster, "--json", "--seeds", "2", "--workers", workers);
    assert.equal(other.stdout, whole, `${workers} workers`);
  }
  const parts = [];
  for (const shard of ["3/3", "1/3", "2/3"]) {
    const { stdout, code } = await taintlab(cluster, "--seeds", "2", "--shard", shard);
    assert.equal(code, 0);
    parts.push(join(folder, `part-${shard[0]}.json`));
    writeFileSync(parts.at(-1), stdout);
  }
  const merged = await taintlab("merge", ...parts, "--cluster", cluster, "--json");
  assert.equal(merged.stdout, whole);
  // Without the cluster nobody can compute what would help.
  const bare = JSON.parse((await taintlab("merge", ...parts, "--json")).stdout);
  assert.deepEqual(bare.cells, JSON.parse(whole).cells);
  assert.ok(bare.findings.every(({ effects }) => effects === undefined));
  const one = await taintlab("merge", parts[0], parts[1], "--json", "--fail-if", "below > 10h");
  const missing = JSON.parse(one.stdout);
  assert.ok(missing.runsMade < missing.runsPlanned);
  assert.deepEqual([one.code, missing.score, missing.verdict], [1, undefined, undefined]);
  assert.match(one.stderr, /^failed: no score: part 2 of 3 is missing$/m);
  assert.match(one.stderr, /^failed: no score: only \d of 4 runs were made$/m);
  const junit = await taintlab("merge", parts[0], parts[1], "--junit");
  assert.equal(junit.code, 1);
  assert.match(junit.stdout, /<failure message="no score: part 2 of 3 is missing">/);
  // A part that was interrupted is one that is missing in part.
  const broken = join(folder, "interrupted.json");
  const first = JSON.parse(readFileSync(parts[0], "utf8"));
  writeFileSync(broken, JSON.stringify({ ...first, interrupted: true, results: [] }));
  const interrupted = await taintlab("merge", broken, ...parts.slice(1), "--junit");
  assert.equal(interrupted.code, 1);
  const said = /no score: \S*interrupted\.json: this part was interrupted/;
  assert.match(interrupted.stderr, said);
  assert.match(interrupted.stdout, said);
  assert.match(interrupted.stderr, /^failed: no score: only \d of 4 runs were made$/m);
  const damaged = join(folder, "damaged.json");
  const text = JSON.parse(readFileSync(parts[0], "utf8"));
  for (const broken of [{ results: [{}] }, { outline: {} }, { results: [{ run: 7 }] }]) {
    writeFileSync(damaged, JSON.stringify({ ...text, ...broken }));
    const { stderr, stdout, code } = await taintlab("merge", damaged);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /damaged\.json: error: this part of a report is damaged: .{10,200}\n$/);
    assert.doesNotMatch(stderr, /\n.*\n|node\.cjs|at .*\.js/);
  }
  const other = join(folder, "other.json");
  const part = JSON.parse(readFileSync(parts[0], "utf8"));
  writeFileSync(other, JSON.stringify({ ...part, outline: { ...part.outline, pods: 9 } }));
  const refused = await taintlab("merge", parts[0], other);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /other\.json: error: it was made of another cluster/);
});

test("--fail-if ends with 1 and says where", async () => {
  const rule = (...rules) => taintlab(cluster, ...rules.flatMap((text) => ["--fail-if", text]));
  assert.equal((await rule("deployment/shop/web: zeroReady > 60s")).code, 0);
  const { code, stderr } = await rule("deployment/shop/*: below > 5m", "score < 50");
  assert.equal(code, 1);
  assert.match(stderr, /failed: .*: deployment\/shop\/web: 5m2(\.\d)?s \(node a lost\)/);
  assert.doesNotMatch(stderr, /score < 50/);
  const nobody = await rule("deployment/shop/wbe: below > 5m");
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /there is no such workload/);
  for (const [text, said] of [
    ["below", /is no rule; write `deployment\/shop\/web: zeroReady > 60s`/],
    ["belwo > 5m", /there is no figure `belwo`/],
    ["below > 5", /expected a duration such as 60s, found `5`/],
  ]) {
    const wrong = await rule(text);
    assert.equal(wrong.code, 2, text);
    assert.match(wrong.stderr, said);
  }
});

test("--junit, --markdown and --html", async () => {
  const junit = await taintlab(cluster, "--junit", "--fail-if", "below > 5m");
  assert.match(junit.stdout, /<testsuite name="taintlab report" tests="1" failures="1">/);
  for (const name of ["report", "digest", "release", "taintlab", "verdict", "score"]) {
    assert.match(junit.stdout, new RegExp(`<property name="${name}" value="[^"]+"/>`), name);
  }
  assert.match(junit.stdout, /name="deployment\/shop\/web"><failure message="below &gt; 5m: /);
  const page = join(folder, "report.html");
  const { stdout } = await taintlab(cluster, "--markdown", "--html", page);
  assert.match(stdout, /^## Resilience: 97 of 100\n\nCluster [0-9a-f]{16}.*Taintlab \d/);
  assert.match(stdout, /\n\*\*Losing any one node .*\*\*\n/);
  assert.match(stdout, /\n### Nodes\n\n\| Failure \|/);
  assert.match(stdout, /```yaml\n +apiVersion: apps\/v1\n/);
  const html = readFileSync(page, "utf8");
  assert.match(html, /<h1>Resilience: 97 of 100<\/h1>\n<p>Cluster [0-9a-f]{16}.*Taintlab \d/);
  assert.match(html, /<table class="map">.*2 nodes like \w lost/s);
  assert.match(html, /<p><strong>Losing any one node .*<\/strong>/);
  assert.match(html, /<svg /);
  // One file that asks nobody for anything.
  assert.doesNotMatch(html, /<(link|img|iframe)|src=|@import|url\(["']?http/);
  // Of several seeds the heat map has the shortest time, the median and the 95th percentile.
  const time = "\\d+m[\\d.]+s";
  const spread = `${time} / ${time} / ${time}`;
  await taintlab(cluster, "--seeds", "5", "--remedies", "0", "--html", page);
  const cells = readFileSync(page, "utf8").match(/<td class="h[ "].*?<\/td>/g);
  assert.ok(cells.some((cell) => new RegExp(`>${spread}</td>$`).test(cell)), cells.join("\n"));
  assert.ok(cells.some((cell) => cell.includes("below for 5m") && cell.includes(" / ")));
});

test("the JSON begins with the cluster, and the page fits a phone", async () => {
  const { stdout } = await taintlab(cluster, "--json", "--remedies", "0");
  assert.match(stdout, /^\{"heading":"Cluster [0-9a-f]{16}.*?: 2 nodes, 2 pods, Kubernetes 1\.\d+, /);
  const page = join(folder, "phone.html");
  await taintlab(join(ROOT, "examples/sample-cluster.yaml"), "--html", page);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  try {
    const phone = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await phone.goto(pathToFileURL(page).href);
    const width = () => phone.evaluate(() => document.documentElement.scrollWidth);
    assert.ok((await width()) <= 390, `${await width()} pixels`);
    for (const details of await phone.locator("details").all()) {
      await details.evaluate((it) => (it.open = true));
    }
    assert.ok((await width()) <= 390, `${await width()} pixels`);
    // A table is sorted by what its column says.
    const scores = () => phone.locator("table:not(.map) td:first-child").allInnerTexts();
    const before = (await scores()).map(Number).filter((score) => !Number.isNaN(score));
    assert.deepEqual(before, [...before].sort((a, b) => a - b));
  } finally {
    await browser.close();
  }
});

test("what is no cluster, or has nothing to lose, passes no gate", async () => {
  const node = "{apiVersion: v1, kind: Node, metadata: {name: a}}\n";
  const files = {
    "typo.yaml": node.replace("Node", "Nod"),
    "map.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n",
    "pods.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: b}}\n",
    "nodes.yaml": node,
  };
  const at = project(folder, "report-nothing", files);
  for (const name of Object.keys(files)) {
    const args = [join(at, name), "--fail-if", "below > 1s", "--junit"];
    const { stdout, stderr, code } = await taintlab(...args);
    assert.equal(code, 1, name);
    const why = name === "nodes.yaml" ? "the cluster has no workload" : "the cluster has no node";
    assert.match(stderr, new RegExp(`failed: no score: ${why}`));
    assert.match(stdout, new RegExp(`<failure message="no score: ${why}`));
    assert.doesNotMatch(stdout, /of 100/);
    assert.equal((await taintlab(join(at, name))).code, 1, "without a rule as well");
  }
  // One node is all that can fail, and takes everything with it.
  const text = readFileSync(cluster, "utf8").split("---\n");
  const single = project(folder, "report-one", { "k3s.yaml": [text[0], text[2]].join("---\n") });
  const rules = ["--fail-if", "zeroReady > 1s", "--fail-if", "score < 90"];
  const { stdout, stderr, code } = await taintlab(join(single, "k3s.yaml"), ...rules);
  assert.equal(code, 1);
  assert.match(stdout, /^Losing node a is not survived by web\./m);
  assert.match(stderr, /failed: zeroReady > 1s: deployment\/shop\/web: .* \(node a lost\)/);
});

test("a pool of devices is a failure domain with a name", async () => {
  const gpu = join(ROOT, "examples/gpu-fails.yaml");
  const rule = "wholeAgain > 1m";
  const { stdout, stderr, code } = await taintlab(gpu, "--release", "1.36", "--fail-if", rule);
  assert.equal(code, 1, stderr);
  assert.match(stdout, /^DEVICE POOLS +WORKLOADS HARMED/m);
  const pool = "device pool gpu.example.com/worker-1 tainted by its driver";
  assert.match(stderr, new RegExp(`failed: ${rule}: pod/default/train: never \\(${pool}\\)`));
  const page = await taintlab(gpu, "--release", "1.36", "--markdown");
  assert.match(page.stdout, /^### Device pools$/m);
});

test("mistakes on the command line", async () => {
  for (const [args, said] of [
    [[], /report: which file\?/],
    [[cluster, "--shard", "4/3"], /--shard: expected a part such as 3\/16, found `4\/3`/],
    [[cluster, "--shard", "1/3", "--markdown"], /--shard prints a part as JSON/],
    [[cluster, "--json", "--junit"], /--json and --junit cannot be used together/],
    [[cluster, "--fault", "fire"], /--fault: expected one of lost, .*found `fire`/],
    [[cluster, "--domains", "rack"], /--domains: expected node, zone, region or device-pool/],
    [[cluster, "--label", "rack"], /labels: no node has the label `rack`/],
    [[cluster, "--after", "soon"], /--after: .*write for example `1m30s`/],
    [[cluster, "--horizon", "soon"], /--horizon: .*write for example `1m30s`/],
    [[cluster, "--fault", "power-off=soon"], /--fault power-off: .*write for example `1m30s`/],
    [[cluster, "--seeds", "0"], /--seeds: expected a whole number from 1 on, found `0`/],
    [[cluster, "--pairs", "nodes"], /--pairs: expected one of node, zone, .*, found `nodes`/],
  ]) {
    const { code, stderr } = await taintlab(...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, said);
  }
});

test("Ctrl+C keeps the runs that are finished", async () => {
  const args = ["report", cluster, "--json", "--seeds", "1000", "--workers", "1"];
  // The launcher leaves Ctrl+C to the program, which a terminal tells as well.
  const child = spawn(process.env.TAINTLAB_BINARY, args, { cwd: folder });
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => (out += data));
  child.stderr.on("data", (data) => {
    // It says which release it simulates when the cluster is settled.
    err += data;
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  const { report } = await import(
    pathToFileURL(join(folder, "node_modules/taintlab/report/index.js"))
  );
  // As long as the same takes here for some runs, the child makes some as well.
  await report(readFileSync(cluster, "utf8"), { seeds: 20, workers: 1 });
  child.kill("SIGINT");
  assert.equal(await ended, 1);
  const { runsMade, runsPlanned, score } = JSON.parse(out);
  assert.ok(runsMade < runsPlanned, `${runsMade}`);
  assert.equal(score, undefined);
  assert.match(err, /^failed: no score: it was interrupted$/m);
  assert.match(err, new RegExp(`failed: no score: only ${runsMade} of 2000 runs were made`));
});

test("report() tells how far it is, and is aborted by its signal", async () => {
  const main = `
import { report } from "taintlab/report";
import { readFileSync } from "node:fs";
const text = readFileSync(${JSON.stringify(cluster)}, "utf8");
const seen = [];
const answer = await report(text, { workers: 2, onProgress: (p) => seen.push(p) });
console.log(answer.ok, answer.score.score, seen.at(-1).done === seen.at(-1).planned);
const controller = new AbortController();
const broken = report(text, { seeds: 1000, signal: controller.signal,
  onProgress: ({ done }) => done > 2 && controller.abort(new Error("enough")) });
console.log(await broken.catch((error) => error.message));
const wrong = await report("kind: [", {});
console.log(wrong.ok, wrong.errors.length > 0);
console.log((await report("kind: [", null)).ok);
`;
  const at = project(folder, "report-api", { "main.mjs": main });
  const printed = await succeed("node", [join(at, "main.mjs")]);
  assert.equal(printed, "true 97 true\nenough\nfalse true\nfalse\n");
});

test("options of report() that are something else are a TypeError that says what was expected", async () => {
  const main = `
import { report, runs } from "taintlab/report";
for (const options of [5, [], { signal: 5 }, { onProgress: 5 }, { workers: -1 }, { workers: NaN },
  { workers: "2" }, { isScenario: "yes" }, { parts: [{}] }])
  await report("", options).catch((error) => console.log(String(error)));
await runs("", { shard: [3, 2] }).catch((error) => console.log(String(error)));
`;
  const at = project(folder, "report-wrong", { "main.mjs": main });
  const printed = await succeed("node", [join(at, "main.mjs")]);
  assert.deepEqual(printed.trim().split("\n"), [
    "TypeError: options: expected an object, found the number `5`",
    "TypeError: options: expected an object, found a value of type array",
    "TypeError: options.signal: expected an AbortSignal, found the number `5`",
    "TypeError: options.onProgress: expected a function, found the number `5`",
    "TypeError: options.workers: expected a whole number, 0 or more, found the number `-1`",
    "TypeError: options.workers: expected a whole number, 0 or more, found the number `NaN`",
    "TypeError: options.workers: expected a whole number, 0 or more, found the string `2`",
    "TypeError: options.isScenario: expected true or false, found the string `yes`",
    "TypeError: options.parts: expected parts of a report, found a value of type array",
    "TypeError: options.shard: expected [index, count] with 1 <= index <= count, found a value of type array",
  ]);
});

test("plugins for sites take no options that they do not have", async () => {
  const main = `
import remark from "taintlab/remark";
import markdownIt from "taintlab/markdown-it";
remark(null)({}, {});
const said = (make) => { try { make(); } catch (error) { console.log(String(error)); } };
said(() => remark({ exmples: "a" }));
said(() => remark({ mdx: "yes" }));
said(() => markdownIt({ renderer: { rules: {} } }, { mdx: true }));
`;
  const at = project(folder, "plugins-wrong", { "main.mjs": main });
  const printed = await succeed("node", [join(at, "main.mjs")]);
  assert.deepEqual(printed.trim().split("\n"), [
    "TypeError: taintlab: there is no option `exmples`; there are `examples`, `playground`, `mdx`",
    "TypeError: taintlab: mdx: expected a boolean, found a string",
    "TypeError: taintlab: there is no option `mdx`; there are `examples`, `playground`, `vue`",
  ]);
});

test("a scenario is a cluster as well", async () => {
  const { stdout, code } = await taintlab(join(ROOT, "examples/sample-cluster.yaml"), "--json");
  assert.equal(code, 0);
  const { outline, runsMade } = JSON.parse(stdout);
  const kinds = outline.domains.map(({ kind }) => kind);
  assert.deepEqual([...new Set(kinds)], ["node", "zone", "region"]);
  const shared = outline.domains.filter(({ sameNodesAs }) => sameNodesAs !== undefined);
  assert.equal(runsMade, kinds.length - shared.length);
});

test("--after asks about a later moment of a scenario", async () => {
  const scenario = join(ROOT, "examples/service-in-an-outage.yaml");
  const args = [scenario, "--json", "--remedies", "0"];
  const { outline, cells } = JSON.parse((await taintlab(...args, "--after", "2m")).stdout);
  assert.equal(outline.options.after, "2m0s");
  assert.ok(outline.faultAt >= 120_000, `${outline.faultAt}`);
  const before = JSON.parse((await taintlab(...args)).stdout);
  assert.ok(before.outline.faultAt < 120_000, `${before.outline.faultAt}`);
  assert.notDeepEqual(cells, before.cells, "the outage until then counts");
});

for (const name of ["sample-cluster", "recovery-storm", "service-in-an-outage"]) {
  test(`${name}: the same report as natively`, async () => {
    const scenario = join(ROOT, "examples", `${name}.yaml`);
    const { stdout, stderr, code } = await taintlab(scenario, "--json");
    assert.equal(code, 0, stderr);
    assert.equal(JSON.stringify(JSON.parse(stdout)), nativeReport(name));
  });
}

test("the report that the book shows is that of the sample cluster", async () => {
  const book = readFileSync(join(ROOT, "docs/book/src/how-to/report-resilience.md"), "utf8");
  const [, shown] = /^```text report\n(.*?)^```$/ms.exec(book);
  const sample = join(ROOT, "examples/sample-cluster.yaml");
  const { stdout } = await taintlab(sample, "--domains", "node,zone");
  // With `…` for what is left out between two parts.
  let from = 0;
  for (const part of shown.split("…\n")) {
    const place = stdout.indexOf(part, from);
    assert.ok(place >= from, `not in the report, or not there:\n${part}\n${stdout}`);
    from = place + part.length;
  }
});
