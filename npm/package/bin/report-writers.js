// A report for people: a table, Markdown, JUnit, and a page.

import { clock } from "./run.js";
import { faultText } from "./report-rules.js";

/** How many workloads and findings a table shows; JSON has all. */
const MOST = 20;

const nameOf = ({ outline }, { domain, fault }) => {
  const { kind, name } = outline.domains[domain];
  return `${kind} ${name} ${faultText(fault)}`;
};

const cellOf = (report, { subject, domain, fault }) => {
  const same = JSON.stringify(fault);
  return report.cells.find(
    (cell) =>
      cell.domain === domain && cell.subject === subject && JSON.stringify(cell.fault) === same,
  );
};

const again = ({ below, wholeAgain }) =>
  below === 0 ? "-" : wholeAgain === undefined ? "never" : clock(wholeAgain);

const spreadText = ({ min, median, p95, max }) =>
  min === max ? clock(max) : `${clock(min)} / ${clock(median)} / ${clock(p95)}`;

const HEAD = ["SCORE", "WORKLOAD", "WORST FAILURE", "READY", "BELOW", "AT ZERO", "WHOLE AGAIN"];

function rowsOf(report) {
  return report.workloads.slice(0, MOST).map((row) => {
    const { subject, score } = row;
    if (row.domain === undefined) return [String(score ?? "-"), subject, "none", "", "", "", ""];
    const cell = cellOf(report, row);
    return [
      String(score ?? "-"),
      subject,
      nameOf(report, row),
      `${cell.leastReady}/${cell.wanted}`,
      spreadText(cell.belowSpread),
      spreadText(cell.atZeroSpread),
      again(cell),
    ];
  });
}

const summaryOf = (report) => {
  const { outline, runsMade, runsPlanned } = report;
  const runs = runsMade === runsPlanned ? `${runsMade} runs` : `${runsMade} of ${runsPlanned} runs`;
  return (
    `${outline.nodes} nodes, ${outline.pods} pods, Kubernetes ${outline.release}: ` +
    `${outline.domains.length} failure domains, ${runs}, ` +
    `each watched for ${outline.options.horizon}`
  );
};

/** The score, or why there is none. */
const titleOf = ({ score, missing }) =>
  score ? `Score ${score.score} of 100` : `No score: ${missing.join("; ")}`;

const rest = (all, what) =>
  all.length > MOST ? `and ${all.length - MOST} more ${what}: see --json\n` : "";

const effectText = (finding, { what, harm, figures, drain, overAll }) => {
  const all = overAllText(overAll);
  if (!finding.subject) {
    return drain?.ended === undefined ? `${what}: no help` : `${what}: it ends${all}`;
  }
  const less = finding.harm - harm;
  if (less <= 0) return `${what}: ${less < 0 ? "worse" : "no help"}`;
  const least = figures ? `${figures.leastReady}/${figures.wanted} ready at least, ` : "";
  const whole = figures ? `whole again: ${again(figures)}` : "not reached";
  return `${what}: ${least}${whole}, ${clock(less)} less harm${all}`;
};

/** What a change does to all workloads, as far as it was tried. */
const overAllText = ({ tried, failures, before, after, madeWorse }) => {
  const change = Math.abs(before - after);
  const sum = change === 0 ? "no change" : `${clock(change)} ${after < before ? "less" : "more"}`;
  const worse = madeWorse > 0 ? `, ${madeWorse} made worse` : "";
  return `; all workloads, ${tried} of ${failures} failures tried: ${sum}${worse}`;
};

/** The table of outages that end by themselves: how many evictions were unnecessary. */
function falseAlarms({ falseAlarms: all = [] }) {
  const outages = [...new Set(all.map(({ outage }) => outage))];
  const seconds = [...new Set(all.map((alarm) => alarm.seconds))];
  const rows = seconds.map((tried) => [
    tried === undefined ? "as it is" : `${tried} s`,
    ...outages.map((outage) => {
      const found = all.find((alarm) => alarm.seconds === tried && alarm.outage === outage);
      return found === undefined ? "" : String(found.evicted);
    }),
  ]);
  return { head: ["tolerationSeconds", ...outages.map((outage) => clock(outage))], rows };
}

