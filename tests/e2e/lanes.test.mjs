// The lanes: what became of each object, over one axis; by mouse, by keyboard and by touch.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { playgroundTest } from "./support/browser.mjs";
import {
  loadScenario,
  log,
  now,
  ready,
  replaceCluster,
  runToEnd,
  scrubTo,
  seconds,
  showView,
  until,
} from "./support/page.mjs";

const lanes = (page) => page.getByTestId("lanes");
const lane = (page, subject) => lanes(page).locator(`.lspace [data-subject="${subject}"]`);
const WEB = "pod default/web-0";

// When what happens in the example: the node is Unknown, then tainted, and its pod is deleted.
const UNKNOWN = seconds(40.0084);
/** The controller has written the node, and goes on to its pods. */
const NOT_READY = seconds(40.0334);
const TAINTED = seconds(45.1);
const DELETED = seconds(345.1);

/** Opens the example in which a pod is evicted after 345.1 s, at its end, with its lanes. */
async function outage(page) {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  await runToEnd(page);
  await page.getByTestId("lanes-open").click();
  await lane(page, WEB).waitFor();
}

/** Where a moment is on the page, in a lane. */
async function place(page, subject, second) {
  const box = await lane(page, subject).locator(".ltrack").boundingBox();
  const { from, to } = await lanes(page).evaluate((section) => {
    const seconds = (text) => {
      const [, hours = 0, minutes = 0, rest = 0] =
        /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(text) ?? [];
      return Number(hours) * 3_600 + Number(minutes) * 60 + Number(rest);
    };
    const ticks = [...section.querySelectorAll(".lscale > span")].map((tick) => [
      Number.parseFloat(tick.style.left),
      seconds(tick.textContent),
    ]);
    const [a, b] = [ticks[0], ticks.at(-1)];
    const per = (b[1] - a[1]) / (b[0] - a[0]);
    return { from: a[1] - a[0] * per, to: a[1] + (100 - a[0]) * per };
  });
  return { x: box.x + (box.width * (second - from)) / (to - from), y: box.y + box.height / 2 };
}

/** The states of a lane, in order. */
const states = (page, subject) =>
  lane(page, subject)
    .locator(".lbar:not([data-forecast])")
    .evaluateAll((bars) => bars.map((bar) => bar.dataset.state));

playgroundTest(
  "the lanes say in words and in bars what became of each object",
  async ({ page }) => {
    await outage(page);
    assert.deepEqual(await states(page, WEB), ["ready", "notReady", "counting", "stuck"]);
    assert.deepEqual(await states(page, "node worker-1"), [
      "ready",
      "unreachable",
      "unknown",
      "unknown",
    ]);
    const words = await lane(page, WEB).locator(".ltrack").getAttribute("aria-label");
    assert.match(words, /counting down on worker-1, from 45\.1s to 5m45\.1s: deleted at 5m45\.1s/);
    await lanes(page).getByRole("button", { name: "Changed only" }).click();
    await until(page, async () => assert.equal(await lane(page, "node worker-2").count(), 0));
    assert.equal(await lane(page, WEB).count(), 1);
    await lanes(page).getByRole("searchbox").fill("stuck");
    await until(page, async () => assert.equal(await lane(page, WEB).count(), 1));
    await lanes(page).getByRole("searchbox").fill("nothing has this name");
    await lanes(page).getByText("No name and no state matches").waitFor();
  },
);

playgroundTest("pointing looks at a moment, clicking goes there and says why", async ({ page }) => {
  await outage(page);
  const end = await now(page);
  const there = await place(page, WEB, 200);
  await page.mouse.move(there.x, there.y);
  await page.locator('.app[data-peek="true"]').waitFor();
  assert.notEqual(await now(page), end);
  const row = page.locator(".board [data-pod]").first();
  await until(page, async () => assert.equal(await row.getAttribute("data-state"), "counting"));
  // Elsewhere the clock is where it was.
  await page.mouse.move(there.x, 5);
  await until(page, async () => assert.equal(await now(page), end));
  assert.equal(await page.locator('.app[data-peek="true"]').count(), 0);

  await page.mouse.click(there.x, there.y);
  await until(page, async () => assert.ok((await now(page)) < seconds(230)));
  const details = page.getByTestId("lanes-details");
  await details.getByText("counting down on worker-1").waitFor();
  const causes = details.getByTestId("causes").getByRole("button");
  const texts = await causes.allInnerTexts();
  assert.match(texts[0], /^45\.1s .*deletion scheduled/);
  assert.match(texts.at(-1), /^3s heartbeats of node worker-1 stopped/);
  await causes.last().click();
  await until(page, async () => assert.equal(await now(page), seconds(3)));
});

