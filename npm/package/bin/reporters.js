// How the results of tests are written.

import { bold, green, red } from "./colours.js";
import { problemText } from "./problems.js";

export const REPORTERS = {
  spec(results) {
    for (const { file, title, outcomes, errors } of results) {
      console.log(bold(`${file}${title ? `: ${title}` : ""}`));
      for (const error of errors) console.log(`  ${red("✗")} ${problemText(error)}`);
      for (const { expectation, passed, failure } of outcomes) {
        console.log(`  ${passed ? green("✓") : red("✗")} ${expectation}`);
        if (failure) console.log(`    ${problemText(failure)}`);
      }
    }
    const all = results.flatMap(checks);
    const bad = all.filter(({ failure }) => failure).length;
    console.log(`${all.length - bad} passed, ${bad} failed`);
  },
  tap(results) {
    const all = results.flatMap((result) =>
      checks(result).map((check) => ({ ...result, ...check })),
    );
    console.log("TAP version 14");
    console.log(`1..${all.length}`);
    all.forEach(({ file, name, failure }, index) => {
      const title = `${file}: ${name}`.replaceAll("\\", "\\\\").replaceAll("#", "\\#");
      console.log(`${failure ? "not ok" : "ok"} ${index + 1} - ${title}`);
      if (failure) {
        const { message, line, column } = failure;
        console.log(
          `  ---\n  message: ${JSON.stringify(message)}\n  at: ${JSON.stringify(`${file}:${line ?? 1}:${column ?? 1}`)}\n  ...`,
        );
      }
    });
  },
  junit(results) {
    const xml = (text) =>
      text.replace(
        /[<>&"]/g,
        (c) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" })[c],
      );
    console.log('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>');
    for (const result of results) {
      const all = checks(result);
      const bad = all.filter(({ failure }) => failure).length;
      console.log(
        `  <testsuite name="${xml(result.file)}" tests="${all.length}" failures="${bad}">`,
      );
      for (const { name, failure } of all) {
        const open = `    <testcase classname="${xml(result.file)}" name="${xml(name)}"`;
        if (!failure) console.log(`${open}/>`);
        else {
          const text = problemText(failure);
          console.log(
            `${open}><failure message="${xml(failure.message)}">${xml(text)}</failure></testcase>`,
          );
        }
      }
      console.log("  </testsuite>");
    }
    console.log("</testsuites>");
  },
};

/** What was checked of a file: its expectations, or that it can be run. */
export function checks({ outcomes, errors }) {
  const wrong = errors.map((error) => ({ name: "the scenario can be run", failure: error }));
  return [
    ...wrong,
    ...outcomes.map(({ expectation, failure }) => ({ name: expectation, failure })),
  ];
}
