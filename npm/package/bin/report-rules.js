// The rules of `--fail-if`: what a report must not say.

import { usage } from "./problems.js";
import * as taintlab from "../dist/node.js";

const NEVER = Infinity;

/** What can be asked of a workload in a failure: a duration in milliseconds, or a number. */
const METRICS = {
  zeroReady: { of: ({ atZero }) => atZero, isTime: true },
  below: { of: ({ below }) => below, isTime: true },
  longestGap: { of: ({ longestGap }) => longestGap, isTime: true },
  wholeAgain: { of: ({ wholeAgain, below }) => (below ? (wholeAgain ?? NEVER) : 0), isTime: true },
  leastReady: { of: ({ leastReady }) => leastReady },
  evicted: { of: ({ evicted }) => evicted },
  pending: { of: ({ pending = [] }) => pending.reduce((sum, { pods }) => sum + pods, 0) },
  stuck: { of: ({ stuck }) => stuck },
  lost: { of: ({ lost }) => lost },
  budgetsNotAsked: { of: ({ budgetsNotAsked }) => budgetsNotAsked },
};

const COMPARE = {
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  "=": (a, b) => a === b,
};

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A duration such as `1m30s` in milliseconds. */
function millisOf(text) {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, value, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g)) {
    sum += Number(value) * UNITS[unit];
  }
  return sum;
}

/** Reads `deployment/shop/web: zeroReady > 60s`; without a workload it is about all of them. */
export function ruleOf(text) {
  const parts = /^(?:([^:\s]+):\s*)?(\w+)\s*(>=|<=|>|<|=)\s*(\S+)$/.exec(text.trim());
  const example = "write `deployment/shop/web: zeroReady > 60s`";
  if (!parts) throw usage(`--fail-if: \`${text}\` is no rule; ${example}`);
  const [, subject = "*", metric, operator, value] = parts;
  if (metric !== "score" && !Object.hasOwn(METRICS, metric)) {
    const known = [...Object.keys(METRICS), "score"].join(", ");
    throw usage(`--fail-if: there is no figure \`${metric}\`; there are ${known}`);
  }
  const isTime = metric !== "score" && METRICS[metric].isTime;
  const limit = isTime ? millisOf(value) : /^\d+$/.test(value) ? Number(value) : undefined;
  if (limit === undefined) {
    const wanted = isTime ? "a duration such as 60s" : "a whole number";
    throw usage(`--fail-if: ${metric}: expected ${wanted}, found \`${value}\``);
  }
  const pattern = subject.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const matches = new RegExp(`^${pattern.join(".*")}$`);
  return { text: text.trim(), matches, metric, operator, limit, isTime };
}

/** Where a report breaks a rule: the subject, and what is so. */
export function broken({ text, matches, metric, operator, limit, isTime }, report) {
  const { domains, subjects } = report.outline;
  if (!subjects.some((subject) => matches.test(subject))) {
    // A rule about nothing would never fail.
    return [{ rule: text, text: `${text}: there is no such workload` }];
  }
  const said = (value) =>
    value === NEVER ? "never" : isTime ? taintlab.durationText(value) : String(value);
  if (metric === "score") {
    const bad = report.workloads.filter(
      ({ subject, score = 0 }) => matches.test(subject) && COMPARE[operator](score, limit),
    );
    return bad.map(({ subject, score }) => ({
      rule: text,
      subject,
      text: `${text}: the score of ${subject} is ${score ?? "missing"}`,
    }));
  }
  const bad = report.cells.filter(
    (cell) =>
      !domains[cell.domain].wholeCluster &&
      matches.test(cell.subject) &&
      COMPARE[operator](METRICS[metric].of(cell), limit),
  );
  return bad.map((cell) => {
    const { kind, name } = domains[cell.domain];
    const value = said(METRICS[metric].of(cell));
    const where = `${words(kind)} ${name} ${faultText(cell.fault)}`;
    return {
      rule: text,
      subject: cell.subject,
      text: `${text}: ${cell.subject}: ${value} (${where})`,
    };
  });
}

/** A fault in words. */
export function faultText({ type, backAfter, taint }) {
  if (type === "powerOff") return `power off for ${backAfter}`;
  if (type === "tainted") {
    return `tainted ${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`;
  }
  if (type === "devicesTainted") return "tainted by its driver";
  return words(type);
}

const words = (name) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