playgroundTest("the inspector follows what is pointed at, and comes back", async ({ page }) => {
  await outage(page);
  await page.locator('[data-pod="default/web-0"]').click();
  const inspector = page.getByTestId("inspector");
  const badge = () => inspector.locator(".badge").first().innerText();
  const stuck = await badge();
  assert.match(stuck, /stuck/i);
  const there = await place(page, WEB, 200);
  await page.mouse.move(there.x, there.y);
  await until(page, async () => assert.match(await badge(), /counting down/i));
  await page.mouse.move(there.x, 5);
  await until(page, async () => assert.equal(await badge(), stuck));
});

playgroundTest("what was chosen and compared is gone with another scenario", async ({ page }) => {
  await outage(page);
  const there = await place(page, WEB, 200);
  await page.mouse.click(there.x, there.y);
  const details = page.getByTestId("lanes-details");
  await details.getByText("counting down on worker-1").waitFor();
  const dialog = page.getByTestId("dialog");
  await page.keyboard.press("c");
  const side = dialog.getByRole("group", { name: "B", exact: true });
  const seconds = side.getByLabel("tolerationSeconds");
  await seconds.fill("60");
  await seconds.press("Enter");
  await page.getByTestId("compared").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await loadScenario(page, "one-zone-of-three");
  await until(page, async () => {
    assert.equal(await details.getByText("counting down on worker-1").count(), 0);
  });
  await page.keyboard.press("c");
  await dialog.getByText("tolerationSeconds").first().waitFor();
  assert.equal(await page.getByTestId("compared").count(), 0);
});

playgroundTest("the Why tab leads to the same moments", async ({ page }) => {
  await outage(page);
  await page.locator('[data-pod="default/web-0"]').click();
  const inspector = page.getByTestId("inspector");
  const causes = inspector.getByTestId("causes").getByRole("button");
  assert.match((await causes.allInnerTexts())[0], /^5m45\.1s DELETE/);
  await causes.filter({ hasText: "Ready: True -> Unknown" }).click();
  await until(page, async () => assert.equal(await now(page), UNKNOWN));
  // The terms of the time budget, too.
  const terms = inspector.getByTestId("time-budget").getByRole("button");
  await terms
    .filter({ hasText: /^45\.1s$/ })
    .last()
    .click();
  await until(page, async () => assert.equal(await now(page), TAINTED));
});

playgroundTest("the wheel zooms, F fits, and dragging measures", async ({ page }) => {
  await outage(page);
  const last = () => lanes(page).locator(".lscale > span").last().textContent();
  const before = await last();
  const at = await place(page, WEB, 60);
  await page.mouse.move(at.x, at.y);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -400);
  await page.keyboard.up("Control");
  await until(page, async () => assert.notEqual(await last(), before));
  await page.keyboard.press("f");
  await until(page, async () => assert.equal(await last(), before));

  const from = await place(page, "node worker-1", 30);
  const to = await place(page, WEB, 370);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 5 });
  await page.mouse.up();
  const area = page.getByTestId("lanes-area");
  await area.getByText(/1 pod counting down, 5m0s/).waitFor();
  await area.getByText("as expect:").waitFor();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await area.getByRole("button", { name: "Copy" }).click();
  await page.getByTestId("notice").getByText("Copied").waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(text, /^expect:\n/);
  assert.match(text, /evicted:\n? *.*pod: default\/web-0/s);
  assert.match(text, /at: 5m45\.1s/);
});

