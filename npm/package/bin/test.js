// `taintlab test`: scenarios and what they expect.

import * as taintlab from "../dist/node.js";
import { filesOf, parse, release } from "./arguments.js";
import { EXIT, Stop, usage, warn } from "./problems.js";
import { filesBeside, named, readText } from "./reading.js";
import { REPORTERS, checks } from "./reporters.js";

const OPTIONS = { reporter: { type: "string", default: "spec" }, release: { type: "string" } };

export async function test(args, help) {
  const { values, positionals } = parse(OPTIONS, args);
  if (values.help) return help();
  const files = filesOf(positionals, "test");
  const reporter = Object.hasOwn(REPORTERS, values.reporter) && REPORTERS[values.reporter];
  if (!reporter) {
    throw usage(`--reporter: expected spec, tap or junit, found \`${values.reporter}\``);
  }
  const options = release(values.release);
  const results = [];
  for (const file of files) results.push(await testOne(file, options));
  reporter(results);
  return results.flatMap(checks).some(({ failure }) => failure) ? EXIT.failed : EXIT.ok;
}

async function testOne(from, options) {
  const file = named(from);
  try {
    const text = await readText(from);
    const files = await filesBeside(from, text);
    const answer = taintlab.testScenario(text, { file, files, ...options });
    if (!answer.ok) return { file, title: "", outcomes: [], errors: answer.errors };
    warn(answer.warnings);
    return { file, title: answer.title, outcomes: answer.outcomes, errors: [] };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    const message = error.message.replace(`${file}: error: `, "");
    return { file, title: "", outcomes: [], errors: [{ file, message, path: "" }] };
  }
}
