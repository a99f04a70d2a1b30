// What leads through time, each by mouse, by keyboard alone and by touch.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

import { playgroundTest } from "./support/browser.mjs";
import { keyboard, mouse, touch } from "./support/hands.mjs";
import { loadScenario, now, ready, runToEnd, seconds, until } from "./support/page.mjs";

const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

// When what happens in the example: the node is Unknown, then tainted, and its pod is deleted.
const UNKNOWN = seconds(40.0084);
const NOT_READY = seconds(40.0334);
const TAINTED = seconds(45.1);
const DELETED = seconds(345.1);

const button = (within, name) => within.getByRole("button", { name, exact: true });
const dialog = (page) => page.getByTestId("dialog");
const clockIs = (page, time) =>
  until(page, async () => assert.equal(await now(page), time));

/** Closes the dialog. */
async function close(page, hand) {
  await hand.press(button(dialog(page), "Close"));
  await dialog(page).waitFor({ state: "detached" });
}

/** Puts a text into a field in place of what is there. */
async function type(page, hand, field, text) {
  await hand.enter(field);
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(text);
}

/** What each hand does, with the example open in which a pod is evicted after 345.1 s. */
const JOBS = {
  "run until, back to, and stop there": async (page, hand) => {
    const form = page.getByTestId("until");
    const ask = async (line, name) => {
      await hand.press(page.getByTestId("until-open"));
      await type(page, hand, form.getByRole("combobox"), line);
      await hand.press(button(form, name));
    };
    await ask("node/worker-1 tainted", "Run until");
    await clockIs(page, TAINTED);
    await dialog(page).waitFor({ state: "detached" });
    await ask("node/worker-1 unknown", "Back to");
    await clockIs(page, UNKNOWN);
    await dialog(page).waitFor({ state: "detached" });
    await hand.press(page.getByTestId("home"));
    await clockIs(page, 0n);
    await ask("pod/default/web-0 counting", "Stop there");
    await dialog(page).getByRole("heading", { name: "Breakpoints" }).waitFor();
    await close(page, hand);
    await hand.choose(page.getByTestId("speed"), "1000×");
    await hand.press(button(page, "Play"));
    await page.getByTestId("notice").getByText("Stopped at 45.1s").waitFor();
    assert.equal(await now(page), TAINTED);
    await hand.press(page.getByTestId("until-open"));
    await hand.press(button(dialog(page), "Remove"));
    await dialog(page).getByRole("heading", { name: "Breakpoints" }).waitFor({ state: "detached" });
  },

  "branches are forked, named, switched to and deleted": async (page, hand) => {
    const tree = page.getByTestId("branches");
    const branch = (name) => tree.locator(`[data-branch="${name}"]`);
    await runToEnd(page);
    await hand.press(page.getByTestId("branches-open"));
    await hand.press(page.getByTestId("fork"));
    await tree.locator('[data-branch="branch 1"][aria-current="true"]').waitFor();
    await type(page, hand, branch("branch 1").getByRole("textbox"), "what if");
    await page.keyboard.press("Enter");
    await branch("what if").waitFor();
    await hand.press(button(branch("main").locator("> .row"), "Switch"));
    await tree.locator('[data-branch="main"][aria-current="true"]').waitFor();
    await hand.press(button(tree, "Delete what if"));
    await branch("what if").waitFor({ state: "detached" });
    await close(page, hand);
    await hand.press(page.getByTestId("undo"));
    await hand.press(page.getByTestId("branches-open"));
    await branch("what if").waitFor();
  },

  "two tolerationSeconds are compared, and the comparison is copied": async (page, hand) => {
    await hand.press(page.getByTestId("compare-open"));
    const b = dialog(page).getByRole("group", { name: "B", exact: true });
    await type(page, hand, b.getByLabel("tolerationSeconds"), "60");
    await hand.press(button(dialog(page), "Compare"));
    const compared = page.getByTestId("compared");
    await compared.getByRole("row", { name: /default\/web-0 evicted 5m45\.1s 1m45\.1s/ }).waitFor();
    await hand.press(button(compared, "Copy"));
    await until(page, async () => {
      const text = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(text, /\| default\/web-0 evicted \| \*\*5m45\.1s\*\* \| \*\*1m45\.1s\*\* \|/);
    });
    await hand.press(page.getByTestId("compare-part"));
    await dialog(page).waitFor({ state: "detached" });
    await clockIs(page, seconds(105.1));
  },

  "a bookmark is made, told and deleted": async (page, hand) => {
    await hand.press(page.getByTestId("end"));
    await hand.press(page.getByTestId("bookmarks-open"));
    await type(page, hand, page.getByTestId("bookmark-note"), "all is over");
    await hand.press(button(dialog(page), "Add"));
    const made = page.getByTestId("bookmark-list").locator('[data-bookmark="5m45.1s"]');
    assert.equal(await made.getByRole("textbox").inputValue(), "all is over");
    await hand.press(dialog(page).getByTestId("story-open"));
    const story = page.getByTestId("story");
    await story.getByText("1 of 5").waitFor();
    for (const number of [2, 3, 4, 5]) {
      await hand.press(page.getByTestId("story-next"));
      await story.getByText(`${number} of 5`).waitFor();
    }
    await hand.press(page.getByTestId("story-previous"));
    await story.getByText("4 of 5").waitFor();
    await story.getByText("all is over").waitFor();
    await hand.press(page.getByTestId("story-end"));
    await story.waitFor({ state: "detached" });
    await hand.press(page.getByTestId("bookmarks-open"));
    await hand.press(button(made, "Delete"));
    await until(page, async () =>
      assert.equal(await page.getByTestId("bookmark-list").locator("li").count(), 4),
    );
  },

  "a row of the log leads to its moment": async (page, hand) => {
    await runToEnd(page);
    await hand.press(page.getByTestId("events-open"));
    const rows = page.getByTestId("log").locator(".ev");
    await hand.press(rows.filter({ hasText: "NodeNotReady" }).first());
    await clockIs(page, NOT_READY);
    await page.getByTestId("log").locator(".ev[aria-current]").waitFor();
  },

  "kinds that are hidden are not stepped to": async (page, hand) => {
    const kinds = page.locator(".kinds");
    for (const name of ["Changes", "Nodes", "Zones", "All else"]) {
      await hand.press(kinds.getByRole("button", { name }));
    }
    await hand.press(page.getByTestId("step"));
    await clockIs(page, DELETED);
  },

  "scenarios are found by tags and by others like them": async (page, hand) => {
    await hand.press(page.getByTestId("scenarios"));
    const list = page.getByTestId("scenario-list");
    await hand.press(page.getByTestId("scenario-tags").locator('[data-tag="time-budget"]'));
    await list.locator('[data-scenario="why-345-seconds"]').waitFor();
    await hand.press(page.locator('[data-like="why-345-seconds"]'));
    await page.getByTestId("similar").waitFor();
    await hand.press(button(dialog(page), "Show all"));
    await page.getByTestId("similar").waitFor({ state: "detached" });
    await type(page, hand, dialog(page).getByRole("searchbox"), "one of three zones");
    await hand.press(list.locator("[data-scenario]").first());
    await dialog(page).waitFor({ state: "detached" });
  },

  "a row of the lanes is folded, kept at the top and chosen": async (page, hand) => {
    await runToEnd(page);
    await hand.press(page.getByTestId("lanes-open"));
    const lanes = page.getByTestId("lanes");
    const row = lanes.locator('.lspace [data-subject="node worker-1"]');
    const pod = lanes.locator('.lspace [data-subject="pod default/web-0"]');
    const pinned = lanes.locator('.lpins [data-subject="node worker-1"]');
    await pod.waitFor();
    if (hand.name === "keyboard") {
      await hand.enter(page.getByTestId("lanes-rows"));
      await page.keyboard.press("Home");
      await until(page, async () => {
        if ((await row.getAttribute("aria-selected")) === "true") return;
        await page.keyboard.press("ArrowDown");
        assert.fail("the cursor is not there yet");
      });
      await page.keyboard.press("p");
    } else {
      await hand.press(button(row, "Fold node worker-1"));
      await pod.waitFor({ state: "detached" });
      await hand.press(button(row, "Unfold node worker-1"));
      await pod.waitFor();
      await hand.press(button(row, "Keep at the top: node worker-1"));
    }
    await pinned.waitFor();
    assert.equal(await row.count(), 1, "it is where it was, too");
    if (hand.name === "keyboard") {
      await page.keyboard.press("Enter");
    } else {
      await hand.press(pinned.locator(".clip"));
    }
    const inspector = page.getByTestId("inspector");
    await inspector.getByRole("heading", { name: "worker-1", level: 2 }).waitFor();
  },

  "the lanes are taken along as a picture": async (page, hand) => {
    await page.setViewportSize({ width: 1600, height: 900 });
    await hand.press(page.getByTestId("lanes-open"));
    const downloading = page.waitForEvent("download");
    await hand.press(button(page.getByTestId("lanes"), "SVG"));
    const text = await readFile(await (await downloading).path(), "utf8");
    assert.match(text, /^<svg[^]*worker-1/);
  },
};

for (const [job, does] of Object.entries(JOBS)) {
  for (const hand of [mouse, keyboard, touch]) {
    const context = { ...hand.context, ...CLIPBOARD };
    playgroundTest(`${job}, by ${hand.name}`, { context }, async ({ page }) => {
      await ready(page);
      await loadScenario(page, "why-345-seconds");
      await does(page, hand(page));
    });
  }
}
