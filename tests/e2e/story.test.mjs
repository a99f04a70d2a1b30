// The first minute, bookmarks and their story, the command palette, and what can be taken along.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

import axe from "axe-core";

import { playgroundTest } from "./support/browser.mjs";
import { keyboard, mouse, touch, typeInto } from "./support/hands.mjs";
import {
  loadScenario,
  now,
  ready,
  runToEnd,
  scrubTo,
  seconds,
  showView,
  until,
} from "./support/page.mjs";

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

for (const hand of [mouse, keyboard, touch]) {
  const options = { ...SAMPLE, context: hand.context };
  playgroundTest(`each question is one step from its answer, by ${hand.name}`, options, async ({ page }) => {
    await ready(page);
    // Of the cluster in sight: the answer stands above the board, and in the lanes.
    await hand(page).press(page.getByTestId("question-node"));
    const caption = page.getByTestId("caption");
    await caption.getByText(/^1m0.*: worker-1 is tainted\. report.* goes now, because/).waitFor();
    await page.getByTestId("lanes").locator("[data-forecast][data-state=counting]").first().waitFor();
    await page.getByTestId("undo").click();
    await hand(page).press(page.getByTestId("home"));
    await page.getByTestId("questions").waitFor();
    const release = await page.getByTestId("release").inputValue();
    const why = page.getByTestId("question-why");
    assert.equal(await why.innerText(), "Why 5 min 50 s, and not 5 min?");
    await hand(page).press(why);
    // Of the release in sight, whose number it is.
    await story(page).getByText("1 of 2").waitFor();
    await story(page).getByTestId("story-answer").getByText(/^Answer: The times add up: 50s/).waitFor();
    await hand(page).press(page.getByTestId("story-next"));
    await story(page).getByText("2 of 2").waitFor();
    assert.equal(await story(page).getByTestId("story-answer").count(), 0);
    assert.equal(await page.getByTestId("release").inputValue(), release);
    await page.waitForFunction(() => location.hash.startsWith("#2."));
    await page.goBack();
    await page.getByTestId("questions").waitFor();
    await hand(page).press(page.getByTestId("question-paste"));
    await page.getByRole("dialog").getByTestId("import-text").waitFor();
  });
}

playgroundTest("a story is told with arrows, whatever has the focus", async ({ page }) => {
  await ready(page);
  // The release that the example was written for, with all of its bookmarks.
  await page.getByTestId("release").selectOption("1.31");
  await page.getByTestId("question-why").getByText("Why 5 min 45 s, and not 5 min?").click();
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
    [/^Run until a condition/, "Run until, or back to"],
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
  await command(page, "tell the bookmarks", (control) => control.tap());
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
  await other.locator(".story .note").getByText("first").waitFor();
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
    // Nodes on which nothing happened are folded.
    await page.getByTestId("fine").first().click();
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
  await until(page, async () => assert.notEqual(await active(), first));
  await page.keyboard.press("ArrowUp");
  await until(page, async () => assert.equal(await active(), first));
  await typeInto(page, search, "flags contr");
  await until(page, async () => assert.match(await active(), /^Flags of the controllers/));
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("--node-eviction-rate").first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("ControlOrMeta+Shift+P");
  // Of a name that no command has, the node or the pod is looked for.
  await search.fill("zzz");
  await until(page, async () => assert.match(await active(), /^Find “zzz”: a node or a pod/));
  await search.fill("worker-2");
  await list.getByRole("option", { name: "Select node worker-2" }).click();
  await page.getByTestId("inspector").getByRole("heading", { name: "worker-2" }).waitFor();
  await page.keyboard.press("ControlOrMeta+Shift+P");
  await search.fill("share");
  await list.getByRole("option", { name: /Share a link/ }).click();
  await page.getByRole("dialog", { name: "Share" }).waitFor();
});

/** Does the first command with these words, with the palette opened as somebody would. */
async function command(page, words, press = (control) => control.click()) {
  await press(page.getByTestId("palette-open"));
  await page.getByTestId("palette-search").fill(words);
  await press(page.getByTestId("palette-list").getByRole("option").first());
  await page.getByRole("dialog", { name: "Commands" }).waitFor({ state: "detached" });
}

