// The clock: the same things happen at the same times, however the time passes.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import {
  evictions,
  loadScenario,
  log,
  now,
  pods,
  ready,
  runToEnd,
  scrubTo,
  seconds,
  showView,
  until,
} from "./support/page.mjs";

const KINDS = ["event", "change", "fact"];

/** The whole log, and the board. */
async function everything(page) {
  return { log: await log(page, KINDS), pods: await pods(page) };
}

async function playToEnd(page, speed) {
  await page.getByTestId("speed").selectOption(speed);
  await page.getByRole("button", { name: "Play" }).click();
  await page.getByTestId("announcement").getByText("Nothing more is due").waitFor();
  await page.getByRole("button", { name: "Play" }).waitFor();
}

async function start(page) {
  await ready(page);
  await showView(page, "events");
  await page.getByRole("button", { name: "Decisions" }).click();
  await loadScenario(page, "default-tolerations");
}

playgroundTest(
  "playing fast, as fast as possible, and stepping give the same log",
  async ({ page }) => {
    await start(page);
    await runToEnd(page);
    const expected = await everything(page);
    assert.deepEqual(await evictions(page), [
      ["5m5s", "default/patient-0"],
      ["5m5s", "default/web-7d4b9c6f5-x2x8p"],
    ]);

    for (const speed of ["1000×", "max"]) {
      await loadScenario(page, "default-tolerations");
      await playToEnd(page, speed);
      assert.deepEqual(await everything(page), expected, speed);
    }

    await loadScenario(page, "default-tolerations");
    const step = page.getByTestId("step");
    let steps = 0;
    while (await step.isEnabled()) {
      const before = await now(page);
      await step.click();
      await until(page, async () => assert.notEqual(await now(page), before, "the clock moves"));
      steps += 1;
      assert.ok(steps < 50, "it comes to an end");
    }
    assert.deepEqual(await everything(page), expected, "by steps");
  },
);

playgroundTest("scrubbing back and forth gives the same log", async ({ page }) => {
  await start(page);
  await runToEnd(page);
  const end = await now(page);
  const atTheEnd = await everything(page);

  await scrubTo(page, seconds(65));
  const inBetween = await everything(page);
  assert.ok(inBetween.log.length > 0, "something has happened by then");
  assert.deepEqual(inBetween.log, atTheEnd.log.slice(0, inBetween.log.length));

  await scrubTo(page, seconds(0));
  assert.deepEqual(Object.values(await pods(page)), ["stays", "stays", "stays"]);
  for (const time of [seconds(100), seconds(64.999), seconds(65), end, seconds(65)]) {
    await scrubTo(page, time);
  }
  assert.deepEqual(await everything(page), inBetween);
  await runToEnd(page);
  assert.deepEqual(await everything(page), atTheEnd);
  assert.equal(await now(page), end);

  await page.getByTestId("home").click();
  await until(page, async () => assert.equal(await now(page), 0n));
});

playgroundTest("pausing keeps the clock where it is, and no time is lost", async ({ page }) => {
  await start(page);
  await page.getByTestId("speed").selectOption("10×");
  await page.getByRole("button", { name: "Play" }).click();
  // More than one frame has passed.
  await until(page, async () => assert.ok((await now(page)) > seconds(1)));
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Play" }).waitFor();
  const paused = await now(page);
  await page.evaluate(async () => {
    for (let frames = 0; frames < 5; frames += 1) {
      await new Promise((next) => requestAnimationFrame(next));
    }
  });
  assert.equal(await now(page), paused);
});

playgroundTest(
  "stepping back stops where something happened, and ends at the start",
  async ({ page }) => {
    await start(page);
    await runToEnd(page);
    const times = [];
    for (let before = await now(page); before > 0n; before = await now(page)) {
      await page.keyboard.press("ArrowLeft");
      await until(page, async () => assert.notEqual(await now(page), before, "the clock moves"));
      times.push(await now(page));
      assert.ok(times.length < 50, "it comes to the start");
    }
    // The taint; a toleration of 60 s is over, and the pod is gone; two of 300 s are over.
    const marks = [seconds(305), seconds(65.01), seconds(65), seconds(5), 0n];
    assert.deepEqual(times, marks);
    assert.ok(await page.getByTestId("step-back").isDisabled());
  },
);

playgroundTest(
  "as fast as possible is more than one thing that happens in a frame",
  async ({ page }) => {
    await start(page);
    await loadScenario(page, "recovery-storm");
    await page.evaluate(() => {
      const clock = document.querySelector('[data-testid="clock"]');
      globalThis.painted = new Set();
      new MutationObserver(() => globalThis.painted.add(clock.dataset.simTimeNs)).observe(clock, {
        attributes: true,
      });
    });
    await page.getByTestId("speed").selectOption("max");
    await page.getByRole("button", { name: "Play" }).click();
    await page.getByTestId("announcement").getByText("Nothing more is due").waitFor();
    const painted = await page.evaluate(() => globalThis.painted.size);
    const times = new Set((await log(page, KINDS)).map((line) => line.split(" ")[0]));
    assert.ok(painted < times.size, `${painted} frames for ${times.size} moments`);
  },
);

/** Whether the row of the clock is in sight in the log, all of it; nothing before there is one. */
const showsCurrent = (page) =>
  page.getByTestId("log").evaluate((log) => {
    const box = log.querySelector(".rows").getBoundingClientRect();
    const row = log.querySelector('.ev[aria-current="true"]')?.getBoundingClientRect();
    return row && row.top >= box.top - 1 && row.bottom <= box.bottom + 1;
  });

playgroundTest("the row of the clock stays in sight by itself and by steps", async ({ page }) => {
  await ready(page);
  await showView(page, "events");
  await page.getByRole("button", { name: "Decisions" }).click();
  await loadScenario(page, "one-zone-of-three");
  const inSight = (when) =>
    until(page, async () => assert.equal(await showsCurrent(page), true, when));
  await page.getByTestId("speed").selectOption("60×");
  await page.getByRole("button", { name: "Play" }).click();
  for (let minute = 1; minute <= 5; minute += 1) {
    await until(page, async () => assert.ok((await now(page)) > seconds(60 * minute)));
    await inSight(`while time runs, ${minute} min`);
  }
  // To its end: whoever would pause it may be late.
  await page.getByTestId("announcement").getByText("Nothing more is due").waitFor();
  await inSight("at the end");
  const rows = Number(await page.getByTestId("events-open").locator(".num").textContent());
  assert.ok(rows > 40, `${rows} rows do not fit`);
  // Back among what is known, and forth through it.
  await scrubTo(page, seconds(1));
  await inSight("set back");
  let steps = 0;
  while (steps < 30 && (await page.getByTestId("step").isEnabled())) {
    steps += 1;
    await page.getByTestId("step").click();
    await inSight(`step ${steps}`);
  }
  assert.ok(steps > 5, `${steps} steps`);
  for (let back = 1; back <= 5; back += 1) {
    await page.getByTestId("step-back").click();
    await inSight(`step back ${back}`);
  }
});
