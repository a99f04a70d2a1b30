// The release build starts: what every other browser test takes for granted.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";

/** Something a person can read. */
const TEXT = "body :text-matches('\\\\S')";

playgroundTest("the playground starts and shows something to read", async ({ page }) => {
  await page.locator(TEXT).first().waitFor();
  assert.match(await page.title(), /Taintlab/);
});

playgroundTest("the page asks for no file twice", { closed: true }, async ({ page, url }) => {
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(url);
  await page.locator(TEXT).first().waitFor();
  // But for the script, which the worker of the session takes from the browser's cache.
  const others = asked.filter((file) => !/taintlab-web-\w+\.js$/.test(file));
  const twice = others.filter((file, index) => others.indexOf(file) !== index);
  assert.deepEqual(twice, []);
  assert.ok(
    asked.some((file) => file.endsWith(".wasm")),
    `no wasm among ${asked.join(", ")}`,
  );
});