playgroundTest("the lanes by keyboard alone", async ({ page }) => {
  await outage(page);
  const end = await now(page);
  await page.keyboard.press("l");
  await page.locator('[data-testid="pane"][data-room="full"]').waitFor();
  const rows = page.getByTestId("lanes-rows");
  await rows.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Home");
  const active = () =>
    rows.evaluate(
      (grid) =>
        document.getElementById(grid.getAttribute("aria-activedescendant"))?.dataset.subject,
    );
  for (let pressed = 0; (await active()) !== WEB && pressed < 10; pressed += 1) {
    const before = await active();
    await page.keyboard.press("ArrowDown");
    await until(page, async () => assert.notEqual(await active(), before));
  }
  // Back through what became of it: each change is looked at.
  await page.keyboard.press("ArrowLeft");
  await until(page, async () => assert.equal(await now(page), TAINTED));
  await page.keyboard.press("ArrowLeft");
  await until(page, async () => assert.equal(await now(page), NOT_READY));
  await page.keyboard.press("ArrowRight");
  await until(page, async () => assert.equal(await now(page), TAINTED));
  assert.equal(await page.locator('.app[data-peek="true"]').count(), 1);
  await page.keyboard.press("Enter");
  await page.locator('.app:not([data-peek="true"])').waitFor();
  assert.equal(await now(page), TAINTED);
  assert.ok(end > TAINTED);
  // Pinned, it stays at the top.
  await page.keyboard.press("p");
  await lanes(page).locator(`.lpins [data-subject="${WEB}"]`).waitFor();
  await page.keyboard.press("[");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("]");
  await page.getByTestId("lanes-area").waitFor();
  await page.keyboard.press("l");
  await page.locator('[data-testid="pane"][data-room="part"]').waitFor();
});

playgroundTest(
  "Page Down, Page Up, Home and End lead through the lanes, and the row stays in sight",
  { sample: true, context: { viewport: { width: 1280, height: 720 } } },
  async ({ page }) => {
    await ready(page);
    await page.keyboard.press("l");
    const rows = page.getByTestId("lanes-rows");
    await rows.focus();
    const there = () =>
      rows.evaluate((grid) => {
        const row = document.getElementById(grid.getAttribute("aria-activedescendant"));
        if (!row) {
          return {};
        }
        const [outer, box] = [grid.getBoundingClientRect(), row.getBoundingClientRect()];
        const inSight = box.top >= outer.top - 1 && box.bottom <= outer.bottom + 1;
        return { place: Number(row.getAttribute("aria-rowindex")), inSight };
      });
    const last = Number(await rows.getAttribute("aria-rowcount"));
    const press = async (key, check) => {
      await page.keyboard.press(key);
      return until(page, async () => {
        const { place, inSight } = await there();
        assert.ok(inSight && check(place), `${key}: row ${place} of ${last}, in sight: ${inSight}`);
        return place;
      });
    };
    const first = await press("Home", (place) => place >= 1 && place <= 2);
    const below = await press("ArrowDown", (place) => place === first + 1);
    const screen = (await press("PageDown", (place) => place > below + 2 && place < last)) - below;
    await press("PageUp", (place) => place === below);
    await press("End", (place) => place === last);
    await press("PageDown", (place) => place === last);
    await press("PageUp", (place) => place === last - screen);
    await press("Home", (place) => place === first);
    await press("PageUp", (place) => place === first);
    // They are the lanes' own here: the clock stays where it is.
    assert.equal(await now(page), 0n);
  },
);

playgroundTest(
  "nodes of one domain are told apart by what they do not share",
  { context: { viewport: { width: 390, height: 844 } } },
  async ({ page }) => {
    await ready(page);
    const node = (number) =>
      `- {apiVersion: v1, kind: Node, metadata: {name: ip-10-0-${number}-17.eu-1.compute.internal}}`;
    const nodes = [100, 101, 102].map(node).join("\n");
    await replaceCluster(page, `apiVersion: v1\nkind: List\nitems:\n${nodes}\n`);
    await page.getByTestId("lanes-open").click();
    const names = lanes(page).locator('.lspace [data-kind="node"] .clip');
    await until(page, async () => assert.equal(await names.count(), 3));
    assert.equal(
      await lane(page, "node ip-10-0-101-17.eu-1.compute.internal").locator(".clip").textContent(),
      "ip-10-0-101-17.eu-1.compute.internal",
    );
    // What is cut off is the domain, and of the host the beginning: all share them.
    const cut = await names.evaluateAll((all) =>
      all.map((name) => [...name.children].map((part) => part.scrollWidth > part.clientWidth)),
    );
    const parts = [true, false, false, true];
    assert.deepEqual(cut, [parts, parts, parts]);
  },
);

