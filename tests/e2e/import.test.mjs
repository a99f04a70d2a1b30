// What comes in and goes out: bad texts, parts of texts, files, and exports that are read again.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { playgroundTest } from "./support/browser.mjs";
import {
  exported,
  log,
  openImport,
  pods,
  ready,
  replaceCluster,
  runToEnd,
  scrubTo,
  seconds,
  selectNode,
  tab,
  taint,
  until,
} from "./support/page.mjs";

const CLUSTER = readFileSync(new URL("fixtures/cluster.yaml", import.meta.url), "utf8");

/** A good node, a pod with a mistake that people make, and a taint without quotes. */
const MISTAKES = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: good
- apiVersion: v1
  kind: Node
  metadata:
    name: bad
  spec:
    taints:
    - key: dedicated
      value: yes
      effect: NoExecute
- apiVersion: v1
  kind: Pod
  metadata:
    name: patient
  spec:
    nodeName: good
    tolerations:
    - key: dedicated
      operator: Exists
      effect: NoExecute
      tolerationSeconds: 5m
- apiVersion: v1
  kind: Service
  metadata:
    name: web
`;

const TABLE = `NAMESPACE     NAME                   READY   STATUS    RESTARTS   AGE
kube-system   kube-proxy-2nq6f       1/1     Running   0          3d
shop          web-7d4b9c6f5-x2x8p    1/1     Running   0          3d
`;

/** Subject, place, message and advice of each diagnostic. */
const diagnostics = (page) =>
  page
    .getByTestId("diagnostics")
    .locator(".diag")
    .evaluateAll((items) =>
      items.map((item) => {
        const text = (part) => item.querySelector(part)?.textContent.replaceAll(/\s+/g, " ").trim();
        return [text(".what"), text(".where, .line"), text(".said"), text(".help")];
      }),
    );

/** What the report says it found. */
const found = (page) => page.getByTestId("found");

playgroundTest(
  "mistakes name the object, the line, and what becomes of it; the rest can be imported",
  async ({ page }) => {
    await ready(page);
    const before = await pods(page);
    await openImport(page, MISTAKES);
    assert.deepEqual(await diagnostics(page), [
      [
        "Node bad is left out",
        "line 15",
        "items[1].spec.taints[0].value: expected a string, found the boolean `yes`",
        'put it in quotes: "yes"',
      ],
      [
        "Pod default/patient is left out",
        "line 27",
        'items[2].spec.tolerations[0].tolerationSeconds: expected an integer, found the string "5m"',
        "write 300 (seconds)",
      ],
    ]);
    assert.equal(await found(page).textContent(), "1 node, 0 pods; 1 kept for export; 2 left out");
    const replace = page.getByTestId("import-replace");
    assert.equal(await replace.textContent(), "Replace, leaving out 2 objects");

    // A line is shown by selecting it.
    await page.getByTestId("diagnostics").getByRole("button", { name: "line 27" }).click();
    const text = page.getByTestId("import-text");
    assert.deepEqual(
      await text.evaluate((area) => [
        area.value.slice(area.selectionStart, area.selectionEnd),
        area === document.activeElement,
      ]),
      ["      tolerationSeconds: 5m", true],
    );

    // Correcting the text, as one types, takes the messages away.
    const corrected = MISTAKES.replace("value: yes", 'value: "yes"').replace("5m", "300");
    await text.fill(corrected);
    await found(page).getByText("2 nodes, 1 pod; 1 kept for export").waitFor();
    assert.equal(await page.getByTestId("diagnostics").count(), 0);
    assert.equal(await replace.textContent(), "Replace the cluster");
    await text.fill(MISTAKES);
    await page.getByTestId("import-add").click();
    await page.getByTestId("import-add-now").click();
    await page.locator('[data-node="good"]').waitFor();
    assert.equal(await page.locator('[data-node="bad"]').count(), 0);
    assert.deepEqual(await pods(page), before, "what was there is still there");
  },
);

playgroundTest(
  "a text that is no manifest is refused with advice, and nothing is lost",
  async ({ page }) => {
    await ready(page);
    const before = await pods(page);
    for (const [text, message] of [
      [TABLE, "this looks like the table that `kubectl get` prints"],
      [
        'error: the server doesn\'t have a resource type "node"',
        "this is an error message of kubectl",
      ],
      ["$ kubectl get nodes -o yaml\napiVersion: v1", "this line is a command, not YAML"],
      ["<!DOCTYPE html><html></html>", "this looks like a web page"],
    ]) {
      await openImport(page, text);
      const [[, where, said, help]] = await diagnostics(page);
      assert.equal(where, "line 1");
      assert.ok(said.startsWith(message), said);
      assert.ok(help, `${said}: there is advice`);
      const actions = page.getByTestId("import-actions");
      await found(page).getByText("Nothing here can be imported").waitFor();
      assert.equal(await actions.getByRole("button").isDisabled(), true);
      await page.keyboard.press("Escape");
      await page.getByTestId("dialog").waitFor({ state: "detached" });
    }
    assert.deepEqual(await pods(page), before);
  },
);

playgroundTest(
  "bad YAML in the inspector: where it is, and what was typed stays",
  async ({ page }) => {
    await ready(page);
    await selectNode(page, "worker-1");
    await tab(page, "yaml").click();
    const text = page.getByTestId("yaml").getByLabel("YAML");
    const good = await text.inputValue();
    const bad = good.replace("metadata:", "metadata:\n\tname: tab");
    await text.fill(bad);
    const [[, where, , help]] = await diagnostics(page);
    assert.match(where, /^node\.yaml:\d+:\d+/);
    assert.equal(help, "YAML is indented with spaces; replace the tab");
    assert.equal(await page.getByTestId("apply").isDisabled(), true);
    assert.equal(await text.inputValue(), bad);
    await page.getByTestId("yaml").getByRole("button", { name: "Discard" }).click();
    assert.equal(await text.inputValue(), good);
  },
);

playgroundTest(
  "a form says beside the field what is wrong, in Kubernetes' words",
  async ({ page }) => {
    await ready(page);
    await selectNode(page, "worker-1");
    await page.getByTestId("add-taint").click();
    const item = page.getByTestId("taint-form").locator(".item").last();
    await item.getByLabel("Key").fill("a b");
    await item
      .locator(".field", { hasText: "Key" })
      .getByRole("alert")
      .getByText('Invalid value: "a b": name part must consist of alphanumeric characters')
      .waitFor();
    assert.equal(await item.locator('[aria-invalid="true"]').count(), 1);
    assert.equal(await page.getByTestId("apply").isDisabled(), true);
    await item.getByLabel("Key").fill("a.b");
    assert.equal(await item.getByRole("alert").count(), 0);
    assert.equal(await page.getByTestId("apply").isDisabled(), false);
  },
);

playgroundTest("a dropped or opened file is imported; so are several", async ({ page }) => {
  await ready(page);
  const file = (name, text) => ({ name, mimeType: "text/yaml", buffer: Buffer.from(text) });
  const node = (name) => `apiVersion: v1\nkind: Node\nmetadata: {name: ${name}}\n`;
  await page.getByTestId("import").click();
  await page
    .getByTestId("import-file")
    .setInputFiles([file("a.yaml", node("a")), file("b.yaml", node("b"))]);
  await found(page).getByText("2 nodes, 0 pods").waitFor();
  await page.getByTestId("import-replace").click();
  await page.locator('[data-node="b"]').waitFor();

  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "dropped.yaml"));
    const drop = (type) =>
      new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true });
    document.body.dispatchEvent(drop("dragover"));
    document.body.dispatchEvent(drop("drop"));
  }, node("dropped"));
  await page.getByTestId("import-add").click();
  await page.getByTestId("import-add-now").click();
  await page.locator('[data-node="dropped"]').waitFor();
  await page.locator('[data-node="a"]').waitFor();
});

playgroundTest("an exported cluster imports to the same cluster", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, CLUSTER);
  await scrubTo(page, seconds(5));
  await taint(page, "worker-a", { key: "node.kubernetes.io/unreachable" });
  for (const [kind, name] of [
    ["State", "cluster.yaml"],
    ["Json", "cluster.json"],
  ]) {
    const first = await exported(page, kind);
    assert.equal(first.name, name);
    const before = await page.getByTestId("board").locator("[data-node]").allInnerTexts();
    await replaceCluster(page, first.text);
    // The clock begins at zero again and timers with it; the objects are the same.
    const second = await exported(page, kind);
    assert.equal(second.text, first.text, name);
    assert.equal(before.length, 3);
  }
  const forApply = await exported(page, "Apply");
  assert.equal(forApply.name, "cluster-apply.yaml");
  assert.doesNotMatch(forApply.text, /resourceVersion|uid:|^ {2}status:/m);
  await openImport(page, forApply.text);
  await found(page).getByText("3 nodes, 8 pods").waitFor();
  assert.equal(await page.getByTestId("diagnostics").count(), 0);
});

playgroundTest("an exported scenario plays the same again", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, CLUSTER);
  await scrubTo(page, seconds(5));
  await taint(page, "worker-a", { key: "node.kubernetes.io/unreachable" });
  await runToEnd(page);
  const expected = { log: await log(page), pods: await pods(page) };
  const { name, text } = await exported(page, "Scenario");
  assert.equal(name, "scenario.yaml");
  await openImport(page, text);
  await page.getByRole("button", { name: "Load the scenario" }).click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await until(page, async () => assert.deepEqual(await log(page), []));
  await runToEnd(page);
  assert.deepEqual({ log: await log(page), pods: await pods(page) }, expected);
});
