// With forced colours nothing is said by our colours: shapes, patterns and borders say it.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import {
  loadScenario,
  ready,
  selectNode,
  selectPod,
  showView,
  taint,
  until,
} from "./support/page.mjs";

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

/**
 * No two of these look alike: of the pixels of any two more than so many of a hundred differ.
 * A pattern that is a pixel further apart is none of its own.
 */
async function assertFarApart(page, locators, percent, what) {
  const pictures = [];
  for (const [name, locator] of Object.entries(locators)) {
    pictures.push([name, await picture(locator)]);
  }
  const near = await page.evaluate(
    async ({ pictures, percent }) => {
      const read = async ([name, base64]) => {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        return [name, context.getImageData(0, 0, image.width, image.height).data];
      };
      const all = await Promise.all(pictures.map(read));
      const found = [];
      for (const [index, [a, left]] of all.entries()) {
        for (const [b, right] of all.slice(index + 1)) {
          let differing = 0;
          for (let at = 0; at < left.length; at += 4) {
            differing += Math.abs(left[at] - right[at]) > 96 ? 1 : 0;
          }
          const part = (differing / (left.length / 4)) * 100;
          if (part <= percent) found.push(`${a} and ${b}: ${part.toFixed(1)} %`);
        }
      }
      return found;
    },
    { pictures, percent },
  );
  assert.deepEqual(near, [], what);
}

/** The marks of the timeline, and of the kinds beside it. */
const KINDS = ["change", "evict", "zonal", "nodal", "other", "due", "noted"];

/** The states of lanes: each has a pattern of its own. */
const STATES = [
  "ready",
  "notReady",
  "unreachable",
  "unknown",
  "counting",
  "terminating",
  "stuck",
  "evicted",
  "starting",
  "pending",
  "unschedulable",
  "failed",
  "succeeded",
  "initial",
  "normal",
  "partialDisruption",
  "fullDisruption",
];

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
      await showView(page, "events");
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
          .locator('.inspector [role=tab][aria-selected="true"]')
          .evaluate((tab) => getComputedStyle(tab).borderBottomColor),
        await page
          .locator('.inspector [role=tab][aria-selected="false"]')
          .first()
          .evaluate((tab) => getComputedStyle(tab).borderBottomColor),
        "a tab",
      );

      // The slider shows where it is.
      const slider = page.getByTestId("timeline");
      const before = await picture(slider);
      await slider.press("e");
      await until(page, async () => assert.notEqual(await picture(slider), before, "the slider"));
      await page.locator(".timeline .marks .change").first().waitFor();
      // All kinds and states, which no one cluster has at once: as the page draws them.
      await page.evaluate(
        ({ kinds, states }) => {
          const sheet = document.createElement("div");
          sheet.id = "sheet";
          sheet.style.cssText = "position:fixed;inset:0;z-index:99;background:Canvas;padding:9px";
          const item = (className, state) => {
            const box = document.createElement("p");
            box.style.cssText = "width:60px;height:22px;position:relative";
            box.dataset.of = state ?? className;
            const mark = document.createElement("i");
            mark.className = state ? "lbar" : `tick ${className}`;
            mark.style.cssText = state ? "left:0;width:100%" : "display:block;margin:5px";
            if (state) mark.dataset.state = state;
            box.append(mark);
            return box;
          };
          sheet.append(...kinds.map((kind) => item(kind)), ...states.map((it) => item("", it)));
          sheet.style.cssText += ";display:grid;grid-template-columns:repeat(8,70px);gap:4px";
          document.body.append(sheet);
        },
        { kinds: KINDS, states: STATES },
      );
      const drawn = (names) =>
        Object.fromEntries(names.map((name) => [name, page.locator(`#sheet [data-of="${name}"]`)]));
      await assertDifferent(drawn(KINDS), "marks of the slider");
      await assertFarApart(page, drawn(STATES), 4, "lanes");
      await page.locator("#sheet").evaluate((sheet) => sheet.remove());

      await loadScenario(page, "service-in-an-outage");
      await showView(page, "workloads");
      const sample = (readiness) => page.locator(`i.sample.${readiness}`).first();
      const readiness = ["whole", "some", "none", "notyet"].map((name) => [name, sample(name)]);
      await assertFarApart(page, Object.fromEntries(readiness), 20, "how ready workloads are");
    },
  );
}
