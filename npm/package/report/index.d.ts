import type {
  Failure,
  Imported,
  Problem,
  ReportOptions,
  ReportOutline,
  ReportRun,
  ReportRunResult,
  ReportSubject,
  ResilienceReport,
  ScenarioOptions,
  SimulatorOptions,
} from "taintlab";

/** How far a report is. */
export interface ReportProgress {
  /** How many runs are made. */
  done: number;
  /** How many there are; what would help is added once it is known what hurts. */
  planned: number;
}

/** What is reported, and how. */
export interface ReportSettings extends Partial<ReportOptions> {
  /** Which Kubernetes; of a scenario, what is read besides. */
  simulator?: SimulatorOptions | ScenarioOptions;
  /** Whether the text is a scenario (taintlab/v1): its cluster as it is at the beginning. */
  isScenario?: boolean;
  /** Called after each run. */
  onProgress?(progress: ReportProgress): void;
  /** Breaks it off. */
  signal?: AbortSignal;
  /** How many workers make the runs: as many as there are cores unless given, 0 for none. */
  workers?: number;
}

/** The runs of a report, or of a part of it. */
export interface ReportRuns {
  ok: true;
  outline: ReportOutline;
  warnings: Problem[];
  imported?: Imported;
  results: ReportRunResult[];
  /** What happens in a run as a picture. */
  timelineSvg(run: ReportRun, subject: ReportSubject): Promise<string>;
  /** Ends the workers. */
  close(): void;
}

/**
 * A resilience report of a cluster: what each workload loses when a node, a zone or another failure
 * domain fails, and what would help.
 *
 * @throws The reason of the signal, if that aborts it.
 */
export function report(
  manifests: string | readonly object[] | { items: readonly object[] },
  options?: ReportSettings,
): Promise<
  ({ ok: true; warnings: Problem[]; imported?: Imported } & ResilienceReport) | Failure
>;

/**
 * Makes the runs of a report without putting them together: all of them, those of a part
 * (`shard: [3, 16]`), or, where `parts` have all runs of the cluster as it is, only those that tell
 * what would help. If the signal aborts it, these are the results so far.
 */
export function runs(
  manifests: string | readonly object[] | { items: readonly object[] },
  options?: ReportSettings & {
    shard?: [index: number, count: number];
    parts?: { results: ReportRunResult[] }[];
  },
): Promise<ReportRuns | Failure>;

/** Puts results together: the same report, whoever made the runs and in whatever order. */
export function merge(
  outline: ReportOutline,
  results: readonly ReportRunResult[],
): ({ ok: true } & ResilienceReport) | Failure;
