/** How fences become demos. */
export interface TaintlabOptions {
  /** The folder of scenario files, for `scenario=NAME`; `examples` unless given. */
  examples?: string;
  /** Where the playground is, with `/` at its end; it must have the same examples. */
  playground?: string;
  /** Whether the text is MDX; found out unless given. */
  mdx?: boolean;
}

/** A plugin for remark: each fence `taintlab` becomes a demo, or the build fails. */
export default function remarkTaintlab(options?: TaintlabOptions): (tree: any, file: any) => void;
