// `taintlab explain`: how tolerations answer taints.

import * as taintlab from "../dist/node.js";
import { given, json, parse, release } from "./arguments.js";
import { bold, dim, green } from "./colours.js";
import { CONNECTION, notReadLines, readPodAndNode } from "./cluster.js";
import { keyOf, notOnANode, podNamed } from "./pods.js";
import { EXIT, usage } from "./problems.js";
import { clock, simulated, simulatedLines, tell } from "./run.js";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** A toleration in the short form of the command line, or as JSON. */
function tolerationOf(text) {
  if (text.startsWith("{")) return json("--toleration", text);
  const [, body, seconds] = /^(.*?)(?:@(-?\d+))?$/s.exec(text);
  const time = seconds === undefined ? {} : { tolerationSeconds: Number(seconds) };
  const [pair, effect, more] = body.split(":");
  if (more !== undefined || body.includes("@")) {
    throw usage(`--toleration: expected key=value:effect@seconds, found \`${text}\``);
  }
  if (effect && !EFFECTS.includes(effect)) {
    throw usage(`--toleration: expected one of ${EFFECTS.join(", ")}, found \`${effect}\``);
  }
  const end = { ...(effect && { effect }), ...time };
  if (pair === "*") return { operator: "Exists", ...end };
  const at = pair.indexOf("=");
  if (at < 0) return { key: pair, operator: "Exists", ...end };
  return { key: pair.slice(0, at), operator: "Equal", value: pair.slice(at + 1), ...end };
}

const WHY = {
  effect: "another effect",
  key: "another key",
  value: "another value",
  unknownOperator: "an operator that Kubernetes does not know",
  comparisonOperatorsOff: "the operators Lt and Gt are off in this release",
  tolerationNotInteger: "its value is not a number",
  taintNotInteger: "the taint's value is not a number",
  notLess: "the taint's number is not less",
  notGreater: "the taint's number is not greater",
};

export const VERDICT = {
  noNoExecuteTaints: () => "a running pod stays: there is no NoExecute taint",
  toleratedForever: () => "a running pod stays: every NoExecute taint is tolerated forever",
  evictedAfter: ({ afterMilliseconds, tolerationIndex }) =>
    `a running pod is evicted after ${clock(afterMilliseconds)}: toleration ${tolerationIndex + 1} limits the time`,
  notTolerated: ({ taintIndex }) =>
    `a running pod is evicted at once: nothing tolerates taint ${taintIndex + 1}`,
  toleratedNotAtAll: ({ tolerationIndex }) =>
    `a running pod is evicted at once: toleration ${tolerationIndex + 1} tolerates for no time`,
};

const tolerationText = ({
  key = "",
  operator = "Equal",
  value = "",
  effect = "",
  tolerationSeconds,
}) =>
  `${key || "every key"} ${operator}${value ? ` ${value}` : ""}, ${effect || "every effect"}` +
  (tolerationSeconds === undefined ? "" : `, ${tolerationSeconds} s`);

/** A taint as `kubectl taint` reads it. */
export function taintOf(text) {
  const answer = taintlab.parseTaint(text);
  if (!answer.ok) throw usage(`--taint: ${answer.errors[0].message}`);
  if (answer.remove) throw usage(`--taint: \`${text}\` removes a taint; leave out the \`-\``);
  return answer.taint;
}

const OPTIONS = {
  taint: { type: "string", multiple: true, default: [] },
  toleration: { type: "string", multiple: true, default: [] },
  release: { type: "string" },
  json: { type: "boolean", default: false },
};

export function explain(args, help) {
  const { values, positionals } = parse(OPTIONS, args);
  if (values.help) return help();
  if (positionals.length > 0) throw usage(`explain: it reads no file, found \`${positionals[0]}\``);
  if (values.taint.length === 0) throw usage("explain: which --taint?");
  const options = release(values.release);
  const taints = values.taint.map(taintOf);
  const tolerations = values.toleration.map((text) => {
    const toleration = tolerationOf(text);
    // Each by itself, so that a mistake is said of the right one.
    given(`--toleration ${text}`, () => taintlab.matchTolerations([], [toleration], options));
    return toleration;
  });
  return print(taintlab.matchTolerations(taints, tolerations, options), values);
}

const POD_OPTIONS = {
  ...CONNECTION,
  node: { type: "string" },
  taint: { type: "string", multiple: true, default: [] },
  release: { type: "string" },
  json: { type: "boolean", default: false },
};

/** `kubectl taintlab explain`: how the tolerations of a pod answer the taints of its node. */
export async function explainPod(args, help) {
  const { values, positionals } = parse(POD_OPTIONS, args);
  if (values.help) return help();
  const wanted = podNamed("explain", positionals, values.namespace);
  const added = values.taint.map(taintOf);
  release(values.release);
  const read = await readPodAndNode(wanted, values, added.length > 0);
  const { pod, objects, notRead } = read;
  const name = values.node ?? pod.spec?.nodeName;
  if (name === undefined) throw notOnANode(pod);
  tell(read, values.release);
  const [node] = objects;
  const taints = [...(node?.spec?.taints ?? []), ...added];
  const options = release(read.release);
  const answer = taintlab.matchTolerations(taints, pod.spec.tolerations ?? [], options);
  const known = simulated(read, values.release);
  const said = { pod: keyOf(pod), node: name, ...known, ...(notRead.length > 0 && { notRead }) };
  if (values.json) return print({ ...said, ...answer }, values);
  const alone = node === undefined ? ", whose taints are not known but for those of --taint" : "";
  console.log(`${keyOf(pod)} on ${name}${alone}`);
  print(answer, values);
  for (const line of simulatedLines(read, values.release)) console.log(dim(line));
  for (const line of notReadLines(notRead)) console.log(dim(line));
  return EXIT.ok;
}

function print(answer, { json: asJson }) {
  if (asJson) {
    console.log(JSON.stringify(answer, undefined, 2));
    return EXIT.ok;
  }
  answer.taints.forEach(({ taint, consequence, outcomes }, index) => {
    const value = taint.value ? `=${taint.value}` : "";
    console.log(
      bold(`taint ${index + 1}: ${taint.key}${value}:${taint.effect}: ${words(consequence)}`),
    );
    outcomes.forEach((outcome, position) => {
      const text = tolerationText(answer.tolerations[position]);
      console.log(`  toleration ${position + 1} (${text}): ${outcomeText(outcome)}`);
    });
  });
  console.log(VERDICT[answer.verdict.type](answer.verdict));
  return EXIT.ok;
}

const words = (name) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function outcomeText(outcome) {
  if (outcome.type === "used") return green("tolerates it");
  if (outcome.type === "shadowed") {
    return `tolerates it, but toleration ${outcome.tolerationIndex + 1} comes first`;
  }
  return `does not: ${WHY[outcome.test]}`;
}
