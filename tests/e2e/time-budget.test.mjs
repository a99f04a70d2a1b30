// The time budget as a table: rounded in sight, exact where the pointer rests and when it is
// copied.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { loadScenario, ready, runToEnd, selectPod, taint, until } from "./support/page.mjs";

/** The seconds of `1m19.9s` or `100ms`. */
function inSeconds(text) {
  if (/^\d+ms$/.test(text)) return Number.parseInt(text, 10) / 1_000;
  const [, hours = 0, minutes = 0, rest = 0] =
    /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(text) ?? assert.fail(text);
  return Number(hours) * 3_600 + Number(minutes) * 60 + Number(rest);
}

playgroundTest(
  "terms are rounded in sight and add up; what is exact is in titles and in the copy",
  { context: { permissions: ["clipboard-read", "clipboard-write"] } },
  async ({ page }) => {
    await ready(page);
    // The second node of the zone waits for a token to the nanosecond, which nobody wants to read.
    await page.locator('[data-zone$="eu-1b"] .zonename').click();
    await page.getByRole("button", { name: "Cut the zone's network" }).click();
    await selectPod(page, "shop/checkout-5b8f7d9c4-zz6rb");
    const budget = page.getByTestId("time-budget");
    await budget.waitFor();
    const rows = await budget.locator("[data-term-row]").evaluateAll((all) =>
      all.map((row) => {
        const [from, takes, what] = row.cells;
        return {
          from: from.innerText,
          takes: takes.innerText.trim(),
          exact: takes.title,
          text: what.querySelector(".text").textContent,
          wraps: takes.getClientRects().length,
        };
      }),
    );
    assert.ok(rows.length >= 4);
    for (const { from, takes } of rows) {
      assert.match(takes, /^((\d+h)?(\d+m)?\d+(\.\d{1,3})?|\d+m)s$/);
      assert.match(from, /^-?(\d+h)?(\d+m)?\d+(\.\d{1,3})?s$/);
    }
    assert.ok(
      rows.some(({ takes, exact }) => takes !== exact),
      "something was rounded",
    );
    const total = inSeconds(await budget.getByTestId("time-budget-total").innerText());
    const sum = rows.reduce((sum, { takes }) => sum + inSeconds(takes), 0);
    assert.equal(sum.toFixed(3), total.toFixed(3));
    assert.ok(!rows.some(({ text }) => /^until /.test(text)), "each says what happens");

    await budget.getByRole("button", { name: "Copy" }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    for (const { exact, text } of rows) {
      assert.ok(copied.includes(exact) && copied.includes(text), copied);
    }
    const overflow = await budget.evaluate((section) => section.scrollWidth - section.clientWidth);
    assert.ok(overflow <= 0, `the table is ${overflow} px too wide`);
    // A number is never broken in two.
    const broken = await budget
      .locator("code span")
      .evaluateAll((parts) =>
        parts.filter((part) => part.getClientRects().length > 1).map((part) => part.textContent),
      );
    assert.deepEqual(broken, []);
  },
);

playgroundTest("a pod that goes at once is asked about as such", async ({ page }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
  await selectPod(page, "data/report-28930120-vq7x4");
  const budget = page.getByTestId("time-budget");
  await budget.getByText("Why at once?").waitFor();
  // The deletion stands before what comes after it.
  const lines = await budget.locator("tbody tr").allInnerTexts();
  const deleted = lines.findIndex((line) => line.includes("deleted, counted from"));
  const ended = lines.findIndex((line) => line.includes("containers end"));
  assert.ok(deleted >= 0 && deleted < ended, `${lines}`);
});

playgroundTest("what is foretold has a range: no cluster keeps step", async ({ page, url }) => {
  await page.goto(`${url}#s=why-345-seconds&release=1.31&t=4s`);
  await ready(page);
  await selectPod(page, "default/web-0");
  const budget = page.getByTestId("time-budget");
  const range = await budget.getByTestId("time-budget-range").innerText();
  const [, earliest, latest] = /^In a cluster between (\S+) and (\S+): the last heartbeat/.exec(range);
  const at = inSeconds(await budget.getByTestId("time-budget-at").innerText());
  assert.equal((inSeconds(latest) - inSeconds(earliest)).toFixed(1), "15.1");
  assert.ok(inSeconds(earliest) <= at && at <= inSeconds(latest), range);
});

playgroundTest("jitter of the kubelets is set, and counted in ranges", async ({ page, url }) => {
  await page.goto(`${url}#s=why-345-seconds&release=1.31&t=4s`);
  await ready(page);
  await selectPod(page, "default/web-0");
  const range = page.getByTestId("time-budget-range");
  await range.getByText("up to 10s before").waitFor();
  await page.getByTestId("settings").click();
  const field = (name) => page.locator(`[data-flag="kubelets.${name}"]`).getByRole("textbox");
  assert.equal(await field("phaseSeed").getAttribute("placeholder"), "0");
  await field("jitterSeed").fill("-1");
  await page.getByRole("alert").getByText("must be a whole number").waitFor();
  assert.ok(await page.getByTestId("apply-settings").isDisabled());
  await field("jitterSeed").fill("7");
  await page.getByTestId("apply-settings").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await range.getByText("up to 10.4s before").waitFor();
  await page.getByTestId("settings").click();
  assert.equal(await field("jitterSeed").inputValue(), "7");
  await page.keyboard.press("Escape");
  await page.getByTestId("undo").click();
  await range.getByText("up to 10s before").waitFor();
});

playgroundTest("health passes take the time that the settings say", async ({ page, url }) => {
  await page.goto(`${url}#s=why-345-seconds&release=1.31&t=4s`);
  await ready(page);
  await selectPod(page, "default/web-0");
  const evictedAt = (at) =>
    until(page, async () =>
      assert.equal(await page.getByTestId("time-budget-at").innerText(), at),
    );
  await evictedAt("5m45.1s");
  await page.getByTestId("settings").click();
  const field = (name) => page.locator(`[data-flag="healthPass.${name}"]`).getByRole("textbox");
  assert.equal(await field("perNode").inputValue(), "");
  assert.equal(await field("perNode").getAttribute("placeholder"), "350µs");
  assert.equal(await field("perWrite").getAttribute("placeholder"), "25ms");
  await field("perWrite").fill("soon");
  await page.getByRole("alert").getByText("the duration `soon`").waitFor();
  assert.ok(await page.getByTestId("apply-settings").isDisabled());
  // With ideal clocks, 40 s without a heartbeat are found a pass later.
  await field("perNode").fill("0s");
  await field("perWrite").fill("0s");
  await field("informerLag").fill("0s");
  await page.getByTestId("apply-settings").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await evictedAt("5m50s");
  await page.getByTestId("settings").click();
  assert.equal(await field("perNode").inputValue(), "0s");
  await page.keyboard.press("Escape");
  await page.getByTestId("undo").click();
  await evictedAt("5m45.1s");
});

playgroundTest(
  "a pod that is made again has a budget of its own, and tells apart the one before it",
  async ({ page }) => {
    await ready(page);
    await loadScenario(page, "statefulset-waits-deployment-does-not");
    await runToEnd(page);
    await page.getByTestId("board").locator('button.pod[data-pod="default/db-0"]').click();
    const inspector = page.getByTestId("inspector");
    await inspector.getByText("The node has no NoExecute taint").waitFor();
    const before = inspector.getByTestId("earlier-pod");
    await before.getByText("An earlier pod of this name was evicted at 6m50.1s").waitFor();
    const budget = page.getByTestId("time-budget");
    assert.equal(await budget.isVisible(), false, "it is not about this pod");
    await before.locator("summary").first().click();
    await budget.waitFor();
    // Of a pod that was not made again it stands open.
    await page.locator('[data-pod^="default/web-"][data-state="gone"]').first().click();
    await inspector.getByText("Evicted at 6m50.1s").first().waitFor();
    assert.equal(await before.count(), 0);
    await budget.waitFor();
  },
);
