// The command `npx taintlab`, from the installed package: a native program behind a launcher.
//
// Environment: TAINTLAB_BINARY, the program; unless given, that of the installed package of this
// platform.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { inflateRawSync } from "node:zlib";

import { EXAMPLES, ROOT, execute, install, project } from "./support.mjs";

let folder;
before(async () => {
  folder = await install();
});

const taintlab = (...args) =>
  execute(join(folder, "node_modules/.bin/taintlab"), args, { cwd: folder });

const CLUSTER = `apiVersion: v1
kind: Node
metadata: {name: worker-1}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: default}
spec:
  nodeName: worker-1
  tolerations:
  - {key: example.com/maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 90}
`;
const TAINT = JSON.stringify({
  taint: { node: "worker-1", taint: { key: "example.com/maintenance", effect: "NoExecute" } },
});

test("run prints a table", async () => {
  const at = project(folder, "run", { "cluster.yaml": CLUSTER });
  const { stdout, code } = await taintlab(
    "run",
    join(at, "cluster.yaml"),
    "--command",
    TAINT,
    "--at",
    "30s",
    "--until",
    "5m",
  );
  assert.equal(code, 0);
  assert.match(stdout, /^TIME +OBJECT +REASON +WHAT\n/);
  assert.match(
    stdout,
    /2m0s +default\/web-0 +TaintManagerEviction +.*Marking for deletion Pod default\/web-0/,
  );
  assert.match(stdout, /until 5m0s\n$/);
  assert.doesNotMatch(stdout, /\x1b/, "no colours into a pipe");
});

test("run --svg prints a picture, with what the commands did", async () => {
  const at = project(folder, "run-svg", { "cluster.yaml": CLUSTER });
  const cluster = join(at, "cluster.yaml");
  const { stdout, code } = await taintlab(
    "run",
    cluster,
    "--command",
    TAINT,
    "--at",
    "30s",
    "--svg",
  );
  assert.equal(code, 0);
  assert.match(stdout, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg".*<\/svg>\n$/s);
  assert.match(stdout, /tainted from 30s/);
  const both = await taintlab("run", cluster, "--svg", "--json");
  assert.equal(both.code, 2);
  assert.match(both.stderr, /--svg and --json cannot be used together/);
});

test("run --json prints one event a line, in milliseconds", async () => {
  const at = project(folder, "json", { "cluster.yaml": CLUSTER });
  const { stdout, code } = await taintlab(
    "run",
    join(at, "cluster.yaml"),
    "--command",
    TAINT,
    "--json",
  );
  assert.equal(code, 0);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.ok(events.some(({ type, at: time }) => type === "podDeleted" && time === 120_000));
});

test("run takes scenarios, releases and flags", async () => {
  const file = join(ROOT, "examples/why-345-seconds.yaml");
  const { stdout, code } = await taintlab(
    "run",
    file,
    "--flag",
    "node-monitor-grace-period=20s",
    "--release",
    "1.31",
  );
  assert.equal(code, 0);
  assert.match(stdout, /TaintManagerEviction/);
});

test("run --kubectl", async () => {
  const at = project(folder, "kubectl", { "cluster.yaml": CLUSTER });
  const line = "taint node worker-1 example.com/maintenance:NoExecute";
  const file = join(at, "cluster.yaml");
  const { stdout, stderr, code } = await taintlab("run", file, "--kubectl", line, "--at", "30s");
  assert.equal(code, 0);
  assert.equal(stderr, "node/worker-1 tainted\n");
  assert.match(stdout, /2m0s +default\/web-0 +TaintManagerEviction/);
  const wrong = await taintlab("run", file, "--kubectl", "cordon nobody");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /nodes "nobody" not found/);
});

test("run tells errors by file, line and column", async () => {
  const at = project(folder, "wrong", { "wrong.yaml": CLUSTER.replace("90}", "yes}") });
  const file = join(at, "wrong.yaml");
  const { stderr, code } = await taintlab("run", file);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /wrong\.yaml:11:\d+: error: spec\.tolerations\[0\]\.tolerationSeconds: expected/,
  );
  const missing = await taintlab("run", join(at, "nothing.yaml"));
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /nothing\.yaml: error: no such file/);
});

