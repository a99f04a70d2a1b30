// The console: what is typed, what it prints to the letter, and the lines that would do what was
// clicked. And the warnings, with the marks on what they speak of.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import {
  loadScenario,
  pods,
  ready,
  replaceCluster,
  selectNode,
  taint,
  until,
} from "./support/page.mjs";

/** Types a line into the console, which is open, and gives what it printed. */
async function kubectl(page, line) {
  const entries = page.getByTestId("console-output").locator(".entry");
  const before = await entries.count();
  await page.getByTestId("console-line").fill(line);
  await page.keyboard.press("Enter");
  await until(page, async () => assert.equal(await entries.count(), before + 1));
  const printed = entries.last().getByTestId("output");
  return (await printed.count()) === 0 ? "" : printed.textContent();
}

const CLUSTER = `
apiVersion: v1
kind: Node
metadata: { name: worker-1, labels: { topology.kubernetes.io/zone: a } }
status: { conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: v1
kind: Node
metadata: { name: worker-2, labels: { topology.kubernetes.io/zone: b } }
spec: { taints: [{ key: example.com/maintenance, effect: NoSchedule }] }
status: { conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: v1
kind: Pod
metadata:
  name: db-0
  namespace: data
  ownerReferences: [{ apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true }]
spec:
  nodeName: worker-1
  tolerations:
  - key: node.kubernetes.io/unreachable
    operator: Exists
    effect: NoExecute
    tolerationSeconds: 30
  - { key: maintenance, operator: Exists }
`;

playgroundTest("kubectl taint is typed, and prints what kubectl prints", async ({ page }) => {
  await ready(page);
  await page.keyboard.press("k");
  await until(page, async () =>
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), "console-line"),
  );
  assert.equal(
    await kubectl(page, "kubectl taint nodes worker-1 example.com/gpu=a100:NoExecute"),
    "node/worker-1 tainted\n",
  );
  assert.ok(
    await page
      .locator('[data-node="worker-1"] .taint[title="example.com/gpu=a100:NoExecute"]')
      .isVisible(),
  );
  assert.equal(
    await kubectl(page, "kubectl taint nodes worker-1 example.com/gpu=h100:NoExecute"),
    "error: node worker-1 already has example.com/gpu taint(s) with same effect(s) and --overwrite is false\n",
  );
  assert.equal(
    await kubectl(page, "kubectl taint nodes worker-1 example.com/gpu-"),
    "node/worker-1 untainted\n",
  );
  assert.equal(
    await kubectl(page, "kubectl taint nodes nowhere a=b:NoExecute"),
    'Error from server (NotFound): nodes "nowhere" not found\n',
  );
  // An edit like any other: it can be undone.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+z");
  const gpu = page.locator('[data-node="worker-1"] .taint[title="example.com/gpu=a100:NoExecute"]');
  await gpu.waitFor();
});

playgroundTest("the console is used by keyboard alone, and is no trap", async ({ page }) => {
  await ready(page);
  await page.keyboard.press("k");
  const line = page.getByTestId("console-line");
  await line.waitFor();
  await kubectl(page, "kubectl get nodes");
  await kubectl(page, "kubectl cordon worker-1");
  // Earlier lines come back, after a reload too.
  for (const again of [false, true]) {
    if (again) {
      await page.reload();
      await ready(page);
      await page.keyboard.press("k");
      await line.waitFor();
    }
    await line.focus();
    await page.keyboard.press("ArrowUp");
    await until(page, async () => assert.equal(await line.inputValue(), "kubectl cordon worker-1"));
    await page.keyboard.press("ArrowUp");
    await until(page, async () => assert.equal(await line.inputValue(), "kubectl get nodes"));
    await page.keyboard.press("ArrowDown");
    await until(page, async () => assert.equal(await line.inputValue(), "kubectl cordon worker-1"));
  }
  // Tab completes what can be completed,
  await line.fill("kubectl unco");
  await page.keyboard.press("Tab");
  await until(page, async () => assert.equal(await line.inputValue(), "kubectl uncordon "));
  await line.fill("kubectl uncordon wor");
  await page.keyboard.press("Tab");
  await until(page, async () => assert.equal(await line.inputValue(), "kubectl uncordon worker-"));
  await page
    .getByTestId("completions")
    .getByRole("button", { name: "worker-1", exact: true })
    .waitFor();
  // and goes on where there is nothing; Escape leads back to the tab before.
  await line.fill("");
  await page.keyboard.press("Tab");
  assert.notEqual(await page.evaluate(() => document.activeElement.dataset.testid), "console-line");
  await line.focus();
  await page.keyboard.press("Escape");
  await line.waitFor({ state: "detached" });
  await until(page, async () =>
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), "lanes-open"),
  );
});

