// The first minute, bookmarks and their story, the command palette, and what can be taken along.

import assert from "node:assert/strict";

import axe from "axe-core";

import { playgroundTest } from "./support/browser.mjs";
import { keyboard, mouse } from "./support/hands.mjs";
import { loadScenario, now, ready, runToEnd, scrubTo, seconds, until } from "./support/page.mjs";

const TAKEN = {
  closed: true,
  context: { permissions: ["clipboard-read", "clipboard-write"] },
};
const SAMPLE = { sample: true };
const PHONE = { context: { viewport: { width: 390, height: 844 }, hasTouch: true } };

const story = (page) => page.getByTestId("story");

/** Rules that axe finds broken in a part of the page. */
async function violations(page, selector) {
  await page.evaluate(axe.source);
  return page.evaluate(async (within) => {
    const { violations: found } = await globalThis.axe.run(within);
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  }, selector);
}

/** The address names a scenario, as it does a moment after it was opened. */
const inAddress = (page, name) =>
  page.waitForFunction((name) => location.hash.includes(`#s=${name}&`), name);

for (const hand of [mouse, keyboard]) {
  playgroundTest(`each question is one step from its answer, by ${hand.name}`, SAMPLE, async ({ page }) => {
    await ready(page);
    await hand(page).press(page.getByTestId("question-node"));
    await story(page).getByText("1 of 7").waitFor();
    assert.equal(await now(page), seconds(60));
    await inAddress(page, "service-in-an-outage");
    await page.goBack();
    await page.getByTestId("questions").waitFor();
    await hand(page).press(page.getByTestId("question-why"));
    await story(page).getByText("1 of 4").waitFor();
    await inAddress(page, "why-345-seconds");
    await page.goBack();
    await page.getByTestId("questions").waitFor();
    await hand(page).press(page.getByTestId("question-paste"));
    await page.getByRole("dialog").getByTestId("import-text").waitFor();
  });
}

playgroundTest("a story is told with arrows, whatever has the focus", async ({ page }) => {
  await ready(page);
  await page.getByTestId("question-why").click();
  const notes = [];
  for (const at of [3, 41, 46, 346]) {
    await until(page, async () => assert.equal(await now(page), seconds(at)));
    notes.push(await story(page).locator(".note").innerText());
    await until(page, async () =>
      assert.equal(
        (await page.getByTestId("announcement").innerText()).replaceAll("`", ""),
        notes.at(-1),
      ),
    );
    await page.keyboard.press("ArrowRight");
  }
  assert.match(notes.at(-1), /deleted 345 s after/);
  assert.ok(await page.getByTestId("story-next").isDisabled());
  await page.getByTestId("inspector").locator(".budget").waitFor();
  const size = await story(page)
    .locator(".note")
    .evaluate((note) => Number.parseFloat(getComputedStyle(note).fontSize));
  assert.ok(size >= 18, `${size} px`);
  await page.keyboard.press("ArrowLeft");
  await until(page, async () => assert.equal(await now(page), seconds(46)));
  assert.deepEqual(await violations(page, "[data-testid=story]"), []);
  await page.keyboard.press("Escape");
  await story(page).waitFor({ state: "detached" });
  // The arrows step from event to event again.
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await until(page, async () => assert.ok((await now(page)) < seconds(46)));
});

playgroundTest("what has no room on a phone is among the commands", PHONE, async ({ page }) => {
  await ready(page);
  assert.equal(await page.getByTestId("until-open").isVisible(), false);
  for (const [command, dialog] of [
    [/^Branches/, "Branches"],
    [/^Run until something/, "Run until, or back to"],
    [/^Report/, "Resilience report"],
  ]) {
    await page.getByTestId("palette-open").tap();
    await page.getByRole("dialog", { name: "Commands" }).getByText(command).tap();
    await page.getByRole("dialog", { name: dialog }).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).tap();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
  }
});

