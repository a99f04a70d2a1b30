// The part of the boundary that reads whole objects, as JSON, with the decoder of files. `taintlab/lite`,
// which reads taints field by field, goes without it.

/** The deepest nesting of a value; many times that of Kubernetes' objects. */
const DEEPEST = 1_000;

/** Whether a value is nested more deeply anywhere. Getters are not called. */
function isTooDeep(value) {
  let level = [value];
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth++) {
    level = level
      .flatMap((one) => Object.values(Object.getOwnPropertyDescriptors(one)))
      .map((property) => property.value)
      .filter((inner) => typeof inner === "object" && inner !== null);
  }
  return level.length > 0;
}

/** A value as JSON text. `what` names it in errors. */
export function stringify(value, what) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    const wrong = (why) => new TypeError(`${what}: ${why}`, { cause: error });
    if (error instanceof TypeError) {
      // As engines say it, each in its words.
      const { message } = error;
      if (/circular|cyclic/i.test(message)) throw wrong("there is an object that contains itself");
      if (/BigInt/.test(message)) throw wrong("there is a BigInt, which JSON cannot write");
      throw error;
    }
    if (!isTooDeep(value)) throw error;
    throw wrong(`nested too deeply: at most ${DEEPEST} levels can be read`);
  }
}

/** A copy of a value through JSON, without getters and proxies. `what` names it in errors. */
export function plain(value, what) {
  const text = stringify(value, what);
  // JSON writes nothing in this way but half of a surrogate pair.
  if (/(?<!\\)(\\\\)*\\ud[89a-f]/.test(text)) {
    const message = "a string that is not well-formed Unicode: it has half of a surrogate pair";
    throw new TypeError(`${what}: there is ${message}`);
  }
  return text === undefined ? undefined : JSON.parse(text);
}

/** The value of a JSON text. */
export const parse = (text) => JSON.parse(text);

/** Words about how YAML is written, in errors of the decoder, which reads files as well. */
const OF_YAML = [
  [/\b(expected|found) a mapping( \(`key: value`\))?/g, "$1 an object"],
  [/\b(expected|found) a list( \(lines that begin with `- `\))?/g, "$1 an array"],
  [/ \((put it in quotes|write \S+ without quotes|put `- ` in front|remove the `- `).*\)$/, ""],
];

/** A `TypeError` about a value of JavaScript. */
export const wrongCall = (message) =>
  new TypeError(OF_YAML.reduce((text, [words, better]) => text.replace(words, better), message));
