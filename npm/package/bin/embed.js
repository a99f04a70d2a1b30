// `taintlab embed`: a scenario as a demo for somebody's page.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import * as taintlab from "../dist/node.js";
import { filesOf, given, parse, release } from "./arguments.js";
import { bold } from "./colours.js";
import { EXIT, Stop, ok, systemText, usage } from "./problems.js";
import { tell } from "./run.js";
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
    tell(demo.imported);
    if (out !== undefined) save(out, demo);
    else if (only !== undefined) printOne(demo, only, file);
    else print(demo, file);
  }
  return EXIT.ok;
}

async function demoOf(from, { fence, base, playground }, settings) {
  const text = await readText(from);
  const options = { file: named(from), files: await filesBeside(from, text), ...settings };
  const words = { fence, base, playground };
  const made = given("--fence", () => taintlab.makeDemo(text, options, words, pack));
  const { html, recording, embed, imported } = ok(made);
  return {
    ...embed,
    imported,
    name: recording.name,
    html: `${html}\n${embed.head}`,
    bare: html,
    json: JSON.stringify(recording),
  };
}

/** What to do in place of a link that is too long. */
const INSTEAD = "publish its files, as --out FOLDER writes them";

function printOne(demo, form, file) {
  const text = demo[form];
  if (text !== undefined) console.log(text);
  else throw new Stop(`${named(file)}: error: ${demo.tooLong}; ${INSTEAD}`, EXIT.failed);
}

function print({ fence, html, iframe, link, tooLong }, file) {
  const parts = [
    ["A fence, for mdBook, Docusaurus, Astro, VitePress, Hugo and MkDocs", fence],
    ["HTML, which needs no JavaScript to be read", html],
    ["An iframe, for places that take no script", iframe],
    ["A link", link],
  ];
  const there = parts.filter(([, text]) => text !== undefined);
  console.log(there.map(([title, text]) => `${bold(title)}\n\n${text}\n`).join("\n"));
  if (tooLong) console.error(`${named(file)}: ${tooLong}; ${INSTEAD}`);
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
