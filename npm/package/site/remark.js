// `taintlab/remark`: a plugin for remark, and so for Docusaurus, Astro and MDX.

import { demoOf, optionsOf, wordsOf } from "./demo.js";

/**
 * Makes each fence `taintlab` a demo.
 *
 * Options: `examples`, the folder of scenario files; `playground`, where the playground is; `mdx`,
 * whether the text is MDX, which is found out unless given.
 */
export default function remarkTaintlab(settings) {
  const options = optionsOf(settings, { examples: "string", playground: "string", mdx: "boolean" });
  const extensions = this?.data?.("fromMarkdownExtensions") ?? [];
  const known = [extensions].flat(Infinity).some((one) => one?.enter?.mdxJsxFlowTag);
  const mdx = options.mdx ?? known;
  return (tree, file) => {
    let number = 0;
    const slug = String(file.path ?? file.history?.at(-1) ?? "page")
      .replace(/^.*[\\/]/, "")
      .replace(/[^A-Za-z0-9]+/g, "-");
    const visit = (parent) => {
      parent.children?.forEach((node, index) => {
        const words = node.type === "code" && wordsOf(`${node.lang ?? ""} ${node.meta ?? ""}`);
        if (typeof words !== "string") return visit(node);
        number += 1;
        try {
          const html = demoOf(words, node.value, `taintlab-${slug}-${number}`, options);
          parent.children[index] = mdx ? jsx(html) : { type: "html", value: html };
        } catch (error) {
          file.fail(`taintlab: ${error.message}`, node);
        }
      });
    };
    visit(tree);
  };
}

/** `<div dangerouslySetInnerHTML={{ __html: "…" }} />`: MDX takes no HTML as it is. */
function jsx(html) {
  const property = {
    type: "Property",
    kind: "init",
    method: false,
    shorthand: false,
    computed: false,
    key: { type: "Identifier", name: "__html" },
    value: { type: "Literal", value: html, raw: JSON.stringify(html) },
  };
  const expression = { type: "ObjectExpression", properties: [property] };
  const body = [{ type: "ExpressionStatement", expression }];
  const value = {
    type: "mdxJsxAttributeValueExpression",
    value: `{ __html: ${JSON.stringify(html)} }`,
    data: { estree: { type: "Program", sourceType: "module", comments: [], body } },
  };
  const attribute = { type: "mdxJsxAttribute", name: "dangerouslySetInnerHTML", value };
  return { type: "mdxJsxFlowElement", name: "div", attributes: [attribute], children: [] };
}
