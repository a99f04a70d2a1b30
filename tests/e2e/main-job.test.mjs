// The main job: from the output of kubectl to exactly the evictions that Kubernetes would make.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";

import { playgroundTest } from "./support/browser.mjs";
import {
  evictions,
  legend,
  log,
  now,
  pods,
  ready,
  runToEnd,
  scrubTo,
  seconds,
  selectPod,
  taint,
  until,
} from "./support/page.mjs";

const CLUSTER = readFileSync(new URL("fixtures/cluster.yaml", import.meta.url), "utf8");

/** What a screen reader finds at each step; `BLESS=1` writes it anew. */
const HEARD = new URL("fixtures/main-job.aria.txt", import.meta.url);

/** As a user who has copied the output of kubectl has it. */
const CLIPBOARD = { context: { permissions: ["clipboard-read", "clipboard-write"] } };

const REPORT = "batch/report-29370120-vq7x4";
const CHECKOUT = "shop/checkout-5b8f7d9c4-4fvlc";
const WEB = "shop/web-7d4b9c6f5-x2x8p";

/** Tainted at 5 s: what is not tolerated goes at once, 30 s and the default 300 s later the rest. */
const EVICTIONS = [
  ["5s", REPORT],
  ["35s", CHECKOUT],
  ["5m5s", WEB],
];

/** They tolerate everything, or this taint without a limit, or are on the other node. */
const THOSE_THAT_STAY = {
  "kube-system/kube-proxy-2nq6f": "stays",
  "kube-system/kube-proxy-c9xkm": "stays",
  "monitoring/node-exporter-9tfwc": "stays",
  "shop/checkout-5b8f7d9c4-zz6rb": "stays",
  "shop/web-7d4b9c6f5-8kq2v": "stays",
};

async function pasteAndTaint(page) {
  await ready(page);
  await page.evaluate((text) => navigator.clipboard.writeText(text), CLUSTER);
  await page.keyboard.press("ControlOrMeta+V");
  const dialog = page.getByRole("dialog", { name: "Import" });
  await dialog.getByRole("status").getByText("3 nodes, 8 pods", { exact: true }).waitFor();
  assert.equal(await dialog.getByTestId("diagnostics").count(), 0, "nothing is wrong with it");
  await dialog.getByRole("button", { name: "Replace the cluster" }).click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await until(page, async () => {
    assert.deepEqual(await legend(page), {
      stay: 8,
      "counting down": 0,
      "being deleted": 0,
      gone: 0,
    });
  });
  await scrubTo(page, seconds(5));
  await taint(page, "worker-a", { key: "node.kubernetes.io/unreachable" });
}

playgroundTest(
  "paste, taint, play: exactly the right pods leave at the right times",
  CLIPBOARD,
  async ({ page }) => {
    await pasteAndTaint(page);
    assert.deepEqual(await pods(page), {
      ...THOSE_THAT_STAY,
      [REPORT]: "terminating",
      [CHECKOUT]: "counting",
      [WEB]: "counting",
    });

    await page.getByTestId("speed").selectOption("1000×");
    await page.getByRole("button", { name: "Play" }).click();
    await page.getByTestId("announcement").getByText("Nothing more is due").waitFor();
    await page.getByRole("button", { name: "Play" }).waitFor();

    assert.deepEqual(await evictions(page), EVICTIONS);
    assert.deepEqual(await pods(page), {
      ...THOSE_THAT_STAY,
      [REPORT]: "gone",
      [CHECKOUT]: "gone",
      [WEB]: "gone",
    });
    assert.deepEqual(await legend(page), {
      stay: 5,
      "counting down": 0,
      "being deleted": 0,
      gone: 3,
    });
  },
);

playgroundTest(
  "stepping stops at each thing that happens, and says what is next",
  CLIPBOARD,
  async ({ page }) => {
    await pasteAndTaint(page);
    const next = page.getByTestId("next");
    const steps = [
      // A grace period of 5 s, a timer of 30 s, 10 s of grace, a timer of 300 s, 30 s of grace.
      [10, `the grace period of ${REPORT}`, REPORT],
      [35, `${CHECKOUT} is deleted`, CHECKOUT],
      [45, `the grace period of ${CHECKOUT}`, CHECKOUT],
      [305, `${WEB} is deleted`, WEB],
      [335, `the grace period of ${WEB}`, WEB],
    ];
    for (const [at, words, pod] of steps) {
      await next.getByText(words).waitFor();
      const before = (await pods(page))[pod];
      await page.getByTestId("step").click();
      await until(page, async () => assert.equal(await now(page), seconds(at)));
      const after = (await pods(page))[pod];
      const expected = words.includes("grace")
        ? ["terminating", "gone"]
        : ["counting", "terminating"];
      assert.deepEqual([before, after], expected, `${pod} at ${at} s`);
    }
    await next.getByText("Ended at 5m35s:").waitFor();
    await next.getByRole("button", { name: "3 pods evicted" }).waitFor();
    assert.equal(await page.getByTestId("step").isDisabled(), true);
    assert.deepEqual(await evictions(page), EVICTIONS);
  },
);

playgroundTest(
  "a taint that is removed in time saves the pods that were counting down",
  CLIPBOARD,
  async ({ page }) => {
    await pasteAndTaint(page);
    await page.getByTestId("step").click();
    await page.getByTestId("taint-form").getByRole("button", { name: "Remove" }).click();
    await page.getByTestId("apply").click();
    await page.locator('[data-testid="end"]:disabled').waitFor();
    assert.deepEqual((await log(page)).slice(1), [
      `10s Normal TaintManagerEviction pod/${CHECKOUT}: Cancelling deletion of Pod ${CHECKOUT}`,
      `10s Normal TaintManagerEviction pod/${WEB}: Cancelling deletion of Pod ${WEB}`,
    ]);
    assert.deepEqual(await pods(page), {
      ...THOSE_THAT_STAY,
      [REPORT]: "gone",
      [CHECKOUT]: "stays",
      [WEB]: "stays",
    });
  },
);

playgroundTest("a screen reader finds what was agreed on", CLIPBOARD, async ({ page }) => {
  let heard = "";
  const hear = async (moment) => {
    heard += `# ${moment}\n\n${await page.locator("body").ariaSnapshot()}\n\n`;
  };
  await pasteAndTaint(page);
  await page.getByTestId("next").getByText(`the grace period of ${REPORT}`).waitFor();
  await hear("worker-a is tainted at 5s");
  await selectPod(page, CHECKOUT);
  await hear("A pod that counts down is selected");
  await runToEnd(page);
  await page.getByTestId("next").getByText("Ended at 5m35s:").waitFor();
  await hear("All has happened");
  if (process.env.BLESS) writeFileSync(HEARD, heard);
  assert.equal(heard, readFileSync(HEARD, "utf8"));
});
