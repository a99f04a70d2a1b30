// Chromium: without a bundler, in a worker, and what bundlers make of the package.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
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
const open = (path, options) => openAt(url + path, options);

/**
 * How many workers it had at once is the answer. What is wrong in it is an error, but for what
 * `expected` matches.
 */
async function openAt(address, { result = RESULT, expected } = {}) {
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !expected?.test(text)) problems.push(text);
  });
  let workers = 0;
  page.on("worker", () => (workers = Math.max(workers, page.workers().length)));
  try {
    await page.goto(address);
    await page.waitForFunction(() => document.title !== "", undefined, { timeout: 20_000 });
    assert.equal(await page.title(), result);
    assert.deepEqual(problems, []);
    return workers;
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
  const at = project(folder, "vite", { "index.html": PAGE, "main.js": IMPORT + USE + SHOW });
  await vite(at);
  await open("vite/dist/index.html");
});

test("webpack", async () => {
  const at = project(folder, "webpack", { "main.js": IMPORT + USE + SHOW });
  await packed(at);
  project(folder, "webpack", { "dist/index.html": `${HTML}<script src="main.js"></script>` });
  await open("webpack/dist/index.html");
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

/** The import of the README as it stands there. */
const [REPORT] = /^import .* from "taintlab\/report";$/m.exec(
  readFileSync(join(ROOT, "npm/package/README.md"), "utf8"),
);
const node = (name) => `{apiVersion: v1, kind: Node, metadata: {name: ${name}}}\n---\n`;
const YAML = `${node("a")}${node("b")}{apiVersion: v1, kind: Pod, metadata: {name: web},
 spec: {nodeName: a}}`;
/** Makes a report, and asks for one that is refused. */
const reporting = (options = "") => `${REPORT}
const yaml = ${JSON.stringify(YAML)};
const refused = (error) => String(error);
Promise.all([
  report(yaml, { remedies: 0, ${options} }),
  report(yaml, { pairs: ["nodes"], ${options} }).then(String, refused),
]).then(
  ([answer, why]) => {
    const said = why.startsWith("TypeError: report.pairs[0]: ") ? "refused" : why;
    document.title = answer.ok ? \`\${answer.runsMade} runs, \${said}\` : JSON.stringify(answer);
  },
  (error) => (document.title = refused(error)),
);
`;
const REPORTED = { result: "2 runs, refused" };
const PAGE = `${HTML}<script type="module" src="/main.js"></script>`;

const vite = async (at, mode = {}) => {
  const { build } = await import("vite");
  await build({ root: at, base: "./", logLevel: "error", configFile: false, ...mode });
};
const packed = async (at) => {
  const webpack = createRequire(import.meta.url)("webpack");
  const stats = await promisify(webpack)({
    mode: "production",
    context: at,
    entry: "./main.js",
    output: { path: join(at, "dist"), filename: "main.js" },
  });
  const { errors, warnings } = stats.toJson({ errors: true, warnings: true });
  assert.deepEqual(errors, []);
  return warnings;
};
const bundled = async (at, ...args) => {
  const all = [...args, "--bundle", "--log-level=warning"];
  return execute(join(ROOT, "node_modules/.bin/esbuild"), all, { cwd: at });
};

test("a report, built by Vite as it comes, is made in workers", async () => {
  const at = project(folder, "report-vite", { "index.html": PAGE, "main.js": reporting() });
  await vite(at);
  assert.ok((await open("report-vite/dist/index.html", REPORTED)) > 0);
});

test("a report, served by Vite while developing", async () => {
  const { createServer: serve } = await import("vite");
  const at = project(folder, "report-dev", { "index.html": PAGE, "main.js": reporting() });
  const options = { port: 0, host: "127.0.0.1", hmr: false };
  const dev = await serve({ root: at, logLevel: "error", configFile: false, server: options });
  try {
    await dev.listen();
    await openAt(`http://127.0.0.1:${dev.httpServer.address().port}/`, REPORTED);
  } finally {
    await dev.close();
  }
});

test("a report, built by webpack as it comes, is made in workers", async () => {
  const at = project(folder, "report-webpack", { "main.js": reporting() });
  await packed(at);
  const page = `${HTML}<script src="main.js"></script>`;
  project(folder, "report-webpack", { "dist/index.html": page });
  assert.ok((await open("report-webpack/dist/index.html", REPORTED)) > 0);
});

for (const [format, script] of [
  ["esm", '<script type="module" src="out.js"></script>'],
  ["iife", '<script src="out.js"></script>'],
]) {
  test(`a report, built by esbuild (${format}), is made in the thread of the page`, async () => {
    const name = `report-${format}`;
    const files = { "main.js": reporting(), "index.html": HTML + script };
    const at = project(folder, name, files);
    const { code, stderr } = await bundled(at, "main.js", "--outfile=out.js", `--format=${format}`);
    assert.equal(code, 0, stderr);
    // It bundles no workers: that of the report is not where it is looked for.
    await open(`${name}/index.html`, { ...REPORTED, expected: /404/ });
  });
}

test("a report without a bundler, with a worker that is silent, and with none", async () => {
  const base = "/node_modules/taintlab";
  const imports = {
    taintlab: `${base}/dist/web.js`,
    "taintlab/report": `${base}/report/index.js`,
    "#report-host": `${base}/report/host.js`,
  };
  const map = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
  const page = `${map}<script type="module" src="main.js"></script>`;
  // A worker that never says anything, in a page whose clock is a thousand times as fast.
  const silent = `<script>
    globalThis.Worker = class { postMessage() {} terminate() {} };
    const wait = setTimeout;
    globalThis.setTimeout = (act, time) => wait(act, time / 1000);
  </script>`;
  const policy = "worker-src 'none'";
  project(folder, "report-bare", {
    "main.js": reporting(),
    "index.html": HTML + page,
    "silent.html": HTML + silent + page,
    "policy.html": `${HTML}<meta http-equiv="Content-Security-Policy" content="${policy}">${page}`,
  });
  assert.ok((await open("report-bare/index.html", REPORTED)) > 0);
  assert.equal(await open("report-bare/silent.html", REPORTED), 0);
  const expected = /Content Security Policy/;
  assert.equal(await open("report-bare/policy.html", { ...REPORTED, expected }), 0);
});

/** A page with a worker of its own, which asks the engine. */
const OWN = `new Worker(new URL("./own.js", import.meta.url), { type: "module" }).onmessage =
  ({ data }) => { document.title = data; };
`;
const inWorker = (entry) => `import * as taintlab from "${entry}";\n${USE}postMessage(result);\n`;

test("workers of one's own import the engine, as the README says", async () => {
  const files = (entry) => ({ "index.html": PAGE, "main.js": OWN, "own.js": inWorker(entry) });
  // Vite writes workers as scripts unless told otherwise, and those have no top-level await.
  await vite(project(folder, "own-inline", files("taintlab/inline")));
  await open("own-inline/dist/index.html");
  await vite(project(folder, "own-es", files("taintlab")), { worker: { format: "es" } });
  await open("own-es/dist/index.html");
  await packed(project(folder, "own-webpack", files("taintlab")));
  const page = `${HTML}<script src="main.js"></script>`;
  project(folder, "own-webpack", { "dist/index.html": page });
  await open("own-webpack/dist/index.html");
  const at = project(folder, "own-esbuild", files("taintlab"));
  const built = await bundled(at, "main.js", "own.js", "--outdir=out", "--format=esm");
  assert.equal(built.code, 0, built.stderr);
  const script = `${HTML}<script type="module" src="main.js"></script>`;
  project(folder, "own-esbuild", { "out/index.html": script });
  await open("own-esbuild/out/index.html");
});

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