playgroundTest(
  "the lanes by touch: a tap goes there, two fingers zoom",
  { context: { hasTouch: true, viewport: { width: 420, height: 860 } } },
  async ({ page }) => {
    await outage(page);
    await lanes(page).scrollIntoViewIfNeeded();
    const at = await place(page, WEB, 100);
    await page.touchscreen.tap(at.x, at.y);
    await until(page, async () => assert.ok((await now(page)) < seconds(150)));
    const last = () => lanes(page).locator(".lscale > span").last().textContent();
    const before = await last();
    const client = await page.context().newCDPSession(page);
    const fingers = (spread) => [
      { x: at.x - spread, y: at.y, id: 0 },
      { x: at.x + spread, y: at.y, id: 1 },
    ];
    const send = (type, touchPoints) =>
      client.send("Input.dispatchTouchEvent", { type, touchPoints });
    await send("touchStart", fingers(15));
    for (const spread of [25, 35, 45, 60]) {
      await send("touchMove", fingers(spread));
    }
    await send("touchEnd", []);
    await until(page, async () => assert.notEqual(await last(), before));
  },
);

playgroundTest(
  "the lanes by touch: a finger pans, Fit shows all, and Area lets a finger measure",
  { context: { hasTouch: true, viewport: { width: 420, height: 860 } } },
  async ({ page }) => {
    await outage(page);
    await lanes(page).scrollIntoViewIfNeeded();
    const ticks = () => lanes(page).locator(".lscale > span").allTextContents();
    const all = await ticks();
    const client = await page.context().newCDPSession(page);
    let timestamp = Date.now() / 1_000;
    const send = (type, touchPoints) =>
      client.send("Input.dispatchTouchEvent", { type, touchPoints, timestamp: (timestamp += 0.1) });
    const drag = async (from, to) => {
      await send("touchStart", [{ ...from, id: 0 }]);
      // It rests where it ends: after a fling the browser keeps the next tap to itself.
      for (const part of [0.25, 0.5, 0.75, 1, 1, 1]) {
        await send("touchMove", [{ x: from.x + (to.x - from.x) * part, y: to.y, id: 0 }]);
      }
      await send("touchEnd", []);
    };
    const fit = lanes(page).getByRole("button", { name: "Fit", exact: true });
    const [early, late] = [await place(page, WEB, 60), await place(page, WEB, 250)];
    await drag(late, early);
    await until(page, async () => assert.notDeepEqual(await ticks(), all));
    assert.equal(await page.getByTestId("lanes-area").count(), 0, "a finger pans");
    await fit.tap();
    await until(page, async () => assert.deepEqual(await ticks(), all));

    await page.getByTestId("lanes-measure").tap();
    await drag(early, late);
    await page.getByTestId("lanes-area").getByText("counting down").waitFor();
    assert.deepEqual(await ticks(), all, "it measures, and does not pan");
  },
);

playgroundTest(
  "the lanes by touch: a finger that rests looks at a moment, and goes nowhere",
  { context: { hasTouch: true, viewport: { width: 420, height: 860 } } },
  async ({ page }) => {
    await outage(page);
    await lanes(page).scrollIntoViewIfNeeded();
    const end = await now(page);
    const ticks = () => lanes(page).locator(".lscale > span").allTextContents();
    const all = await ticks();
    const [early, late] = [await place(page, WEB, 100), await place(page, WEB, 250)];
    const client = await page.context().newCDPSession(page);
    const send = (type, ...touchPoints) =>
      client.send("Input.dispatchTouchEvent", { type, touchPoints });
    await send("touchStart", { ...early, id: 0 });
    const peek = page.locator('.app[data-peek="true"]');
    await peek.waitFor();
    assert.ok((await now(page)) < seconds(150));
    // Moved, it looks at another moment, and does not pan.
    await send("touchMove", { x: late.x, y: early.y, id: 0 });
    await until(page, async () => assert.ok((await now(page)) > seconds(200)));
    assert.ok((await now(page)) < seconds(300));
    assert.deepEqual(await ticks(), all);
    await send("touchEnd");
    await peek.waitFor({ state: "detached" });
    await until(page, async () => assert.equal(await now(page), end));
  },
);

