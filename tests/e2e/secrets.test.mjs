// Only what a simulation reads enters: no export, no link, nothing that the console prints or the
// browser stores holds more.

import assert from "node:assert/strict";
import { inflateRawSync } from "node:zlib";

import { playgroundTest } from "./support/browser.mjs";
import {
  exported,
  keptSessions,
  openImport,
  ready,
  replaceCluster,
  storedWith,
  taint,
  until,
} from "./support/page.mjs";

const MARK = "hunter2-5d3c";
const MARK_64 = Buffer.from(MARK).toString("base64");

const METADATA = `
    managedFields:
    - {manager: ${MARK}, operation: Update, fieldsType: FieldsV1, fieldsV1: {"f:a": {}}}
    annotations:
      prometheus.io/basic-auth: "${MARK}"
      note: pw=${MARK}
      kubectl.kubernetes.io/last-applied-configuration: '{"kind":"Pod","spec":{"x":"${MARK}"}}'`;
const POD_SPEC = `
    nodeName: n-1
    containers:
    - name: c
      image: i
      command: [run, --password=${MARK}]
      livenessProbe: {httpGet: {path: "/healthz?token=${MARK}", port: 80, host: ${MARK}}}
      lifecycle: {preStop: {httpGet: {path: "/stop?token=${MARK}", port: 80}}}
      readinessProbe: {grpc: {port: 1, service: ${MARK}}}
      env: [{name: PASSWORD, value: "${MARK}"}]
    initContainers:
    - name: d
      image: "https://user:${MARK}@registry.example.com/app:1"
      env: [{name: TOKEN, value: "${MARK}"}]
    imagePullSecrets: [{name: "${MARK}"}]
    hostAliases: [{ip: 10.0.0.1, hostnames: ["${MARK}"]}]
    volumes:
    - {name: v, csi: {driver: d, volumeAttributes: {a: "${MARK}"}}}
    - {name: g, gitRepo: {repository: "https://u:${MARK}@git.example.com/a"}}
  status:
    message: ${MARK}
    conditions: [{type: Ready, status: "False", message: ${MARK}}]
    containerStatuses: [{name: c, state: {waiting: {reason: Waits, message: ${MARK}}}}]`;

const CLUSTER = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: n-1${METADATA}
  status:
    conditions: [{type: Ready, status: "True"}]
- apiVersion: v1
  kind: Pod
  metadata:
    name: p${METADATA}
  spec:${POD_SPEC}
- apiVersion: apps/v1
  kind: ReplicaSet
  metadata:
    name: rs${METADATA}
  spec:
    replicas: 1
    selector: {matchLabels: {a: b}}
    template:
      metadata: {labels: {a: b}}
      spec:
        containers:
        - {name: c, image: i, env: [{name: PASSWORD, value: "${MARK}"}]}
- {apiVersion: v1, kind: Secret, metadata: {name: s}, type: Opaque,
   data: {password: ${MARK_64}}, stringData: {p: ${MARK}}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: m},
   data: {application.properties: "password=${MARK}"}}
- {apiVersion: v1, kind: PersistentVolume, metadata: {name: pv},
   spec: {csi: {driver: d, volumeHandle: ${MARK}, volumeAttributes: {a: ${MARK}}}}}
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: sc}, provisioner: p,
   parameters: {a: ${MARK}}}
- {apiVersion: batch/v1, kind: CronJob, metadata: {name: j}, spec: {jobTemplate: {spec: {template: {
   spec: {containers: [{name: c, image: i, env: [{name: A, value: ${MARK}}]}]}}}}}}