playgroundTest(
  "several lines are applied, and what is clicked is shown as a line",
  async ({ page }) => {
    await ready(page);
    await taint(page, "worker-1", { key: "example.com/gpu", value: "a100" });
    assert.match(
      await page.getByTestId("same-line").textContent(),
      /^kubectl taint nodes? worker-1 example\.com\/gpu=a100:NoExecute$/,
    );
    await page.keyboard.press("Escape");
    await page.getByTestId("console-open").click();
    const printed = await kubectl(
      page,
      [
        "kubectl apply -f - <<EOF",
        "apiVersion: v1",
        "kind: Pod",
        "metadata: {name: typed}",
        "spec: {containers: [{name: c, image: nginx}]}",
        "EOF",
      ].join("\n"),
    );
    assert.equal(printed, "pod/typed created\n");
    await until(page, async () => assert.ok("default/typed" in (await pods(page))));
  },
);

playgroundTest("warnings are listed, select what they speak of, and mark it", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, CLUSTER);
  const row = page.locator('[data-pod="data/db-0"]').first();
  await row.locator(".beware").waitFor();
  await page.getByTestId("warnings-open").click();
  const list = page.getByTestId("warnings");
  const typo = list.locator('[data-code="toleration-matches-nothing"]');
  assert.equal(
    await typo.locator(".said").textContent(),
    "pod data/db-0: no taint of this cluster can match the toleration maintenance op=Exists",
  );
  assert.equal(
    (await typo.locator(".fix pre").textContent()).trim(),
    '- key: "example.com/maintenance"\n  operator: Exists',
  );
  assert.equal(
    await list.locator('[data-code="stateful-set-stuck"]').getAttribute("data-severity"),
    "note",
  );
  await typo.getByRole("button", { name: "pod data/db-0" }).click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.getByTestId("warnings-about").waitFor();

  // The node is lost: the pod is stuck, which is now critical.
  await selectNode(page, "worker-1");
  const inspector = page.getByTestId("inspector");
  await inspector.getByRole("tab", { name: "Health" }).click();
  await inspector.getByRole("button", { name: "Stop kubelet" }).click();
  await page.keyboard.press("Escape");
  const stuck = page.locator('[data-pod="data/db-0"][data-state="stuck"]');
  for (let step = 0; step < 400 && (await stuck.count()) === 0; step += 1) {
    await page.keyboard.press("n");
  }
  await stuck.waitFor();
  await page.keyboard.press("w");
  const critical = list.locator('[data-code="stateful-set-stuck"][data-severity="critical"]');
  assert.match(
    await critical.locator(".said").textContent(),
    /^pod data\/db-0: stuck Terminating on node worker-1, which is unreachable, and not replaced$/,
  );
  assert.equal(
    (await critical.locator(".fix pre").textContent()).trim(),
    "kubectl taint nodes worker-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
  );
});

playgroundTest(
  "what was just done is no longer said when it is undone or another cluster is loaded",
  async ({ page }) => {
    await ready(page);
    const same = page.getByTestId("same-line");
    await taint(page, "worker-1", { key: "example.com/gpu" });
    await same.waitFor();
    await page.getByTestId("undo").click();
    await same.waitFor({ state: "detached" });
    await taint(page, "worker-2", { key: "example.com/gpu" });
    await same.waitFor();
    await loadScenario(page, "three-effects");
    await same.waitFor({ state: "detached" });
  },
);
