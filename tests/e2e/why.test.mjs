// Why a pod stays or goes: the page shows the engine's own explanation, with the time it falls.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import {
  pods,
  ready,
  replaceCluster,
  scrubTo,
  seconds,
  selectPod,
  tab,
  taint,
  until,
} from "./support/page.mjs";

/** Two taints against tolerations of which the first one answers, and each other fails otherwise. */
const CASE = JSON.stringify({
  apiVersion: "v1",
  kind: "List",
  items: [
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "a" },
      spec: {
        taints: [
          { key: "disk", value: "slow", effect: "NoExecute" },
          { key: "gpu", value: "a100", effect: "NoSchedule" },
        ],
      },
    },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: {
        nodeName: "a",
        containers: [{ name: "c", image: "i" }],
        tolerations: [
          { key: "cpu", operator: "Exists", effect: "NoExecute" },
          { key: "disk", operator: "Equal", value: "fast", effect: "NoExecute" },
          { key: "disk", operator: "Exists", effect: "NoExecute", tolerationSeconds: 90 },
          { key: "disk", operator: "Equal", value: "slow" },
        ],
      },
    },
  ],
});

/** The table: each taint with its consequence, each toleration with what became of it. */
const table = (page) =>
  page.getByTestId("why").evaluate((list) =>
    [...list.children].map((taint) => ({
      taint: taint.querySelector(".taint").textContent.trim(),
      consequence: taint.querySelector(".hint").textContent.trim(),
      tolerations: [...taint.querySelectorAll("tbody tr")].map((row) => [
        row.dataset.outcome,
        row.querySelector("code").textContent.trim(),
        row.querySelector(".said").textContent.trim(),
      ]),
    })),
  );

const verdict = async (page) =>
  (await page.getByTestId("verdict").innerText())
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

playgroundTest(
  "the matching table says of every taint and toleration what became of it",
  async ({ page }) => {
    await ready(page);
    await replaceCluster(page, CASE);
    await selectPod(page, "default/p");
    assert.deepEqual(await table(page), [
      {
        taint: "disk=slow:NoExecute",
        consequence: "such a pod may be scheduled here, and is evicted when its time is over",
        tolerations: [
          ["failed", "cpu:NoExecute op=Exists", "key differs: it has cpu, the taint has disk"],
          ["failed", "disk=fast:NoExecute", "value differs: it has fast, the taint has slow"],
          [
            "used",
            "disk:NoExecute op=Exists for 90s",
            "tolerates the taint, and is the first to do so",
          ],
          ["shadowed", "disk=slow", "tolerates the taint too, but tolerations[2] comes first"],
        ],
      },
      {
        taint: "gpu=a100:NoSchedule",
        consequence: "such a pod is not scheduled here; a running one stays",
        tolerations: [
          [
            "failed",
            "cpu:NoExecute op=Exists",
            "effect differs: it has NoExecute, the taint has NoSchedule",
          ],
          [
            "failed",
            "disk=fast:NoExecute",
            "effect differs: it has NoExecute, the taint has NoSchedule",
          ],
          [
            "failed",
            "disk:NoExecute op=Exists for 90s",
            "effect differs: it has NoExecute, the taint has NoSchedule",
          ],
          ["failed", "disk=slow", "key differs: it has disk, the taint has gpu"],
        ],
      },
    ]);
    const lines = await verdict(page);
    assert.equal(lines[0], "Deleted at 1m30s");
    assert.equal(lines[1], "2020-01-01T00:01:30Z");
    const sentence =
      "evicted after 1m30s: tolerations[2].tolerationSeconds: 90 is the shortest in use";
    assert.equal(lines[2].toLowerCase(), sentence.toLowerCase());
  },
);

playgroundTest(
  "the verdict has the clock time at which it falls, and follows what happens",
  async ({ page }) => {
    await ready(page);
    const pod = "shop/web-7d4b9c6f5-x2x8p";
    await selectPod(page, pod);
    assert.equal((await verdict(page))[0], "Stays");
    await scrubTo(page, seconds(10));
    await taint(page, "worker-1", { key: "node.kubernetes.io/not-ready" });
    const clock = page.getByTestId("clockbar").locator("small");
    const tainted = new Date(await clock.innerText());

    await selectPod(page, pod);
    const lines = await verdict(page);
    assert.equal(lines[0], "Deleted at 5m10s");
    const falls = lines.map((line) => new Date(line)).find((date) => !Number.isNaN(date.valueOf()));
    assert.ok(falls, `${lines} has a clock time`);
    assert.equal(falls - tainted, 300_000, "300 s after the taint");

    await scrubTo(page, seconds(310));
    await until(page, async () => {
      assert.equal((await verdict(page))[0], "Being deleted, gone at 5m40s");
    });
    await page.getByTestId("step").click();
    await page.getByTestId("inspector").getByText("Evicted at 5m10s").waitFor();
    assert.equal((await pods(page))[pod], "gone");

    // The same pod at an earlier time is there again.
    await scrubTo(page, seconds(9));
    await until(page, async () => assert.equal((await verdict(page))[0], "Stays"));
  },
);

playgroundTest(
  "a shorter toleration does not shorten a timer that runs, and the page says so",
  async ({ page }) => {
    await ready(page);
    const pod = "shop/web-7d4b9c6f5-x2x8p";
    await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
    await scrubTo(page, seconds(10));
    await selectPod(page, pod);
    await tab(page, "tolerations").click();
    const form = page.getByTestId("toleration-form");
    await form.locator(".item").last().getByLabel("Seconds").fill("20");
    await form.getByTestId("apply").click();
    await form.getByTestId("apply").waitFor({ state: "detached" });
    await tab(page, "why").click();
    const lines = await verdict(page);
    assert.equal(lines[0], "Deleted at 5m0s");
    assert.ok(
      lines.some((line) => line.includes("Decided at 10s: timer for 5m0s kept")),
      `${lines}`,
    );
  },
);