playgroundTest(
  "the forecast is there before time runs, and the same afterwards",
  async ({ page }) => {
    await ready(page);
    await loadScenario(page, "why-345-seconds");
    await page.getByTestId("lanes-open").click();
    const words = () => lane(page, WEB).locator(".ltrack").getAttribute("aria-label");
    await until(page, async () => assert.match(await words(), /forecast: .*counting down/));
    const forecast = lane(page, WEB).locator(".lbar[data-forecast][data-state=counting]");
    const title = await forecast.getAttribute("title");
    await runToEnd(page);
    const record = lane(page, WEB).locator(".lbar:not([data-forecast])[data-state=counting]");
    assert.equal(await record.getAttribute("title"), title);
  },
);

playgroundTest("the lanes as pictures", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 900 });
  await outage(page);
  for (const [name, begins] of [
    ["SVG", "<svg"],
    ["PNG", "\u0089PNG"],
  ]) {
    const downloading = page.waitForEvent("download");
    await lanes(page).getByRole("button", { name, exact: true }).click();
    const download = await downloading;
    const file = readFileSync(await download.path(), "latin1");
    assert.ok(file.startsWith(begins), `${name}: ${file.slice(0, 20)}`);
    assert.ok(file.length > 2_000, `${name}: ${file.length}`);
  }
});

playgroundTest("full stop and comma step through what is selected", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  await page.locator('[data-pod="default/web-0"]').click();
  const times = [];
  for (let pressed = 0; pressed < 3; pressed += 1) {
    const before = await now(page);
    await page.keyboard.press(".");
    await until(page, async () => assert.notEqual(await now(page), before));
    times.push(await now(page));
  }
  assert.deepEqual(times, [NOT_READY, TAINTED, DELETED]);
  await page.keyboard.press(",");
  await until(page, async () => assert.equal(await now(page), times.at(-2)));
});

playgroundTest("the event log is a control", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  await runToEnd(page);
  const end = await now(page);
  await showView(page, "events");
  const rows = page.getByTestId("log").locator(".ev");
  const all = await log(page);
  const row = rows.filter({ hasText: "NodeNotReady" }).first();
  await row.click();
  await until(page, async () => assert.equal(await now(page), NOT_READY));
  // What comes later is still there, and leads back to it.
  const later = page.getByTestId("log").locator(".ev[data-later]");
  await later.first().waitFor();
  await later.last().click();
  await until(page, async () => assert.equal(await now(page), end));
  assert.deepEqual(await log(page), all);
});

playgroundTest("kinds that are hidden are not stepped to", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  const kinds = page.locator(".kinds");
  for (const name of ["Changes", "Nodes", "Zones", "All else"]) {
    await kinds.getByRole("button", { name }).click();
  }
  await page.getByTestId("step").click();
  await until(page, async () => assert.equal(await now(page), DELETED));
  await page.getByTestId("step-back").click();
  await until(page, async () => assert.equal(await now(page), 0n));
});

playgroundTest("run until, back to, and stop there", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  const field = page.getByTestId("until").getByRole("combobox");
  const ask = async (line, button) => {
    await page.keyboard.press("u");
    await field.fill(line);
    await page.getByTestId("until").getByRole("button", { name: button }).click();
  };
  await ask("node/worker-1 tainted", "Run until");
  await until(page, async () => assert.equal(await now(page), TAINTED));
  await ask("pod/default/web-0 stuck", "Run until");
  await until(page, async () => assert.equal(await now(page), DELETED));
  await ask("node/worker-1 unknown", "Back to");
  await until(page, async () => assert.equal(await now(page), UNKNOWN));
  await ask("node/worker-1 silly", "Run until");
  await page.getByText("valid states are tainted").waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("home").click();
  await ask("pod/default/web-0 counting", "Stop there");
  await page.keyboard.press("Escape");
  await page.getByTestId("speed").selectOption("1000×");
  await page.getByRole("button", { name: "Play" }).click();
  await page.getByTestId("notice").getByText("Stopped at 45.1s").waitFor();
  assert.equal(await now(page), TAINTED);
});