playgroundTest(
  "the palette holds what can be done with what is there, by mouse",
  { context: { viewport: { width: 1280, height: 720 } } },
  async ({ page }) => {
    await ready(page);
    await loadScenario(page, "why-345-seconds");
    await command(page, "bookmark 46");
    await story(page).getByText("3 of 4").waitFor();
    await page.getByTestId("story-end").click();
    await page.locator('[data-node="worker-2"] > .name').click();
    await page.getByTestId("inspector").getByRole("heading", { name: "worker-2" }).waitFor();
    for (const what of ["stop kubelet", "taint maintenance"]) {
      await command(page, `worker-2: ${what}`);
    }
    const node = page.getByTestId("board").locator('[data-node="worker-2"]');
    await node.locator(".unreachable").getByText("kubelet stopped").waitFor();
    await node.locator('.taints [title="example.com/maintenance:NoSchedule"]').waitFor();
    // The node is in another state now, and so are the commands.
    await command(page, "worker-2: start kubelet");
    await node.locator(".unreachable").waitFor({ state: "detached" });

    const lanes = page.getByTestId("lanes");
    await page.getByTestId("lanes-open").click();
    await command(page, "keep worker-2 at the top");
    await lanes.locator('.lane[data-kind="pinned"][data-subject="node worker-2"]').waitFor();
    await command(page, "keep worker-2 no longer");
    await lanes.locator('.lane[data-kind="pinned"]').waitFor({ state: "detached" });

    await command(page, "timeline hide evictions");
    await page.locator('.kind.evict[aria-pressed="false"]').waitFor();
    await command(page, "event log show decisions");
    await showView(page, "events");
    const log = page.getByTestId("log");
    await log.getByRole("button", { name: "Decisions", pressed: true }).waitFor();
    await log.locator('.ev[data-category="fact"]').first().waitFor();
    await log.getByRole("button", { name: "Decisions" }).click();
    await log.getByRole("button", { name: "Decisions", pressed: false }).waitFor();

    await command(page, "fork: begin a branch");
    await page.getByTestId("branches-open").getByText(/branch \d/).waitFor();
    await command(page, "switch to branch main");
    await page.getByTestId("branches-open").getByText("main").waitFor();
    await command(page, "run on kubernetes 1.30");
    await until(page, async () =>
      assert.equal(await page.getByTestId("release").inputValue(), "1.30"),
    );
    const downloading = page.waitForEvent("download");
    await command(page, "download scenario file");
    assert.equal((await downloading).suggestedFilename(), "scenario.yaml");
    await command(page, "scenario: never scheduled");
    await until(page, async () =>
      assert.match(await page.locator(".top .title").innerText(), /Never scheduled/),
    );
  },
);

playgroundTest("bookmarks, and the events of an object, by mouse", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  await page.getByTestId("bookmarks-open").click();
  await page.getByTestId("bookmark-note").waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.locator('[data-node="worker-1"] > .name').click();
  const inspector = page.getByTestId("inspector");
  const times = [];
  for (let steps = 0; steps < 3; steps += 1) {
    const before = await now(page);
    await inspector.getByTestId("about-after").click();
    await until(page, async () => assert.ok((await now(page)) > before));
    times.push(await now(page));
  }
  await inspector.getByTestId("about-before").click();
  await until(page, async () => assert.equal(await now(page), times.at(-2)));
  assert.ok(await inspector.getByRole("heading", { name: "worker-1" }).isVisible());
});

playgroundTest("all commands are a key away, also from a field", async ({ page }) => {
  await ready(page);
  await page.getByTestId("events-open").click();
  const field = page.getByRole("searchbox", { name: "Filter events" });
  await field.fill("web");
  await field.press("ControlOrMeta+Shift+P");
  await typeInto(page, page.getByTestId("palette-search"), "board: cells");
  await page.keyboard.press("Enter");
  await page.locator('[data-testid="board"][data-detail="cells"]').waitFor();
  assert.equal(await field.inputValue(), "web");
});

playgroundTest("marks and pins are reached on a phone", PHONE, async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  const tap = (control) => control.tap();
  assert.equal(await page.locator(".kinds").isVisible(), false);
  await command(page, "timeline hide nodes", tap);
  await page.locator('.kind.nodal[aria-pressed="false"]').waitFor({ state: "attached" });
  await page.locator('[data-node="worker-3"] > .name').tap();
  await page.getByTestId("inspector").getByRole("heading", { name: "worker-3" }).waitFor();
  await command(page, "keep worker-3 at the top", tap);
  await page.getByTestId("lanes-open").tap();
  const pinned = page.getByTestId("lanes").locator('.lane[data-kind="pinned"]');
  await pinned.waitFor();
  assert.equal(await pinned.getAttribute("data-subject"), "node worker-3");
});

