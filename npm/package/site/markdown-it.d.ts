/** How fences become demos. */
export interface TaintlabOptions {
  /** The folder of scenario files, for `scenario=NAME`; `examples` unless given. */
  examples?: string;
  /** Where the playground is, with `/` at its end; it must have the same examples. */
  playground?: string;
  /** Whether the result is a template of Vue, as in VitePress. */
  vue?: boolean;
}

/** A plugin for markdown-it: each fence `taintlab` becomes a demo, or the build fails. */
export default function markdownItTaintlab(md: any, options?: TaintlabOptions): void;
