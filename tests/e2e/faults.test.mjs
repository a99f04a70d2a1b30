// Nodes that become unreachable: what is done by a button, and what the page then says of zones,
// rates and the time that a pod has left.

import assert from "node:assert/strict";

import { views } from "../native.mjs";
import { playgroundTest } from "./support/browser.mjs";
import {
  loadScenario,
  log,
  pods,
  ready,
  scrubTo,
  seconds,
  selectPod,
  showView,
  taint,
  until,
} from "./support/page.mjs";

/** Selects a zone by its name on the board. */
const selectZone = (page, zone) =>
  page.locator(`[data-zone$="${zone}"] > .zonehead button`).first().click();

/** Steps from event to event until something holds. */
async function stepUntil(page, holds) {
  for (let step = 0; step < 400; step += 1) {
    if (await holds()) {
      return;
    }
    await page.keyboard.press("n");
  }
  assert.fail("it never came");
}

playgroundTest(
  "a zone is cut: state, rate, queue and the budget of its pods are on the page",
  async ({ page }) => {
    await ready(page);
    await selectZone(page, "eu-1b");
    const inspector = page.getByTestId("inspector");
    await inspector.getByRole("button", { name: "Cut the zone's network" }).click();
    await page.getByText("node lifecycle controller are now simulated").first().waitFor();
    await until(page, async () =>
      assert.equal(await page.getByTestId("board").locator(".unreachable").count(), 2),
    );
    const state = inspector.getByTestId("zone-state");
    await stepUntil(page, async () => (await state.innerText()) === "FullDisruption");
    assert.equal(
      await inspector.getByTestId("zone-arithmetic").innerText(),
      "not ready 2 of 2: none is ready",
    );
    assert.match(await inspector.getByTestId("zone-rate").innerText(), /--node-eviction-rate/);

    // A pod of it: the terms of its budget add up, and what is foretold is what comes.
    await page.locator('[data-pod="shop/web-7d4b9c6f5-8kq2v"]').first().click();
    const budget = inspector.getByTestId("time-budget");
    await budget.waitFor();
    assert.equal(await budget.getAttribute("data-kind"), "projection");
    const foretold = await budget.getByTestId("time-budget-total").innerText();
    assert.match(await budget.innerText(), /--node-monitor-grace-period/);
    assert.match(await budget.innerText(), /tolerationSeconds/);
    await stepUntil(
      page,
      async () => (await budget.getAttribute("data-kind").catch(() => null)) === "record",
    );
    assert.equal(await budget.getByTestId("time-budget-total").innerText(), foretold);
    // Nobody confirms the deletion as long as the zone is cut off.
    const all = await pods(page);
    assert.equal(all["shop/web-7d4b9c6f5-8kq2v"], "stuck");
  },
);

playgroundTest(
  "a kubelet is stopped and started by keyboard, and the board says so",
  async ({ page }) => {
    await ready(page);
    await page.locator('[data-node="worker-1"] button.name').focus();
    await page.keyboard.press("Enter");
    const inspector = page.getByTestId("inspector");
    await inspector.getByRole("tab", { name: "Health" }).focus();
    await page.keyboard.press("Enter");
    await inspector.getByRole("button", { name: "Stop kubelet" }).focus();
    await page.keyboard.press("Enter");
    const unreachable = page.locator('[data-node="worker-1"] .unreachable');
    await unreachable.waitFor();
    assert.equal(await unreachable.innerText(), "kubelet stopped");
    await inspector.getByRole("button", { name: "Start kubelet" }).focus();
    await page.keyboard.press("Enter");
    await unreachable.waitFor({ state: "detached" });
    await page.keyboard.press("Control+z");
    await unreachable.waitFor();
  },
);

playgroundTest("a node is shut down, loses power and starts again, by mouse", async ({ page }) => {
  await ready(page);
  await page.locator('[data-node="worker-1"] button.name').click();
  const inspector = page.getByTestId("inspector");
  await inspector.getByRole("tab", { name: "Health" }).click();
  const button = (name) => inspector.getByRole("button", { name, exact: true });
  await button("Shut down").click();
  await inspector.getByTestId("shutting-down").getByText("It is shutting down").waitFor();
  await showView(page, "events");
  await page.getByTestId("log").getByText("Shutdown manager detected shutdown event").waitFor();
  await button("Cut power").click();
  await inspector.getByTestId("unreachable").getByText("It is off").waitFor();
  assert.equal(await button("Shut down").count(), 0);
  await button("Start node").click();
  await button("Shut down").click();
  await button("Cancel shutdown").click();
  // The pods end all the same; then the kubelet goes on.
  const shutsDown = inspector.getByTestId("shutting-down");
  assert.equal(await shutsDown.count(), 1);
  await stepUntil(page, async () => (await shutsDown.count()) === 0);
  await button("Shut down").waitFor();
});

playgroundTest(
  "flags: a bad value is refused beside its field, a good one changes what happens",
  async ({ page }) => {
    await ready(page);
    await page.getByTestId("settings").click();
    const flag = page.locator('[data-flag="node-monitor-grace-period"]');
    await flag.waitFor();
    // What decides most comes first.
    const first = page.locator("[data-flag]").first();
    assert.equal(await first.getAttribute("data-flag"), "node-monitor-period");
    await flag.getByRole("textbox").fill("soon");
    await until(page, async () =>
      assert.match(await flag.getByRole("alert").innerText(), /--node-monitor-grace-period/),
    );
    assert.ok(await page.getByTestId("apply-settings").isDisabled());
    // 1.18 gave an unreachable node 40 s.
    assert.equal(await flag.getAttribute("data-differs"), "true");
    await flag.getByRole("textbox").fill("20s");
    await page.getByLabel("Kubelets send heartbeats").check();
    await page.getByTestId("apply-settings").click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    await page.locator('[data-node="worker-1"] button.name').click();
    await page.getByRole("tab", { name: "Health" }).click();
    await page.getByText("20s (--node-monitor-grace-period)").waitFor();
  },
);

