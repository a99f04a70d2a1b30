// Every kind of edit can be undone and redone.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import {
  loadScenario,
  log,
  now,
  openImport,
  pods,
  ready,
  replaceCluster,
  scrubTo,
  seconds,
  selectNode,
  selectPod,
  selectZone,
  tab,
  taint,
  until,
} from "./support/page.mjs";

const NODE = (name) => JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name } });

/** Everything that an edit can change, as the page shows it. */
async function state(page) {
  const nodes = await page.getByTestId("node").evaluateAll((cards) =>
    cards.map((card) => {
      const taints = [...card.querySelectorAll(".taint")].map((taint) => taint.title);
      const label = card.querySelector(".name").title;
      return `${card.closest("[data-zone]").getAttribute("aria-label")}: ${label} ${taints}`;
    }),
  );
  return {
    nodes,
    pods: await pods(page),
    log: await log(page, ["event", "change"]),
    release: await page.getByTestId("release").inputValue(),
    now: await now(page),
  };
}

/** Fills and applies a form of the inspector. */
async function apply(page, fill) {
  await fill();
  await page.getByTestId("apply").click();
  await page.getByTestId("apply").waitFor({ state: "detached" });
}

async function editYaml(page, change) {
  await tab(page, "yaml").click();
  const text = page.getByTestId("yaml").getByLabel("YAML");
  const before = await text.inputValue();
  const after = change(before);
  assert.notEqual(after, before);
  await apply(page, () => text.fill(after));
}

const POD = "shop/web-7d4b9c6f5-x2x8p";