/** A picture that was downloaded, as SVG. */
async function asSvg(page, press) {
  const downloading = page.waitForEvent("download");
  await press();
  const download = await downloading;
  const text = await readFile(await download.path(), "utf8");
  return { name: download.suggestedFilename(), text };
}

playgroundTest("lanes and board are exported as pictures", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  await scrubTo(page, seconds(60));
  // A reader of pictures elsewhere: the page's own policy forbids to parse text.
  const reader = await page.context().newPage();
  await page.bringToFront();
  await page.getByTestId("export").click();
  for (const what of ["Lanes", "Board"]) {
    const item = page.locator(`[data-export="${what}"]`);
    const file = what.toLowerCase();
    const svg = await asSvg(page, () => item.getByRole("button", { name: "SVG" }).click());
    assert.equal(svg.name, `${file}.svg`);
    const read = await reader.evaluate((text) => {
      const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
      return {
        error: root.querySelector("parsererror")?.textContent,
        title: root.querySelector("title")?.textContent,
        desc: root.querySelector("desc")?.textContent,
        scripts: root.querySelectorAll("script, foreignObject").length,
      };
    }, svg.text);
    assert.equal(read.error, undefined);
    assert.match(read.title, /Why 345 seconds/);
    assert.match(read.desc, /worker-1/);
    assert.equal(read.scripts, 0);

    const png = page.waitForEvent("download");
    await item.getByRole("button", { name: "PNG" }).click();
    const download = await png;
    assert.equal(download.suggestedFilename(), `${file}.png`);
    const bytes = await readFile(await download.path());
    assert.equal(bytes.subarray(1, 4).toString(), "PNG");
    const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
    assert.ok(width >= 2_400 && height > 100, `${width} × ${height}`);
    assert.ok(bytes.length > 5_000, `${bytes.length} bytes`);
  }
});

playgroundTest("a picture that is too large is drawn smaller, or said not to be", async ({ page }) => {
  await ready(page);
  await page.evaluate(() => {
    globalThis.sizes = [];
    HTMLCanvasElement.prototype.toBlob = function (told) {
      globalThis.sizes.push([this.width, this.height]);
      told(null);
    };
    Object.defineProperty(HTMLImageElement.prototype, "height", { get: () => 40_000 });
  });
  await page.getByTestId("export").click();
  await page.locator('[data-export="Board"]').getByRole("button", { name: "PNG" }).click();
  await page.getByTestId("notice").getByText(/cannot render the image: .*as SVG it has any size/).waitFor();
  const [[width, height]] = await page.evaluate(() => globalThis.sizes);
  assert.equal(height, 16_384);
  assert.ok(width < 600, `${width}`);
});

playgroundTest("scenarios show their lanes, and others like them", async ({ page }) => {
  await ready(page);
  await page.keyboard.press("s");
  // Those in sight are there without a press, others when they come into sight.
  const list = page.getByTestId("scenario-list");
  await list.locator("[data-lanes] > img").first().waitFor();
  const preview = page.locator('[data-lanes="why-345-seconds"]');
  assert.equal(await preview.locator("> img").count(), 0);
  await preview.scrollIntoViewIfNeeded();
  const lanes = preview.getByRole("img", { name: /Why 345 seconds.*node worker-1/s });
  await lanes.waitFor();
  assert.ok(await lanes.evaluate((image) => image.decode().then(() => image.naturalHeight > 0)));
  const { height } = await preview.boundingBox();
  await page.getByRole("button", { name: "All lanes of “Why 345 seconds and not 300?”" }).click();
  await until(page, async () => assert.ok((await preview.boundingBox()).height > height));
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
  await until(page, async () => assert.match(await copied(), /- at 40\.033s: `node\/worker-1`/));
  const embed = page.locator('[data-export="Embed"]');
  await embed.getByRole("button", { name: "Show" }).click();
  await embed.getByTestId("embed-preview").getByRole("img").waitFor();
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