playgroundTest("an edit after going back begins a branch; undo goes back", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  await runToEnd(page);
  await scrubTo(page, seconds(20));
  await page.locator('[data-node="worker-1"] > .name').click();
  const inspector = page.getByTestId("inspector");
  await inspector.locator('[data-tab="health"]').click();
  await inspector.getByRole("button", { name: "Start kubelet" }).click();
  await page.getByTestId("notice").getByText("stays on “main”").waitFor();
  assert.equal(await page.getByTestId("branches-open").textContent(), "branch 1");
  await page.keyboard.press("g");
  const tree = page.getByTestId("branches");
  await tree.locator('[data-branch="branch 1"][aria-current="true"]').waitFor();
  const name = tree.getByRole("textbox", { name: "Name of branch 1" });
  await name.fill("kubelet is back");
  await name.press("Enter");
  await tree.locator('[data-branch="kubelet is back"]').waitFor();
  await tree
    .locator('[data-branch="main"]')
    .getByRole("button", { name: "Switch" })
    .first()
    .click();
  await tree.locator('[data-branch="main"][aria-current="true"]').waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });

  await page.keyboard.press("c");
  // Both branches are chosen and compared without a choice.
  const compared = page.getByTestId("compared");
  await compared.getByText(/They diverge at .*worker-1/).waitFor();
  const evicted = compared.getByRole("row", { name: /default\/web-0 evicted/ });
  assert.match(await evicted.innerText(), /5m45\.1s\s+stays/);
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  // The switch and the name are taken back, then the edit and its branch.
  for (let undone = 0; undone < 3; undone += 1) {
    await page.getByTestId("undo").click();
  }
  await until(page, async () =>
    assert.equal(await page.getByTestId("branches-open").textContent(), "main"),
  );
  await page.keyboard.press("g");
  assert.equal(await tree.locator("[data-branch]").count(), 1);
});

playgroundTest(
  "run until, fork, compare and share by touch",
  { context: { hasTouch: true, viewport: { width: 1024, height: 768 } } },
  async ({ page }) => {
    await ready(page);
    await loadScenario(page, "why-345-seconds");
    const button = (within, name) => within.getByRole("button", { name, exact: true });
    const dialog = page.getByTestId("dialog");
    const close = async () => {
      await button(dialog, "Close").tap();
      await dialog.waitFor({ state: "detached" });
    };
    await page.getByTestId("until-open").tap();
    await page.getByTestId("until").getByRole("combobox").fill("node/worker-1 tainted");
    await button(page.getByTestId("until"), "Run until").tap();
    await until(page, async () => assert.equal(await now(page), TAINTED));

    await page.getByTestId("branches-open").tap();
    await page.getByTestId("fork").tap();
    await page.getByTestId("branches").locator('[data-branch="branch 1"]').waitFor();
    await close();
    await page.locator('[data-node="worker-1"] > .name').tap();
    const inspector = page.getByTestId("inspector");
    await inspector.locator('[data-tab="health"]').tap();
    await button(inspector, "Start kubelet").tap();
    await page.getByTestId("end").tap();

    await page.getByTestId("compare-open").tap();
    await page.getByTestId("compared").getByText(/They diverge at 45\.1s/).waitFor();
    await page.getByTestId("compared").getByRole("columnheader", { name: "main" }).waitFor();
    await close();

    await page.getByTestId("share").tap();
    const link = await dialog.getByTestId("share-link").inputValue();
    assert.match(link, /#s=why-345-seconds&.*&e=/);
    await close();
  },
);

playgroundTest("branches are there after a reload", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  await runToEnd(page);
  await page.keyboard.press("g");
  await page.getByTestId("fork").click();
  await page.getByTestId("branches").locator('[data-branch="branch 1"]').waitFor();
  await page.keyboard.press("Escape");
  // The entry of the dialog in the browser's history is gone.
  await page.waitForFunction(() => history.state !== "dialog");
  await page.reload();
  await ready(page);
  assert.equal(await page.getByTestId("branches-open").textContent(), "branch 1");
});

