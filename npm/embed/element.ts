// `<taint-lab>`: a run of the engine that a reader plays, turns and edits.

import { h, prose } from "./dom.js";
import { engine } from "./engine.js";
import { type Picture, NAMES, draw, laneAt } from "./lanes.js";
import {
  type RecordedRow,
  type Recording,
  type Run,
  clock,
  isRecording,
  millis,
} from "./recording.js";
import css from "./style.css";
import { isDark, watchTheme } from "./theme.js";

/** Which panel is open below the lanes. */
export type View = "lanes" | "log" | "budget" | "edit";

/** A change that a reader made: a knob, a step at a moment, or the text of the scenario. */
export interface EditDetail {
  kind: "knob" | "step" | "yaml" | "undo";
  /** The scenario as it is now. */
  yaml: string;
  /** The value of each knob, by name. */
  knobs: Record<string, string>;
}

export interface TaintLabEventMap {
  ready: CustomEvent<{ recording: Recording }>;
  timechange: CustomEvent<{ currentTime: number }>;
  event: CustomEvent<RecordedRow>;
  edit: CustomEvent<EditDetail>;
  ended: CustomEvent<undefined>;
  error: CustomEvent<{ message: string }>;
}

/** What a reader can do to a node: the command of the scenario's format, and what it is called. */
const ACTIONS: Record<string, [string, object]> = {
  taint: ["taint it NoExecute", { taint: { key: "example.com/demo", effect: "NoExecute" } }],
  untaint: ["remove that taint", { key: "example.com/demo", effect: "NoExecute" }],
  cutNetwork: ["cut its network", {}],
  restoreNetwork: ["restore its network", {}],
  stopKubelet: ["stop its kubelet", {}],
  startKubelet: ["start its kubelet", {}],
  deleteNode: ["delete it", {}],
};

/** With more than these they scroll, as before the script has run. */
const MOST_LANES = 30;

/** The playground opens no link with more behind its `#` (`LONGEST_FRAGMENT` of the engine). */
const LONGEST_FRAGMENT = 16 * 1024;

const LABELS: Record<View, string> = {
  lanes: "Lanes",
  log: "What happens",
  budget: "Time budget",
  edit: "Change something",
};

const KEYS = "Space , . ArrowLeft ArrowRight ArrowUp ArrowDown Home End";
/** A whole run takes so many seconds unless `speed` says otherwise. */
const PLAYING_TIME = 12;

// Where there is no document, as in a build of a site, importing does nothing.
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

let sheet: CSSStyleSheet | undefined;

/** So many pixels of room are kept at most: those of a row of buttons. */
const SLACK = 48;

/** Keeps what the figure took more, if it is little, so that nothing below moves. */
function keepRoom(frame: HTMLElement, before: DOMRect, own: CSSStyleSheet): void {
  const more = before.height - frame.getBoundingClientRect().height;
  if (more <= 0 || more > SLACK) return;
  const index = own.insertRule(`@media screen{.frame{min-height:${before.height}px}}`, 1);
  // What is narrower or wider needs another height.
  const observer = new ResizeObserver(([entry]) => {
    if (Math.abs(entry!.borderBoxSize[0]!.inlineSize - before.width) < 2) return;
    own.deleteRule(index);
    observer.disconnect();
  });
  observer.observe(frame, { box: "border-box" });
}

export class TaintLab extends Base {
  static readonly observedAttributes = [
    "compare",
    "controls",
    "editable",
    "playground",
    "release",
    "scenario",
    "select",
    "speed",
    "src",
    "start-at",
    "theme",
    "until",
    "view",
  ];

  /** Where the script is, with the engine and the examples beside it; the entries set it. */
  static base: URL | undefined;

  #recording?: Recording;
  /** What was recorded, to go back to after edits. */
  #original?: Recording;
  #source?: string;
  #run?: Run;
  #picture?: Picture;
  #now = 0;
  #moved = false;
  #selected?: string;
  #view: View = "lanes";
  #notice = "";
  #busy = "";
  #frame?: HTMLElement;
  /** Keeps the room of the figure, once there is something to see in it. */
  #keepRoom?: () => void;
  #parts: Record<string, HTMLElement> = {};
  #connection?: AbortController;
  #ticking?: AbortController;
  #loads = 0;
  #drawing = false;
  /** Whether the answer is open, and whether the run was played to its end. */
  #asked = false;
  #played = false;

