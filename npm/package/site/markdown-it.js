// `taintlab/markdown-it`: a plugin for markdown-it, and so for VitePress and Eleventy.

import { demoOf, optionsOf, wordsOf } from "./demo.js";

/**
 * Makes each fence `taintlab` a demo.
 *
 * Options: `examples`, the folder of scenario files; `playground`, where the playground is; `vue`,
 * whether the result is a template of Vue, as in VitePress.
 */
export default function markdownItTaintlab(md, given) {
  const options = optionsOf(given, { examples: "string", playground: "string", vue: "boolean" });
  const other = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, settings, env, self) => {
    const token = tokens[index];
    const words = wordsOf(token.info);
    if (words === undefined) return other(tokens, index, settings, env, self);
    const page = env?.relativePath ?? "page";
    const number = tokens
      .slice(0, index + 1)
      .filter(({ info }) => wordsOf(info ?? "") !== undefined);
    const slug = page.replace(/[^A-Za-z0-9]+/g, "-");
    try {
      const html = demoOf(words, token.content, `taintlab-${slug}-${number.length}`, options);
      return options.vue
        ? `<div v-html="${attribute(JSON.stringify(html))}"></div>\n`
        : `${html}\n`;
    } catch (error) {
      const line = token.map ? `:${token.map[0] + 1}` : "";
      throw new Error(`${page}${line}: taintlab: ${error.message}`, { cause: error });
    }
  };
}

const attribute = (text) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
