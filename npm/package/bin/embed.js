// `taintlab embed`: a scenario as a demo for somebody's page.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import * as taintlab from "../dist/node.js";
import { filesOf, given, parse, release } from "./arguments.js";
import { bold } from "./colours.js";
import { EXIT, Stop, ok, systemText, usage } from "./problems.js";
import { pack } from "../site/pack.js";
import { filesBeside, named, readText } from "./reading.js";

const OPTIONS = {
  fence: { type: "string", default: "" },
  only: { type: "string" },
  base: { type: "string", default: "embed/" },
  playground: { type: "string", default: "" },
  release: { type: "string" },
  out: { type: "string" },
};

const FORMS = ["fence", "html", "iframe", "link", "json"];

export async function embed(args, help) {
  const { values, positionals } = parse(OPTIONS, args);
  if (values.help) return help();
  const files = filesOf(positionals, "embed");
  const { only, out } = values;
  if (only !== undefined && !FORMS.includes(only)) {
    throw usage(`--only: expected ${FORMS.join(", ")}, found \`${only}\``);
  }
  if (files.length > 1 && out === undefined) {
    throw usage("embed: several files need --out, the folder into which their recordings go");
  }
  const options = release(values.release);
  for (const file of files) {
    const demo = await demoOf(file, values, options);
    if (out !== undefined) save(out, demo);
    else if (only !== undefined) console.log(demo[only]);
    else print(demo);
  }
  return EXIT.ok;
}

async function demoOf(from, { fence, base, playground }, settings) {
  const text = await readText(from);
  const options = { file: named(from), files: await filesBeside(from, text), ...settings };
  const words = { fence, base, playground };
  const made = given("--fence", () => taintlab.makeDemo(text, options, words, pack));
  const { html, recording, embed } = ok(made);
  return {
    ...embed,
    name: recording.name,
    html: `${html}\n${embed.head}`,
    bare: html,
    json: JSON.stringify(recording),
  };
}

function print({ fence, html, iframe, link }) {
  const parts = [
    ["A fence, for mdBook, Docusaurus, Astro, VitePress, Hugo and MkDocs", fence],
    ["HTML, which needs no JavaScript to be read", html],
    ["An iframe, for places that take no script", iframe],
    ["A link", link],
  ];
  console.log(parts.map(([title, text]) => `${bold(title)}\n\n${text}\n`).join("\n"));
}

/** The recording and the HTML, for sites that are built without Node. */
function save(folder, { name, json, bare }) {
  if (!name)
    throw new Stop("error: the scenario has no metadata.name, which names the files", EXIT.failed);
  try {
    writeFileSync(join(folder, `${name}.json`), json);
    writeFileSync(join(folder, `${name}.html`), `${bare}\n`);
  } catch (error) {
    throw new Stop(`${folder}: error: ${systemText(error)}`, EXIT.failed);
  }
}
