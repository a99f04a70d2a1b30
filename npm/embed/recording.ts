// What the engine records of a scenario; `Recording` of the package's own declarations is the same.
// Times are milliseconds since the beginning.

/** A recording as `makeDemo` returns it and as pages carry it. */
export interface Recording {
  /** The format: 1. */
  taintlab: number;
  name: string;
  title: string;
  question: string;
  answer: string;
  /** The scenario as it is written. */
  yaml: string;
  knobs: Knob[];
  /** The run of the scenario as it is written, then one for each setting of the knobs. */
  runs: Run[];
}

/** What can be turned: all `tolerationSeconds`, the release, or a flag. */
export interface Knob {
  name: string;
  written: string;
  values: string[];
}

export interface Run {
  /** The value of each knob. */
  knobs: string[];
  release: string;
  outcome: string;
  end: number;
  axis: number;
  step: number;
  lanes: Lane[];
  events: RecordedRow[];
  budgets: Budget[];
}

export interface Lane {
  /** `zone/NAME`, `node/NAME` or `pod/NAMESPACE/NAME`. */
  subject: string;
  name: string;
  segments: Segment[];
}

export interface Segment {
  from: number;
  to?: number;
  text: string;
  look: string;
  reason?: string;
  tainted?: boolean;
  began?: string;
  cause?: string;
}

export interface RecordedRow {
  at: number;
  text: string;
  /** Whether the scenario did it, and not the cluster. */
  step?: boolean;
}

export interface Budget {
  pod: string;
  total: string;
  terms: { takes: string; until: string; text: string; setBy?: string }[];
}

/** Whether a value is a recording that this element can play. */
export function isRecording(value: unknown): value is Recording {
  const { taintlab, runs } = (value ?? {}) as Partial<Recording>;
  return taintlab === 1 && Array.isArray(runs) && runs.length > 0;
}

/** A time as Kubernetes writes durations: `5m50s`. */
export function clock(millis: number): string {
  const all = Math.round(millis);
  const [h, m] = [Math.floor(all / 3_600_000), Math.floor(all / 60_000) % 60];
  const s = (all % 60_000) / 1000;
  return `${h ? `${h}h` : ""}${h || m ? `${m}m` : ""}${s}s`;
}

const UNITS: Record<string, number> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  ns: 1e-6,
};

/** Milliseconds of `5m50s`, or of a number of seconds; nothing if it is neither. */
export function millis(text: string | null): number | undefined {
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^(\d+(\.\d+)?(h|ms|us|ns|m|s))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(h|ms|us|ns|m|s)/g)) {
    sum += Number(number) * UNITS[unit!]!;
  }
  return sum;
}