test("test runs every example of the repository", async () => {
  const { stdout, code } = await taintlab("test", ...EXAMPLES);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /\d+ passed, 0 failed\n$/);
});

const FAILING = `apiVersion: taintlab/v1
kind: Scenario
metadata: {title: a <b> & c}
objects:
  nodes:
  - metadata: {name: a}
  pods:
  - metadata: {name: p}
    spec: {nodeName: a}
expect:
- present: {pod: default/p}
- gone: {pod: default/p}
`;

test("test fails with 1 and says where", async () => {
  const at = project(folder, "failing", { "failing.yaml": FAILING });
  const file = join(at, "failing.yaml");
  const { stdout, code } = await taintlab("test", file);
  assert.equal(code, 1);
  assert.match(stdout, /failing\.yaml:12:3: error: expect\[1\]: /);
  const tap = await taintlab("test", file, "--reporter", "tap");
  assert.equal(tap.code, 1);
  assert.match(tap.stdout, /^TAP version 14\n1\.\.2\nok 1 - .*\nnot ok 2 - /);
  const junit = await taintlab("test", file, "--reporter", "junit");
  assert.match(junit.stdout, /<testsuite name=".*failing\.yaml" tests="2" failures="1">/);
  assert.match(junit.stdout, /<\/testsuites>\n$/);
});

test("test reads the files that a scenario names", async () => {
  const scenario =
    FAILING.split("expect:")[0].replace(/objects:[\s\S]*/, "") +
    "objects: {files: [cluster.yaml]}\nexpect:\n- present: {pod: default/web-0}\n";
  const at = project(folder, "beside", { "s.yaml": scenario, "cluster.yaml": CLUSTER });
  const { stdout, stderr, code } = await taintlab("test", join(at, "s.yaml"));
  assert.equal(code, 0, stdout + stderr);
});

test("explain", async () => {
  const { stdout, code } = await taintlab(
    "explain",
    "--taint",
    "a=1:NoExecute",
    "--toleration",
    "a=2:NoExecute",
    "--toleration",
    "a:NoExecute@300",
  );
  assert.equal(code, 0);
  assert.equal(
    stdout,
    `taint 1: a=1:NoExecute: tolerated for a while
  toleration 1 (a Equal 2, NoExecute): does not: another value
  toleration 2 (a Exists, NoExecute, 300 s): tolerates it
a running pod is evicted after 5m0s: toleration 2 limits the time
`,
  );
  const wrong = await taintlab("explain", "--taint", "a=b:c:d");
  assert.equal(wrong.code, 2);
  const said = "error: --taint: invalid taint spec: a=b:c:d; expected KEY[=VALUE]:EFFECT, with one of ";
  assert.ok(wrong.stderr.startsWith(said), wrong.stderr);
});

test("help, version and wrong command lines", async () => {
  for (const args of [
    ["--help"],
    ["help", "run"],
    ["run", "--help"],
    ["test", "-h"],
    ["explain", "-h"],
  ]) {
    const { stdout, code } = await taintlab(...args);
    assert.equal(code, 0);
    assert.match(stdout, /Usage: taintlab/);
  }
  assert.match((await taintlab("--version")).stdout, /^\d+\.\d+\.\d+\n$/);
  for (const args of [
    [],
    ["jump"],
    ["run"],
    ["run", "--nonsense"],
    ["run", "a", "--flag", "x"],
    ["run", "a", "--at", "1s"],
  ]) {
    const { stderr, code } = await taintlab(...args);
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, /error: |Usage: /);
  }
});