playgroundTest("a story is told by touch on a phone", PHONE, async ({ page }) => {
  await ready(page);
  await page.getByTestId("scenarios").tap();
  await page.locator('[data-scenario="why-345-seconds"]').tap();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.evaluate(() => document.querySelector("[data-testid=story-open]")?.click());
  if (!(await story(page).isVisible())) await page.keyboard.press("o");
  await story(page).getByText("1 of 4").waitFor();
  await page.getByTestId("story-next").tap();
  await story(page).getByText("2 of 4").waitFor();
  await page.getByTestId("story-previous").tap();
  await story(page).getByText("1 of 4").waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${wide} px too wide`);
  await page.getByTestId("story-end").tap();
  await story(page).waitFor({ state: "detached" });
});

playgroundTest("bookmarks are made, kept, shared and undone", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "three-effects");
  for (const [at, note] of [
    [20, "second"],
    [10, "first"],
  ]) {
    await scrubTo(page, seconds(at));
    await page.keyboard.press("m");
    await page.getByTestId("bookmark-note").fill(note);
    await page.keyboard.press("Enter");
    await page.locator(`[data-bookmark="${at}s"]`).waitFor();
    await page.keyboard.press("Escape");
    await page.getByTestId("dialog").waitFor({ state: "detached" });
  }
  await until(page, async () =>
    assert.match(await page.evaluate(() => location.hash), /^#s=three-effects.*&e=/),
  );
  const other = await page.context().newPage();
  await other.goto(page.url());
  await ready(other);
  await other.keyboard.press("o");
  await other.getByTestId("story").getByText("first").waitFor();
  assert.equal(await now(other), seconds(10));
  await other.keyboard.press("ArrowRight");
  await other.getByTestId("story").getByText("second").waitFor();
  await other.keyboard.press("Escape");

  await page.reload();
  await ready(page);
  await page.keyboard.press("m");
  await page.locator('[data-bookmark="20s"]').getByLabel("Delete").click();
  await page.locator('[data-bookmark="20s"]').waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.getByTestId("undo").click();
  await page.keyboard.press("m");
  await page.locator('[data-bookmark="20s"]').waitFor();
});

playgroundTest(
  "the sample runs its controllers: what is evicted comes back",
  SAMPLE,
  async ({ page }) => {
    await ready(page);
    assert.ok(await page.getByTestId("control-plane").isChecked());
    await page.getByTestId("board").locator('[data-node="worker-1"] > .name').click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await runToEnd(page);
    const web = page.locator("[data-pod^='shop/web-']");
    await until(page, async () => assert.equal(await web.count(), 4));
    assert.equal(await page.locator("[data-node=worker-1]").count(), 0);
  },
);

playgroundTest("every command is found and done by keyboard", async ({ page }) => {
  await ready(page);
  await page.keyboard.press("ControlOrMeta+Shift+P");
  const search = page.getByTestId("palette-search");
  const list = page.getByTestId("palette-list");
  await search.waitFor();
  assert.equal(await search.getAttribute("role"), "combobox");
  assert.ok((await list.getByRole("option").count()) > 20);
  assert.deepEqual(await violations(page, "dialog"), []);
  const active = () =>
    search.evaluate((field) =>
      document.getElementById(field.getAttribute("aria-activedescendant"))?.innerText,
    );
  const first = await active();
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await active(), first);
  await page.keyboard.press("ArrowUp");
  assert.equal(await active(), first);
  await page.keyboard.type("flags contr");
  await until(page, async () => assert.match(await active(), /^Flags of the controllers/));
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("--node-eviction-rate").first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("ControlOrMeta+Shift+P");
  await search.fill("no command like this");
  await page.getByText("No command has all of these words.").waitFor();
  await search.fill("share");
  await list.getByRole("option", { name: /Share a link/ }).click();
  await page.getByRole("dialog", { name: "Share" }).waitFor();
});

playgroundTest("scenarios show their lanes, and others like them", async ({ page }) => {
  await ready(page);
  await page.keyboard.press("s");
  await page.getByRole("button", { name: "Lanes of “Why 345 seconds and not 300?”" }).click();
  const lanes = page.locator('[data-lanes="why-345-seconds"] > svg');
  await lanes.waitFor();
  assert.match(await lanes.locator("> title").textContent(), /Why 345 seconds/);
  await page.locator('[data-like="why-345-seconds"]').click();
  await page.getByTestId("similar").getByText("More like “Why 345 seconds and not 300?”").waitFor();
  const found = page.getByTestId("scenario-list").locator("[data-scenario]");
  const tags = await found.evaluateAll((all) => all.map(({ dataset }) => dataset.tags));
  assert.ok(tags.length > 1 && tags.length < 30, `${tags.length}`);
  for (const own of tags) assert.match(own, /node-failure|time-budget/);
  await page.getByRole("button", { name: "Show all" }).click();
  await until(page, async () => assert.ok((await found.count()) > 50));
});

playgroundTest("an incident and an embed are taken along", TAKEN, async ({ page, url }) => {
  await page.goto(`${url}#s=why-345-seconds&release=1.31&t=6m40s`);
  await ready(page);
  await page.keyboard.press("x");
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.locator('[data-export="Incident"]').getByRole("button", { name: "Copy" }).click();
  await until(page, async () => assert.match(await copied(), /- at 0:40: `node\/worker-1`/));
  const embed = page.locator('[data-export="Embed"]');
  await embed.getByRole("button", { name: "Show" }).click();
  await embed.getByTestId("embed-preview").locator("> svg").waitFor();
  const text = embed.getByTestId("embed-text");
  assert.equal(
    await text.inputValue(),
    "```taintlab scenario=why-345-seconds start-at=5m45.1s\n```",
    "no later than its end",
  );
  for (const [form, wanted] of [
    ["HTML", '<taint-lab scenario="why-345-seconds" start-at="5m45.1s"'],
    ["Frame", 'embed/frame.html#scenario=why-345-seconds&amp;t=345.1s"'],
    ["Link", "#s=why-345-seconds&release=1.31&t=345.1s"],
  ]) {
    await embed.getByRole("button", { name: form, exact: true }).click();
    await until(page, async () => assert.ok((await text.inputValue()).includes(wanted), form));
  }
});