`;

/** All that the browser stores of the page, and its address, as one text. */
async function remembered(page) {
  const all = await page.evaluate(() =>
    JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }]),
  );
  return all + JSON.stringify(await keptSessions(page));
}

/** What the tab remembers when it is left, read by a page of the same origin. */
async function leftBehind(page, url) {
  const elsewhere = `${url}elsewhere`;
  const body = '<link rel="icon" href="data:,">';
  await page.route(elsewhere, (route) => route.fulfill({ contentType: "text/html", body }));
  await page.goto(elsewhere);
  return remembered(page);
}

/** What is packed in a link. */
function inflated(link) {
  const packed = link.match(/(?:#2\.|&e=)([\w-]+)$/)?.[1] ?? "";
  return packed && String(inflateRawSync(Buffer.from(packed, "base64url")));
}

function clean(text, where) {
  for (const mark of [MARK, MARK_64]) {
    const at = text.indexOf(mark);
    assert.equal(at, -1, `${where}: …${text.slice(Math.max(0, at - 200), at + 40)}…`);
  }
}

async function nothingLeaks(page, url, expected) {
  await storedWith(page, "now");
  clean(await remembered(page), "storage");
  for (const kind of ["State", "Apply", "Json", "Scenario"]) {
    const { text } = await exported(page, kind);
    assert.match(text, expected, kind);
    clean(text, kind);
  }
  await page.keyboard.press("h");
  const field = page.getByTestId("share-link");
  await until(page, async () => assert.match(await field.inputValue(), /#[2s]/));
  clean(inflated(await field.inputValue()), "link");
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  const left = await leftBehind(page, url);
  assert.match(left, expected);
  clean(left, "storage of a page that was left");
}

playgroundTest("secrets of a pasted cluster are dropped, and counted", async ({ page, url }) => {
  await ready(page);
  await openImport(page, CLUSTER);
  const said = page.getByTestId("import-secrets");
  await said.getByText("Only what a simulation reads was kept").waitFor();
  await said.getByText(/Left out: \d+ fields, \d+ annotations, 1 password of an image\./).waitFor();
  assert.equal(await page.getByTestId("keep-all").isChecked(), false);
  await page.getByTestId("import-replace").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await taint(page, "n-1", { key: "example.com/x" });
  await nothingLeaks(page, url, /n-1/);
});

playgroundTest("keeping everything is a choice of its own", async ({ page }) => {
  await ready(page);
  await openImport(page, CLUSTER);
  await page.getByTestId("keep-all").check();
  await page.getByTestId("import-replace").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  const { text } = await exported(page, "State");
  assert.ok(text.includes(MARK_64), "the Secret is exported as it was");
  await page.reload();
  await ready(page);
  assert.ok((await exported(page, "State")).text.includes(MARK_64), "and is still there");
});

playgroundTest(
  "secrets that are added to the cluster, or in a scenario, are dropped too",
  async ({ page, url }) => {
    await ready(page);
    await openImport(page, CLUSTER);
    await page.getByTestId("import-add").click();
    await page.getByTestId("import-add-now").click();
    await page.locator('[data-node="n-1"]').waitFor();
    await storedWith(page, "n-1");
    clean(await remembered(page), "added");
    const objects = CLUSTER.slice(
      CLUSTER.indexOf("- apiVersion: v1\n  kind: Pod"),
      CLUSTER.indexOf("- apiVersion: apps/v1"),
    );
    await openImport(
      page,
      `apiVersion: taintlab/v1\nkind: Scenario\nmetadata: {title: Marked}\nobjects:\n  pods:\n${objects.replaceAll(/^/gm, "  ")}`,
    );
    await page.getByTestId("import-secrets").waitFor();
    await page.getByRole("button", { name: "Load the scenario" }).click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    await nothingLeaks(page, url, /Marked|default/);
  },
);

playgroundTest(
  "a manifest that is pasted into the console leaves no secret",
  async ({ page, url }) => {
    await ready(page);
    await page.keyboard.press("k");
    const type = async (line) => {
      const entries = page.getByTestId("console-output").locator(".entry");
      const before = await entries.count();
      await page.getByTestId("console-line").fill(line);
      await page.keyboard.press("Enter");
      await until(page, async () => assert.equal(await entries.count(), before + 1));
    };
    const pod = CLUSTER.slice(
      CLUSTER.indexOf("- apiVersion: v1\n  kind: Pod"),
      CLUSTER.indexOf("- apiVersion: apps/v1"),
    );
    const manifest = pod.replaceAll(/^(- | {2})/gm, "");
    await type(`kubectl apply -f - <<EOF\n${manifest}EOF`);
    await page.getByTestId("output").last().getByText("pod/p created").waitFor();
    await type(`kubectl annotate pod p example.com/password=${MARK}`);
    await type(`kubectl create secret generic s --from-literal=a=${MARK}`);
    await type(MARK);
    await type("kubectl get nodes");
    // Until the page is left the lines are there for the arrow keys.
    await page.getByTestId("console-line").focus();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await until(page, async () =>
      assert.equal(await page.getByTestId("console-line").inputValue(), MARK),
    );
    await page.keyboard.press("Escape");
    assert.deepEqual(
      await page.evaluate(() => JSON.parse(localStorage.getItem("taintlab.console"))),
      ["kubectl get nodes"],
    );
    await page.keyboard.press("k");
    await type("kubectl get pods,nodes -o yaml");
    await type("kubectl describe pods");
    clean(await page.getByTestId("console-output").getByTestId("output").last().innerText(), "console");
    await nothingLeaks(page, url, /default/);
  },
);

playgroundTest(
  "what earlier versions stored is cleaned when it is read, and that is said",
  { closed: true },
  async ({ page, url }) => {
    await leftBehind(page, url);
    const env = [{ name: "PASSWORD", value: MARK }];
    const spec = { nodeName: "n-1", containers: [{ name: "c", image: "i", env }] };
    const made = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "late", namespace: "x" },
      spec,
    };
    const session = {
      format: 1,
      now: "1s",
      edits: [{ at: "1s", commands: [{ createPod: made }] }],
      start: {
        apiVersion: "taintlab/v1",
        kind: "Scenario",
        objects: {
          nodes: [{ apiVersion: "v1", kind: "Node", metadata: { name: "n-1" } }],
          others: [
            { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { a: MARK_64 } },
          ],
        },
      },
    };
    await page.evaluate(
      ([work, lines]) => {
        localStorage.setItem("taintlab.session", work);
        localStorage.setItem("taintlab.console", lines);
      },
      [
        JSON.stringify(session),
        JSON.stringify([`kubectl apply -f - <<EOF\n${MARK}\nEOF`, "kubectl get pods"]),
      ],
    );
    await page.goto(url);
    await ready(page);
    await page.locator('[data-pod="x/late"]').waitFor();
    const notice = page.getByTestId("notice");
    await notice.getByText("An earlier version of this page stored more").waitFor();
    await notice.getByText("2 fields").waitFor();
    await nothingLeaks(page, url, /late/);
  },
);

playgroundTest("a cluster without secrets is not told about them", async ({ page }) => {
  await ready(page);
  await openImport(page, "apiVersion: v1\nkind: Node\nmetadata: {name: plain}\n");
  assert.equal(await page.getByTestId("import-secrets").count(), 0);
  await page.keyboard.press("Escape");
  await replaceCluster(page, "apiVersion: v1\nkind: Node\nmetadata: {name: plain}\n");
});