test("a wrong value of an option is said of that option, and ends with 2", async () => {
  const at = project(folder, "options", { "cluster.yaml": CLUSTER, "failing.yaml": FAILING });
  const [cluster, scenario] = [join(at, "cluster.yaml"), join(at, "failing.yaml")];
  const cordon = ["--kubectl", "cordon worker-1"];
  const cases = [
    [
      ["run", cluster, "--release", "9"],
      /^error: --release: `9` is not a known Kubernetes release/,
    ],
    [
      ["test", scenario, "--release", "9"],
      /^error: --release: `9` is not a known Kubernetes release/,
    ],
    [
      ["explain", "--taint", "a:NoExecute", "--release", "9"],
      /^error: --release: `9` is not a known/,
    ],
    [["run", cluster, "--until", "soon"], /^error: --until: .*write for example `1m30s`/],
    [["run", cluster, ...cordon, "--at", "soon"], /^error: --at: .*write for example `1m30s`/],
    [
      ["run", cluster, ...cordon, "--at", "2m", ...cordon, "--at", "1m"],
      /error: --at 1m: .*cannot go back/,
    ],
    [["run", cluster, "--flag", "nonsense=1"], /^error: --flag nonsense: unknown flag: --nonsense/],
    [
      ["run", scenario, "--flag", "nonsense=1"],
      /^error: --flag nonsense: unknown flag: --nonsense/,
    ],
    [
      ["run", cluster, "--flag", "node-monitor-grace-period=x"],
      /^error: --flag node-monitor-grace-period: invalid/,
    ],
    [["run", cluster, "--flag", "--until=5m"], /^error: --flag until: unknown flag: --until/],
    [["run", cluster, "--command", '{"bad": 1}'], /^error: --command: bad: `bad` is not a valid value/],
    [
      ["run", cluster, "--command", '{"taint": {"node": 5}}'],
      /^error: --command: taint\.node: expected a string/,
    ],
    [["run", cluster, "--command", "{"], /^error: --command: this is not JSON/],
    [["run", ""], /^error: run: the name of a file is empty/],
    [["run", "-", "-"], /^error: run: standard input, `-`, can be read once only/],
    [["explain", "--taint", "a-"], /^error: --taint: `a-` removes a taint/],
    [
      ["explain", "--taint", "a:NoExecute", "--toleration", '{"key": 5}'],
      /^error: --toleration .*: key: expected a string/,
    ],
    [
      ["explain", "--taint", "a:NoExecute", "--toleration", "a:NoExecute@abc"],
      /^error: --toleration: expected key=value:effect@seconds, or .*, found `a:NoExecute@abc`/,
    ],
    [
      ["explain", "--taint", "a:NoExecute", "--toleration", "a:NoExcute"],
      /^error: --toleration: expected one of NoSchedule, PreferNoSchedule, NoExecute, found/,
    ],
    [["help", "nope"], /^error: unrecognized subcommand 'nope'/],
    [
      ["report", cluster, "--pairs", "nodes"],
      /^error: --pairs: expected one of node, zone, .*, found `nodes`/,
    ],
    [["explain", "--taint", "a:NoExecute", "cluster.yaml"], /^error: explain: it reads no file/],
  ];
  for (const [args, message] of cases) {
    const { stderr, code } = await taintlab(...args);
    assert.equal(code, 2, `${args.join(" ")}\n${stderr}`);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /options\.|(?<!--)\bat:|command\./, args.join(" "));
  }
  const { stderr, code } = await taintlab(
    "run",
    cluster,
    "--command",
    '{"deleteNode": {"node": "z"}}',
  );
  assert.deepEqual([code, stderr], [1, 'error: --command: nodes "z" not found\n']);
});

test("of several files it is said which one is wrong", async () => {
  const node = "apiVersion: v1\nkind: Node\nmetadata: {name: worker-1}\n";
  const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: z}\n";
  const files = { "a.yaml": node, "b.yaml": `${pod}---\n${node}` };
  const at = project(folder, "several", files);
  for (const command of ["run", "report"]) {
    const [a, b] = ["a.yaml", "b.yaml"].map((file) => join(at, file));
    const { stderr, code } = await taintlab(command, a, b);
    assert.equal(code, 1);
    const said = `${b}:6:1: error: metadata.name: duplicate node \`worker-1\`: first in ${a}\n`;
    assert.equal(stderr.split("  help")[0], said);
    assert.doesNotMatch(stderr, /\n +at /);
  }
});

