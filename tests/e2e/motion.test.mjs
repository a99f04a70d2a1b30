// Whoever asks for less motion gets no gliding: marks of pods go in steps, numbers tick.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { ready, taint } from "./support/page.mjs";

const REDUCED = { context: { reducedMotion: "reduce", viewport: { width: 1280, height: 800 } } };

playgroundTest("with reduced motion nothing glides", REDUCED, async ({ page }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
  await page.getByTestId("play").click();
  await page.locator('.pod[data-state="counting"] > .timer').first().waitFor();
  const gliding = await page.evaluate(() => {
    const found = [];
    for (const element of document.querySelectorAll("*")) {
      for (const part of [undefined, "::before", "::after"]) {
        const style = getComputedStyle(element, part);
        const moves = style.animationName !== "none" && Number.parseFloat(style.animationDuration) > 0.02;
        if (moves && !style.animationTimingFunction.startsWith("steps(")) {
          found.push(`${element.className} ${part ?? ""}: ${style.animationName}`);
        }
        if (Number.parseFloat(style.transitionDuration) > 0) {
          found.push(`${element.className} ${part ?? ""}: transition`);
        }
      }
    }
    return [...new Set(found)];
  });
  assert.deepEqual(gliding, []);
  // What is left is a number of seconds, and ticks once in each.
  const steps = await page
    .locator('.pod[data-state="counting"] > .timer')
    .last()
    .evaluate((timer) => {
      const { animationTimingFunction, animationDuration } = getComputedStyle(timer, "::after");
      return { animationTimingFunction, seconds: Number.parseFloat(animationDuration) };
    });
  assert.match(steps.animationTimingFunction, /^steps\(\d+/);
  const [, number] = /^steps\((\d+)/.exec(steps.animationTimingFunction);
  assert.ok(Number(number) >= 30, `${number} steps`);
});
