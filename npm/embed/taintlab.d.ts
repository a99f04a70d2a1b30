// The package itself, which is built beside this; as much of it as the element uses.
declare module "taintlab" {
  export const makeDemo: import("./engine.js").Engine["makeDemo"];
}
