// The lanes: the same picture as `timelineSvg` of the engine draws, in the same places, so that
// nothing moves when the one takes the place of the other. Without styles in attributes, which a
// Content-Security-Policy may forbid.

import { s } from "./dom.js";
import { type Lane, type Run, type Segment, clock } from "./recording.js";

const PITCH = 20;
const BAR = 15;
const AXIS = 20;
/** Per cent of the width for the names. */
export const NAMES = 28;

/** A picture of lanes of which the present can be moved. */
export interface Picture {
  svg: SVGSVGElement;
  /** Moves the present; with `veil`, what is later is dimmed. */
  show(now: number, veil: boolean): void;
  select(subject: string | undefined): void;
}

/** Draws a run; with another one, that in thinner bars below. */
export function draw(run: Run, other: Run | undefined, label: string): Picture {
  const axis = Math.max(run.axis, other?.axis ?? 0);
  const height = AXIS + run.lanes.length * PITCH + 4;
  const x = (at: number) => `${round((Math.min(at, axis) / axis) * 100)}%`;
  const names = s("svg", { width: `${NAMES}%` });
  const track = s("svg", { x: `${NAMES}%`, width: `${100 - NAMES}%` });
  for (let at = 0; at <= axis * 0.95; at += run.step) {
    const anchor = at === 0 ? "start" : "middle";
    track.append(
      s("line", { x1: x(at), x2: x(at), y1: 16, y2: height }),
      s("text", { class: "m", x: x(at), y: 11, "text-anchor": anchor }, short(at)),
    );
  }
  const chosen = s("rect", { class: "chosen", width: "100%", height: PITCH, y: -PITCH });
  const labels: Label[] = [];
  const bars = (lane: Lane, y: number, height: number, texts: boolean) => {
    for (const segment of lane.segments) {
      if (segment.from >= axis) continue;
      const box = bar(segment, axis, x, y, height, texts);
      track.append(box);
      const text = box.querySelector("text");
      const part = (parseFloat(box.getAttribute("width")!) * (100 - NAMES)) / 10_000;
      if (text) labels.push({ text, part });
    }
  };
  run.lanes.forEach((lane, index) => {
    const y = AXIS + index * PITCH;
    const kind = lane.subject.startsWith("node/")
      ? "n"
      : lane.subject.startsWith("zone/")
        ? "m"
        : "";
    names.append(s("text", { class: kind, x: "98%", y: y + 11, "text-anchor": "end" }, lane.name));
    const twin = other?.lanes.find(({ subject }) => subject === lane.subject);
    bars(lane, y, other ? 10 : BAR, !other);
    if (twin) bars(twin, y + 11, 5, false);
  });
  const veil = s("rect", { class: "veil", x: "100%", y: 14, width: "100%", height });
  const line = s("line", { class: "at", y1: 14, y2: height });
  track.append(veil, line);
  const hatch = s("pattern", { id: "h", width: 6, height: 6, patternUnits: "userSpaceOnUse" });
  hatch.append(s("path", { d: "m0 6 6-6" }));
  const attributes = { class: "tl", width: "100%", height, role: "img", "aria-label": label };
  const svg = s("svg", attributes, s("defs", {}, hatch), chosen, names, track);
  new ResizeObserver(([entry]) => fit(labels, entry!.contentRect.width)).observe(svg);
  return {
    svg,
    show(now, veiled) {
      line.setAttribute("x1", x(now));
      line.setAttribute("x2", x(now));
      veil.setAttribute("x", veiled ? x(now) : "100%");
    },
    select(subject) {
      const index = run.lanes.findIndex((lane) => lane.subject === subject);
      chosen.setAttribute("y", String(index < 0 ? -PITCH : AXIS + index * PITCH - 2));
    },
  };
}

/** One segment: a box that cuts off what does not fit into it. */
function bar(
  segment: Segment,
  axis: number,
  x: (at: number) => string,
  y: number,
  height: number,
  texts: boolean,
): SVGSVGElement {
  const { from, to = axis, text, look, tainted } = segment;
  const width = Math.max(((Math.min(to, axis) - from) / axis) * 100, 0.2);
  const box = s("svg", { x: x(from), y, width: `${round(width)}%`, height });
  box.append(s("rect", { class: look[0], width: "100%", height: "100%" }));
  if (look[1]) box.append(s("rect", { fill: "url(#h)", width: "100%", height: "100%" }));
  if (tainted) box.append(s("rect", { class: "t", y: height - 2, width: "100%", height: 2 }));
  if (look !== "g") {
    if (texts) box.append(s("text", { x: 3, y: 11 }, text));
    box.append(s("title", {}, `${text}, ${clock(from)} to ${clock(to)}`));
  }
  return box;
}

/** The words in a segment, what part of the picture it takes, and their length once measured. */
interface Label {
  text: SVGTextElement;
  part: number;
  length?: number;
}

/** Leaves out the words that do not fit: they are in the title and in the line below, too. */
function fit(labels: Label[], width: number): void {
  if (width === 0) return;
  for (const label of labels) label.length ??= label.text.getComputedTextLength();
  for (const { text, part, length = 0 } of labels) {
    const fits = part * width >= length + 4;
    text.setAttribute("visibility", fits ? "visible" : "hidden");
  }
}

/** Which lane a pointer is on. */
export function laneAt(svg: SVGSVGElement, clientY: number, lanes: Lane[]): Lane | undefined {
  return lanes[Math.floor((clientY - svg.getBoundingClientRect().top - AXIS + 2) / PITCH)];
}

const round = (number: number) => Math.round(number * 100) / 100;

/** A time without what is zero at its end: `2m`, `1h30m`. */
const short = (at: number) => clock(at).replace(/m0s$/, "m").replace(/h0m$/, "h");