/** The report in a terminal. */
export function terminal(report, { bold, dim }) {
  const rows = rowsOf(report);
  const widths = HEAD.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column].length)),
  );
  const line = (cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]))
      .join("   ")
      .trimEnd();
  let text = `${report.heading}\n`;
  if (report.verdict) text += `${report.verdict}\n`;
  text += `${bold(titleOf(report))}  ${dim(report.score?.arithmetic ?? "")}`.trimEnd() + "\n";
  const notes = report.notes.map((line) => `${dim(line)}\n`);
  text += `${summaryOf(report)}\n${notes.join("")}\n${bold(line(HEAD))}\n`;
  text += rows.map((row) => `${line(row)}\n`).join("") + rest(report.workloads, "workloads");
  if (report.findings.length > 0) text += `\n${bold("What hurts most, and what would help")}\n`;
  report.findings.slice(0, MOST).forEach((finding, index) => {
    text += `${index + 1}. ${finding.what}\n   ${finding.why}\n`;
    for (const effect of finding.effects ?? []) text += `   - ${effectText(finding, effect)}\n`;
    const { head, rows: alarms } = falseAlarms(finding);
    if (alarms.length > 0) {
      text += `   unnecessary evictions, by outage (${head.slice(1).join(", ")}):\n`;
      for (const [name, ...counts] of alarms) text += `     ${name}: ${counts.join(", ")}\n`;
    }
  });
  return text + rest(report.findings, "findings");
}

