// What stands before the engine is there, and what happens if it does not come.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { legend, pods, ready, until } from "./support/page.mjs";

const ENGINE = "**/split_later.wasm";

playgroundTest("the board stands before the engine, and does not move when it comes", async ({ page }) => {
  let arrives;
  const held = new Promise((release) => (arrives = release));
  await page.route(ENGINE, async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  await page.getByText("Loading the engine…").waitFor();
  const places = () =>
    page.locator("[data-node], [data-pod], .clockbar button").evaluateAll((elements) =>
      elements.map((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [element.dataset.node ?? element.dataset.pod ?? element.title, x, y, width, height];
      }));
  const before = { pods: await pods(page), legend: await legend(page), places: await places() };
  assert.equal(Object.keys(before.pods).length, 29);

  // What is wished for now is done when it can be.
  await page.locator('[data-testid="import"]').click();
  arrives();
  await ready(page);
  await page.getByTestId("import-text").waitFor();
  await page.keyboard.press("Escape");
  const after = { pods: await pods(page), legend: await legend(page), places: await places() };
  assert.deepEqual(after, before);
});

playgroundTest("without the engine the page says so, and tries again", async ({ page, problems }) => {
  let reachable = false;
  await page.route(ENGINE, (route) => (reachable ? route.continue() : route.abort()));
  await page.reload();
  const alert = page.getByRole("alert").getByText("The engine could not be loaded");
  await alert.waitFor();
  reachable = true;
  await page.getByRole("button", { name: "Try again" }).click();
  await ready(page);
  await until(page, async () => assert.equal(await alert.count(), 0));
  // The browser says on its console that a request failed.
  problems.length = 0;
});