/** An edit each: how a user makes it. */
const EDITS = {
  "a taint": (page) => taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" }),
  "a taint at a click": async (page) => {
    await selectNode(page, "worker-2");
    await page.getByTestId("taint-form").getByRole("button", { name: "unreachable" }).click();
    await page.locator('[data-node="worker-2"] .taint').waitFor();
  },
  "no taint": async (page) => {
    await selectNode(page, "worker-2");
    await apply(page, () =>
      page.getByTestId("taint-form").getByRole("button", { name: "Remove" }).click(),
    );
  },
  "a toleration added": async (page) => {
    await selectPod(page, POD);
    await tab(page, "tolerations").click();
    await apply(page, async () => {
      await page.getByTestId("add-toleration").click();
      const last = page.getByTestId("toleration-form").locator(".item").last();
      await last.getByLabel("Key").fill("example.com/added");
      await last.getByLabel("Seconds").fill("77");
    });
  },
  "another pod with other tolerations": async (page) => {
    await selectPod(page, "shop/search-1");
    await tab(page, "tolerations").click();
    const form = page.getByTestId("toleration-form");
    await form.locator(".item").first().getByRole("button", { name: "Remove" }).click();
    await form.getByTestId("replace-pod").click();
    await page.getByTestId("apply").waitFor({ state: "detached" });
  },
  "a label, and with it the zone": async (page) => {
    await selectNode(page, "worker-6");
    await tab(page, "labels").click();
    const zone = page.getByTestId("label-form").locator(".item").last().getByLabel("Value");
    assert.equal(await zone.inputValue(), "eu-1c");
    await apply(page, () => zone.fill("eu-1d"));
    await page.locator('[data-zone] [data-node="worker-6"]').waitFor();
  },
  "a node as YAML": async (page) => {
    await selectNode(page, "worker-5");
    await editYaml(page, (text) =>
      text.replace("status:", "spec:\n  unschedulable: true\nstatus:"),
    );
  },
  cordon: async (page) => {
    await selectNode(page, "worker-4");
    await page.getByTestId("inspector").getByRole("button", { name: "Cordon" }).click();
    await page.getByTestId("inspector").getByRole("button", { name: "Uncordon" }).waitFor();
  },
  "a new node": async (page) => {
    await page.getByRole("button", { name: "Create a node" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("worker-7");
    await dialog.getByLabel("Zone").fill("eu-1b");
    await dialog.getByTestId("create").click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
  },
  "a new pod": async (page) => {
    await page.getByRole("button", { name: "Create a pod" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("new-0");
    await dialog.getByLabel("Node").fill("worker-7");
    await dialog.getByTestId("create").click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
  },
  "a pod deleted": async (page) => {
    await selectPod(page, "data/postgres-1");
    await page.getByTestId("inspector").getByRole("button", { name: "Delete", exact: true }).click();
  },
  "a node deleted": async (page) => {
    await selectNode(page, "worker-3");
    await page.getByTestId("inspector").getByRole("button", { name: "Delete", exact: true }).click();
  },
  "a zone tainted": async (page) => {
    await selectZone(page, "eu-1b");
    await page.getByTestId("taint-zone").click();
    await page.locator('[data-node="worker-4"] .taint').waitFor();
  },
  "objects added": async (page) => {
    await openImport(page, NODE("imported"));
    await page.getByTestId("import-add").click();
    await page.getByTestId("import-add-now").click();
    await page.locator('[data-node="imported"]').waitFor();
  },
  "another Kubernetes": async (page) => {
    await page.getByTestId("release").selectOption("1.18");
  },
  "another cluster": async (page) => {
    await replaceCluster(page, NODE("alone"));
    await page.locator('[data-node="alone"]').waitFor();
  },
  "a scenario": async (page) => {
    await loadScenario(page, "two-taints");
  },
};

playgroundTest("every edit is undone and redone, one by one and all in a row", async ({ page }) => {
  await ready(page);
  await scrubTo(page, seconds(12));
  const undo = page.getByTestId("undo");
  const redo = page.getByTestId("redo");
  assert.equal(await undo.isDisabled(), true);
  assert.equal(await redo.isDisabled(), true);

  const states = [await state(page)];
  for (const [name, edit] of Object.entries(EDITS)) {
    const before = states.at(-1);
    await edit(page);
    const after = await until(page, async () => {
      const found = await state(page);
      assert.notDeepEqual(found, before, `${name} changes something`);
      return found;
    });
    await undo.click();
    await until(page, async () => assert.deepEqual(await state(page), before, `undo: ${name}`));
    await page.keyboard.press("ControlOrMeta+Shift+Z");
    await until(page, async () => assert.deepEqual(await state(page), after, `redo: ${name}`));
    assert.equal(await redo.isDisabled(), true, name);
    states.push(after);
  }

  const names = Object.keys(EDITS);
  for (let index = names.length - 1; index >= 0; index -= 1) {
    await page.keyboard.press("ControlOrMeta+z");
    await until(page, async () =>
      assert.deepEqual(await state(page), states[index], `undo again: ${names[index]}`),
    );
  }
  assert.equal(await undo.isDisabled(), true);
  for (const [index, name] of names.entries()) {
    await page.keyboard.press("ControlOrMeta+y");
    await until(page, async () =>
      assert.deepEqual(await state(page), states[index + 1], `redo again: ${name}`),
    );
  }
  assert.equal(await redo.isDisabled(), true);
});

playgroundTest(
  "an edit in the past replaces the later ones, and undo brings them back",
  async ({ page }) => {
    await ready(page);
    await scrubTo(page, seconds(50));
    await taint(page, "worker-1", { key: "example.com/late" });
    const late = await state(page);
    await scrubTo(page, seconds(20));
    await page.getByTestId("next").getByText("your edit").waitFor();
    await taint(page, "worker-2", { key: "example.com/early" });
    await scrubTo(page, seconds(50));
    assert.equal(await page.locator('[data-node="worker-1"] .taint').count(), 0);
    await page.getByTestId("undo").click();
    await scrubTo(page, seconds(50));
    await until(page, async () => assert.deepEqual(await state(page), late));
  },
);

playgroundTest("an edit after an undo cannot be redone away", async ({ page }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "example.com/one" });
  await page.getByTestId("undo").click();
  await page.locator('[data-testid="redo"]:enabled').waitFor();
  await taint(page, "worker-1", { key: "example.com/two" });
  await page.locator('[data-testid="redo"]:disabled').waitFor();
  const chip = page.locator('[data-node="worker-1"] .taint');
  assert.equal(await chip.getAttribute("title"), "example.com/two:NoExecute");
});
