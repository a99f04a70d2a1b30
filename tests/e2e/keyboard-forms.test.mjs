// Forms by the keyboard: new rows have the focus, and what is applied is left.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { edits, focused, focusedWords } from "./support/focus.mjs";
import { keyboard, mouse, typeInto } from "./support/hands.mjs";
import { log, now, pods, ready, seconds, until } from "./support/page.mjs";

playgroundTest(
  "a taint that is typed: the new row has the focus, Enter applies and leaves",
  async ({ page }) => {
    await ready(page);
    await keyboard(page).node("worker-1");
    await keyboard(page).press(page.getByTestId("add-taint"));
    await until(page, async () =>
      assert.ok(await focused(page, '[data-testid="taint-form"] input')),
    );
    // Among these are the letters of all shortcuts of one key.
    await page.keyboard.type("node.kubernetes.io/unreachable");
    await page.keyboard.press("Tab");
    await page.keyboard.type("exists-p+t b0 ");
    assert.equal(await now(page), 0n);
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.equal(await page.getByTestId("apply").isDisabled(), true, "that is no value");
    await page.keyboard.press("Enter");
    assert.equal(await edits(page), 0, "nothing wrong is applied");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.press("Delete");
    await page.keyboard.press("Enter");
    await page.getByTestId("apply").waitFor({ state: "detached" });
    await until(page, async () => {
      assert.equal((await pods(page))["data/report-28930120-vq7x4"], "terminating");
      assert.ok(await focused(page, '[data-node="worker-1"] > .name'), "what is applied is left");
    });
    await page.keyboard.press("n");
    await until(page, async () => assert.equal(await now(page), seconds(5)));
    await page.keyboard.press("n");
    await until(page, async () => assert.equal(await now(page), seconds(30)));
    assert.deepEqual((await log(page)).length, 2);
    await page.keyboard.press("b");
    await until(page, async () => assert.equal(await now(page), seconds(5)));
  },
);

playgroundTest(
  "new rows of labels, tolerations and new nodes have the focus too",
  async ({ page }) => {
    await ready(page);
    const hand = keyboard(page);
    await hand.node("worker-1");
    await hand.tab("labels");
    await hand.press(page.getByRole("button", { name: "Add a label" }));
    await until(page, async () => {
      assert.ok(await focused(page, '[data-testid="label-form"] .items > :last-child input'));
    });
    await page.keyboard.type("example.com/tier");
    await page.keyboard.press("Tab");
    await page.keyboard.type("next");
    await page.keyboard.press("Enter");
    await until(page, async () => {
      assert.ok(await focused(page, '[data-node="worker-1"] > .name'));
    });

    await hand.pod("shop/search-0");
    await hand.tab("tolerations");
    await hand.press(page.getByTestId("add-toleration"));
    await until(page, async () => {
      assert.ok(await focused(page, '[data-toleration="2"] input'));
    });
    await page.keyboard.type("example.com/next");
    // A row that is taken away leaves the focus in the form.
    const row = page.locator('[data-toleration="2"]');
    await hand.press(row.getByRole("button", { name: "Remove" }));
    await row.waitFor({ state: "detached" });
    await until(page, async () => assert.ok(await focused(page, ".inspector *")));

    await page.keyboard.press("Escape");
    await until(page, async () => assert.ok(await focused(page, '[data-pod="shop/search-0"]')));
    await page.keyboard.press("a");
    const form = page.getByTestId("create-node");
    await typeInto(page, form.getByLabel("Name"), "worker-7");
    await hand.press(form.getByRole("button", { name: "Add a taint" }));
    await until(page, async () => {
      assert.ok(await focused(page, '[data-testid="create-node"] .items input'));
    });
    await page.keyboard.type("example.com/new");
    await page.keyboard.press("Enter");
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    await until(page, async () => {
      assert.ok(await focused(page, '[data-node="worker-7"] > .name'));
    });
    assert.equal(await now(page), 0n);
  },
);

