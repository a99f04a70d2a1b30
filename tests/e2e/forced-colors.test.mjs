// With forced colours nothing is said by our colours: shapes, patterns and borders say it.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { ready, selectNode, selectPod, taint, until } from "./support/page.mjs";

/** What an element looks like. */
const picture = async (locator) => (await locator.screenshot()).toString("base64");

/** All of these look different. */
async function assertDifferent(locators, what) {
  const seen = new Map();
  for (const [name, locator] of Object.entries(locators)) {
    const image = await picture(locator);
    assert.equal(seen.get(image), undefined, `${what}: ${name} looks like ${seen.get(image)}`);
    seen.set(image, name);
  }
}

for (const colorScheme of ["light", "dark"]) {
  playgroundTest(
    `forced colours, ${colorScheme}: every state can be told`,
    { context: { forcedColors: "active", colorScheme, reducedMotion: "reduce" } },
    async ({ page }) => {
      await ready(page);
      const key = (state) => page.getByTestId("legend").locator(`.key[data-state="${state}"]`);
      await assertDifferent(
        {
          stay: key("stays"),
          counting: key("counting"),
          deleted: key("terminating"),
          gone: key("gone"),
        },
        "the legend",
      );

      const other = page.locator('[data-node="worker-3"]');
      await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
      const pod = (state) =>
        page.locator(`[data-node="worker-1"] .pod[data-state="${state}"] > .ring`).first();
      await assertDifferent(
        {
          stays: pod("stays"),
          counting: pod("counting"),
          terminating: pod("terminating"),
        },
        "pods",
      );

      // What is selected, and what is tainted, by its border.
      const border = (locator) =>
        locator.evaluate((element) => {
          const { borderTopWidth, borderTopColor, outlineStyle } = getComputedStyle(element);
          return `${borderTopWidth} ${borderTopColor} ${outlineStyle}`;
        });
      assert.notEqual(await border(page.locator('[data-node="worker-1"]')), await border(other));
      await selectPod(page, "shop/search-1");
      const colour = (locator) =>
        locator.evaluate((element) => getComputedStyle(element).backgroundColor);
      assert.notEqual(
        await colour(page.getByTestId("board").locator('[data-pod="shop/search-1"]')),
        await colour(page.getByTestId("board").locator('[data-pod="shop/search-2"]')),
        "the selected pod",
      );

      // What is pressed.
      const filter = (name) => page.getByTestId("log").getByRole("button", { name, exact: true });
      assert.notEqual(
        await colour(filter("Changes")),
        await colour(filter("Decisions")),
        "a filter",
      );
      await selectNode(page, "worker-1");
      const preset = (name) =>
        page.getByTestId("taint-form").getByRole("button", { name, exact: true });
      await until(page, async () =>
        assert.notEqual(
          await colour(preset("unreachable")),
          await colour(preset("not-ready")),
          "a preset",
        ),
      );
      assert.notEqual(
        await page
          .locator('[role=tab][aria-selected="true"]')
          .evaluate((tab) => getComputedStyle(tab).borderBottomColor),
        await page
          .locator('[role=tab][aria-selected="false"]')
          .first()
          .evaluate((tab) => getComputedStyle(tab).borderBottomColor),
        "a tab",
      );

      // The slider shows where it is.
      const slider = page.getByTestId("scrub");
      const before = await picture(slider);
      await slider.press("e");
      await until(page, async () => assert.notEqual(await picture(slider), before, "the slider"));
      await assertDifferent(
        {
          change: page.locator(".timeline .marks .change").first(),
          eviction: page.locator(".timeline .marks .evict").first(),
        },
        "marks of the slider",
      );
    },
  );
}
