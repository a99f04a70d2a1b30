// Everything by the keyboard alone: no test of this and of the files beside it moves a mouse, but
// to compare.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { assertFocusShows, focused, focusedWords, tabTo } from "./support/focus.mjs";
import { keyboard } from "./support/hands.mjs";
import { now, pods, ready, seconds, until } from "./support/page.mjs";

playgroundTest(
  "the main job takes at most 15 keys: reach a node, taint it, play, read why",
  async ({ page }) => {
    await ready(page);
    let pressed = 0;
    const press = async (...keys) => {
      for (const key of keys) {
        await page.keyboard.press(key);
        pressed += 1;
      }
    };
    // The skip link, then the first zone, its first node, the one beside it.
    await press("Tab", "Enter", "ArrowDown", "ArrowRight", "Enter");
    await page.getByTestId("inspector").getByRole("heading", { name: "worker-1" }).waitFor();
    await until(page, async () => assert.equal(await focusedWords(page), "worker-1"));
    while ((await focusedWords(page)) !== "unreachable") {
      await press("Tab");
      await assertFocusShows(page);
    }
    await press("Enter");
    await until(page, async () => {
      assert.equal((await pods(page))["data/report-28930120-vq7x4"], "terminating");
    });
    // The pod is opened first: while time runs it goes, and the arrow would lead to another one.
    await press("ArrowDown", "Enter");
    const inspector = page.getByTestId("inspector");
    await inspector.getByRole("heading", { name: "data/report-28930120-vq7x4" }).waitFor();
    await press("Space");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await inspector
      .getByText(/not tolerate|Evicted at 0s/)
      .first()
      .waitFor();
    await inspector.getByText(/^Why/).first().waitFor();
    await until(page, async () => assert.ok((await now(page)) > 0n));
    assert.ok(pressed <= 15, `${pressed} keys`);
    console.log(`the main job took ${pressed} keys`);
  },
);

playgroundTest(
  "arrows move over zones, nodes and pods; Enter goes into the inspector, Escape back",
  async ({ page }) => {
    await ready(page);
    await page.keyboard.press("Tab");
    assert.equal(await focusedWords(page), "Skip to the board");
    await page.keyboard.press("Enter");
    const at = (pattern) =>
      until(page, async () => {
        assert.match(await focusedWords(page), pattern);
        await assertFocusShows(page);
      });
    await at(/^zone eu-1a, 3 nodes/);
    for (const [key, pattern] of [
      ["ArrowRight", /^zone eu-1b/],
      ["ArrowRight", /^zone eu-1c/],
      ["ArrowRight", /^zone eu-1c/],
      ["ArrowLeft", /^zone eu-1b/],
      ["ArrowDown", /^node worker-3, Ready, \d pods/],
      ["ArrowLeft", /^node worker-2/],
      ["ArrowRight", /^node worker-3/],
      ["ArrowDown", /^pod kube-system\/kube-proxy-r4tvz, stays/],
      ["ArrowRight", /^pod monitoring\/node-exporter/],
      ["ArrowUp", /^pod kube-system/],
      ["ArrowUp", /^node worker-3/],
      ["ArrowUp", /^zone eu-1b/],
      ["Home", /^zone eu-1a/],
      ["End", /^pod shop\//],
      ["Home", /^zone eu-1a/],
      [
        "ArrowDown",
        /^node control-plane-1.*taint node-role.kubernetes.io\/control-plane:NoSchedule/,
      ],
    ]) {
      await page.keyboard.press(key);
      await at(pattern);
    }
    assert.equal(await now(page), 0n, "no arrow moved the clock");

    // One stop of the tab key for the whole board.
    await page.keyboard.press("Tab");
    assert.equal(await focused(page, "[role=treeitem]"), false);
    await page.keyboard.press("Shift+Tab");
    await at(/^node control-plane-1/);
    assert.equal(await page.locator('[role=treeitem][tabindex="0"]').count(), 1);

    await page.keyboard.press("Enter");
    await at(/^control-plane-1$/);
    assert.ok(await focused(page, ".inspector h2"));
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await at(/^node control-plane-1/);
    assert.equal(await page.locator('[role=treeitem][aria-selected="true"]').count(), 1);
    await page.keyboard.press("Escape");
    await page.locator('[data-testid="inspector"][data-empty="true"]').waitFor();
    await at(/^node control-plane-1/);

    // From a field as well.
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await at(/^worker-1$/);
    await keyboard(page).press(page.getByTestId("add-taint"));
    await until(page, async () => assert.ok(await focused(page, ".inspector input")));
    await page.keyboard.press("Escape");
    await at(/^node worker-1/);
  },
);

playgroundTest(
  "the focus stays on the board when its pod goes, and in the inspector when it changes",
  async ({ page }) => {
    await ready(page);
    const hand = keyboard(page);
    await hand.node("worker-1");
    await hand.press(page.getByTestId("taint-form").getByRole("button", { name: "unreachable" }));
    await hand.pod("data/report-28930120-vq7x4");
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    await until(page, async () => {
      assert.equal((await pods(page))["data/report-28930120-vq7x4"], "gone");
      assert.ok(await focused(page, "[role=treeitem]"), await focusedWords(page));
    });
    assert.equal(await now(page), seconds(5));

    await hand.node("worker-1");
    await hand.tab("pods");
    const row = page.getByTestId("inspector").locator('[data-pod="shop/search-0"]');
    await hand.press(row);
    await until(page, async () => {
      assert.equal(await focusedWords(page), "shop/search-0");
      assert.ok(await focused(page, ".inspector h2"));
    });
    // Closing it leads back to the board.
    await hand.press(page.getByTestId("inspector").getByRole("button", { name: "Close" }));
    await until(page, async () => {
      assert.match(await focusedWords(page), /^pod shop\/search-0/);
    });
  },
);

playgroundTest(
  "the slider and the tabs of the inspector take arrow keys or Tab",
  async ({ page }) => {
    await ready(page);
    await tabTo(page, '[data-testid="timeline"]');
    await page.keyboard.press("End");
    await until(page, async () => assert.equal(await now(page), seconds(60)));
    await page.keyboard.press("ArrowLeft");
    await until(page, async () => assert.ok((await now(page)) < seconds(60)));

    await page.evaluate(() => document.activeElement.blur());
    await keyboard(page).node("worker-2");
    await tabTo(page, '[data-tab="taints"]');
    for (const tab of ["health", "resources", "pods", "labels", "yaml", "taints"]) {
      await page.keyboard.press("ArrowRight");
      await page.locator(`[data-tab="${tab}"][aria-selected="true"]:focus`).waitFor();
    }
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.locator('[data-testid="inspector"][data-empty="true"]').waitFor();
  },
);

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

playgroundTest("what comes of an edit, a step and a line of kubectl is said", async ({ page }) => {
  await ready(page);
  const said = page.getByTestId("announcement");
  assert.equal(await said.getAttribute("aria-live"), "polite");
  await keyboard(page).node("worker-1");
  const preset = page.getByTestId("taint-form").getByRole("button", { name: "unreachable" });
  await keyboard(page).press(preset);
  await said.getByText("1 pod being deleted, 3 counting down, 2 stay", { exact: true }).waitFor();
  await page.keyboard.press("n");
  await said.getByText("report-28930120-vq7x4").waitFor();
  await page.keyboard.press("ControlOrMeta+Z");
  await said.getByText("Undone").waitFor();
  await keyboard(page).press(page.getByRole("button", { name: "Cordon" }));
  await said.getByText("cordon worker-1").waitFor();
});
