// The event log: one stop of the tab key with arrows in it, and columns that are read whole.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { gkeCluster } from "./support/gke.mjs";
import { ready, replaceCluster, runToEnd, selectNode, showView, tab, taint, until } from "./support/page.mjs";

const rows = (page) => page.getByTestId("log").locator(".ev");

playgroundTest("the rows of the log are one stop of the tab key", async ({ page }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
  await runToEnd(page);
  await showView(page, "events");
  await until(page, async () => assert.ok((await rows(page).count()) > 3));
  assert.equal(await page.getByTestId("log").locator('.ev[tabindex="0"]').count(), 1);
  await page.getByRole("searchbox", { name: "Filter events" }).focus();
  let stops = 0;
  for (let tabs = 0; tabs < 12; tabs += 1) {
    await page.keyboard.press("Tab");
    const inRows = await page.evaluate(() => document.activeElement.classList.contains("ev"));
    stops += Number(inRows);
    if (stops > 0 && !inRows) break;
  }
  assert.equal(stops, 1);
  await page.keyboard.press("Shift+Tab");
  const place = () => page.evaluate(() => Number(document.activeElement.dataset.place));
  await page.keyboard.press("Home");
  await until(page, async () => assert.equal(await place(), 0));
  await page.keyboard.press("ArrowDown");
  await until(page, async () => assert.equal(await place(), 1));
  await page.keyboard.press("End");
  const last = Number(await page.getByTestId("events-open").locator(".num").innerText()) - 1;
  await until(page, async () => assert.equal(await place(), last));
});

/** The texts of what is narrower than what it says. */
const cut = (locator) =>
  locator.evaluateAll((cells) =>
    cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
  );

playgroundTest(
  "the type of a row is whole, and long conditions break between their words",
  { context: { viewport: { width: 1280, height: 800 } } },
  async ({ page }) => {
    await ready(page);
    await replaceCluster(page, JSON.stringify(gkeCluster({ nodes: 3 })));
    const name = await page.locator("[data-node]").first().getAttribute("data-node");
    await selectNode(page, name);
    await tab(page, "health").click();
    // With the first fault its kubelet is simulated.
    await page.getByTestId("inspector").getByRole("button", { name: "Stop kubelet" }).click();
    const conditions = page.locator("table.conditions td:first-child");
    await conditions.getByText("FrequentKubeletRestart").waitFor();
    // One line each: no word is torn in two.
    const lines = await conditions.evaluateAll((cells) =>
      cells.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        const tops = [...range.getClientRects()].map((box) => Math.round(box.top));
        return `${cell.textContent}: ${new Set(tops).size}`;
      }),
    );
    assert.ok(lines.includes("FrequentKubeletRestart: 1"), lines.join(", "));
    await runToEnd(page);
    await showView(page, "events");
    await page.getByRole("button", { name: "Decisions" }).click();
    for (const [type, reason] of [
      ["Warning", "NodeNotReady"],
      ["Decision", "heartbeat"],
      ["Normal", "TaintManagerEviction"],
    ]) {
      const types = page.getByTestId("log").locator(`.ev[data-type="${type}"] .ty`);
      await page.getByRole("searchbox", { name: "Filter events" }).fill(reason);
      await types.first().waitFor();
      assert.deepEqual(await cut(types), [], type);
    }
  },
);
