// Chromium: without a bundler, in a worker, and what bundlers make of the package.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { chromium } from "playwright-core";
import sirv from "sirv";

import { nativeEvents } from "../../tests/native.mjs";
import { EXAMPLES, RESULT, ROOT, USE, copy, execute, install, project } from "./support.mjs";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
const IMPORT = 'import * as taintlab from "taintlab";\n';
const SHOW = "document.title = result;\n";
const HTML = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">';

let folder;
let browser;
let server;
let url;
before(async () => {
  assert.ok(process.env.CHROMIUM, "CHROMIUM is not set: run `cargo xtask test`");
  folder = await install();
  server = createServer(sirv(folder, { dev: true, dotfiles: true }));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** Opens a page and waits for the result in its title. */
const open = (path) => openAt(url + path);

async function openAt(address) {
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  try {
    await page.goto(address);
    await page.waitForFunction(() => document.title !== "", undefined, { timeout: 20_000 });
    assert.equal(await page.title(), RESULT);
    assert.deepEqual(problems, []);
  } catch (error) {
    throw new Error(`${error.message}\n${problems.join("\n")}`);
  } finally {
    await page.close();
  }
}

test("a bare page", async () => {
  const script = `import * as taintlab from "/node_modules/taintlab/dist/web.js";\n${USE}${SHOW}`;
  project(folder, "bare", { "index.html": `${HTML}<script type="module">${script}</script>` });
  await open("bare/index.html");
});

test("a web worker", async () => {
  const module = "/node_modules/taintlab/dist/web.js";
  project(folder, "worker", {
    "worker.js": `import * as taintlab from "${module}";\n${USE}postMessage(result);\n`,
    "index.html": `${HTML}<script type="module">
new Worker("worker.js", { type: "module" }).onmessage = ({ data }) => { document.title = data; };
</script>`,
  });
  await open("worker/index.html");
});

test("Vite", async () => {
  const { build } = await import("vite");
  const at = project(folder, "vite", {
    "index.html": `${HTML}<script type="module" src="/main.js"></script>`,
    "main.js": IMPORT + USE + SHOW,
  });
  await build({ root: at, base: "./", logLevel: "error", configFile: false });
  await open("vite/dist/index.html");
});

test("webpack", async () => {
  const webpack = createRequire(import.meta.url)("webpack");
  const at = project(folder, "webpack", { "main.js": IMPORT + USE + SHOW });
  const stats = await promisify(webpack)({
    mode: "production",
    context: at,
    entry: "./main.js",
    output: { path: join(at, "dist"), filename: "main.js" },
  });
  assert.deepEqual(stats.toJson({ errors: true }).errors, []);
  project(folder, "webpack", { "dist/index.html": `${HTML}<script src="main.js"></script>` });
  await open("webpack/dist/index.html");
  assert.ok(existsSync(join(at, "dist")));
});

test("Vite, while developing", async () => {
  const { createServer: serve } = await import("vite");
  const at = project(folder, "vite-dev", {
    "index.html": `${HTML}<script type="module" src="/main.js"></script>`,
    "main.js": IMPORT + USE + SHOW,
  });
  const options = { port: 0, host: "127.0.0.1", hmr: false };
  const vite = await serve({ root: at, logLevel: "error", configFile: false, server: options });
  try {
    await vite.listen();
    await openAt(`http://127.0.0.1:${vite.httpServer.address().port}/`);
  } finally {
    await vite.close();
  }
});

for (const [title, script, ...args] of [
  ["a module", '<script type="module" src="out.js"></script>', "--format=esm"],
  ["a classic script", '<script src="out.js"></script>', "--format=iife"],
]) {
  test(`esbuild, ${title}`, async () => {
    const name = title.replaceAll(" ", "-");
    const at = project(folder, name, {
      "main.js": IMPORT + USE + SHOW,
      "index.html": HTML + script,
    });
    const all = ["main.js", "--bundle", "--outfile=out.js", "--log-level=warning", ...args];
    const { stderr } = await execute(join(ROOT, "node_modules/.bin/esbuild"), all, { cwd: at });
    assert.equal(stderr, "");
    await open(`${name}/index.html`);
  });
}

test("a Content-Security-Policy needs 'wasm-unsafe-eval', and it is said where it is missing", async () => {
  const page = (policy) =>
    `<!doctype html><meta http-equiv="Content-Security-Policy" content="script-src 'self' ${policy}">` +
    '<script type="module" src="main.js"></script>';
  const main = `try {
  const taintlab = await import("/node_modules/taintlab/dist/web.js");
  ${USE}${SHOW}
} catch (error) {
  document.title = error.message;
}`;
  project(folder, "csp", {
    "main.js": main,
    "with.html": page("'wasm-unsafe-eval'"),
    "without.html": page(""),
  });
  const titleOf = async (path) => {
    const tab = await browser.newPage();
    await tab.goto(url + path);
    await tab.waitForFunction(() => document.title !== "", undefined, { timeout: 20_000 });
    const title = await tab.title();
    await tab.close();
    return title;
  };
  assert.equal(await titleOf("csp/with.html"), RESULT);
  assert.match(await titleOf("csp/without.html"), /cannot be loaded: .*'wasm-unsafe-eval'/s);
});

test("a wasm that a bundler left out is said, and what to import instead", async () => {
  const at = project(folder, "left-out", {
    "index.html": `${HTML}<script type="module">
try { await import("./out/web.js"); } catch (error) { document.title = error.message; }
</script>`,
  });
  for (const file of ["web.js", "glue.js"]) {
    copy(join(folder, "node_modules/taintlab/dist", file), join(at, "out", file));
  }
  const tab = await browser.newPage();
  await tab.goto(`${url}left-out/index.html`);
  await tab.waitForFunction(() => document.title !== "", undefined, { timeout: 20_000 });
  assert.match(
    await tab.title(),
    /taintlab: .*taintlab_bg\.wasm cannot be loaded: .*"taintlab\/inline"/,
  );
  await tab.close();
});

test("events are the same bytes natively, in Node and in Chromium", async () => {
  const taintlab = createRequire(join(folder, "main.cjs"))("taintlab");
  const page = await browser.newPage();
  await page.goto(`${url}bare/index.html`);
  await page.evaluate(async (module) => {
    globalThis.taintlab = await import(module);
  }, `${url}node_modules/taintlab/dist/web.js`);
  /** Runs here and there. */
  const eventsOf = (text) => {
    const { simulator } = globalThis.taintlab.Simulator.fromScenario(text);
    simulator.runToEnd();
    const events = [];
    for (;;) {
      const batch = simulator.events();
      if (batch.length === 0) break;
      events.push(...batch);
    }
    simulator.free();
    return JSON.stringify(events);
  };
  globalThis.taintlab = taintlab;
  for (const file of EXAMPLES) {
    const name = file.split("/").at(-1).replace(".yaml", "");
    const text = readFileSync(file, "utf8");
    const here = eventsOf(text);
    const there = await page.evaluate(eventsOf, text);
    assert.ok(here === there, `${name}: Node and Chromium differ`);
    const natively = JSON.stringify(JSON.parse(nativeEvents(name)));
    assert.ok(here === natively, `${name}: Node differs from what the engine says natively`);
  }
  await page.close();
});
