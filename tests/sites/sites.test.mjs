// The recipes of the book for other generators of sites: each is taken from the chapter as it
// stands there, a small site is built with it, opened in Chromium, and its demo is played.
//
// Environment: TAINTLAB_SITES, the folder in which `cargo xtask test embed` has installed the
// generators and the package; CHROMIUM, a browser; HUGO, which comes from the system.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { chromium } from "playwright-core";
import sirv from "sirv";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SITES = process.env.TAINTLAB_SITES;
const CHAPTER = readFileSync(join(ROOT, "docs/book/src/how-to/embed-a-demo.md"), "utf8");
const FENCE =
  "```taintlab scenario=why-345-seconds start-at=40s knob=tolerationSeconds:0,300\n```\n";
const TEXT = `# A page\n\n${FENCE}\nAfter it.\n`;
const run = promisify(execFile);

let browser;
before(async () => {
  assert.ok(process.env.CHROMIUM && SITES, "run `cargo xtask test embed`");
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
});
after(() => browser?.close());

/** The code blocks of a recipe, by language. */
function recipe(heading) {
  const [, text] = CHAPTER.split(`### ${heading}\n`);
  assert.ok(text, `the chapter has no recipe for ${heading}`);
  const blocks = text.split(/^### /m)[0].matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return Array.from(blocks, ([, language, code]) => ({ language, code }));
}

/** A new folder with files, a folder of scenarios, and what the recipes say of the script. */
function site(name, files, embed) {
  const at = join(SITES, "sites", name);
  rmSync(at, { recursive: true, force: true });
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, file)), { recursive: true });
    writeFileSync(join(at, file), text);
  }
  cpSync(join(ROOT, "examples/why-345-seconds.yaml"), join(at, "scenarios/why-345-seconds.yaml"));
  const dist = join(SITES, "node_modules/taintlab/dist");
  for (const file of [
    "taint-lab.js",
    "taint-lab.css",
    "manual.js",
    "glue.js",
    "taintlab_bg.wasm",
  ]) {
    cpSync(join(dist, file), join(at, embed, file));
  }
  return at;
}

const build = (at, program, args) =>
  run(program, args, {
    cwd: at,
    timeout: 300_000,
    env: {
      ...process.env,
      ASTRO_TELEMETRY_DISABLED: "1",
      // No cache for a next build, and no question whether there is a newer version.
      DOCUSAURUS_NO_PERSISTENT_CACHE: "1",
      NO_UPDATE_NOTIFIER: "1",
      NO_COLOR: "1",
      CI: "1",
    },
  });
const tool = (name) => join(SITES, "node_modules/.bin", name);

/**
 * Opens a built site, goes to the page with the demo by the link `through` if there is one, plays
 * the demo, and edits it with the engine.
 */
async function play(folder, { begins = 40, through } = {}) {
  const server = createServer(sirv(folder, { dev: true }));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.route("**/favicon.ico", (route) => route.fulfill({ body: "" }));
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) problems.push(`asked another host: ${request.url()}`);
  });
  try {
    await page.goto(url);
    if (through) await page.getByRole("link", { name: through }).click();
    await page.waitForFunction(() => document.querySelector("taint-lab")?.recording);
    const played = await page.evaluate(async () => {
      const demo = document.querySelector("taint-lab");
      const begun = demo.currentTime;
      demo.setAttribute("speed", "5000");
      await new Promise((resolve) => {
        demo.addEventListener("ended", resolve);
        demo.play();
      });
      const ended = demo.currentTime;
      const figure = demo.querySelector("figure svg[role=img]") !== null;
      await demo.load(demo.recording.yaml.replace("at: 3s", "at: 4s"));
      return { begun, ended, figure, first: demo.recording.runs[0].events[1].at };
    });
    assert.deepEqual(played, { begun: begins, ended: 345.1, figure: true, first: 4000 });
    assert.ok(await page.getByText("After it.").isVisible());
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
    server.close();
  }
}

/** That a build fails, and says where. */
const fails = (building, what) =>
  assert.rejects(building, (error) => {
    assert.match(`${error.stdout}${error.stderr}${error.message}`, what);
    return true;
  });

