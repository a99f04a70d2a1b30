// In the book the script of demos is in another folder than the engine; this leads to it.

export * from "../embed/manual.js";
export { default } from "../embed/manual.js";
export const wasm = new URL("../embed/taintlab_bg.wasm", import.meta.url);