playgroundTest("two releases and two tolerationSeconds are compared", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  await page.keyboard.press("c");
  const compared = page.getByTestId("compared");
  await page
    .getByRole("combobox", { name: "Release of B" })
    .selectOption("1.35");
  await compared.getByText(/They diverge at 40\.008s: node worker-1 is Unknown/).waitFor();
  const dialog = page.getByTestId("dialog");
  const b = dialog.getByRole("group", { name: "B", exact: true });
  await dialog.getByRole("combobox", { name: "Release of B" }).selectOption("");
  await b.getByLabel("tolerationSeconds").fill("60");
  await b.getByLabel("tolerationSeconds").press("Enter");
  await compared.getByRole("row", { name: /default\/web-0 evicted 5m45\.1s 1m45\.1s/ }).waitFor();
  await b.getByLabel("Flags").fill("node-monitor-grace-period=20");
  await dialog.getByRole("button", { name: "Compare", exact: true }).click();
  await dialog.getByText(/^B: .*(invalid argument|must be)/).waitFor();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await compared.getByRole("button", { name: "Copy" }).click();
  await until(page, async () => {
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, /\| default\/web-0 evicted \| \*\*5m45\.1s\*\* \| \*\*1m45\.1s\*\* \|/);
  });
});

playgroundTest(
  "two sets of flags and two tolerationSeconds are compared, and where they part is a click away",
  async ({ page }) => {
    await ready(page);
    await loadScenario(page, "why-345-seconds");
    await page.keyboard.press("c");
    const dialog = page.getByTestId("dialog");
    const side = (name) => dialog.getByRole("group", { name, exact: true });
    const compare = dialog.getByRole("button", { name: "Compare", exact: true });
    const compared = page.getByTestId("compared");
    await side("A").getByLabel("tolerationSeconds").fill("30");
    await side("B").getByLabel("tolerationSeconds").fill("300");
    await compare.click();
    await compared.getByRole("row", { name: /default\/web-0 evicted 1m15\.1s 5m45\.1s/ }).waitFor();
    for (const name of ["A", "B"]) await side(name).getByLabel("tolerationSeconds").fill("");

    await side("A")
      .getByLabel("Flags")
      .fill("--node-monitor-grace-period=20s\n--node-monitor-period=2s");
    await side("B").getByLabel("Flags").fill("--node-monitor-grace-period=60s --nope=1");
    await compare.click();
    await dialog.getByText(/^B: unknown flag: --nope; the flags known here are --/).waitFor();
    await side("B").getByLabel("Flags").fill("--node-monitor-grace-period=60s");
    await compare.click();
    await compared
      .getByRole("columnheader", { name: "--node-monitor-grace-period=20s, --node-monitor-period=2s" })
      .waitFor();
    // The axis, the legend, and the button on the axis.
    assert.ok((await compared.locator(".paxis .ptracks > span").count()) > 3);
    const legend = await compared.locator(".legend > span").allInnerTexts();
    assert.ok(legend.includes("counting down"), legend.join());
    const axis = await compared.locator(".paxis .ptracks").boundingBox();
    const track = await compared.locator(".pairlist .ltrack").first().boundingBox();
    assert.deepEqual([axis.x, axis.width], [track.x, track.width], "axis and lanes are in line");
    await compared.getByTestId("compare-part").click();
    await dialog.waitFor({ state: "detached" });
    await until(page, async () => {
      const at = await now(page);
      assert.ok(at >= seconds(20) && at < seconds(24), `${at}`);
    });
    await page.getByTestId("inspector").getByRole("heading", { name: "worker-1" }).waitFor();
  },
);

playgroundTest("a branch is deleted by mouse and by keyboard", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  await runToEnd(page);
  const tree = page.getByTestId("branches");
  await page.keyboard.press("g");
  for (const number of [1, 2]) {
    await page.getByTestId("fork").click();
    await tree.locator(`[data-branch="branch ${number}"][aria-current="true"]`).waitFor();
  }
  const button = (branch, name) =>
    tree.locator(`[data-branch="${branch}"] > .row`).getByRole("button", { name });
  await button("main", "Switch").click();
  await tree.locator('[data-branch="main"][aria-current="true"]').waitFor();
  await button("branch 2", "Delete").click();
  await tree.locator('[data-branch="branch 2"]').waitFor({ state: "detached" });
  await button("branch 1", "Delete").focus();
  await page.keyboard.press("Enter");
  await tree.locator('[data-branch="branch 1"]').waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.getByTestId("undo").click();
  await page.keyboard.press("g");
  await tree.locator('[data-branch="branch 1"]').waitFor();
});
