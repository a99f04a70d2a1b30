// The first minute: what the page is for, a fault on a card, what it says of it, and what is in
// sight then.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { now, ready, replaceCluster, seconds, showView, until } from "./support/page.mjs";

const SMALL = { sample: true, context: { viewport: { width: 1280, height: 800 } } };
const caption = (page) => page.getByTestId("caption");
const deed = (page, node, words) =>
  page.locator(`[data-node="${node}"] .deed`, { hasText: words });

/** Steps until pods of a node count down. */
async function untilTainted(page, node) {
  const counting = page.locator(`[data-node="${node}"] .pod[data-state="counting"]`);
  for (let step = 0; step < 40 && (await counting.count()) === 0; step += 1) {
    const before = await now(page);
    await page.keyboard.press("n");
    await until(page, async () => assert.ok((await now(page)) > before));
  }
  await counting.first().waitFor();
}

/** Whether all of an element can be seen in the box that scrolls it. */
const inSight = (locator, box) =>
  locator.evaluate((element, box) => {
    const [outer, inner] = [element.closest(box), element].map((it) => it.getBoundingClientRect());
    return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
  }, box);

playgroundTest("a fault on a card is told in plain words as the clock goes", SMALL, async ({ page }) => {
  await ready(page);
  await caption(page).getByText("Find out what Kubernetes will evict, when, and why.").waitFor();
  const answer = page.getByTestId("inspector").locator("details");
  assert.equal(await answer.getAttribute("open"), null, "the answer is folded before one has tried");
  await deed(page, "worker-1", "Stop kubelet").click();
  await caption(page).getByText("0s: You: stop the kubelet of worker-1.").waitFor();
  await untilTainted(page, "worker-1");
  await caption(page)
    .getByText(/^1m0\.1s: worker-1 is tainted\. report-28930120 goes now, because it does not tolerate the taint; checkout has 30 seconds, search-0 1 minute and web 5 minutes, because they tolerate the taint for that long; 2 pods stay\.$/)
    .waitFor();
  // What counts down is in sight, and what is fine is folded.
  const pods = page.locator('[data-node="worker-1"] .pod[data-state="counting"]');
  for (const pod of await pods.all()) {
    assert.ok(await inSight(pod, ".board"), await pod.getAttribute("data-pod"));
  }
  const fine = page.getByTestId("fine");
  await fine.filter({ hasText: "2 nodes, 8 pods fine" }).waitFor();
  assert.equal(await page.locator('[data-node="worker-3"]').count(), 0);
  await fine.first().click();
  await page.locator('[data-node="worker-3"]').waitFor();
  await page.locator('[data-testid="fine"][aria-expanded="true"]').first().click();
  await page.locator('[data-node="worker-3"]').waitFor({ state: "detached" });

  await page.getByTestId("caption-why").click();
  await page.getByTestId("why").waitFor();
  await page.getByTestId("caption-release").click();
  await until(page, async () =>
    assert.equal(await page.getByTestId("release").inputValue(), "1.18"));
  // The caption goes back with the clock.
  await page.getByTestId("home").click();
  await caption(page).getByText("0s: You: stop the kubelet of worker-1.").waitFor();
});

playgroundTest("a node is drained from its card, by kubectl", SMALL, async ({ page }) => {
  await ready(page);
  await deed(page, "worker-2", "Drain").click();
  await page.getByTestId("output").getByText("node/worker-2 cordoned").waitFor();
  await page.locator('[data-node="worker-2"]').getByText("cordoned").waitFor();
  await deed(page, "worker-4", "Taint").click();
  await page.getByTestId("taint-form").waitFor();
});

playgroundTest("the log has eight rows, and nothing jumps with the first fault", SMALL, async ({ page }) => {
  await ready(page);
  const place = () => page.locator(".zones").evaluate((zones) => zones.offsetTop);
  const before = await place();
  await deed(page, "worker-1", "Stop kubelet").click();
  await untilTainted(page, "worker-1");
  assert.equal(await place(), before);
  await showView(page, "events");
  await page.keyboard.press("e");
  const rows = page.getByTestId("log").locator(".ev");
  await rows.nth(8).waitFor();
  const seen = await page.getByTestId("log").evaluate((log) => {
    const box = log.querySelector(".rows").getBoundingClientRect();
    const head = log.querySelector(".columns").getBoundingClientRect();
    return (box.bottom - head.bottom) / 26;
  });
  assert.ok(seen >= 8, `${seen} rows`);
  // What stands beside the clock is whole.
  const next = await page.getByTestId("next").evaluate((box) => {
    const [outer, inner] = [box, box.firstElementChild].map((it) => it.getBoundingClientRect());
    return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
  });
  assert.ok(next, "the end is clipped");
});