test("what is not foreseen has no stack trace", async () => {
  const part = join(folder, "damaged.json");
  writeFileSync(part, JSON.stringify({ taintlabReportPart: 1, outline: {}, results: [{}] }));
  const { stderr, code } = await taintlab("report", "merge", part);
  assert.equal(code, 1);
  assert.match(stderr, /^\S*damaged\.json: error: this part of a report is damaged: .*\n$/);
  assert.doesNotMatch(stderr, /\n +at |file:\/\//);
});

test("a flag is written as its component writes it, too", async () => {
  const at = project(folder, "flags", { "cluster.yaml": CLUSTER });
  const file = join(at, "cluster.yaml");
  const stop = ["--command", '{"stopKubelet": {"node": "worker-1"}}'];
  const events = async (...args) =>
    (await taintlab("run", file, ...stop, "--json", ...args)).stdout;
  const expected = await events("--flag", "node-monitor-grace-period=20s");
  assert.notEqual(expected, await events());
  assert.equal(await events("--flag", "--node-monitor-grace-period=20s"), expected);
  assert.equal(await events("--flag=--node-monitor-grace-period=20s"), expected);
});

const DEPLOYMENT = `apiVersion: v1
kind: Node
metadata: {name: worker-1}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {}}
`;

test("every event of the table says what it is about", async () => {
  const at = project(folder, "objects", { "cluster.yaml": DEPLOYMENT });
  const { stdout } = await taintlab("run", join(at, "cluster.yaml"), "--until", "1m");
  const [head, ...rows] = stdout.trimEnd().split("\n").slice(0, -1);
  const [start, end] = [head.indexOf("OBJECT"), head.indexOf("REASON")];
  const objects = rows.map((row) => row.slice(start, end).trim());
  assert.ok(
    objects.every((object) => object !== ""),
    stdout,
  );
  assert.ok(objects.includes("deployment/default/web"), stdout);
});

test("texts in UTF-8 and UTF-16, of either order", async () => {
  const little = Buffer.from(`\ufeff${CLUSTER}`, "utf16le");
  const files = {
    "le.yaml": little,
    "be.yaml": Buffer.from(little).swap16(),
    "8.yaml": `\ufeff${CLUSTER}`,
  };
  const at = project(folder, "encodings", files);
  for (const name of Object.keys(files)) {
    const { stdout, stderr, code } = await taintlab("run", join(at, name));
    assert.equal(code, 0, name + stderr);
    assert.match(stdout, /RegisteredNode/, name);
  }
  project(folder, "encodings", { "none.yaml": Buffer.from([0x61, 0xff, 0xfe]) });
  const { stderr, code } = await taintlab("run", join(at, "none.yaml"));
  assert.equal(code, 1);
  assert.match(stderr, /none\.yaml:1:2: error: this byte is not UTF-8, so the file is not a text that can be read/);
});

const REPORTED = `apiVersion: v1
kind: Node
metadata: {name: worker-1, creationTimestamp: 2026-01-02T03:04:05Z}
status: {nodeInfo: {kubeletVersion: v1.29.4}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0}
spec: {nodeName: worker-1, containers: [{name: web, env: [{name: PASSWORD, value: hunter2}]}]}
`;

test("what manifests say of their cluster is used and told, what may be secret is left out", async () => {
  const another = "apiVersion: v1\nkind: Node\nmetadata: {name: worker-2}\n";
  const at = project(folder, "imported", { "cluster.yaml": REPORTED, "another.yaml": another });
  const file = join(at, "cluster.yaml");
  for (const files of [[file], [file, join(at, "another.yaml")]]) {
    const { stderr, code } = await taintlab("run", ...files);
    assert.equal(code, 0, stderr);
    const lines = stderr.trimEnd().split("\n");
    assert.match(lines[0], /^simulating release 1\.29: 1 node reports v1\.29\.4/);
    assert.equal(
      lines[1],
      "the clock begins at 2026-01-02T03:04:05Z, the newest time in the objects",
    );
    assert.equal(lines[2], "left out, since no simulation reads it: 1 field (--keep-all keeps everything)");
  }
  const kept = await taintlab("run", file, "--keep-all", "--release", "1.31");
  assert.equal(
    kept.stderr,
    "the clock begins at 2026-01-02T03:04:05Z, the newest time in the objects\n" +
      "kept everything, also what may be secret: do not pass the output on\n",
  );
  // The JSON says for which release it holds.
  const json = async (...args) => {
    const { stdout } = await taintlab("run", file, "--json", ...args);
    return JSON.parse(stdout.split("\n")[0]);
  };
  const { releaseText, ...simulating } = await json();
  assert.deepEqual(simulating, { at: 0, type: "simulating", release: "1.29" });
  assert.match(releaseText, /^1 node reports v1\.29\.4/);
  assert.deepEqual(await json("--release", "1.31"), { at: 0, type: "simulating", release: "1.31" });
});

test("--keep-all holds for scenarios as well", async () => {
  const scenario = `apiVersion: taintlab/v1
kind: Scenario
objects:
  nodes:
  - metadata: {name: worker-1}
  pods:
  - metadata: {name: web-0}
    spec: {nodeName: worker-1, containers: [{name: web, env: [{name: KEY, value: hunter2}]}]}
`;
  const at = project(folder, "keep-all", { "s.yaml": scenario });
  const line = ["run", join(at, "s.yaml"), "--kubectl", "get pod web-0 -o yaml"];
  const left = await taintlab(...line);
  assert.equal(left.code, 0, left.stderr);
  assert.match(
    left.stderr,
    /^left out, since no simulation reads it: 1 field \(--keep-all keeps everything\)/,
  );
  assert.doesNotMatch(left.stderr, /hunter2/);
  const kept = await taintlab(...line, "--keep-all");
  assert.match(kept.stderr, /hunter2/);
  assert.doesNotMatch(kept.stderr, /left out/);
});

test("a table of many rows is printed", async () => {
  const nodes = Array.from(
    { length: 150 },
    (_, i) => `---\napiVersion: v1\nkind: Node\nmetadata: {name: n${i}}\n`,
  );
  const at = project(folder, "rows", { "cluster.yaml": nodes.join("") });
  const { stdout, code } = await taintlab("run", join(at, "cluster.yaml"), "--until", "1m");
  assert.equal(code, 0);
  assert.equal(stdout.match(/RegisteredNode/g).length, 150);
});

test("embed prints a demo in each of its forms", async () => {
  const file = join(ROOT, "examples/why-345-seconds.yaml");
  const args = ["embed", file, "--base", "https://example.com/embed/"];
  const only = async (form, ...more) => {
    const { stdout, code } = await taintlab(...args, "--only", form, ...more);
    assert.equal(code, 0);
    return stdout.slice(0, -1);
  };
  const text = readFileSync(file, "utf8");
  const start = ["--fence", "start-at=40s view=log"];
  const fence = await only("fence", ...start);
  assert.equal(fence, `\`\`\`taintlab start-at=40s view=log\n${text.trimEnd()}\n\`\`\``);
  const html = await only("html", ...start);
  const element = `<taint-lab scenario="why-345-seconds" start-at="40s" view="log"`;
  assert.ok(html.startsWith(`<div class="taint-lab-demo">${element}`), html.slice(0, 300));
  const end = `</div>
<script src="https://example.com/embed/taint-lab.js" defer></script>
<link rel="stylesheet" href="https://example.com/embed/taint-lab.css" />`;
  assert.ok(html.endsWith(end), html.slice(-300));
  // The scenario is in the frame and in the link, byte by byte.
  const packed = /^https:\/\/example\.com\/embed\/frame\.html#d=([\w-]+)&t=40s&view=log$/;
  const link = await only("link", ...start);
  const [, data] = packed.exec(link);
  assert.equal(inflateRawSync(Buffer.from(data, "base64url")).toString(), text);
  const iframe = await only("iframe", ...start);
  assert.ok(iframe.startsWith(`<iframe src="${link.replaceAll("&", "&amp;")}" title="Why 345`));
  // With a playground, which knows examples by name.
  const playground = ["--playground", "https://example.com/"];
  const own = await only("link", ...playground);
  assert.equal(own, `https://example.com/#d=${data}`);
  assert.ok((await only("html", ...playground)).includes(`<a href="${own}">`));
  const example = ["--fence", "scenario=why-345-seconds start-at=40s", ...playground];
  assert.equal(
    await only("link", ...example),
    "https://example.com/#s=why-345-seconds&release=1.31&t=40s",
  );
  assert.equal(
    await only("fence", ...example),
    "```taintlab scenario=why-345-seconds start-at=40s\n```",
  );
  const all = await taintlab(...args, ...example);
  for (const form of ["fence", "html", "iframe", "link"])
    assert.ok(all.stdout.includes(await only(form, ...example)), form);
  assert.equal(all.stderr, "", "nothing was left out");
});

test("embed leaves out what may be secret, and says so", async () => {
  const scenario = `apiVersion: taintlab/v1
kind: Scenario
metadata: {name: own}
objects:
  nodes:
  - metadata: {name: worker-1}
  pods:
  - metadata: {name: web-0}
    spec: {nodeName: worker-1, containers: [{name: web, env: [{name: KEY, value: hunter2}]}]}
`;
  const at = project(folder, "embed-secret", { "s.yaml": scenario });
  const file = join(at, "s.yaml");
  const left = "left out, since no simulation reads it: 1 field\n";
  for (const form of ["fence", "html", "iframe", "link", "json"]) {
    const { stdout, stderr, code } = await taintlab("embed", file, "--only", form);
    assert.deepEqual([code, stderr], [0, left]);
    const packed = /#d=([\w-]+)/.exec(stdout)?.[1] ?? "";
    const text = stdout + inflateRawSync(Buffer.from(packed || "AwA", "base64url"));
    assert.match(text, /worker-1/, form);
    assert.doesNotMatch(text, /hunter2/, form);
  }
  const { stderr, code } = await taintlab("embed", file, "--out", at);
  assert.deepEqual([code, stderr], [0, left]);
  for (const name of ["own.json", "own.html"]) {
    assert.doesNotMatch(readFileSync(join(at, name), "utf8"), /hunter2/, name);
  }
});

test("embed makes no link that cannot be opened", async () => {
  const name = (of, index) => createHash("sha256").update(`${of} ${index}`).digest("hex");
  const nodes = Array.from({ length: 100 }, (_, i) => `n${name("node", i)}`);
  const pods = Array.from(
    { length: 800 },
    (_, i) => `  - {metadata: {name: p${name("pod", i)}}, spec: {nodeName: ${nodes[i % 100]}}}\n`,
  );
  const scenario = `apiVersion: taintlab/v1
kind: Scenario
metadata: {name: long}
objects:
  nodes:
${nodes.map((node) => `  - {metadata: {name: ${node}}}\n`).join("")}  pods:
${pods.join("")}`;
  const at = project(folder, "embed-long", { "long.yaml": scenario });
  const file = join(at, "long.yaml");
  const why =
    /long\.yaml: (error: )?the scenario is too long for an iframe or a link: .* and 16384 is the/;
  const all = await taintlab("embed", file);
  assert.equal(all.code, 0, all.stderr);
  assert.match(all.stderr, why);
  assert.match(all.stderr, /publish its files, as --out FOLDER writes them\n$/);
  assert.match(all.stdout, /^```taintlab$/m);
  assert.doesNotMatch(all.stdout, /#d=|An iframe|A link/);
  for (const form of ["iframe", "link"]) {
    const { stdout, stderr, code } = await taintlab("embed", file, "--only", form);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, why);
  }
  const out = await taintlab("embed", file, "--out", at);
  assert.equal(out.code, 0, out.stderr);
  assert.match(readFileSync(join(at, "long.html"), "utf8"), /^<div class="taint-lab-demo">/);
});

test("embed says what is wrong", async () => {
  const file = join(ROOT, "examples/three-effects.yaml");
  const large = project(folder, "large-demo", {
    "large.yaml": `apiVersion: taintlab/v1
kind: Scenario
objects:
  nodeGroups:
  - {name: worker, count: 100, podsPerNode: 10, pod: {metadata: {name: web}}}
`,
  });
  for (const [args, said, status] of [
    [[file, "--only", "gif"], /--only: expected fence, html, iframe, link, json, found `gif`/, 2],
    [[file, file], /several files need --out/, 2],
    [[file, "--fence", "start-at=9h"], /start-at=9h0m0s lies after the end of the run/, 2],
    [[join(large, "large.yaml")], /objects: there are 1100 nodes and pods; .* at most 1000/, 1],
  ]) {
    const { stdout, stderr, code } = await taintlab("embed", ...args);
    assert.match(stderr, said);
    assert.equal(code, status, stderr);
    assert.equal(stdout, "");
  }
});