  connectedCallback(): void {
    this.#connection = new AbortController();
    const { signal } = this.#connection;
    watchTheme(() => this.#theme(), signal);
    // Properties that were set before the element was defined.
    for (const name of ["currentTime"] as const) {
      if (Object.hasOwn(this, name)) {
        const value = this[name];
        delete (this as Partial<this>)[name];
        this[name] = value;
      }
    }
    if (this.#recording) return this.#theme();
    const begin = () => void this.load().catch(() => {});
    // What is inside is not parsed yet if the script came first.
    if (document.readyState === "loading" && !this.#inline()) {
      document.addEventListener("DOMContentLoaded", begin, { once: true, signal });
    } else begin();
  }

  disconnectedCallback(): void {
    this.pause();
    this.#connection?.abort();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || !this.isConnected || !this.#recording) return;
    if (name === "src" || name === "scenario") void this.load().catch(() => {});
    else if (name === "start-at") this.seek((millis(after) ?? 0) / 1000);
    else if (name === "theme") this.#theme();
    else {
      this.#apply();
      this.#build();
    }
  }

  /** Where the clock is, in seconds since the beginning. */
  get currentTime(): number {
    return this.#now / 1000;
  }
  set currentTime(seconds: number) {
    this.seek(seconds);
  }

  /** How far the clock goes, in seconds; NaN before there is a recording. */
  get duration(): number {
    return this.#end() / 1000;
  }

  /** Whether time stands still. */
  get paused(): boolean {
    return !this.#ticking;
  }

  /** What is played. */
  get recording(): Recording | undefined {
    return this.#recording;
  }

  /** Lets time run; from the beginning if it is at the end. */
  play(): void {
    if (!this.#run || this.#ticking || !this.isConnected) return;
    if (this.#now >= this.#end()) this.#to(0);
    const ticking = (this.#ticking = new AbortController());
    this.#moved = true;
    // Without motion time jumps from event to event.
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      const timer = setInterval(() => this.#to(this.#nextTime()), 1000);
      ticking.signal.addEventListener("abort", () => clearInterval(timer));
    } else {
      let last: number | undefined;
      const frame = (at: number) => {
        if (ticking.signal.aborted) return;
        if (last !== undefined) this.#to(this.#now + (at - last) * this.#speed());
        last = at;
        if (!ticking.signal.aborted) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    }
    this.#update();
  }

  /** Stops time. */
  pause(): void {
    this.#ticking?.abort();
    this.#ticking = undefined;
    this.#update();
  }

  /** Sets the clock to a moment, in seconds since the beginning. */
  seek(seconds: number): void {
    if (!Number.isFinite(seconds)) throw new TypeError(`seek: expected seconds, found ${seconds}`);
    this.#moved = true;
    this.#to(seconds * 1000, true);
  }

  /** Sets the clock to the next event. */
  next(): void {
    this.#moved = true;
    this.#to(this.#nextTime());
  }

  /** Sets the clock to the event before. */
  previous(): void {
    this.#moved = true;
    const times = this.#run?.events.map(({ at }) => at).filter((at) => at < this.#now) ?? [];
    this.#to(times.at(-1) ?? 0, true);
  }

  /**
   * Shows a recording, or a scenario in YAML, which takes the engine. Without an argument, what the
   * attributes and the content say. Rejects with the reason if there is nothing to show.
   */
  async load(source?: Recording | string): Promise<void> {
    const mine = ++this.#loads;
    try {
      if (typeof source === "string") return await this.#engine({ yaml: source, kind: "yaml" });
      const found = source ?? (await this.#find());
      if (mine !== this.#loads || !this.isConnected) return;
      if (typeof found === "string") return this.#offer(found);
      if (!isRecording(found)) throw new Error("this is no recording of format 1");
      this.#original = found;
      this.#asked = this.#played = false;
      this.#use(found);
      this.#to(millis(this.getAttribute("start-at")) ?? 0, true);
      this.#moved = false;
      this.#update();
      this.#tell("ready", { recording: found });
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /**
   * A link to this moment in the playground, if that is known; of the scenario as it is written.
   * The link in the figure comes first: it may have the scenario in it, and a generator of sites
   * that puts the demo on another page, as mdBook does for print, knows a link, but not the
   * attribute.
   */
  #link(): string | undefined {
    const given = this.getAttribute("playground");
    if (!given) return undefined;
    const link = this.querySelector(".taint-lab .open a")?.getAttribute("href") ?? given;
    const [playground, packed] = link.split(/#(?=d=)|#.*|&.*/);
    const release = this.#run?.release ?? "";
    const what = packed || `s=${this.#recording?.name ?? ""}&release=${release}`;
    return `${playground}#${what}&${this.#moment}`;
  }

  get #moment(): string {
    return `t=${Math.round(this.#now) / 1000}s`;
  }

  /** A link to this moment: in the playground, or, if it is not known where that is, in a frame. */
  async share(): Promise<string> {
    const written = this.#link();
    const isWritten = this.#recording === this.#original;
    if (written && isWritten) return new URL(written, document.baseURI).href;
    if (!TaintLab.base && !written) return document.location.href;
    const yaml = this.#recording?.yaml ?? "";
    const packed = new Blob([yaml]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
    const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    const safe = text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const hash = `#d=${safe}&${this.#moment}`;
    if (written && hash.length - 1 <= LONGEST_FRAGMENT) {
      return new URL(written.replace(/#.*/, hash), document.baseURI).href;
    }
    if (!TaintLab.base) return document.location.href;
    return new URL(`frame.html${hash}`, TaintLab.base).href;
  }

  // --- where it comes from ---

  #inline(): HTMLScriptElement | null {
    return this.querySelector('script[type="application/json"]');
  }

  /** A recording, or a scenario that has none. */
  async #find(): Promise<unknown> {
    const src = this.getAttribute("src");
    const name = this.getAttribute("scenario");
    if (src) return await this.#fetch(new URL(src, document.baseURI));
    const inline = this.#inline();
    if (inline) return JSON.parse(inline.textContent ?? "");
    const yaml =
      this.querySelector("code.language-yaml, script[type='text/yaml']") ??
      (name ? document.querySelector(`script[type='text/yaml']#${CSS.escape(name)}`) : null);
    if (yaml?.textContent?.trim()) return yaml.textContent;
    if (!name) throw new Error("<taint-lab> needs `scenario`, `src` or a recording inside");
    if (!TaintLab.base) throw new Error(`there is no recording of \`${name}\` in this page`);
    return await this.#fetch(new URL(`examples/${name}.json`, TaintLab.base));
  }

  async #fetch(url: URL): Promise<unknown> {
    if (this.getAttribute("loading") !== "eager") await this.#near();
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
    const text = await response.text();
    return /\.ya?ml$/.test(url.pathname) ? text : JSON.parse(text);
  }

  /** Waits until a reader is near. Only recordings are fetched then, never the engine. */
  #near(): Promise<void> {
    return new Promise((resolve) => {
      const observer = new IntersectionObserver(
        (entries) => {
          if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
          observer.disconnect();
          resolve();
        },
        { rootMargin: "200px" },
      );
      observer.observe(this);
      this.#connection?.signal.addEventListener("abort", () => observer.disconnect());
    });
  }

  // --- the engine ---

  /** Runs the scenario with something changed. */
  async #engine(change: { yaml?: string; steps?: object[]; kind: EditDetail["kind"] }) {
    const mine = this.#loads;
    const release = this.getAttribute("release") ?? undefined;
    const fence = (this.#recording?.knobs ?? [])
      .map(({ name, values }) => `knob=${name}:${values.filter((one) => !/ /.test(one)).join()}`)
      .join(" ");
    const values = this.#run?.knobs;
    this.#set("", "Loading the engine…");
    try {
      const loaded = await engine((part) => {
        const percent = part === undefined ? "" : ` ${Math.round(part * 100)} %`;
        this.#set("", `Loading the engine…${percent}`);
      });
      if (mine !== this.#loads || !this.isConnected) return;
      const yaml = change.yaml ?? this.#recording?.yaml ?? "";
      const steps = change.steps ?? [];
      // What was recorded has a knob for it; without one the option of the engine says it.
      const options = release && !fence.includes("knob=release") ? { release } : {};
      const answer = loaded.makeDemo(yaml, options, { fence, steps });
      if (!answer.ok) {
        const text = ({ message, line }: { message: string; line?: number }) =>
          line && change.yaml ? `line ${line}: ${message}` : message;
        throw new Error(answer.errors.map(text).join("; "));
      }
      this.#set("", "");
      this.#original ??= answer.recording;
      this.#use(answer.recording, values);
      this.#to(this.#now, true);
      this.#tell("edit", this.#detail(change.kind));
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /** A scenario without a recording: what is there stays, and a button runs it. */
  #offer(yaml: string): void {
    this.#source = yaml;
    this.#shadow();
    const run = () => void this.load(yaml).catch(() => {});
    const button = h("button", { type: "button", part: "button", onclick: run }, "Run it here");
    const hint = h("span", { class: "hint" }, "loads the engine, about 1.7 MB");
    const bar = h("div", { class: "bar", part: "controls" }, button, hint);
    this.#parts = { notice: this.#noticeElement() };
    this.#frame!.replaceChildren(h("slot"), bar, this.#parts.notice!);
    this.#frame!.classList.add("around");
    this.#set(this.#notice, this.#busy);
  }

  #detail(kind: EditDetail["kind"]): EditDetail {
    const { knobs = [], yaml = "" } = this.#recording ?? {};
    const pairs = knobs.map(({ name }, index) => [name, this.#run?.knobs[index] ?? ""]);
    return { kind, yaml, knobs: Object.fromEntries(pairs) };
  }

  // --- what is shown ---

  #use(recording: Recording, values?: string[]): void {
    this.#recording = recording;
    this.#run = this.#runOf(values ?? []) ?? recording.runs[0]!;
    this.#apply();
    this.#build();
  }

  #runOf(values: string[]): Run | undefined {
    return this.#recording?.runs.find(({ knobs }) => knobs.join() === values.join());
  }

  /** The run with one knob turned. */
  #turned(name: string, value: string): Run | undefined {
    const index = this.#recording!.knobs.findIndex((knob) => knob.name === name);
    return index < 0 ? undefined : this.#runOf(this.#run!.knobs.with(index, value));
  }

  /** What attributes say about the recording. */
  #apply(): void {
    this.#selected = this.getAttribute("select") ?? this.#selected;
    const view = this.getAttribute("view");
    if (view === "log" || view === "budget" || view === "lanes") this.#view = view;
    const release = this.getAttribute("release");
    if (!release || release === this.#run?.release) return;
    const run = this.#turned("release", release);
    if (run) this.#run = run;
    else this.#set(`There is no recorded run of release ${release}.`, "");
  }

  #compared(): Run | undefined {
    const [name = "", value = ""] = this.getAttribute("compare")?.split(":") ?? [];
    const run = name ? this.#turned(name, value) : undefined;
    return run === this.#run ? undefined : run;
  }

  /** The shadow tree. */
  #shadow(): void {
    if (this.#frame) return;
    const own = new CSSStyleSheet();
    const figure = this.querySelector("figure");
    if (figure) {
      // Read now: what is not shown has no computed style and takes no room.
      own.replaceSync(`:host{margin:${getComputedStyle(figure).margin}}`);
      const before = figure.getBoundingClientRect();
      this.#keepRoom = () => keepRoom(this.#frame!, before, own);
    }
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    sheet ??= new CSSStyleSheet();
    if (sheet.cssRules.length === 0) sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet, own];
    this.#frame = h("section", { class: "frame", part: "frame" });
    this.#frame.addEventListener("keydown", (event) => this.#key(event));
    root.append(this.#frame);
    this.#theme();
  }

  #theme(): void {
    this.#frame?.classList.toggle("dark", isDark(this));
  }

  #noticeElement(): HTMLElement {
    return h("p", { class: "notice", part: "notice", role: "alert", hidden: true });
  }

  #build(): void {
    const recording = this.#recording;
    const run = this.#run;
    if (!recording || !run) return;
    this.#shadow();
    this.#frame!.classList.remove("around");
    const focused = (this.shadowRoot!.activeElement as HTMLElement | null)?.dataset.key;
    const other = this.#compared();
    const label = `${recording.title}: what becomes of each node and pod; the log has it in words`;
    const picture = (this.#picture = draw(run, other, label));
    const point = (event: Event) => this.#point(event as PointerEvent);
    picture.svg.addEventListener("click", point);
    const release = h("small", {}, `Kubernetes ${run.release}`);
    const title = h("strong", { id: "title" }, recording.title);
    const header = h("header", { part: "header" }, title, " ", release);
    if (recording.question) {
      header.append(h("p", { class: "question", part: "question" }, ...prose(recording.question)));
    }
    const tall = run.lanes.length > MOST_LANES;
    const lanes = h(
      "div",
      tall
        ? {
            class: "lanes tall",
            part: "lanes",
            tabindex: 0,
            role: "region",
            "aria-label": `Lanes: ${recording.title}`,
          }
        : { class: "lanes", part: "lanes" },
      picture.svg,
    );
    const text = (name: string, words: string) =>
      words ? [h("p", { class: name, part: name }, ...prose(words))] : [];
    this.#parts = { notice: this.#noticeElement() };
    const outcome = other
      ? `${run.outcome} With ${this.getAttribute("compare")?.replace(":", " ")}, the lower bars: ${other.outcome}`
      : run.outcome;
    const frame = this.#frame!;
    frame.replaceChildren(
      header,
      lanes,
      ...(this.getAttribute("controls") === "none" ? [] : [this.#controls()]),
      ...(recording.knobs.length > 0 ? [this.#knobs()] : []),
      (this.#parts.status = h("p", { class: "status", part: "status" })),
      this.#parts.notice!,
      ...this.#answer(),
      ...text("outcome", outcome),
      this.#views(),
      (this.#parts.panel = h("div", { class: "panel", part: "panel", id: "panel" })),
    );
    for (const [name, value] of Object.entries({
      role: "group",
      tabindex: "0",
      "aria-labelledby": "title",
      "aria-keyshortcuts": KEYS,
    })) {
      frame.setAttribute(name, value);
    }
    this.#panel();
    this.#set(this.#notice, this.#busy);
    this.#update();
    if (focused) this.#focus(focused);
    this.#keepRoom?.();
    this.#keepRoom = undefined;
  }

  /** The answer, folded until the run was played or the reader asks. */
  #answer(): HTMLElement[] {
    const words = this.#recording === this.#original ? this.#recording!.answer : "";
    if (!words) return [];
    const details = h(
      "details",
      { part: "answer", open: this.#asked, ontoggle: () => (this.#asked = details.open) },
      h("summary", { "data-key": "answer" }, "The answer"),
      h("p", {}, ...prose(words)),
    );
    this.#parts.answer = details;
    return [details];
  }

  #focus(key: string): void {
    this.shadowRoot!.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  #button(key: string, text: string, label: string, act: () => void): HTMLButtonElement {
    const attributes = { type: "button", part: "button", "data-key": key, "aria-label": label };
    return h("button", { ...attributes, title: label, onclick: act }, text);
  }

  #controls(): HTMLElement {
    const toggle = () => (this.#ticking ? this.pause() : this.play());
    const play = this.#button("play", "Play", "Play", toggle);
    play.className = "play";
    const range = h("input", {
      type: "range",
      min: 0,
      max: Math.round(this.#end()),
      step: "any",
      part: "time",
      "data-key": "time",
      "aria-label": "Time",
      oninput: () => this.seek(Number(range.value) / 1000),
    });
    const output = h("output", { part: "clock" });
    Object.assign(this.#parts, { play, range, output });
    return h(
      "div",
      { class: "bar", part: "controls" },
      play,
      this.#button("previous", "‹", "Previous event", () => this.previous()),
      this.#button("next", "›", "Next event", () => this.next()),
      range,
      output,
    );
  }

  #knobs(): HTMLElement {
    const bar = h("div", { class: "bar", part: "knobs" });
    this.#recording!.knobs.forEach(({ name, values, written }, index) => {
      const select = h("select", {
        part: "knob",
        "data-key": `knob-${name}`,
        onchange: () => {
          const run = this.#turned(name, select.value);
          if (!run) return;
          this.#run = run;
          this.#build();
          this.#to(this.#now, true);
          this.#tell("edit", this.#detail("knob"));
        },
      });
      for (const value of values) {
        const text = value === written ? `${value} (as written)` : value;
        const selected = value === this.#run!.knobs[index];
        select.append(h("option", { value, selected }, text));
      }
      bar.append(h("label", {}, `${name} `, select));
    });
    return bar;
  }

  #views(): HTMLElement {
    const bar = h("div", { class: "bar", part: "views" });
    const views: View[] = ["log"];
    if (this.#run!.budgets.length > 0) views.push("budget");
    if (this.hasAttribute("editable") && this.getAttribute("editable") !== "false") {
      views.push("edit");
    }
    for (const view of views) {
      const act = () => {
        this.#view = this.#view === view ? "lanes" : view;
        this.#build();
      };
      const expanded = String(this.#view === view);
      const attributes = { type: "button", part: "button", "data-key": view, onclick: act };
      bar.append(
        h(
          "button",
          { ...attributes, "aria-expanded": expanded, "aria-controls": "panel" },
          LABELS[view],
        ),
      );
    }
    if (this.#recording !== this.#original) {
      const undo = () => {
        this.#use(this.#original!);
        this.#to(this.#now, true);
        this.#tell("edit", this.#detail("undo"));
      };
      bar.append(this.#button("undo", "Undo the changes", "Undo the changes", undo));
    } else if (this.#link()) {
      const link = h("a", { class: "link", part: "link", href: "" }, "Open in the playground");
      this.#parts.link = link;
      bar.append(link);
    }
    return bar;
  }

  #panel(): void {
    const panel = this.#parts.panel!;
    panel.hidden =
      this.#view === "lanes" || (this.#view === "budget" && !this.#run!.budgets.length);
    // So that what is longer can be scrolled by keyboard.
    if (!panel.hidden) {
      for (const [name, value] of [
        ["tabindex", "0"],
        ["role", "region"],
        ["aria-label", `${LABELS[this.#view]}: ${this.#recording!.title}`],
      ] as const) {
        panel.setAttribute(name, value);
      }
    }
    if (this.#view === "log") panel.replaceChildren(this.#log());
    if (this.#view === "budget") panel.replaceChildren(...this.#budgets());
    if (this.#view === "edit") panel.replaceChildren(...this.#editor());
  }

  #log(): HTMLElement {
    const body = h("tbody");
    this.#run!.events.forEach(({ at, text, step }, index) => {
      const seek = () => this.seek(at / 1000);
      const time = h(
        "button",
        { type: "button", part: "button", "data-key": `log-${index}`, onclick: seek },
        clock(at),
      );
      body.append(h("tr", {}, h("td", {}, time), h("td", {}, step ? h("code", {}, text) : text)));
    });
    this.#parts.log = body;
    const head = h("thead", {}, h("tr", {}, h("th", {}, "time"), h("th", {}, "what")));
    return h("table", { part: "log" }, head, body);
  }

  #budgets(): HTMLElement[] {
    const { budgets } = this.#run!;
    const chosen = budgets.filter(({ pod }) => `pod/${pod}` === this.#selected);
    return (chosen.length ? chosen : budgets).map(({ pod, total, terms }) => {
      const cells = ["takes", "until", "what", "set by"].map((text) => h("th", {}, text));
      const rows = terms.map(({ takes, until, text, setBy }) => {
        const by = setBy ? h("code", {}, setBy) : "";
        const row = [takes, until, text].map((cell) => h("td", {}, cell));
        return h("tr", {}, ...row, h("td", {}, by));
      });
      const caption = h("caption", {}, `${pod}: ${total}`);
      const head = h("thead", {}, h("tr", {}, ...cells));
      return h("table", { part: "budget" }, caption, head, h("tbody", {}, ...rows));
    });
  }

  #editor(): HTMLElement[] {
    const nodes = this.#run!.lanes.filter(({ subject }) => subject.startsWith("node/"));
    const node = h("select", { part: "knob", "data-key": "edit-node" });
    for (const { subject, name } of nodes) {
      node.append(h("option", { value: name, selected: subject === this.#selected }, name));
    }
    const action = h("select", { part: "knob", "data-key": "edit-action" });
    for (const [value, [text]] of Object.entries(ACTIONS))
      action.append(h("option", { value }, text));
    const carryOut = () => {
      const [, fields] = ACTIONS[action.value]!;
      const step = {
        at: `${Math.round(this.#now)}ms`,
        do: { [action.value]: { node: node.value, ...fields } },
      };
      void this.#engine({ steps: [step], kind: "step" }).catch(() => {});
    };
    const at = h("button", {
      type: "button",
      part: "button",
      "data-key": "edit-do",
      onclick: carryOut,
    });
    this.#parts.at = at;
    const yaml = h("textarea", {
      part: "yaml",
      spellcheck: "false",
      "data-key": "edit-yaml",
      "aria-label": "The scenario as YAML",
    });
    yaml.value = this.#source ?? this.#recording!.yaml;
    const runIt = () => {
      this.#source = yaml.value;
      void this.#engine({ yaml: yaml.value, kind: "yaml" }).then(
        () => (this.#source = undefined),
        () => {},
      );
    };
    const run = h(
      "button",
      { type: "button", part: "button", "data-key": "edit-run", onclick: runIt },
      "Run",
    );
    return [
      h("div", { class: "bar" }, h("label", {}, "Node ", node), h("label", {}, "Do ", action), at),
      yaml,
      h(
        "div",
        { class: "bar" },
        run,
        h("span", { class: "hint" }, "the first time, this loads the engine"),
      ),
    ];
  }

  /** Shows what went wrong, and what is being done. */
  #set(notice: string, busy: string): void {
    this.#notice = notice;
    this.#busy = busy;
    const element = this.#parts.notice;
    if (!element) return;
    element.hidden = !notice && !busy;
    element.textContent = notice || busy;
    for (const key of ["edit-do", "edit-run"]) {
      this.shadowRoot!.querySelector(`[data-key="${key}"]`)?.toggleAttribute("disabled", !!busy);
    }
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const recorded = this.#recording ? " The recorded run can still be played." : "";
    this.#set(`This cannot be run: ${message.replace(/[.]?$/, ".")}${recorded}`, "");
    this.#tell("error", { message });
  }

  /** Follows the clock; at most once in a frame. */
  #update(): void {
    if (this.#drawing || !this.#run || !this.#frame) return;
    this.#drawing = true;
    const now = () => {
      this.#drawing = false;
      this.#show();
    };
    if (this.#ticking) requestAnimationFrame(now);
    else now();
  }

  #show(): void {
    const run = this.#run!;
    const now = this.#now;
    this.#picture!.show(now, this.#moved);
    this.#picture!.select(this.#selected);
    const { play, range, output, status, link, log, at, answer } = this.#parts;
    if (this.#moved && !this.#played && now >= this.#end()) {
      this.#played = this.#asked = true;
      answer?.setAttribute("open", "");
    }
    if (play) {
      const text = this.#ticking ? "Pause" : "Play";
      if (play.textContent !== text) {
        play.textContent = text;
        play.setAttribute("aria-label", text);
        play.title = text;
      }
      (range as HTMLInputElement).value = String(now);
      range!.setAttribute("aria-valuetext", clock(now));
      output!.textContent = `${clock(Math.floor(now / 100) * 100)} / ${clock(this.#end())}`;
    }
    const words = this.#words();
    if (status!.textContent !== words) status!.textContent = words;
    // Not read aloud while time runs.
    status!.setAttribute("aria-live", this.#ticking ? "off" : "polite");
    if (at) at.textContent = `At ${clock(now)}`;
    link?.setAttribute("href", this.#link()!);
    const latest = run.events.findLast((event) => event.at <= now)?.at;
    run.events.forEach((event, index) => {
      const row = log?.children[index];
      row?.classList.toggle("later", event.at > now);
      row?.classList.toggle("now", event.at === latest);
    });
  }

  /** What is said of the moment: of the selected object, or what happened last. */
  #words(): string {
    const now = this.#now;
    const lane = this.#run!.lanes.find(({ subject }) => subject === this.#selected);
    if (lane) {
      const last = lane.segments.findLast(({ from }) => from <= now);
      if (!last || (last.to !== undefined && last.to <= now)) return `${lane.name} is not there.`;
      const { from, text, reason, began, cause } = last;
      const why = [began && `${clock(from)}: ${began}`, cause && `because ${cause}`];
      const head = `${lane.name}: ${text}${reason ? ` (${reason})` : ""}`;
      return [head, ...why.filter(Boolean)].join(" · ");
    }
    if (!this.#moved) return "Play it, or choose a lane.";
    const last = this.#run!.events.findLast(({ at }) => at <= now);
    return last ? `${clock(last.at)}: ${last.text}` : "";
  }

  #point(event: PointerEvent): void {
    const { svg } = this.#picture!;
    const box = svg.getBoundingClientRect();
    const lane = laneAt(svg, event.clientY, this.#run!.lanes);
    if (lane) this.#selected = lane.subject === this.#selected ? undefined : lane.subject;
    const left = box.left + (box.width * NAMES) / 100;
    if (event.clientX > left) {
      const axis = Math.max(this.#run!.axis, this.#compared()?.axis ?? 0);
      this.seek(((event.clientX - left) / (box.right - left)) * (axis / 1000));
    }
    if (this.#view === "budget") this.#panel();
    this.#update();
  }

  /** Keys count while the focus is here, and go no further if they mean something. */
  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.composedPath()[0] as HTMLElement;
    const { tagName } = target;
    const isText = tagName === "TEXTAREA";
    const isField = tagName === "SELECT" || tagName === "INPUT";
    const acts: Record<string, (() => void) | undefined> = {
      " ": () => (this.#ticking ? this.pause() : this.play()),
      ".": () => this.next(),
      ",": () => this.previous(),
      ArrowLeft: () => this.seek(Math.max(0, this.#now - this.#end() / 50) / 1000),
      ArrowRight: () => this.seek((this.#now + this.#end() / 50) / 1000),
      ArrowUp: () => this.#choose(-1),
      ArrowDown: () => this.#choose(1),
      Home: () => this.seek(0),
      End: () => this.seek(this.#end() / 1000),
    };
    const act = Object.hasOwn(acts, event.key) ? acts[event.key] : undefined;
    // A site that listens takes the element for the target, and not the field that is in it.
    if (isText) {
      if (event.key !== "Escape" && event.key !== "Tab") event.stopPropagation();
      return;
    }
    if (!act || !this.#run) return;
    // What a control does with a key itself.
    if (isField && event.key !== "," && event.key !== ".") return event.stopPropagation();
    const isPressed = tagName === "BUTTON" || tagName === "SUMMARY";
    if (isPressed && event.key === " ") return event.stopPropagation();
    // What can be scrolled scrolls.
    const isUpOrDown = event.key === "ArrowUp" || event.key === "ArrowDown";
    if (isUpOrDown && target !== this.#frame) return event.stopPropagation();
    event.stopPropagation();
    event.preventDefault();
    act();
  }

  /** Selects the lane above or below. */
  #choose(by: number): void {
    const { lanes } = this.#run!;
    const index = lanes.findIndex(({ subject }) => subject === this.#selected);
    const next = index < 0 ? (by > 0 ? 0 : lanes.length - 1) : index + by;
    this.#selected = lanes[Math.max(0, Math.min(next, lanes.length - 1))]?.subject;
    this.#update();
  }

  // --- the clock ---

  #end(): number {
    const until = millis(this.getAttribute("until"));
    return Math.min(this.#run?.end ?? NaN, until ?? Infinity);
  }

  /** Simulated time per time. */
  #speed(): number {
    const speed = Number(this.getAttribute("speed"));
    return speed > 0 ? speed : Math.max(1, this.#end() / 1000 / PLAYING_TIME);
  }

  #nextTime(): number {
    return this.#run?.events.find(({ at }) => at > this.#now)?.at ?? this.#end();
  }

  /** Sets the clock; what happened in between is told unless it is a jump. */
  #to(to: number, jump = false): void {
    if (!this.#run) return;
    const from = this.#now;
    this.#now = Math.max(0, Math.min(to, this.#end()));
    if (this.#now !== from) this.#tell("timechange", { currentTime: this.currentTime });
    if (!jump) {
      for (const event of this.#run.events) {
        if (event.at > from && event.at <= this.#now) this.#tell("event", event);
      }
    }
    if (this.#ticking && this.#now >= this.#end()) {
      this.pause();
      this.#tell("ended", undefined);
    }
    this.#update();
  }

  #tell(name: keyof TaintLabEventMap, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

export interface TaintLab {
  addEventListener<K extends keyof TaintLabEventMap>(
    type: K,
    listener: (this: TaintLab, event: TaintLabEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** Defines the element, unless this page has it already, perhaps from another version. */
export function define(): void {
  const registry = globalThis.customElements;
  if (registry && !registry.get("taint-lab")) registry.define("taint-lab", TaintLab);
}
