// The lines of shell in the book that call the package or kubectl: each runs as it stands there.
//
// Environment: KUBECTL, a kubectl; unless given, the one on PATH.

import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { before, test } from "node:test";

import { kubeconfig, serve } from "./api-server.mjs";
import { ROOT, execute, install, project } from "./support.mjs";

const BOOK = join(ROOT, "docs/book/src");
const CHAPTERS = readdirSync(BOOK, { recursive: true }).filter((file) => file.endsWith(".md"));
/** Lines, with those that a `\` at their end goes on with. */
const linesOf = (program) =>
  CHAPTERS.flatMap((file) =>
    Array.from(
      readFileSync(join(BOOK, file), "utf8").matchAll(
        new RegExp(String.raw`^${program} (?:.*\\\n)*.*$`, "gm"),
      ),
      ([line]) => [file, line],
    ),
  );
const LINES = linesOf("npx taintlab");
const KUBECTL_LINES = linesOf("kubectl");
const KUBECTL = process.env.KUBECTL ?? "kubectl";
/** The targets of the chapter about reports. */
const [, TARGETS] = /^```yaml targets\n(.*?)^```/ms.exec(readFileSync(join(BOOK, "how-to/report-resilience.md"), "utf8"));
/** The cluster of the chapter about settings. */
const [, SHOP] = /^```yaml shop\n(.*?)^```/ms.exec(readFileSync(join(BOOK, "how-to/find-the-setting.md"), "utf8"));
const OUTAGE = readFileSync(join(ROOT, "examples/why-345-seconds.yaml"), "utf8");
const CLUSTER = `apiVersion: v1
kind: Node
metadata: { name: worker-1, labels: { kubernetes.io/hostname: worker-1, topology.kubernetes.io/zone: eu-1a } }
---
apiVersion: v1
kind: Node
metadata: { name: worker-2, labels: { kubernetes.io/hostname: worker-2, topology.kubernetes.io/zone: eu-1b } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop, annotations: { taintlab/targets: "node: atZero <= 0s" } }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: { matchLabels: { app: web } }
      containers: [{ name: web, image: "nginx:1.27" }]
`;
/** The four nodes of the chapter about taints that others write. */
const GPUS = [1, 2, 3, 4].map((number) => CLUSTER.split("---")[0].replace("worker-1", `gpu-${number}`)).join("---\n");

let at;
let env;
before(async () => {
  const folder = await install();
  at = project(folder, "book", {
    "outage.yaml": OUTAGE,
    "tests/outage.yaml": OUTAGE,
    "scenarios/outage.yaml": OUTAGE,
    "cluster.yaml": CLUSTER,
    "manifests/web.yaml": CLUSTER,
    "examples/sample-cluster.yaml": readFileSync(join(ROOT, "examples/sample-cluster.yaml"), "utf8"),
    "targets.yaml": TARGETS,
    "shop.yaml": SHOP,
    "gpus.yaml": GPUS,
    "assets/demos/.keep": "",
  });
  const path = [join(folder, "node_modules/.bin"), process.env.PATH];
  if (KUBECTL.includes("/")) path.unshift(dirname(KUBECTL));
  env = { ...process.env, PATH: path.join(delimiter), NO_PROXY: "127.0.0.1" };
});

test("there are such lines", () => {
  assert.ok(LINES.length >= 6);
  assert.ok(KUBECTL_LINES.length >= 6);
});

for (const [file, line] of LINES) {
  test(`${file}: ${line}`, async () => {
    const { stdout, stderr, code } = await execute("bash", ["-c", line], { cwd: at, env });
    assert.equal(code, 0, `${stdout}${stderr}`);
  });
}

const OBJECTS = [
  { kind: "Node", metadata: { name: "worker-1" }, spec: {} },
  {
    kind: "Pod",
    metadata: { name: "web-0", namespace: "default", uid: "web-0" },
    spec: { nodeName: "worker-1", containers: [{ name: "main", image: "web:1" }] },
    status: { phase: "Running" },
  },
];

for (const [file, line] of KUBECTL_LINES) {
  test(`${file}: ${line}`, async () => {
    const run = (text) => execute("bash", ["-c", text], { cwd: at, env });
    const [, taint] = /^kubectl (taint .*)/.exec(line) ?? [];
    if (taint) {
      // It writes: into the simulated cluster.
      const { stdout, stderr, code } = await run(`npx taintlab run cluster.yaml --kubectl '${taint}'`);
      assert.equal(code, 0, stderr);
      assert.match(`${stdout}${stderr}`, /^node\/worker-1 tainted$/m);
      return;
    }
    const server = await serve(OBJECTS);
    try {
      writeFileSync(join(at, "config"), kubeconfig(server.url));
      const text = `export HOME=$PWD KUBECONFIG=$PWD/config; ${line.replace("> cluster.yaml", "> read.yaml")}`;
      const { stdout, stderr, code } = await run(text);
      assert.equal(code, 0, `${stdout}${stderr}`);
    } finally {
      await server.close();
    }
    if (line.includes("> cluster.yaml")) {
      const { stdout, stderr, code } = await run("npx taintlab run read.yaml --json");
      assert.equal(code, 0, stderr);
      assert.match(stdout, /worker-1/);
    }
  });
}
