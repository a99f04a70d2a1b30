// For browsers, which fetch the wasm from beside this file.
import init from "./glue.js";
// @exports ./glue.js
const url = new URL("./taintlab_bg.wasm", import.meta.url);
try {
  await init({ module_or_path: url });
} catch (cause) {
  // What keeps it from being there is the bundler or the page: say what to do about either.
  const reason = `@entry: ${url} cannot be loaded: ${cause.message}`;
  const advice =
    `a bundler that does not copy the file needs the entry "@entry/inline"; a ` +
    `Content-Security-Policy needs script-src 'wasm-unsafe-eval'`;
  throw new Error(`${reason} (${advice})`, { cause });
}
