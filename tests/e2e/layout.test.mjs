// From a telephone to a wall: nothing is cut off, and everything can be reached.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { pods, ready, selectNode, selectPod, tab, taint, until } from "./support/page.mjs";

const WINDOWS = {
  "360 px wide": { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
  "360 px wide and dark": { viewport: { width: 360, height: 740 }, colorScheme: "dark" },
  "768 px wide": { viewport: { width: 768, height: 1024 } },
  "at 200 % zoom": { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  "1280 px wide and dark": { viewport: { width: 1280, height: 720 }, colorScheme: "dark" },
  "2560 px wide": { viewport: { width: 2560, height: 1440 } },
};

/** No part of the page is wider than the window, apart from what scrolls by itself. */
async function assertFits(page, what) {
  const { wide, window: width } = await page.evaluate(() => ({
    wide: document.scrollingElement.scrollWidth,
    window: document.documentElement.clientWidth,
  }));
  assert.ok(wide <= width, `${what}: the page is ${wide} px wide in a window of ${width} px`);
}

/** An element is in the window, and nothing lies over it. */
async function assertReachable(locator) {
  await locator.scrollIntoViewIfNeeded();
  const found = await locator.evaluate((element) => {
    const box = element.getBoundingClientRect();
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return { hit: element.contains(at), over: at?.outerHTML.slice(0, 120) };
  });
  assert.ok(found.hit, `${locator} lies under ${found.over}`);
}

for (const [name, context] of Object.entries(WINDOWS)) {
  playgroundTest(`${name}: no sideways scrolling, and all is within reach`, { context },
    async ({ page }) => {
      await ready(page);
      await assertFits(page, "the board");
      for (const control of ["play", "step", "end", "scrub", "speed", "import", "release", "theme"]) {
        await assertReachable(page.getByTestId(control));
      }

      await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable", value: "x".repeat(60) });
      for (const part of ["taints", "pods", "labels", "yaml"]) {
        await tab(page, part).click();
        await assertFits(page, `the inspector, ${part}`);
      }
      await page.getByTestId("inspector").getByRole("button", { name: "Close" }).click();
      await selectPod(page, "shop/web-7d4b9c6f5-x2x8p");
      for (const part of ["why", "tolerations", "labels", "yaml"]) {
        await tab(page, part).click();
        await assertFits(page, `a pod, ${part}`);
      }
      await page.getByTestId("inspector").getByRole("button", { name: "Close" }).click();

      for (const dialog of ["scenarios", "import", "export", "help", "warnings-open"]) {
        await page.getByTestId(dialog).click();
        await page.getByTestId("dialog").waitFor();
        await assertFits(page, dialog);
        const close = page.getByTestId("dialog").getByRole("button", { name: "Close" });
        await assertReachable(close);
        await close.click();
        await page.getByTestId("dialog").waitFor({ state: "detached" });
      }

      await page.getByTestId("console-open").click();
      await page.getByTestId("console-line").fill("kubectl get pods -A -o wide");
      await page.keyboard.press("Enter");
      await page.getByTestId("output").waitFor();
      await assertFits(page, "the console");
      await page.getByTestId("console-line").press("Escape");

      await page.getByTestId("step").click();
      await until(page, async () => {
        assert.equal((await pods(page))["data/report-28930120-vq7x4"], "gone");
      });
      await assertFits(page, "the log");
    });
}

playgroundTest("the page does not jump while time passes or something is selected",
  { context: { viewport: { width: 1280, height: 800 } } }, async ({ page }) => {
    await ready(page);
    const places = () => page.evaluate(() =>
      ["board", "inspector", "log", "clockbar", "play"].map((id) => {
        const { x, y, width, height } = document.querySelector(`[data-testid="${id}"]`).getBoundingClientRect();
        return `${id} ${x} ${y} ${width} ${height}`;
      }));
    const before = await places();
    await selectNode(page, "worker-1");
    assert.deepEqual(await places(), before, "a node");
    await page.getByTestId("taint-form").getByRole("button", { name: "unreachable" }).click();
    assert.deepEqual(await places(), before, "a taint");
    for (let steps = 0; steps < 4; steps += 1) {
      await page.getByTestId("step").click();
      assert.deepEqual(await places(), before, "a step");
    }
  });

playgroundTest("the colours follow the system until one is chosen",
  { context: { colorScheme: "dark" } }, async ({ page }) => {
    await ready(page);
    const light = () => page.evaluate(() => {
      const [red] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g);
      return Number(red) > 128;
    });
    assert.equal(await light(), false);
    await page.emulateMedia({ colorScheme: "light" });
    await until(page, async () => assert.equal(await light(), true));
    await page.getByTestId("theme").click();
    await page.getByTestId("theme").click();
    await until(page, async () => assert.equal(await light(), false, "dark was chosen"));
  });
