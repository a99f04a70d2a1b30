// The engine as wasm in Chromium writes the bytes that it wrote natively.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

import { FOLDER, scenarios } from "../wasm/scenarios.mjs";
import { playgroundTest } from "./support/browser.mjs";

const GLUE = fileURLToPath(new URL("../wasm/engine.mjs", import.meta.url));

playgroundTest("every scenario gives the same events as natively", async ({ page, url }) => {
  await page.route("**/determinism/*", (route) => {
    const name = new URL(route.request().url()).pathname.split("/").at(-1);
    return route.fulfill({ path: name === "engine.mjs" ? GLUE : `${FOLDER}/${name}` });
  });
  const base = `${url}determinism/`;
  for (const { name, events } of scenarios()) {
    const answer = await page.evaluate(
      async ({ base, name }) => {
        const { runScenario } = await import(`${base}engine.mjs`);
        const bytes = async (file) => (await fetch(`${base}${file}`)).arrayBuffer();
        const module = await WebAssembly.compile(await bytes("engine.wasm"));
        const scenario = new Uint8Array(await bytes(`${name}.scenario.yaml`));
        return new TextDecoder().decode(await runScenario(module, scenario));
      },
      { base, name },
    );
    assert.equal(answer, events, name);
  }
});