/** Every toggle and button of faults: where it is, and what it is called. */
const FAULTS = [
  ["taints", "unreachable"],
  ["taints", "not-ready"],
  ["taints", "out-of-service"],
  ["taints", "maintenance:NoSchedule"],
  ["health", "Cut network"],
  ["health", "Stop kubelet"],
  ["health", "Restart kubelet"],
  ["health", "Flap kubelet"],
  ["health", "Ready=False"],
  ["health", "MemoryPressure"],
  ["health", "DiskPressure"],
  ["health", "PIDPressure"],
  ["health", "NetworkUnavailable"],
  ["health", "Cordon"],
];

for (const [by, act] of [
  [
    "keyboard",
    async (button) => {
      await button.focus();
      await button.press("Enter");
    },
  ],
  ["mouse", (button) => button.click()],
]) {
  playgroundTest(
    `after a fault by ${by} the space bar plays, and takes nothing back`,
    async ({ page }) => {
      await ready(page);
      await page.locator('[data-node="worker-2"] > .name').click();
      for (const [tab, name] of FAULTS) {
        await page.locator(`[data-tab="${tab}"]`).click();
        const before = await edits(page);
        await act(page.getByTestId("inspector").getByRole("button", { name, exact: true }));
        await until(page, async () => {
          assert.ok((await edits(page)) > before, name);
          assert.ok(await focused(page, '[data-node="worker-2"] > .name'), `${name} is left`);
        });
        const done = await edits(page);
        await page.keyboard.press("Space");
        await page.getByRole("button", { name: "Pause" }).waitFor();
        await page.keyboard.press("Space");
        await page.getByRole("button", { name: "Play" }).waitFor();
        assert.equal(await edits(page), done, `${name} stays`);
        await page.keyboard.press("0");
        await page.keyboard.press("ControlOrMeta+Z");
        await until(page, async () => assert.ok((await edits(page)) <= before));
      }
      await page.locator(".zonename", { hasText: "eu-1b" }).click();
      for (const name of ["Cut the zone's network", /^Taint \d nodes$/]) {
        await act(page.getByTestId("zone-panel").getByRole("button", { name }));
        await until(page, async () => {
          assert.match(await focusedWords(page), /^zone eu-1b/, "the zone has the focus");
        });
        const done = await edits(page);
        await page.keyboard.press("Space");
        await page.getByRole("button", { name: "Pause" }).waitFor();
        await page.keyboard.press("Space");
        assert.equal(await edits(page), done);
      }
    },
  );
}

playgroundTest("what is half typed is there again after a look at another tab", async ({ page }) => {
  await ready(page);
  const hand = mouse(page);
  const look = async (typed, tabs) => {
    for (const tab of tabs) await hand.tab(tab);
    assert.equal(await typed.inputValue(), "half");
    await page.getByTestId("apply").waitFor();
  };
  await hand.node("worker-1");
  await hand.press(page.getByTestId("add-taint"));
  const taint = page.getByTestId("taint-form").getByLabel("Key").last();
  await typeInto(page, taint, "half");
  await hand.tab("labels");
  await hand.press(page.getByRole("button", { name: "Add a label" }));
  const label = page.getByTestId("label-form").getByLabel("Key").last();
  await typeInto(page, label, "half");
  await look(taint, ["yaml", "taints"]);
  await look(label, ["health", "labels"]);

  // Another object has a form of its own.
  await hand.node("worker-2");
  assert.equal(await page.getByTestId("apply").count(), 0);
  await hand.pod("shop/search-0");
  await hand.tab("tolerations");
  await hand.press(page.getByTestId("add-toleration"));
  const toleration = page.getByTestId("toleration-form").getByLabel("Key").last();
  await typeInto(page, toleration, "half");
  await look(toleration, ["why", "tolerations"]);
  await page.getByRole("button", { name: "Discard" }).click();
  await page.getByTestId("apply").waitFor({ state: "detached" });
});
