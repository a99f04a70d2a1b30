// A report for people: a table, Markdown, JUnit, and a page. Sentences come from the engine.

import * as taintlab from "../dist/node.js";

/** How many rows a table shows, and how many findings; JSON has all. */
const MOST = 20;

const clock = taintlab.durationText;

/** What an unfolded list of names may have. */
const NAMES = 200;

const SECTIONS = {
  zone: "Zones",
  region: "Regions",
  label: "Label values",
  list: "Lists",
  pair: "Pairs",
  node: "Nodes",
  devicePool: "Device pools",
};

/** The failures by kind, in the order of the report: zones first, nodes last. */
function sectionsOf({ rows }) {
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  return kinds.map((kind) => ({
    title: SECTIONS[kind],
    rows: rows.filter((row) => row.kind === kind),
  }));
}

const TOTALS = ["FAILURE", "WORKLOADS HARMED", "NO READY POD", "NEVER WHOLE AGAIN", "HARM"];
const HEAD = ["SCORE", "WORKLOAD", "WORST FAILURE", "READY", "BELOW", "AT ZERO", "WHOLE AGAIN"];

const totalsOf = (rows) =>
  rows
    .slice(0, MOST)
    .map(({ name, harmed, atZero, never, harm }) =>
      [name, harmed, atZero, never, clock(harm)].map(String),
    );

/** The workloads that a failure harms, with what they are sorted by; how many none harms. */
function workloadsOf({ workloads, cells }) {
  const harmed = workloads.filter(({ worst }) => worst);
  const rows = harmed.map(({ score, subject, worst }) => [String(score ?? "-"), subject, ...worst]);
  const keys = harmed.map(({ score, subject, worst: [failure], cell: number }) => {
    const { leastReady, belowSpread, atZeroSpread, wholeAgain = Infinity } = cells[number];
    return [score, subject, failure, leastReady, belowSpread.max, atZeroSpread.max, wholeAgain];
  });
  return { rows, keys, unharmed: count(workloads.length - harmed.length, "workload") };
}

const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

const rest = (all, what) =>
  all.length > MOST ? `and ${count(all.length - MOST, `more ${what}`)}: see --json\n` : "";

const titleOf = ({ score }) => (score ? `${score.score} of 100` : "no score");

/** What the score is, or why there is none. */
const scoreOf = ({ score, missing }) => (score ? [score.arithmetic] : missing);

/** The findings of one cause each, with what would help. */
function causesOf({ groups, findings, outline }) {
  return groups.map(({ what, why, findings: numbers, domains }) => {
    const finding = findings[numbers[0]];
    const { effects = [], noHelp, falseAlarms = [], run, at } = finding;
    const helpful = effects.filter(({ helps }) => helps);
    return {
      what,
      why,
      run,
      at,
      subject: finding.subject,
      names: domains.map((number) => outline.domains[number].name),
      like: numbers.slice(1).map((number) => findings[number].what),
      effects: helpful.map((effect) => ({ ...effect, line: `${effect.what}: ${effect.text}` })),
      noHelp,
      sweep: sweepOf(falseAlarms),
    };
  });
}

/** The table of outages that end by themselves: how many evictions were unnecessary. */
function sweepOf(all) {
  const outages = [...new Set(all.map(({ outage }) => outage))];
  const seconds = [...new Set(all.map((alarm) => alarm.seconds))];
  const rows = seconds.map((tried) => [
    tried === undefined ? "as it is" : `${tried} s`,
    ...outages.map((outage) => {
      const found = all.find((alarm) => alarm.seconds === tried && alarm.outage === outage);
      return found === undefined ? "" : String(found.evicted);
    }),
  ]);
  return { head: ["tolerationSeconds", ...outages], rows };
}

