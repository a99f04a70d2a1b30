// Compare: which runs it begins with, and names and words in the room that they have.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import {
  loadScenario,
  ready,
  replaceCluster,
  runToEnd,
  scrubTo,
  seconds,
  selectNode,
  tab,
  until,
} from "./support/page.mjs";

const compared = (page) => page.getByTestId("compared");

async function stopKubelet(page, node) {
  await selectNode(page, node);
  await tab(page, "health").click();
  await page.getByTestId("inspector").getByRole("button", { name: "Stop kubelet" }).click();
}

/** Three nodes of GKE in one zone, whose names differ at their ends. */
const NODES = ["x7kq", "9fzt", "b2xl"].map((end) => `gke-prod-eu-default-pool-8f3a2b1c-${end}`);
const GKE = NODES.map(
  (name) => `apiVersion: v1
kind: Node
metadata: {name: ${name}, labels: {topology.kubernetes.io/zone: europe-west1-b}}
status: {conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-${name.slice(-4)}, namespace: default}
spec:
  nodeName: ${name}
  containers: [{name: c, image: i}]
`,
).join("---\n");

/** What can be read of names that are cut. */
const seen = (names) =>
  names.evaluateAll((names) =>
    names.map((name) =>
      [...name.querySelectorAll(".h, .t")]
        .filter((part) => part.scrollWidth <= part.clientWidth)
        .map((part) => part.textContent)
        .join(""),
    ),
  );

playgroundTest("releases that hardly anybody runs are offered apart", async ({ page }) => {
  await ready(page);
  const group = page.getByTestId("release").locator('optgroup[label="older"] option');
  const older = await group.allInnerTexts();
  assert.deepEqual([older[0], older.at(-1)], ["1.28", "1.18"]);
  const newer = await page.getByTestId("release").locator("> option").allInnerTexts();
  assert.ok(newer.includes("1.29") && !newer.includes("1.28"), newer.join());
  await page.getByTestId("release").selectOption("1.20");
  await page.waitForFunction(() => location.hash.includes("release=1.20"));
});

playgroundTest("C on a branch compares the branch it came from with it", async ({ page }) => {
  await ready(page);
  await stopKubelet(page, "worker-1");
  await runToEnd(page);
  await scrubTo(page, seconds(30));
  await page.getByTestId("inspector").getByRole("button", { name: "Start kubelet" }).click();
  await until(page, async () =>
    assert.equal(await page.getByTestId("branches-open").textContent(), "branch 1"),
  );
  await page.locator("body").press("c");
  await compared(page).getByText(/^They diverge at .*“main”.*“branch 1”|“branch 1”.*“main”/).waitFor();
  const [a, b] = [page.getByLabel("Branch of A"), page.getByLabel("Branch of B")];
  const chosen = (select) => select.evaluate((it) => it.selectedOptions[0].textContent);
  assert.equal(await chosen(a), "main");
  assert.equal(await chosen(b), "branch 1 (here)");
});

playgroundTest(
  "names of a cloud are told apart in Compare and in a zone",
  { context: { viewport: { width: 900, height: 800 } } },
  async ({ page }) => {
    await ready(page);
    await replaceCluster(page, GKE);
    await page.locator("[data-zone] .zonename").click();
    const list = page.getByTestId("zone-panel").locator(".podlist .cut");
    await until(page, async () => assert.equal(await list.count(), 3));
    assert.deepEqual((await seen(list)).map((name) => name.slice(-4)), ["9fzt", "b2xl", "x7kq"]);
    for (const node of NODES.slice(0, 2)) await stopKubelet(page, node);
    await runToEnd(page);
    await page.locator("body").press("c");
    await page.getByLabel("Release of B").selectOption("1.31");
    await compared(page).locator(".pname").nth(1).waitFor();
    const names = await seen(compared(page).locator(".pname .cut"));
    assert.equal(new Set(names).size, names.length, names.join(" "));
    assert.ok(names.some((name) => name.endsWith("x7kq")), names.join(" "));
    const title = await compared(page).locator(".pname").first().getAttribute("title");
    assert.match(title, /^node gke-prod-eu-default-pool-8f3a2b1c-/);
  },
);

/** Bars whose word is seen without having room, or has room and is not seen. */
const wrongWords = (bars) =>
  bars.evaluateAll((bars) => {
    const canvas = document.createElement("canvas").getContext("2d");
    return bars
      .map((bar) => {
        const style = getComputedStyle(bar, "::before");
        canvas.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        const room = bar.clientWidth - Number.parseFloat(getComputedStyle(bar).paddingLeft);
        const needs = canvas.measureText(bar.dataset.word).width;
        // A word without room is on a second line, which is not seen.
        const isSeen = bar.scrollHeight <= bar.clientHeight;
        const [has, lacks] = [room - needs > 5, room - needs < -1];
        const wrong = (has && !isSeen) || (lacks && isSeen);
        return { word: bar.dataset.word, room, needs, isSeen, wrong };
      })
      .filter(({ wrong }) => wrong);
  });

playgroundTest("a word that has no room in its bar is not seen", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  await runToEnd(page);
  await page.getByTestId("lanes-open").click();
  const words = page.getByTestId("lanes").locator(".lbar[data-word]");
  await words.first().waitFor();
  for (const width of [1280, 720, 360]) {
    await page.setViewportSize({ width, height: 720 });
    await until(page, async () => assert.deepEqual(await wrongWords(words), [], `${width}`));
  }
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.locator("body").press("c");
  await page.getByLabel("Release of B").selectOption("1.35");
  const there = compared(page).locator(".lbar[data-word]");
  await there.first().waitFor();
  for (const width of [1280, 720]) {
    await page.setViewportSize({ width, height: 720 });
    await until(page, async () => assert.deepEqual(await wrongWords(there), [], `Compare, ${width}`));
  }
});
