// The board shows as much of each node as there is room for: cards, rows, or cells on a canvas.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { legend, now, ready, replaceCluster, seconds, selectZone, until } from "./support/page.mjs";

const ZONES = ["a", "b", "c"];
const name = (node) => `node-${String(node).padStart(3, "0")}`;

/** So many nodes in three zones, each with two pods that stay for 60 s where they are not wanted. */
function cluster(nodes) {
  const items = [];
  for (let node = 0; node < nodes; node += 1) {
    items.push({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: name(node),
        labels: { "topology.kubernetes.io/zone": ZONES[node % ZONES.length] },
      },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    });
    for (const pod of ["x", "y"]) {
      items.push({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `web-${node}-${pod}`, namespace: "shop" },
        spec: {
          nodeName: name(node),
          containers: [{ name: "web", image: "nginx" }],
          tolerations: [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }],
        },
      });
    }
  }
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

const detail = (page) => page.getByTestId("board").getAttribute("data-detail");
const heading = (page, text) =>
  page.getByTestId("inspector").getByRole("heading", { name: text, level: 2 }).waitFor();
const drawnAs = (page, word) => until(page, async () => assert.equal(await detail(page), word));

/** What the canvas of a zone looks like. */
const pixels = (page, zone) =>
  page
    .getByTestId("cells")
    .nth(zone)
    .locator("canvas")
    .evaluate((canvas) => canvas.toDataURL());

playgroundTest("300 nodes are rows, with their pods as numbers", async ({ page }) => {
  await ready(page);
  await drawnAs(page, "full");
  await replaceCluster(page, cluster(300));
  await drawnAs(page, "rows");
  const row = page.locator('[data-node="node-007"]');
  assert.match(await row.textContent(), /node-007.*2$/);
  await row.locator(".name").click();
  await heading(page, "node-007");
  assert.match(await page.getByTestId("zone-summary").first().innerText(), /100\s+ready/);
});

playgroundTest("a selected row has the deeds of a card, and the palette knows pods that are not drawn", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, cluster(300));
  await drawnAs(page, "rows");
  const row = page.locator('[data-node="node-007"]');
  assert.equal(await page.locator(".deed").count(), 0);
  const before = await row.boundingBox();
  await row.locator(".name").click();
  await heading(page, "node-007");
  const deed = row.locator(".deed", { hasText: "Stop kubelet" });
  await deed.waitFor();
  const after = await row.boundingBox();
  assert.equal(after.height, before.height, "rows stay as high as they are");
  const fits = await row.evaluate((row) => row.scrollWidth <= row.clientWidth);
  assert.ok(fits, "the deeds have room");
  await deed.click();
  await row.locator(".deed", { hasText: "Start kubelet" }).waitFor();

  await page.keyboard.press("ControlOrMeta+Shift+P");
  await page.getByTestId("palette-search").fill("web-7-x");
  await page.getByTestId("palette-list").getByText("Select pod shop/web-7-x").click();
  await heading(page, "web-7-x");
});

playgroundTest("cells by mouse: what they are is said, and a click selects", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, cluster(600));
  await drawnAs(page, "cells");
  const cells = page.getByTestId("cells").first();
  // The second cell of zone `a` is its second node.
  await cells.locator("canvas").hover({ position: { x: 20, y: 7 } });
  await page.getByTestId("cell-tip").getByText("node node-003, Ready, 2 pods stay").waitFor();
  await cells.locator("canvas").click({ position: { x: 20, y: 7 } });
  await heading(page, "node-003");
  assert.equal(await page.locator(".cellmark").count(), 1);

  // A zone that counts down looks otherwise, and says so.
  const before = [await pixels(page, 0), await pixels(page, 1)];
  await selectZone(page, "a");
  await page.getByTestId("taint-zone").click();
  await page.locator('[data-testid="taint-zone"]:disabled').waitFor();
  assert.equal((await legend(page))["counting down"], 400);
  await page.getByTestId("zone-summary").first().getByTitle("400 counting down").waitFor();
  await until(page, async () => assert.notEqual(await pixels(page, 0), before[0]));
  assert.equal(await pixels(page, 1), before[1]);
  assert.equal(await now(page), seconds(0));
});

playgroundTest("cells by keyboard: arrows, Enter into the inspector, back", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, cluster(600));
  await drawnAs(page, "cells");
  const focused = (label) =>
    until(page, async () =>
      assert.match(
        await page.evaluate(
          () => document.activeElement.ariaLabel ?? document.activeElement.textContent,
        ),
        label,
      ),
    );
  // Keys reach a cell once the zones know how wide they are.
  for (const cells of await page.getByTestId("cells").all()) {
    await cells.getByTestId("cell").waitFor();
  }
  await page.keyboard.press("Escape");
  await focused(/^a$|zone a/);
  await page.keyboard.press("ArrowDown");
  await focused(/^node node-000, Ready/);
  await page.keyboard.press("ArrowRight");
  await focused(/^node node-003,/);
  await page.keyboard.press("ArrowDown");
  await until(page, async () =>
    assert.doesNotMatch(await page.evaluate(() => document.activeElement.ariaLabel), /node-003/),
  );
  await page.keyboard.press("ArrowUp");
  await focused(/^node node-003,/);
  await page.keyboard.press("Enter");
  await heading(page, "node-003");
  await page.keyboard.press("Escape");
  await focused(/^node node-003,/);
});

playgroundTest("a density that was chosen is kept", async ({ page }) => {
  await ready(page);
  await page.getByTestId("density").selectOption("Cells");
  await drawnAs(page, "cells");
  await page.reload();
  await ready(page);
  await drawnAs(page, "cells");
  await page.getByTestId("density").selectOption("Auto");
  await drawnAs(page, "full");
  await page.keyboard.press("Escape");
  for (const word of ["full", "rows", "cells", "full"]) {
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("d");
    await drawnAs(page, word);
  }
});

playgroundTest("search jumps to nodes and to pods", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, cluster(600));
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("/");
  await page.locator("[data-testid=find]:focus").waitFor();
  await page.keyboard.type("node-599");
  await page.keyboard.press("Enter");
  await heading(page, "node-599");
  const inSight = () =>
    page.locator('[data-node="node-599"]').evaluate((cell) => {
      const { top, bottom } = cell.getBoundingClientRect();
      const board = cell.closest("main").getBoundingClientRect();
      return top >= board.top && bottom <= board.bottom;
    });
  await until(page, async () => assert.ok(await inSight()));
  await page.getByTestId("find").fill("web-42-");
  await page.keyboard.press("Enter");
  await heading(page, "web-42-x");
  await page.keyboard.press("Enter");
  await heading(page, "web-42-y");
  await page.locator('[data-node="node-042"]').waitFor();
});
