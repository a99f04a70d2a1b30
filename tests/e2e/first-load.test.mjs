// What is seen before the engine is there, and what happens if it does not come.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { ready } from "./support/page.mjs";

const ENGINE = "**/*_bg.wasm";

playgroundTest("the page says that the engine is loaded until it is there", { alone: true }, async ({ page }) => {
  let arrives;
  const held = new Promise((release) => (arrives = release));
  await page.route(ENGINE, async (route) => {
    await held;
    await route.continue();
  });
  await page.reload({ waitUntil: "commit" });
  await page.getByRole("status").getByText("Loading the engine…").waitFor();
  const place = async () => (await page.locator(".clockbar").boundingBox()).y;
  const before = await place();
  assert.ok(before > page.viewportSize().height / 2, "the frame of the page stands");
  arrives();
  await ready(page);
  assert.equal(await page.getByText("Loading the engine…").count(), 0);
});

playgroundTest(
  "without the engine the page says so, and tries again",
  { alone: true },
  async ({ page, problems }) => {
    let reachable = false;
    await page.route(ENGINE, (route) => (reachable ? route.continue() : route.abort()));
    await page.reload({ waitUntil: "commit" });
    await page.getByRole("alert").getByText("The engine could not be loaded").waitFor();
    reachable = true;
    await page.getByRole("button", { name: "Try again" }).click();
    await ready(page);
    // The browser says on its console that a request failed.
    problems.length = 0;
  },
);

playgroundTest("loading the page draws no warning from the browser", { alone: true }, async ({ page, problems }) => {
  await ready(page);
  // A preload that is not used is found some seconds after the page was loaded.
  await page.reload({ waitUntil: "networkidle" });
  await ready(page);
  assert.deepEqual(problems, []);
  const preloaded = page.locator('link[rel="preload"], link[rel="modulepreload"]');
  assert.ok((await preloaded.count()) > 0);
  assert.equal(await page.locator('link[rel*="preload"][integrity]').count(), 0);
});

playgroundTest("the stored colours are there before the engine", { alone: true }, async ({ page }) => {
  await ready(page);
  await page.getByTestId("theme").click();
  await page.getByTestId("theme").click();
  await page.locator('html[data-theme="dark"]').waitFor();
  await page.route(ENGINE, () => {});
  await page.reload({ waitUntil: "commit" });
  await page.getByText("Loading the engine…").waitFor();
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
});