// Two at a time: no generator uses two processors all the time.
describe("recipes", { concurrency: 2 }, () => {
  test("Docusaurus", async () => {
    const [{ code }] = recipe("Docusaurus");
    // What each site says of itself.
    const config = `import recipe from "./recipe.config.js";
  export default { title: "A site", url: "https://example.com", baseUrl: "/", ...recipe };
  `;
    const at = site(
      "docusaurus",
      {
        "recipe.config.js": code,
        "docusaurus.config.js": config,
        "package.json": '{"name":"docusaurus"}',
        "src/pages/index.md": "# A site\n\n[To the demo](/docs)\n",
        "docs/index.md": TEXT,
      },
      "static/embed",
    );
    await build(at, tool("docusaurus"), ["build", "--no-minify"]);
    await play(join(at, "build"), { through: "To the demo" });
  });

  test("Astro", async () => {
    const [{ code }] = recipe("Astro");
    const layout = `<html lang="en"><head><meta charset="utf-8"><title>A page</title>
  <link rel="stylesheet" href="/embed/taint-lab.css" />
  <script is:inline src="/embed/taint-lab.js" defer></script></head><body><slot /></body></html>`;
    const at = site(
      "astro",
      {
        "astro.config.mjs": code,
        "src/layouts/Page.astro": layout,
        "src/pages/index.md": `---\nlayout: ../layouts/Page.astro\n---\n${TEXT}`,
      },
      "public/embed",
    );
    await build(at, tool("astro"), ["build"]);
    await play(join(at, "dist"));
    writeFileSync(join(at, "src/pages/index.md"), "text\n\n```taintlab scenario=none\n```\n");
    await fails(build(at, tool("astro"), ["build"]), /taintlab: .*none\.yaml/);
  });

  test("VitePress", async () => {
    const [{ code }] = recipe("VitePress");
    const at = site(
      "vitepress",
      { ".vitepress/config.mjs": code, "index.md": TEXT, "package.json": '{"type":"module"}' },
      "public/embed",
    );
    await build(at, tool("vitepress"), ["build"]);
    await play(join(at, ".vitepress/dist"));
    writeFileSync(join(at, "index.md"), "text\n\n```taintlab scenario=none\n```\n");
    await fails(build(at, tool("vitepress"), ["build"]), /index\.md:3: taintlab: .*none\.yaml/);
  });

  test("Hugo", async () => {
    const [command, hook, script] = recipe("Hugo").map(({ code }) => code);
    const hugo = process.env.HUGO ?? "hugo";
    const words = 'taintlab {scenario="why-345-seconds"}';
    const [shell] = CHAPTER.match(/^npx taintlab embed scenarios\/.*$/m);
    const at = site(
      "hugo",
      {
        "hugo.toml": 'baseURL = "/"\ntitle = "A site"\ndisableKinds = ["taxonomy", "term"]\n',
        "content/_index.md": `---\ntitle: A page\n---\n${TEXT.replace(/taintlab .*/, words)}`,
        "layouts/_default/_markup/render-codeblock-taintlab.html": command,
        "layouts/_default/baseof.html": `<!doctype html><html lang="en"><head><meta charset="utf-8">
  <link rel="stylesheet" href="/embed/taint-lab.css"></head><body>{{ block "main" . }}{{ end }}
  ${hook}</body></html>`,
        "layouts/_default/list.html": '{{ define "main" }}{{ .Content }}{{ end }}',
      },
      "static/embed",
    );
    assert.equal(script, undefined);
    mkdirSync(join(at, "assets/demos"), { recursive: true });
    const files = readdirSync(join(at, "scenarios")).map((file) => `scenarios/${file}`);
    const args = shell
      .split(" ")
      .slice(2)
      .flatMap((word) => (word === "scenarios/*.yaml" ? files : word));
    await build(at, tool("taintlab"), [...args, "--fence", "start-at=40s"]);
    await build(at, hugo, ["--quiet"]);
    await play(join(at, "public"));
    writeFileSync(join(at, "content/_index.md"), '```taintlab {scenario="none"}\n```\n');
    await fails(build(at, hugo, []), /there is no scenario `none`/);
  });

  test("MkDocs Material", async () => {
    const [{ code: yaml }, { code: python }] = recipe("MkDocs Material");
    const scenario = readFileSync(join(ROOT, "examples/why-345-seconds.yaml"), "utf8");
    const at = site(
      "mkdocs",
      {
        "mkdocs.yml": `site_name: A site\ntheme: { name: material, font: false }\n${yaml}`,
        "taintlab_fence.py": python,
        "docs/index.md": `# A page\n\n\`\`\`taintlab\n${scenario}\`\`\`\n\nAfter it.\n`,
      },
      "docs/embed",
    );
    const mkdocs = join(SITES, "venv/bin/mkdocs");
    const env = {
      ...process.env,
      PATH: `${join(SITES, "node_modules/.bin")}:${process.env.PATH}`,
      PYTHONPATH: at,
    };
    await run(mkdocs, ["build", "--strict", "--quiet"], { cwd: at, env, timeout: 120_000 });
    await play(join(at, "site"), { begins: 0 });
  });
});