playgroundTest("a descheduler and an autoscaler are switched on in the settings", async ({ page }) => {
  await ready(page);
  await page.getByTestId("settings").click();
  await page.getByTestId("descheduler").check();
  const interval = page.getByLabel("--descheduling-interval");
  await interval.fill("often");
  await page.getByRole("alert").getByText("the duration `often`").waitFor();
  assert.ok(await page.getByTestId("apply-settings").isDisabled());
  await interval.fill("1m");
  await page.getByTestId("autoscaler").selectOption("worker-1");
  await page.getByLabel("Maximum nodes in the group").fill("0");
  await page.getByRole("alert").getByText("must be 1 to 10000").waitFor();
  await page.getByLabel("Maximum nodes in the group").fill("20");
  await page.getByTestId("apply-settings").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await taint(page, "worker-1", { key: "example.com/legacy", effect: "NoSchedule" });
  await scrubTo(page, seconds(60));
  const said = "pod evicted from worker-1 node by sigs.k8s.io/descheduler";
  await until(page, async () => assert.ok((await log(page)).some((line) => line.endsWith(said))));
  // They are still on when the dialog is opened again, and undo takes them back.
  await page.getByTestId("settings").click();
  assert.ok(await page.getByTestId("descheduler").isChecked());
  const groups = page.getByTestId("autoscaler").getByText("its groups: worker");
  await groups.waitFor({ state: "attached" });
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
});

for (const name of ["one-zone-of-three", "every-zone-lost-and-back", "same-outage-1.26"]) {
  playgroundTest(
    `${name}: state, rate, queue and budgets are the engine's own`,
    async ({ page }) => {
      await ready(page);
      await loadScenario(page, name);
      await page.getByTestId("end").click();
      const inspector = page.getByTestId("inspector");
      const moments = views(name);
      assert.ok(
        moments.some(({ budgets }) => budgets.length > 0),
        "somebody has a time budget",
      );
      for (const { at, zones, budgets } of moments) {
        await scrubTo(page, BigInt(at) * 1_000_000n);
        for (const zone of zones) {
          await selectZone(page, zone.key.split("/").at(-1));
          await until(page, async () => {
            const text = (part) => inspector.getByTestId(`zone-${part}`).innerText();
            assert.equal(await text("state"), zone.state ?? "not seen yet");
            assert.equal(await text("arithmetic"), zone.arithmetic);
            assert.equal(await text("rate"), zone.rateText);
            const queue = inspector.getByTestId("zone-queue").getByRole("button");
            assert.deepEqual(
              await queue.allInnerTexts(),
              zone.queue.map(({ node }) => node),
            );
          });
        }
        // The first and the last of them.
        for (const budget of new Set([budgets[0], budgets.at(-1)].filter(Boolean))) {
          const gone = (await pods(page))[budget.pod] ?? "gone";
          if (gone === "gone") {
            continue;
          }
          await selectPod(page, budget.pod);
          await until(page, async () => {
            const shown = inspector.getByTestId("time-budget");
            assert.equal(
              await shown.getAttribute("data-kind"),
              budget.record ? "record" : "projection",
            );
            const cells = await shown
              .locator("[data-term-row]")
              .evaluateAll((rows) =>
                rows.map((row) =>
                  [".text", "code"].map((part) => row.querySelector(part)?.textContent ?? ""),
                ),
              );
            assert.deepEqual(cells, budget.terms);
            assert.equal(await shown.getByTestId("time-budget-total").innerText(), budget.total);
            assert.equal(await shown.getByTestId("time-budget-at").innerText(), budget.evictedAt);
          });
        }
      }
    },
  );
}

playgroundTest("a node that registers late: Unknown until its kubelet starts", async ({ page }) => {
  await ready(page);
  await page.getByTestId("add-node").click();
  const form = page.getByTestId("create-node");
  await form.getByLabel("Name").fill("late-1");
  await form.getByLabel("Its kubelet starts").selectOption("later");
  await form.getByRole("textbox", { name: "After" }).fill("soon");
  await form.getByTestId("create").click();
  await form.getByRole("alert").getByText("1m30s").waitFor();
  await form.getByRole("textbox", { name: "After" }).fill("90s");
  await form.getByTestId("create").click();
  const unreachable = page.locator('[data-node="late-1"] .unreachable');
  await unreachable.waitFor();
  await scrubTo(page, 0n);
  await page.getByTestId("step").focus();
  await stepUntil(page, async () => (await unreachable.count()) === 0);
});

playgroundTest("flags: another release beside them, and the rows that differ", async ({ page }) => {
  await ready(page);
  await page.getByTestId("settings").click();
  const release = page.getByTestId("settings-release");
  const flag = page.locator('[data-flag="node-monitor-grace-period"]');
  await release.selectOption("1.31");
  assert.match(await flag.innerText(), /default 40s/);
  await page.getByTestId("compare-release").selectOption("1.32");
  assert.equal(await flag.getAttribute("data-differs"), "true");
  await page.getByTestId("apply-settings").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  assert.equal(await page.getByTestId("release").inputValue(), "1.31");
});
