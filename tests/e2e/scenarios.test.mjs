// The scenarios that come with the page: each opens, says what it is about, and comes out as it
// says; and what Kubernetes releases do differently.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";

import { playgroundTest } from "./support/browser.mjs";
import { typeInto } from "./support/hands.mjs";
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
  until,
} from "./support/page.mjs";

const EXAMPLES = readdirSync(new URL("../../examples/", import.meta.url))
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => file.replace(/\.yaml$/, ""));

playgroundTest(
  "every scenario opens, has its question and answer, and meets its expectations",
  async ({ page, problems }) => {
    await ready(page);
    await page.getByTestId("scenarios").click();
    const entries = page.getByTestId("scenario-list").locator("[data-scenario]");
    const listed = await entries.evaluateAll((buttons) =>
      buttons.map(({ dataset, innerText }) => ({ name: dataset.scenario, text: innerText })),
    );
    await page.keyboard.press("Escape");
    const names = listed.map(({ name }) => name).filter((name) => name);
    assert.deepEqual(names.toSorted(), EXAMPLES.toSorted());

    const inspector = page.getByTestId("inspector");
    for (const { name, text } of listed.filter((entry) => entry.name)) {
      await loadScenario(page, name);
      const [title, ...question] = text.split("\n");
      await inspector.getByRole("heading", { name: title, exact: true }).waitFor();
      const words = (long) => long.replaceAll("`", "").replaceAll(/\s+/g, " ").trim();
      const asked = words(question.join(" "));
      assert.ok(words(await inspector.innerText()).includes(asked), `${name} asks: ${asked}`);
      const answer = inspector.locator("details");
      if (!(await answer.evaluate((details) => details.open))) {
        await answer.locator("summary").click();
      }
      assert.notEqual((await answer.locator("p").innerText()).trim(), "", `${name} has an answer`);

      if (await page.getByTestId("end").isEnabled()) {
        // With kubelets there may be no end: then this is a day.
        await page.getByTestId("end").click();
      }
      await until(page, async () => {
        const open = await inspector
          .locator('.expect [data-ok]:not([data-ok="true"])')
          .allInnerTexts();
        assert.deepEqual(open, [], name);
      });
      if (name !== "sample-cluster") {
        assert.ok(
          (await inspector.locator(".expect [data-ok]").count()) > 0,
          `${name} expects something`,
        );
      }
      assert.deepEqual(problems, [], name);
    }
  },
);

playgroundTest(
  "1.18 deletes a pod whose taint was removed in time; 1.20 does not",
  async ({ page }) => {
    await ready(page);
    const release = page.getByTestId("release");
    const pod = "default/cache-0";

    await loadScenario(page, "two-taints-one-removed-1.18");
    assert.equal(await release.inputValue(), "1.18");
    await runToEnd(page);
    assert.deepEqual(await evictions(page), [["1m20s", pod]]);
    assert.deepEqual(await pods(page), { [pod]: "gone" });

    // The same timeline, on another Kubernetes.
    await release.selectOption("1.20");
    await until(page, async () => assert.deepEqual(await pods(page), { [pod]: "stays" }));
    assert.deepEqual(await log(page), [
      `50s Normal TaintManagerEviction pod/${pod}: Cancelling deletion of Pod ${pod}`,
    ]);

    await loadScenario(page, "two-taints-one-removed-1.20");
    assert.equal(await release.inputValue(), "1.20");
    await runToEnd(page);
    assert.deepEqual(await evictions(page), []);
    assert.deepEqual(await pods(page), { [pod]: "stays" });
    await release.selectOption("1.18");
    await until(page, async () => assert.deepEqual(await evictions(page), []));
    await scrubTo(page, 0n);
    await runToEnd(page);
    assert.deepEqual(await evictions(page), [["1m20s", pod]]);
  },
);

