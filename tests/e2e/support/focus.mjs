// What has the focus, and how it moves with the tab key.

import assert from "node:assert/strict";

import { log } from "./page.mjs";

/** More than there are things to reach on the page with the sample cluster. */
const MOST = 400;

/** Whether what has the focus matches a selector. */
export const focused = (page, selector) =>
  page.evaluate((wanted) => document.activeElement.matches(wanted), selector);

/** What has the focus can be seen: in the window, with an outline or a ring. */
export async function assertFocusShows(page) {
  const seen = await page.evaluate(() => {
    const element = document.activeElement;
    const shows = (part) => {
      const style = getComputedStyle(part);
      return style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) > 0;
    };
    const box = element.getBoundingClientRect();
    const inside =
      box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
    // The frame around a text field may show the focus in its place.
    const ring = shows(element) || (element.parentElement && shows(element.parentElement));
    return {
      what: element.outerHTML.slice(0, 160),
      focus: element.matches(":focus-visible"),
      inside,
      ring,
    };
  });
  assert.deepEqual(
    { focus: seen.focus, inside: seen.inside, ring: Boolean(seen.ring) },
    { focus: true, inside: true, ring: true },
    seen.what,
  );
}

/** Presses Tab until something has the focus; every stop on the way shows that it has it. */
export async function tabTo(page, selector, key = "Tab") {
  for (let pressed = 0; pressed < MOST; pressed += 1) {
    await page.keyboard.press(key);
    if (await page.evaluate(() => document.activeElement !== document.body)) {
      await assertFocusShows(page);
    }
    if (await focused(page, selector)) {
      return;
    }
  }
  assert.fail(`Tab never reaches ${selector}`);
}

/** What has the focus, in words. */
export const focusedWords = (page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element.getAttribute("aria-label") ?? element.textContent.trim();
  });

/** The numbers of edits that are done. */
export const edits = async (page) => (await log(page, ["change"])).length;
