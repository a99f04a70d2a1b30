// The page by touch: the board, the inspector, the timeline, the palette and dialogs. The lanes by
// touch are in lanes.test.mjs.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { loadScenario, now, ready, seconds, tab, until } from "./support/page.mjs";

/** Sizes at which the page is touched. */
const SIZES = {
  "a phone": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  "a tablet": { viewport: { width: 1024, height: 768 }, hasTouch: true },
};

/** A finger on the page: what it does goes the way of the browser's own events. */
async function finger(page) {
  const client = await page.context().newCDPSession(page);
  let timestamp = Date.now() / 1_000;
  const send = (type, touchPoints) =>
    client.send("Input.dispatchTouchEvent", { type, touchPoints, timestamp: (timestamp += 0.1) });
  return {
    async drag(from, to) {
      await send("touchStart", [{ ...from, id: 0 }]);
      for (const part of [0.25, 0.5, 0.75, 1, 1, 1]) {
        const [x, y] = [from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part];
        await send("touchMove", [{ x, y, id: 0 }]);
      }
      await send("touchEnd", []);
    },
  };
}

for (const [name, context] of Object.entries(SIZES)) {
  playgroundTest(`by touch on ${name}: board and inspector`, { context }, async ({ page }) => {
    await ready(page);
    const inspector = page.getByTestId("inspector");
    await page.locator('[data-node="worker-1"] > .name').tap();
    await inspector.getByRole("heading", { name: "worker-1", level: 2 }).waitFor();
    await tab(page, "taints").tap();
    await page.getByTestId("taint-form").getByRole("button", { name: "unreachable" }).tap();
    await page.locator('[data-node="worker-1"][data-tainted="true"]').waitFor();
    await inspector.getByRole("button", { name: "Close" }).tap();

    // What it evicts in 300 s says so.
    const pod = page.getByTestId("board").locator('[data-node="worker-1"] [data-state="counting"]');
    await pod.first().tap();
    await page.getByTestId("verdict").waitFor();
    await inspector.getByRole("button", { name: "Close" }).tap();
    await page.getByTestId("undo").tap();
    await page.locator('[data-node="worker-1"][data-tainted="false"]').waitFor();
  });

  playgroundTest(`by touch on ${name}: the timeline`, { context }, async ({ page }) => {
    await ready(page);
    await loadScenario(page, "why-345-seconds");
    await page.getByTestId("end").tap();
    await until(page, async () => assert.ok((await now(page)) > seconds(345)));
    const timeline = page.getByTestId("timeline");
    await timeline.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await timeline.boundingBox();
    const at = (part) => ({ x: x + width * part, y: y + height / 2 });
    await page.touchscreen.tap(at(0.25).x, at(0.25).y);
    await until(page, async () => assert.ok((await now(page)) < seconds(200)));
    const before = await now(page);
    await (await finger(page)).drag(at(0.25), at(0.75));
    await until(page, async () => assert.ok((await now(page)) > before + seconds(60)));
    await page.getByTestId("home").tap();
    await until(page, async () => assert.equal(await now(page), 0n));
    await page.getByTestId("step").tap();
    await until(page, async () => assert.ok((await now(page)) > 0n));
  });

  playgroundTest(`by touch on ${name}: the palette and dialogs`, { context }, async ({ page }) => {
    await ready(page);
    const dialog = page.getByTestId("dialog");
    for (const button of ["scenarios", "import", "export", "help", "warnings-open"]) {
      await page.getByTestId(button).tap();
      await dialog.waitFor();
      await dialog.getByRole("button", { name: "Close" }).tap();
      await dialog.waitFor({ state: "detached" });
    }
    await page.getByTestId("scenarios").tap();
    await page.getByTestId("scenario-tags").locator('[data-tag="zones"]').tap();
    await page.locator('[data-scenario="one-zone-of-three"]').tap();
    await dialog.waitFor({ state: "detached" });
    await page.getByTestId("palette-open").tap();
    await page.getByTestId("palette-search").fill("Run until nothing more");
    await page.getByTestId("palette-list").getByRole("option").first().tap();
    await until(page, async () => assert.ok((await now(page)) > 0n));
  });
}