const escaped = (text) =>
  String(text).replace(
    /[<>&"]/g,
    (c) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" })[c],
  );

const table = (head, rows) => {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
};

/** The report for a pull request. */
export function markdown(report) {
  let text = `## ${titleOf(report)}\n\n${report.heading}\n\n`;
  if (report.verdict) text += `${report.verdict}\n\n`;
  text += `${summaryOf(report)}\n\n${report.notes.map((line) => `- ${line}\n`).join("")}\n`;
  const head = HEAD.map((title) => title[0] + title.slice(1).toLowerCase());
  text += table(head, rowsOf(report)) + rest(report.workloads, "workloads");
  if (report.findings.length > 0) text += "\n### What hurts most, and what would help\n";
  report.findings.slice(0, MOST).forEach((finding, index) => {
    text += `\n${index + 1}. **${finding.what}**: ${finding.why}\n`;
    for (const effect of finding.effects ?? []) {
      text += `\n   <details><summary>${escaped(effectText(finding, effect))}</summary>\n\n`;
      const yaml = effect.yaml.trimEnd().replaceAll("\n", "\n   ");
      text += `   \`\`\`yaml\n   ${yaml}\n   \`\`\`\n   </details>\n`;
    }
    const { head: outages, rows } = falseAlarms(finding);
    if (rows.length > 0) {
      const lines = table(outages, rows).trimEnd().replaceAll("\n", "\n   ");
      text += `\n   Unnecessary evictions, by the length of the outage:\n\n   ${lines}\n`;
    }
  });
  return text + rest(report.findings, "findings");
}

/** The report for CI: a case for each workload, which fails if it breaks a rule. */
export function junit(report, rules, failures) {
  const general = failures.filter(({ subject }) => subject === undefined);
  const cases = [
    ...report.workloads.map(({ subject, score, arithmetic }) => ({
      name: subject,
      out: `${score === undefined ? "no score" : `score ${score}`}: ${arithmetic}`,
      bad: failures.filter((failure) => failure.subject === subject),
    })),
    ...general.map((failure) => ({ name: failure.rule, out: "", bad: [failure] })),
  ];
  const bad = cases.filter((one) => one.bad.length > 0).length;
  let text = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n';
  text += `  <testsuite name="taintlab report" tests="${cases.length}" failures="${bad}">\n`;
  const about = [report.heading, ...report.notes].join("\n");
  text += `    <system-err>${escaped(about)}</system-err>\n`;
  for (const { name, out, bad: broken } of cases) {
    text += `    <testcase classname="taintlab report" name="${escaped(name)}">`;
    for (const failure of broken) {
      text += `<failure message="${escaped(failure.text)}">${escaped(failure.text)}</failure>`;
    }
    text += `<system-out>${escaped(out)}</system-out></testcase>\n`;
  }
  return `${text}  </testsuite>\n</testsuites>\n`;
}

/** How many rows and columns the heat map has: those that hurt most. */
const MAP = { domains: 60, workloads: 40 };

const STYLE = `:root{color-scheme:light dark;--line:#8884;--dim:#777}
body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
.scroll{overflow-x:auto}table{border-collapse:collapse}
th,td{border:1px solid var(--line);padding:.25rem .5rem;text-align:left;vertical-align:top}
th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible{outline:2px solid}
td.n{text-align:right;font-variant-numeric:tabular-nums}
.map td{min-width:2.5rem;text-align:right;color:#000;font-size:12px}
.map th{font-weight:400;font-size:12px}.map thead th{writing-mode:vertical-rl;rotate:180deg}
.map thead th:first-child{writing-mode:initial;rotate:none}
.dim{color:var(--dim)}pre{overflow-x:auto;border:1px solid var(--line);padding:.5rem}
svg{max-width:100%;height:auto}
@media print{body{margin:0;max-width:none}details{break-inside:avoid}h2{break-after:avoid}}`;

const SORT = `for(const b of document.querySelectorAll("th button"))b.onclick=()=>{
const th=b.parentElement,t=th.closest("table"),i=[...th.parentElement.children].indexOf(th);
const up=th.ariaSort!=="ascending",k=r=>r.children[i].dataset.k??r.children[i].textContent;
for(const o of th.parentElement.children)o.removeAttribute("aria-sort");
th.ariaSort=up?"ascending":"descending";
const rows=[...t.tBodies[0].rows].sort((x,y)=>{const a=k(x),c=k(y),d=a-c;
return(Number.isNaN(d)?a<c?-1:a>c?1:0:d)*(up?1:-1)});t.tBodies[0].append(...rows)}`;

/** From white over yellow to red. */
function colour(harm, most) {
  const part = Math.sqrt(Math.min(1, harm / most));
  return `hsl(${Math.round(55 - 50 * part)} 90% ${Math.round(94 - 39 * part)}%)`;
}

function heatMap(report) {
  const most = Math.max(1, ...report.cells.map(({ harm }) => harm));
  const rows = new Map();
  const columns = new Map();
  for (const cell of report.cells.filter(({ harm }) => harm > 0)) {
    const row = nameOf(report, cell);
    if (!rows.has(row)) rows.set(row, { sum: 0, cells: new Map() });
    rows.get(row).sum += cell.harm;
    rows.get(row).cells.set(cell.subject, cell);
    columns.set(cell.subject, (columns.get(cell.subject) ?? 0) + cell.harm);
  }
  const worst = (entries, sum, number) =>
    [...entries].sort((a, b) => sum(b[1]) - sum(a[1])).slice(0, number);
  const shown = worst(columns, (sum) => sum, MAP.workloads).map(([name]) => name);
  const lines = worst(rows, ({ sum }) => sum, MAP.domains).map(([name, { cells }]) => {
    const tds = shown.map((subject) => {
      const cell = cells.get(subject);
      if (!cell) return "<td></td>";
      const title =
        `${subject}, ${name}: ${cell.leastReady} of ${cell.wanted} ready at least, ` +
        `below for ${clock(cell.below)}, at zero for ${clock(cell.atZero)}, ` +
        `whole again: ${again(cell)}`;
      const style = `background:${colour(cell.harm, most)}`;
      return `<td style="${style}" title="${escaped(title)}">${clock(cell.below)}</td>`;
    });
    return `<tr><th scope="row">${escaped(name)}</th>${tds.join("")}</tr>`;
  });
  const heads = shown.map((subject) => `<th scope="col">${escaped(subject)}</th>`).join("");
  const left = rows.size - lines.length;
  const more = left > 0 ? `<p class="dim">and ${left} more failures, which hurt less</p>` : "";
  return (
    `<div class="scroll"><table class="map"><thead><tr><th></th>${heads}</tr></thead>` +
    `<tbody>${lines.join("\n")}</tbody></table></div>${more}`
  );
}

/** The report as one page, which asks nobody for anything. */
export function html(report, pictures) {
  const sortable = (title) => `<th scope="col"><button type="button">${title}</button></th>`;
  const rows = report.workloads.map((row) => {
    const { subject, score, arithmetic } = row;
    if (row.domain === undefined) {
      const none = "<td>none</td><td></td><td></td><td></td><td></td>";
      return `<tr><td class="n">${score ?? "-"}</td><td>${escaped(subject)}</td>${none}</tr>`;
    }
    const cell = cellOf(report, row);
    const time = (spread) => `<td class="n" data-k="${spread.max}">${spreadText(spread)}</td>`;
    const whole = cell.wholeAgain ?? Number.MAX_SAFE_INTEGER;
    return (
      `<tr><td class="n" title="${escaped(arithmetic)}">${score}</td>` +
      `<td>${escaped(subject)}</td><td>${escaped(nameOf(report, row))}</td>` +
      `<td class="n" data-k="${cell.leastReady}">${cell.leastReady}/${cell.wanted}</td>` +
      `${time(cell.belowSpread)}${time(cell.atZeroSpread)}` +
      `<td class="n" data-k="${whole}">${again(cell)}</td></tr>`
    );
  });
  const findings = report.findings.slice(0, MOST * 5).map((finding) => {
    const effects = (finding.effects ?? []).map(
      (effect) =>
        `<details><summary>${escaped(effectText(finding, effect))}</summary>` +
        `<pre>${escaped(effect.yaml)}</pre></details>`,
    );
    const { head, rows: alarms } = falseAlarms(finding);
    const cells = (list, tag) => list.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("");
    const lines = alarms.map((row) => `<tr>${cells(row, "td")}</tr>`).join("");
    const sweep =
      alarms.length > 0
        ? `<p>Unnecessary evictions, by the length of the outage:</p>` +
          `<table><tr>${cells(head, "th")}</tr>${lines}</table>`
        : "";
    return (
      `<li><strong>${escaped(finding.what)}</strong><br>${escaped(finding.why)}` +
      ` <span class="dim">(worst ${clock(finding.at)} after it fails)</span>` +
      `${effects.join("")}${sweep}</li>`
    );
  });
  const drawn = pictures.map(({ what, svg }) => `<h3>${escaped(what)}</h3>\n${svg}`).join("\n");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(titleOf(report))}</title>
<style>${STYLE}</style>
<p>${escaped(report.heading)}</p>
<h1>${escaped(titleOf(report))}</h1>
<p><strong>${escaped(report.verdict ?? "")}</strong></p>
<p>${escaped(summaryOf(report))}</p>
<p class="dim">${escaped(report.score?.arithmetic ?? "")}</p>
${report.notes.map((line) => `<p>${escaped(line)}</p>`).join("\n")}
<h2>Failures and workloads</h2>
<p class="dim">How long each workload has fewer ready pods than it wants; the darker, the worse.</p>
${heatMap(report)}
<h2>Workloads</h2>
<div class="scroll"><table><thead><tr>${HEAD.map(sortable).join("")}</tr></thead>
<tbody>${rows.join("\n")}</tbody></table></div>
<h2>What hurts most, and what would help</h2>
<ol>${findings.join("\n")}</ol>
${drawn && `<h2>The worst, drawn</h2>\n${drawn}`}
<script>${SORT}</script>
</html>
`;
}
