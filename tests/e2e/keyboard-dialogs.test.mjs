// Dialogs by the keyboard: they keep the focus, give it back, and close with Back.

import assert from "node:assert/strict";

import { QUIET, playgroundTest } from "./support/browser.mjs";
import { focused, focusedWords, tabTo } from "./support/focus.mjs";
import { now, ready, selectNode, until } from "./support/page.mjs";

playgroundTest("Back closes a dialog, and does not leave the page", async ({ page, url }) => {
  await ready(page);
  const dialog = page.getByTestId("dialog");
  for (const key of ["?", "i", "s"]) {
    await page.keyboard.press(key);
    await dialog.waitFor();
    await page.goBack();
    await dialog.waitFor({ state: "detached" });
  }
  // Closed in another way, nothing is left behind.
  for (const key of ["?", "x"]) {
    await page.keyboard.press(key);
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  // One at once after the other.
  await page.keyboard.press("?");
  await dialog.waitFor();
  await page.evaluate(() => {
    document.querySelector("dialog [aria-label=Close]").click();
    document.querySelector("[data-testid=export]").click();
  });
  await page.getByRole("dialog", { name: "Export" }).waitFor();
  await until(page, async () => assert.equal(await page.evaluate(() => history.state), "dialog"));
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  assert.equal(page.url(), url + QUIET);
  assert.notEqual(await page.evaluate(() => history.state), "dialog");
});

playgroundTest("a dialog keeps the focus, and gives it back", async ({ page }) => {
  await ready(page);
  for (const [opener, title] of [
    ["scenarios", "Scenarios"],
    ["import", "Import"],
    ["export", "Export"],
    ["help", "Help"],
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

playgroundTest("a control that is gone or disabled by its press leaves the focus near", async ({
  page,
}) => {
  await ready(page);
  const press = async (control) => {
    await control.focus();
    await page.keyboard.press("Enter");
  };
  const leaves = (words) => until(page, async () => assert.equal(await focusedWords(page), words));
  await selectNode(page, "worker-1");
  await page.getByTestId("taint-form").getByRole("button", { name: "unreachable" }).click();
  await press(page.getByTestId("undo"));
  await leaves("Redo (Ctrl Shift Z)");
  await press(page.getByTestId("redo"));
  await leaves("Undo (Ctrl Z)");
  for (const back of ["home", "step-back"]) {
    await page.getByTestId("step").click();
    await until(page, async () => assert.notEqual(await now(page), 0n));
    await press(page.getByTestId(back));
    await leaves("Play");
  }

  await page.keyboard.press("m");
  const note = page.getByTestId("bookmark-note");
  const list = page.getByTestId("bookmark-list");
  for (const [place, words] of ["one", "two"].entries()) {
    await note.fill(words);
    await note.press("Enter");
    await list.getByRole("textbox").nth(place).waitFor();
  }
  const bins = list.getByRole("button", { name: "Delete" });
  await press(bins.first());
  await until(page, async () => assert.ok(await focused(page, '[data-testid="bookmark-note"]')));
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });

  await page.keyboard.press("g");
  const branches = page.getByTestId("branches");
  await press(page.getByTestId("fork"));
  await press(branches.getByRole("button", { name: "Switch" }));
  await leaves("Name of main");
  await press(branches.getByRole("button", { name: "Delete branch 1" }));
  await leaves("Name of main");
});