/** The report in a terminal. */
export function terminal(report, { bold, dim }) {
  const table = (head, rows) => {
    const widths = head.map((title, column) =>
      Math.max(title.length, ...rows.map((row) => row[column].length)),
    );
    const line = (cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("   ")
        .trimEnd();
    return `${bold(line(head))}\n${rows.map((row) => `${line(row)}\n`).join("")}`;
  };
  let text = `${report.heading}\n`;
  if (report.verdict) text += `${bold(report.verdict)}\n`;
  const why = scoreOf(report).join("; ");
  text += report.score
    ? `${bold(`Score ${titleOf(report)}`)}  ${dim(why)}\n`
    : `${bold(`No score: ${why}`)}\n`;
  for (const note of report.notes) text += `${note}\n`;
  for (const { title, rows } of sectionsOf(report)) {
    text += `\n${table([title.toUpperCase(), ...TOTALS.slice(1)], totalsOf(rows))}`;
    text += rest(rows, "row");
  }
  const { rows, unharmed } = workloadsOf(report);
  if (rows.length > 0) text += `\n${table(HEAD, rows.slice(0, MOST))}${rest(rows, "workload")}`;
  text += `${unharmed} not harmed by any failure\n`;
  const causes = causesOf(report);
  if (causes.length > 0) text += `\n${bold("What hurts most, and what would help")}\n`;
  causes.slice(0, MOST).forEach(({ what, why, effects, noHelp, sweep }, index) => {
    text += `${index + 1}. ${what}\n   ${why}\n`;
    for (const { line } of effects) text += `   - ${line}\n`;
    if (noHelp) text += `   ${noHelp}\n`;
    if (sweep.rows.length > 0) {
      text += `   unnecessary evictions, by outage (${sweep.head.slice(1).join(", ")}):\n`;
      for (const [name, ...counts] of sweep.rows) text += `     ${name}: ${counts.join(", ")}\n`;
    }
  });
  return text + rest(causes, "cause");
}

const escaped = (text) =>
  String(text).replace(
    /[<>&"]/g,
    (c) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" })[c],
  );

/** The report for a pull request. */
export function markdown(report) {
  const table = (head, rows) => {
    const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
    return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
  };
  const named = (titles) => titles.map((title) => title[0] + title.slice(1).toLowerCase());
  let text = `## Resilience: ${titleOf(report)}\n\n${report.heading}\n`;
  if (report.verdict) text += `\n**${report.verdict}**\n`;
  text += `\n${[...scoreOf(report), ...report.notes].map((note) => `- ${note}\n`).join("")}`;
  for (const { title, rows } of sectionsOf(report)) {
    text += `\n### ${title}\n\n${table(named(TOTALS), totalsOf(rows))}${rest(rows, "row")}`;
  }
  const { rows, unharmed } = workloadsOf(report);
  text += "\n### Workloads\n\n";
  if (rows.length > 0) text += `${table(named(HEAD), rows.slice(0, MOST))}\n`;
  text += `${rest(rows, "workload")}${unharmed} not harmed by any failure\n`;
  const causes = causesOf(report);
  if (causes.length > 0) text += "\n### What hurts most, and what would help\n";
  causes.slice(0, MOST).forEach(({ what, why, effects, noHelp, sweep }, index) => {
    text += `\n${index + 1}. **${what}**: ${why}\n`;
    for (const { line, yaml } of effects) {
      text += `\n   <details><summary>${escaped(line)}</summary>\n\n`;
      const indented = yaml.trimEnd().replaceAll("\n", "\n   ");
      text += `   \`\`\`yaml\n   ${indented}\n   \`\`\`\n   </details>\n`;
    }
    if (noHelp) text += `\n   ${noHelp}\n`;
    if (sweep.rows.length > 0) {
      const lines = table(sweep.head, sweep.rows).trimEnd().replaceAll("\n", "\n   ");
      text += `\n   Unnecessary evictions, by the length of the outage:\n\n   ${lines}\n`;
    }
  });
  return text + rest(causes, "cause");
}

/** The report for CI: a case for each workload, which fails if it breaks a rule. */
export function junit(report, rules, failures) {
  const general = failures.filter(({ subject }) => subject === undefined);
  const cases = [
    ...report.workloads.map(({ subject, score, arithmetic }) => ({
      name: subject,
      out: score === undefined ? arithmetic : `score ${score}: ${arithmetic}`,
      bad: failures.filter((failure) => failure.subject === subject),
    })),
    ...general.map((failure) => ({ name: failure.rule, out: "", bad: [failure] })),
  ];
  const bad = cases.filter((one) => one.bad.length > 0).length;
  const { cluster, release, version, options } = report.outline;
  const { context, server, notRead = [] } = options.source ?? {};
  const properties = {
    report: report.heading,
    cluster: cluster.name || undefined,
    digest: cluster.digest,
    context,
    server,
    moment: cluster.at,
    release,
    taintlab: version,
    notRead: notRead.join("; ") || undefined,
    verdict: report.verdict,
    score: report.score?.score,
    missing: report.missing.join("; ") || undefined,
  };
  let text = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n';
  text += `  <testsuite name="taintlab report" tests="${cases.length}" failures="${bad}">\n`;
  text += "    <properties>\n";
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    text += `      <property name="${name}" value="${escaped(value)}"/>\n`;
  }
  text += "    </properties>\n";
  for (const { name, out, bad: broken } of cases) {
    text += `    <testcase classname="taintlab report" name="${escaped(name)}">`;
    for (const failure of broken) {
      text += `<failure message="${escaped(failure.text)}">${escaped(failure.text)}</failure>`;
    }
    text += `<system-out>${escaped(out)}</system-out></testcase>\n`;
  }
  const notes = escaped(report.notes.join("\n"));
  return `${text}    <system-out>${notes}</system-out>\n  </testsuite>\n</testsuites>\n`;
}

/** How many rows and columns a heat map has: those that hurt most. */
const MAP = { rows: 60, columns: 30 };

const STYLE = `:root{color-scheme:light dark;--line:#8884;--dim:#666}
@media (prefers-color-scheme:dark){:root{--dim:#aaa}}
body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;
overflow-wrap:anywhere}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem}
.scroll{overflow-x:auto}table{border-collapse:collapse}
th,td{border:1px solid var(--line);padding:.25rem .5rem;text-align:left;vertical-align:top}
.scroll :is(th,td){overflow-wrap:normal}
th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible{outline:2px solid}
td.n{text-align:right;font-variant-numeric:tabular-nums}
.map td.h{min-width:2.5rem;text-align:right;color:#000;font-size:12px}
.map th{font-weight:400;font-size:12px;min-width:11rem}
.map thead th{writing-mode:vertical-rl;rotate:180deg;min-width:0;max-height:16rem}
.map thead th:first-child{writing-mode:initial;rotate:none}
.map th:first-child{position:sticky;left:0;background:Canvas}
.map small,details small{display:block;color:var(--dim)}
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

/** A time, or where seeds differ the shortest, the median and the 95th percentile, as in tables. */
const spread = ({ min, median, p95, max }) =>
  (min === max ? [max] : [min, median, p95]).map((time) => clock(time)).join(" / ");

/** The names of failures that are alike. */
function foldedOf({ outline }, { name, domains }) {
  if (domains.length === 1) return escaped(name);
  const names = domains.slice(0, NAMES).map((number) => outline.domains[number].name);
  const more = domains.length - names.length;
  if (more > 0) names.push(`${more} more`);
  const list = `<small>${escaped(names.join(", "))}</small>`;
  return `<details><summary>${escaped(name)}</summary>${list}</details>`;
}

/** The failures of a kind by the workloads that they harm most. */
function heatMap(report, { title, rows }) {
  const counted = report.cells.filter(({ domain }) => !report.outline.domains[domain].wholeCluster);
  const most = counted.reduce((most, { harm }) => Math.max(most, harm), 1);
  const shown = rows.slice(0, MAP.rows);
  const sums = new Map();
  for (const row of shown) {
    for (const number of row.cells) {
      const { subject, harm } = report.cells[number];
      // Each row has the same say in which workloads are seen.
      sums.set(subject, (sums.get(subject) ?? 0) + harm / row.harm);
    }
  }
  const worst = [...sums].sort((a, b) => b[1] - a[1]);
  const columns = worst.slice(0, MAP.columns).map(([subject]) => subject);
  const lines = shown.map((row) => {
    const cells = new Map();
    for (const number of row.cells) cells.set(report.cells[number].subject, report.cells[number]);
    const tds = columns.map((subject) => {
      const cell = cells.get(subject);
      if (!cell) return '<td class="h"></td>';
      const { leastReady, wanted, belowSpread, atZeroSpread, harm } = cell;
      const below = spread(belowSpread);
      const text =
        `${subject}, ${row.name}: ${leastReady} of ${wanted} ready at least, ` +
        `below for ${below}, at zero for ${spread(atZeroSpread)}`;
      const style = `background:${colour(harm, most)}`;
      return `<td class="h" style="${style}" title="${escaped(text)}">${below}</td>`;
    });
    const head = `${foldedOf(report, row)}<small>${escaped(row.what)}</small>`;
    return `<tr><th scope="row">${head}</th>${tds.join("")}</tr>`;
  });
  const heads = columns.map((subject) => `<th scope="col">${escaped(subject)}</th>`).join("");
  const more = [
    rows.length > shown.length && count(rows.length - shown.length, "more row"),
    worst.length > columns.length && count(worst.length - columns.length, "more workload"),
  ].filter(Boolean);
  return (
    `<h3>${title}</h3>\n<div class="scroll"><table class="map"><thead><tr><th></th>${heads}</tr>` +
    `</thead><tbody>${lines.join("\n")}</tbody></table></div>` +
    (more.length > 0 ? `<p class="dim">and ${more.join(" and ")}: see --json</p>` : "")
  );
}

/** The report as one page, which asks nobody for anything. */
export function html(report, pictures) {
  const sortable = (title) => `<th scope="col"><button type="button">${title}</button></th>`;
  const { rows, keys, unharmed } = workloadsOf(report);
  const workloads = rows.map((row, index) => {
    const tds = row.map((cell, column) => {
      const key = keys[index][column];
      const number = typeof key === "number" ? ` class="n" data-k="${key}"` : "";
      return `<td${number}>${escaped(cell)}</td>`;
    });
    return `<tr>${tds.join("")}</tr>`;
  });
  const cells = (list, tag) => list.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("");
  const causes = causesOf(report)
    .slice(0, MOST * 5)
    .map(({ what, why, like, effects, noHelp, sweep, at }) => {
      const alike = like.slice(0, NAMES).map((text) => `<li>${escaped(text)}</li>`);
      const others =
        like.length > 0
          ? `<details><summary>${count(like.length, "more finding")} like this</summary>` +
            `<ul>${alike.join("")}</ul></details>`
          : "";
      const changes = effects.map(
        ({ line, yaml }) =>
          `<details><summary>${escaped(line)}</summary><pre>${escaped(yaml)}</pre></details>`,
      );
      const lines = sweep.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("");
      const unnecessary =
        sweep.rows.length > 0
          ? "<p>Unnecessary evictions, by the length of the outage:</p>" +
            `<div class="scroll"><table><tr>${cells(sweep.head, "th")}</tr>${lines}</table></div>`
          : "";
      return (
        `<li><strong>${escaped(what)}</strong><br>${escaped(why)}` +
        ` <span class="dim">(worst ${clock(at)} after the failure)</span>` +
        `${others}${changes.join("")}` +
        `${noHelp ? `<p class="dim">${escaped(noHelp)}</p>` : ""}${unnecessary}</li>`
      );
    });
  const drawn = pictures.map(({ what, svg }) => `<h3>${escaped(what)}</h3>\n${svg}`).join("\n");
  const notes = [...scoreOf(report), ...report.notes];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Resilience: ${titleOf(report)}. ${escaped(report.heading)}</title>
<style>${STYLE}</style>
<h1>Resilience: ${titleOf(report)}</h1>
<p>${escaped(report.heading)}</p>
${report.verdict ? `<p><strong>${escaped(report.verdict)}</strong></p>` : ""}
<ul class="dim">${cells(notes, "li")}</ul>
<h2>Failures and workloads</h2>
<p class="dim">How long each workload has fewer ready pods than it wants; the darker, the worse.</p>
${sectionsOf(report)
  .map((section) => heatMap(report, section))
  .join("\n")}
<h2>Workloads</h2>
<div class="scroll"><table><thead><tr>${HEAD.map(sortable).join("")}</tr></thead>
<tbody>${workloads.join("\n")}</tbody></table></div>
<p class="dim">${unharmed} not harmed by any failure</p>
<h2>What hurts most, and what would help</h2>
<ol>${causes.join("\n")}</ol>
${drawn && `<h2>The worst, drawn</h2>\n${drawn}`}
<script>${SORT}</script>
</html>
`;
}
