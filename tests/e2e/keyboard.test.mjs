// Everything by the keyboard alone: no test here moves a mouse.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { log, now, pods, ready, seconds, until } from "./support/page.mjs";

/** More than there are things to reach on the page with the sample cluster. */
const MOST = 400;

/** Whether what has the focus matches a selector. */
const focused = (page, selector) =>
  page.evaluate((wanted) => document.activeElement.matches(wanted), selector);

/** What has the focus can be seen: in the window, with an outline or a ring. */
async function assertFocusShows(page) {
  const seen = await page.evaluate(() => {
    const element = document.activeElement;
    const shows = (part) => {
      const style = getComputedStyle(part);
      return style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) > 0;
    };
    const box = element.getBoundingClientRect();
    const inside = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
    // The frame around a text field may show the focus in its place.
    const ring = shows(element) || (element.parentElement && shows(element.parentElement));
    return { what: element.outerHTML.slice(0, 160), focus: element.matches(":focus-visible"), inside, ring };
  });
  assert.deepEqual(
    { focus: seen.focus, inside: seen.inside, ring: Boolean(seen.ring) },
    { focus: true, inside: true, ring: true },
    seen.what,
  );
}

/** Presses Tab until something has the focus; every stop on the way shows that it has it. */
async function tabTo(page, selector, key = "Tab") {
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

playgroundTest("from load to an eviction by keyboard", async ({ page }) => {
  await ready(page);
  await tabTo(page, '[data-node="worker-1"] > .name');
  await page.keyboard.press("Enter");
  await page.getByTestId("inspector").getByRole("heading", { name: "worker-1" }).waitFor();

  await tabTo(page, '[data-testid="add-taint"]');
  await page.keyboard.press("Enter");
  // The fields are above the button that adds them.
  await tabTo(page, '[data-testid="taint-form"] input', "Shift+Tab");
  while (await focused(page, '[data-testid="taint-form"] input')) {
    await page.keyboard.press("Shift+Tab");
  }
  await tabTo(page, '[data-testid="taint-form"] input');
  // Among these are the letters of all shortcuts of one key.
  await page.keyboard.type("node.kubernetes.io/unreachable");
  await page.keyboard.press("Tab");
  await page.keyboard.type("exists-p+t");
  await page.keyboard.press("Backspace");
  assert.equal(await now(page), 0n);
  assert.equal(await page.getByRole("dialog").count(), 0);
  assert.equal(await page.getByTestId("apply").isDisabled(), true, "`exists-p+` is no value");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("Delete");
  await page.keyboard.press("Enter");
  await page.getByTestId("apply").waitFor({ state: "detached" });

  await until(page, async () => {
    assert.equal((await pods(page))["data/report-28930120-vq7x4"], "terminating");
  });
  // Where nothing is typed, the shortcuts work.
  await tabTo(page, '[data-testid="add-taint"]');
  await page.keyboard.press("ArrowRight");
  await until(page, async () => assert.equal(await now(page), seconds(5)));
  await page.keyboard.press("n");
  await until(page, async () => assert.equal(await now(page), seconds(30)));
  assert.deepEqual((await log(page)).length, 2);
});

playgroundTest("every shortcut of the help does what it says", async ({ page }) => {
  await ready(page);
  const speed = page.getByTestId("speed");
  const before = await speed.inputValue();
  await page.keyboard.press("+");
  await until(page, async () => assert.notEqual(await speed.inputValue(), before));
  await page.keyboard.press("-");
  await until(page, async () => assert.equal(await speed.inputValue(), before));

  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Play" }).waitFor();
  await until(page, async () => assert.ok((await now(page)) >= 0n));
  await page.keyboard.press("Home");
  await until(page, async () => assert.equal(await now(page), 0n));

  const theme = () => page.evaluate(() => document.documentElement.dataset.theme ?? "auto");
  for (const expected of ["light", "dark", "auto"]) {
    await page.keyboard.press("t");
    assert.equal(await theme(), expected);
  }

  for (const [key, title] of [
    ["i", "Import"], ["x", "Export"], ["s", "Scenarios"], ["?", "Help"],
    ["a", "Create a node"], ["p", "Create a pod"],
  ]) {
    await page.keyboard.press(key);
    await page.getByRole("dialog", { name: title }).waitFor();
    // Keys are the dialog's now.
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Home");
    await page.keyboard.press("Escape");
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    assert.equal(await now(page), 0n);
  }
});

playgroundTest("a dialog keeps the focus, and gives it back", async ({ page }) => {
  await ready(page);
  for (const [opener, title] of [
    ["scenarios", "Scenarios"], ["import", "Import"], ["export", "Export"], ["help", "Help"],
  ]) {
    for (const close of ["Escape", "the button"]) {
      await tabTo(page, `[data-testid="${opener}"]`);
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: title }).waitFor();
      // Beyond its beginning, and from there on.
      for (const key of [...Array(4).fill("Shift+Tab"), ...Array(8).fill("Tab")]) {
        const inside = await page.evaluate(() => {
          const { activeElement, body } = document;
          // The browser's own buttons come after the last one of the dialog.
          return activeElement === body || activeElement.closest("dialog") !== null;
        });
        assert.ok(inside, `${title}: the focus is inside before ${key}`);
        await page.keyboard.press(key);
      }
      if (close === "Escape") {
        await page.keyboard.press("Escape");
      } else {
        await tabTo(page, 'dialog [aria-label="Close"]');
        await page.keyboard.press("Enter");
      }
      await page.getByTestId("dialog").waitFor({ state: "detached" });
      await until(page, async () => {
        assert.ok(await focused(page, `[data-testid="${opener}"]`), `${title}, ${close}`);
      });
      await page.evaluate(() => document.activeElement.blur());
    }
  }
});

playgroundTest("a scenario is chosen and run by keyboard", async ({ page }) => {
  await ready(page);
  await page.keyboard.press("s");
  await page.getByRole("dialog", { name: "Scenarios" }).waitFor();
  await tabTo(page, '[data-scenario="two-taints-one-removed-1.18"]');
  await page.keyboard.press("Enter");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("e");
  await until(page, async () => {
    assert.deepEqual(await pods(page), { "default/cache-0": "gone" });
  });
});

playgroundTest("the slider and the tabs of the inspector take arrow keys or Tab", async ({ page }) => {
  await ready(page);
  await tabTo(page, '[data-testid="scrub"]');
  await page.keyboard.press("End");
  await until(page, async () => assert.equal(await now(page), seconds(60)));
  await page.keyboard.press("ArrowLeft");
  await until(page, async () => assert.ok((await now(page)) < seconds(60)));

  await page.evaluate(() => document.activeElement.blur());
  await tabTo(page, '[data-node="worker-2"] > .name');
  await page.keyboard.press("Enter");
  for (const tab of ["pods", "labels", "yaml", "taints"]) {
    await tabTo(page, `[data-tab="${tab}"]`);
    await page.keyboard.press("Enter");
    await page.locator(`[data-tab="${tab}"][aria-selected="true"]`).waitFor();
  }
  await page.keyboard.press("Escape");
  await page.locator('[data-testid="inspector"][data-empty="true"]').waitFor();
});
