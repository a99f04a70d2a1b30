// The command `npx taintlab`, from the installed package.

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";

import { EXAMPLES, ROOT, execute, install, project } from "./support.mjs";

let folder;
before(async () => {
  folder = await install();
});

const taintlab = (...args) => execute(join(folder, "node_modules/.bin/taintlab"), args, { cwd: folder });

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
    "run", join(at, "cluster.yaml"), "--command", TAINT, "--at", "30s", "--until", "5m",
  );
  assert.equal(code, 0);
  assert.match(stdout, /^TIME +OBJECT +REASON +WHAT\n/);
  assert.match(stdout, /2m0s +default\/web-0 +TaintManagerEviction +.*Marking for deletion Pod default\/web-0/);
  assert.match(stdout, /until 5m0s\n$/);
  assert.doesNotMatch(stdout, /\x1b/, "no colours into a pipe");
});

test("run --json prints one event a line, in milliseconds", async () => {
  const at = project(folder, "json", { "cluster.yaml": CLUSTER });
  const { stdout, code } = await taintlab("run", join(at, "cluster.yaml"), "--command", TAINT, "--json");
  assert.equal(code, 0);
  const events = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.ok(events.some(({ type, at: time }) => type === "podDeleted" && time === 120_000));
});

test("run takes scenarios, releases and flags", async () => {
  const file = join(ROOT, "examples/why-345-seconds.yaml");
  const { stdout, code } = await taintlab("run", file, "--flag", "node-monitor-grace-period=20s", "--release", "1.31");
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
  assert.match(stderr, /wrong\.yaml:11:\d+: error: spec\.tolerations\[0\]\.tolerationSeconds: expected/);
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
  const scenario = FAILING.split("expect:")[0].replace(/objects:[\s\S]*/, "") +
    "objects: {files: [cluster.yaml]}\nexpect:\n- present: {pod: default/web-0}\n";
  const at = project(folder, "beside", { "s.yaml": scenario, "cluster.yaml": CLUSTER });
  const { stdout, stderr, code } = await taintlab("test", join(at, "s.yaml"));
  assert.equal(code, 0, stdout + stderr);
});

test("explain", async () => {
  const { stdout, code } = await taintlab(
    "explain", "--taint", "a=1:NoExecute", "--toleration", "a=2:NoExecute", "--toleration", "a:NoExecute@300",
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
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /invalid taint spec/);
});

test("help, version and wrong command lines", async () => {
  for (const args of [["--help"], ["help", "run"], ["run", "--help"], ["test", "-h"], ["explain", "-h"]]) {
    const { stdout, code } = await taintlab(...args);
    assert.equal(code, 0);
    assert.match(stdout, /Usage: taintlab/);
  }
  assert.match((await taintlab("--version")).stdout, /^\d+\.\d+\.\d+\n$/);
  for (const args of [[], ["jump"], ["run"], ["run", "--nonsense"], ["run", "a", "--flag", "x"], ["run", "a", "--at", "1s"]]) {
    const { stderr, code } = await taintlab(...args);
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, /error: |Usage: /);
  }
});