playgroundTest("an empty cluster helps to begin, and takes nodes and pods", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "");
  const empty = page.getByTestId("empty");
  await empty.getByText(/^kubectl get nodes,pods,deploy,.* -A -o yaml$/).waitFor();
  await empty.getByRole("button", { name: "Create a node" }).click();
  let dialog = page.getByRole("dialog", { name: "Create a node" });
  await dialog.getByTestId("create").click();
  await dialog.getByRole("alert").first().waitFor();
  await dialog.getByLabel("Name").fill("first");
  await dialog.getByLabel("Zone").fill("here");
  await dialog.getByTestId("create").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.locator('[data-node="first"]').waitFor();

  await page.getByRole("button", { name: "Create a pod" }).click();
  dialog = page.getByRole("dialog", { name: "Create a pod" });
  await dialog.getByLabel("Name", { exact: true }).fill("p");
  await dialog.getByLabel("Node").fill("first");
  await dialog.getByTestId("create").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await until(page, async () => assert.deepEqual(await pods(page), { "default/p": "stays" }));
  assert.equal(await now(page), seconds(0));
});

playgroundTest(
  "scenarios are found by words and by tag, with the keyboard alone",
  async ({ page }) => {
    await ready(page);
    await page.keyboard.press("s");
    const list = page.getByTestId("scenario-list").locator("[data-scenario]");
    const names = () => list.evaluateAll((all) => all.map(({ dataset }) => dataset.scenario));
    await list.first().waitFor();
    const all = (await names()).length;
    await typeInto(page, page.getByTestId("scenario-search"), "statefulset stuck");
    await until(page, async () => {
      const found = await names();
      assert.ok(found.includes("stuck-terminating") && found.length < 8, `${found}`);
    });
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.press("Delete");
    await until(page, async () => assert.equal((await names()).length, all));

    // The tags come from the scenarios, each with how many have it.
    const tag = page.getByTestId("scenario-tags").locator('[data-tag="preemption"]');
    await tag.focus();
    await page.keyboard.press("Enter");
    await until(page, async () =>
      assert.deepEqual(await names(), ["preemption-in-an-outage"]),
    );
    assert.equal(await tag.getAttribute("aria-pressed"), "true");
    assert.match(await page.getByTestId("scenario-count").innerText(), /^1 of \d+/);
    for (const button of await page.getByTestId("scenario-tags").getByRole("button").all()) {
      const wanted = await button.getAttribute("data-tag");
      assert.match(await button.innerText(), new RegExp(`^${wanted}\\s*[1-9]`));
    }
    await page.getByTestId("scenario-search").fill("xyzzy");
    await page.getByText("No scenario has any of these words").waitFor();
    await page.getByTestId("scenario-search").fill("");
    await tag.click();
    await until(page, async () => assert.equal((await names()).length, all));
    await page.getByTestId("scenario-search").focus();
    // Arrows lead from the search into the list, through it, and back.
    const focused = () => page.evaluate(() => document.activeElement.dataset);
    const [first, second] = await names();
    for (const [key, name] of [["Down", first], ["Down", second], ["Up", first]]) {
      await page.keyboard.press(`Arrow${key}`);
      assert.equal((await focused()).scenario, name);
    }
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    assert.equal((await focused()).scenario, second, "from a button beside the first one");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    assert.equal((await focused()).testid, "scenario-search");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    await page.getByTestId("inspector").getByRole("heading", { level: 2 }).waitFor();
  },
);

playgroundTest("a release says what it rests on, and what changed with it", async ({ page }) => {
  await ready(page);
  await page.getByTestId("release").selectOption("1.29");
  const about = page.getByTestId("about-release");
  assert.equal(await about.getAttribute("aria-label"), "Sources for Kubernetes 1.29");
  await about.click();
  const dialog = page.getByRole("dialog", { name: "Kubernetes 1.29" });
  const rests = await dialog.getByTestId("rests-on").textContent();
  assert.match(rests, /^Recorded from 1\.20\.2, with \d+ changes up to 1\.29: (?:\d+ recorded, )?\d+ read in Kubernetes' source,/);
  const came = dialog.locator("section", { hasText: "What changed with 1.29" });
  await came.getByText("Taint eviction is a controller of its own: since 1.29").waitFor();
  const believed = dialog.locator("section", { hasText: "Believed to have come by then" });
  await believed.getByText("since 1.19").waitFor();
  const later = dialog.getByText(/(since|with) 1\.3\d/);
  assert.equal(await later.count(), 0, "what is later is not of this release");
});
