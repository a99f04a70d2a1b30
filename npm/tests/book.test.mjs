// The lines of shell in the book that call the package: each runs as it stands there.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { before, test } from "node:test";

import { ROOT, execute, install, project } from "./support.mjs";

const BOOK = join(ROOT, "docs/book/src");
const CHAPTERS = readdirSync(BOOK, { recursive: true }).filter((file) => file.endsWith(".md"));
const LINES = CHAPTERS.flatMap((file) =>
  Array.from(readFileSync(join(BOOK, file), "utf8").matchAll(/^npx taintlab .*$/gm), ([line]) => [
    file,
    line,
  ]),
);
const OUTAGE = readFileSync(join(ROOT, "examples/why-345-seconds.yaml"), "utf8");
const CLUSTER = `apiVersion: v1
kind: Node
metadata: { name: worker-1, labels: { kubernetes.io/hostname: worker-1 } }
---
apiVersion: v1
kind: Node
metadata: { name: worker-2, labels: { kubernetes.io/hostname: worker-2 } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
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
    "assets/demos/.keep": "",
  });
  env = { ...process.env, PATH: join(folder, "node_modules/.bin") + delimiter + process.env.PATH };
});

test("there are such lines", () => assert.ok(LINES.length >= 6));

for (const [file, line] of LINES) {
  test(`${file}: ${line}`, async () => {
    const { stdout, stderr, code } = await execute("bash", ["-c", line], { cwd: at, env });
    assert.equal(code, 0, `${stdout}${stderr}`);
  });
}