playgroundTest("the tabs of the pane are tabs, and its edge and its tab are remembered", async ({ page }) => {
  await ready(page);
  const tabs = page.locator(".pane [role=tablist] [role=tab]");
  const shown = async () => {
    const tab = page.locator(".pane [role=tab][aria-selected=true]");
    const panel = page.locator(`#${await tab.getAttribute("aria-controls")}`);
    assert.equal(await panel.getAttribute("role"), "tabpanel");
    assert.equal(await panel.getAttribute("aria-labelledby"), await tab.getAttribute("id"));
    return tab.getAttribute("data-testid");
  };
  assert.equal(await tabs.count(), 4);
  assert.equal(await shown(), "lanes-open");
  await tabs.first().focus();
  for (const name of ["workloads-open", "events-open", "console-open", "lanes-open"]) {
    await page.keyboard.press("ArrowRight");
    await until(page, async () => assert.equal(await shown(), name));
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), name);
  }
  for (const [key, name] of [["2", "workloads-open"], ["3", "events-open"], ["l", "lanes-open"]]) {
    await page.keyboard.press(key);
    await until(page, async () => assert.equal(await shown(), name));
  }
  await page.keyboard.press("3");
  const edge = page.getByRole("separator", { name: "Height of the pane" });
  const height = () => page.getByTestId("pane").evaluate((pane) => pane.clientHeight);
  const before = await height();
  await edge.focus();
  await page.keyboard.press("ArrowUp");
  await until(page, async () => assert.equal(await height(), before + 16));
  await page.reload();
  await ready(page);
  await until(page, async () => assert.equal(await shown(), "events-open"));
  assert.equal(await height(), before + 16);
  await page.getByTestId("pane-fold").click();
  await until(page, async () => assert.ok((await height()) < 60));
});

playgroundTest("names of a cloud are told apart on the board", SMALL, async ({ page }) => {
  await ready(page);
  const nodes = ["default-pool-8f3a2b1c-x7kq", "default-pool-8f3a2b1c-9fzt", "spot-pool-11ac90de-b2xl"];
  const items = nodes.map((name, place) => `
apiVersion: v1
kind: Node
metadata:
  name: gke-production-europe-${name}
  labels: {topology.kubernetes.io/zone: europe-west1-${"bcd"[place]}}
status: {conditions: [{type: Ready, status: "True"}]}
`);
  await replaceCluster(page, items.join("---"));
  const seen = (selector) =>
    page.locator(selector).evaluateAll((names) =>
      names.map((name) =>
        [...name.querySelectorAll(".h, .t")]
          .filter((part) => part.scrollWidth <= part.clientWidth)
          .map((part) => part.textContent)
          .join(""),
      ),
    );
  await until(page, async () => {
    const ends = await seen("[data-node] > .name .cut");
    assert.equal(new Set(ends).size, 3, ends.join(" "));
  });
  assert.ok((await seen(".zonename .cut")).every((zone) => /-[bcd]$/.test(zone)));
  const title = await page.locator("[data-node] > .name").first().getAttribute("title");
  assert.ok(title.includes(`gke-production-europe-${nodes[0]}`), title);
});

playgroundTest("what is printed has no buttons", SMALL, async ({ page }) => {
  await ready(page);
  await deed(page, "worker-1", "Stop kubelet").click();
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".controls button:visible, .deed:visible, .top .btn:visible").count(), 0);
  await page.locator('[data-node="worker-1"] .pod').first().waitFor();
  assert.ok((await now(page)) === seconds(0));
});

playgroundTest("the tabs of a node with their numbers are one row", SMALL, async ({ page }) => {
  await ready(page);
  await page.locator('[data-node="worker-1"] > .name').click();
  const tabs = page.getByTestId("inspector").getByRole("tab");
  await tabs.filter({ hasText: "YAML" }).waitFor();
  const tops = await tabs.evaluateAll((all) => all.map((tab) => tab.getBoundingClientRect().top));
  assert.equal(tops.length, 6);
  assert.equal(new Set(tops).size, 1, `${tops}`);
});
