// The engine: loaded once for all demos of a page, at the first edit.

import type { Recording } from "./recording.js";

/** What the element needs of the package `taintlab`. */
export interface Engine {
  makeDemo(
    scenario: string,
    options?: { release?: string },
    demo?: { fence?: string; steps?: object[] },
  ):
    | { ok: true; recording: Recording }
    | { ok: false; errors: { message: string; line?: number }[] };
}

/** Told how much is loaded, from 0 to 1; nothing if that is not known. */
type Progress = (part?: number) => void;

/** Loads the engine. */
export type Loader = (progress: Progress) => Promise<Engine>;

let loader: Loader | undefined;
let loading: Promise<Engine> | undefined;
const listeners = new Set<Progress>();

/** Says how the engine is loaded; called by the entries before any element is there. */
export function setLoader(load: Loader): void {
  loader = load;
}

/** The engine. All elements get the same one; after a failure the next call tries again. */
export async function engine(progress: Progress): Promise<Engine> {
  listeners.add(progress);
  try {
    loading ??= load();
    return await loading;
  } finally {
    listeners.delete(progress);
  }
}

async function load(): Promise<Engine> {
  try {
    if (!loader) throw new Error("no engine");
    // Said here, since without it what the browser says names neither the page nor the policy.
    if (!canCompile()) {
      throw new Error(
        "this page's Content-Security-Policy forbids WebAssembly (script-src 'wasm-unsafe-eval')",
      );
    }
    return await loader((part) => listeners.forEach((listener) => listener(part)));
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

/** Whether the page may compile wasm: the smallest module is tried. */
function canCompile(): boolean {
  try {
    new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
    return true;
  } catch {
    return false;
  }
}

/** Loads the engine from a folder, and says how far it is. */
export function fromFolder(folder: URL): Loader {
  return async (progress) => {
    const module = await import(new URL("manual.js", folder).href);
    // A `manual.js` that only leads to another folder says where the rest is.
    const wasm = await bytes(module.wasm ?? new URL("taintlab_bg.wasm", folder), progress);
    await module.default({ module_or_path: await WebAssembly.compile(wasm) });
    return module;
  };
}

async function bytes(url: URL, progress: Progress): Promise<ArrayBuffer> {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`${url}: ${response.status}`);
  // Of what is compressed on the way the length is not known.
  const encoded = response.headers.get("content-encoding");
  const length = encoded ? 0 : Number(response.headers.get("content-length"));
  let done = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        done += chunk.length;
        progress(length ? done / length : undefined);
        controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted).arrayBuffer();
}
