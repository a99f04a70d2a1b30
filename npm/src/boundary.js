// The part of the boundary that is JavaScript.
//
// The module must survive whatever a caller gives it: objects whose getters throw, proxies,
// predicates that call the module again, and a trap of its own. Two things see to that:
//
// - Code of a caller runs only inside what the module imports from here. Each of these imports is
//   caught on its way back (`catch` in `js.rs`), and what they hand over is plain.
// - What the package exports is wrapped by `guarded` and `guardedClass`: no object is called while
//   it is at work, and a call that ends half-way leaves nothing behind but the object that was at
//   work.

/** The stack pointer of the module; absent until it is loaded. */
let stack;
/** What it is while no call is under way. */
let top;
/** How often the module was loaded. */
let generation = 0;
/** The memory of the module. */
let memory;
/** How many calls are under way, one inside another. */
let depth = 0;

/** The module calls it whenever it is loaded. */
export function attach(exports) {
  stack = exports.__stack_pointer;
  memory = exports.memory;
  top = undefined;
  generation += 1;
}

// What the module reads.

/** How many elements a list may have that is read field by field; a proxy may claim any number. */
const MOST = 1_000_000;

/** Lists of names by the text that has them all. */
const lists = new Map();

/** The names in a text with blanks between them. */
function namesIn(text) {
  let names = lists.get(text);
  if (names === undefined) lists.set(text, (names = text.split(" ")));
  return names;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** As JSON has it: a date is the text that stands for it. */
function asInJson(value) {
  if (typeof value !== "object" || value === null || typeof value.toJSON !== "function")
    return value;
  return value.toJSON() ?? value;
}

/**
 * The fields of these names of an object, after the names that it has besides, a line for each.
 * What it is, in words, if it is no object.
 */
export function record(object, text) {
  if (!isObject(object)) return describe(object);
  const names = namesIn(text);
  const fields = [undefined];
  for (let i = 0; i < names.length; i++) fields.push(asInJson(object[names[i]]));
  const all = Object.keys(object);
  for (let i = 0; i < all.length; i++) {
    if (!names.includes(all[i]))
      fields[0] = fields[0] === undefined ? all[i] : `${fields[0]}\n${all[i]}`;
  }
  return fields;
}

/** The same of each element of a list; `undefined` if it is none. */
export function records(list, text) {
  if (!Array.isArray(list)) return undefined;
  const { length } = list;
  if (length > MOST)
    throw new RangeError(`a list of ${length} elements; at most ${MOST} can be read`);
  const all = [];
  for (let index = 0; index < length; index++) {
    const fields = record(list[index], text);
    all.push(fields);
    // What is said of the first that is none is enough.
    if (typeof fields === "string") break;
  }
  return all;
}

/** The names and values of an object, one after the other; `undefined` if it is none. */
export const entries = (object) => (isObject(object) ? Object.entries(object).flat() : undefined);

/** An object with these values for fields of these names, but for those that are `undefined`. */
export function object(text, ...values) {
  const names = namesIn(text);
  const made = {};
  for (let i = 0; i < names.length; i++) if (values[i] !== undefined) made[names[i]] = values[i];
  return made;
}

/**
 * Gives an object or a list a field of its own, whatever the prototypes have under that name. The
 * package calls it where serde-wasm-bindgen sets a field.
 */
export function own(object, key, value) {
  if (key in object) {
    const field = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, key, field);
  } else {
    object[key] = value;
  }
}

/** Puts a value at the end of a list. */
export function append(list, value) {
  list[list.length] = value;
}

/** How deep what is read may be nested; many times what Kubernetes has. */
const DEEPEST = 1_000;

/** Whether data is nested so deeply, at whichever place. Getters are not asked. */
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

/** A value as JSON text. */
export function stringify(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // For what is circular JSON has words of its own.
    if (error instanceof TypeError || !isTooDeep(value)) throw error;
    throw new TypeError(`nested too deeply: at most ${DEEPEST} levels can be read`);
  }
}

/** A copy of a value as JSON has it: without getters and proxies. `what` is what it is called. */
export function plain(value, what) {
  const text = stringify(value);
  // Half of a surrogate pair is the only thing that JSON writes so.
  if (/(?<!\\)(\\\\)*\\ud[89a-f]/.test(text)) {
    const message = "a string that is not well-formed Unicode: it has half of a surrogate pair";
    throw new TypeError(`${what}: there is ${message}`);
  }
  return text === undefined ? undefined : JSON.parse(text);
}

/** What a JSON text says. */
export const parse = (text) => JSON.parse(text);

/** Whether a text is Unicode: it has no half of a surrogate pair. */
export const isWellFormed = (text) => !/\p{Surrogate}/u.test(text);

/** Calls a function of the caller. */
export const call = (work, first, second) => work(first, second);

/** What came of a call that made a simulator, and what was read for it. */
export function created(simulator, warnings, imported) {
  return { ok: true, simulator, warnings, imported };
}

/** What came of a call that made the plan of a report, and what was read for it. */
export function planned(plan, warnings, imported) {
  const answer = { ok: true, plan, warnings };
  return imported === undefined ? answer : { ...answer, imported };
}

/** What a value is, in words. */
export function describe(value) {
  const short = (text) => [...text.slice(0, 80)].slice(0, 40).join("");
  switch (typeof value) {
    case "undefined":
      return "nothing";
    case "string":
      return `the string \`${short(value)}\``;
    case "number":
      return `the number \`${value}\``;
    case "bigint":
      return "a BigInt";
    case "boolean":
      return `\`${value}\``;
    case "object":
      if (value === null) return "`null`";
      return Array.isArray(value) ? "an array" : "an object";
    default:
      return `a ${typeof value}`;
  }
}

// What the package exports.

/** Where an object that the module gave out keeps what is known of it. */
const STATE = Symbol("taintlab");

/** Calls the module. If the call does not come to its end, the stack is put back to where it was. */
function enter(work, self, args, stopped) {
  if (stack === undefined) {
    throw new Error(
      "taintlab: the module is not loaded; call `await init(…)` or `initSync(…)` first",
    );
  }
  const pointer = stack;
  let before = pointer.value;
  if (depth === 0 && before !== top) {
    // Or the stack of JavaScript was at its end, so that it could not be put back.
    top ??= before;
    pointer.value = before = top;
  }
  depth += 1;
  try {
    return work.apply(self, args);
  } catch (error) {
    if (pointer.value !== before) {
      pointer.value = before;
      stopped?.();
    }
    throw usedUp(error) ?? error;
  } finally {
    depth -= 1;
  }
}

/** What is to be said of a trap: a panic is an exception of its own, so that only one is left. */
function usedUp(error) {
  if (!(error instanceof WebAssembly.RuntimeError && /unreachable/i.test(error.message))) return;
  const held = Math.round(memory.buffer.byteLength / 2 ** 20);
  const message = `taintlab: there is no more memory (the module holds ${held} MiB); a simulator that was at work can no longer be used; free() others, or call reset()`;
  return new RangeError(message, { cause: error });
}

const named = (wrapper, name) => Object.defineProperty(wrapper, "name", { value: name });

/** A function of the module as the package exports it. */
export function guarded(work) {
  return named(function (...args) {
    return enter(work, undefined, args);
  }, work.name);
}

/** What is known of an object of this class. */
function stateOf(object, type) {
  const state = object?.[STATE];
  if (state?.type === type) return state;
  throw new TypeError(`expected a ${type.name}, found ${describe(object)}`);
}

/** The same if it can be used; otherwise says why not. */
function usable(object, type) {
  const state = stateOf(object, type);
  const it = `this ${type.name}`;
  if (state.freed) throw new TypeError(`${it} has been freed`);
  if (state.generation !== generation)
    throw new TypeError(`${it} is from before reset(); create a new one`);
  if (state.stopped)
    throw new Error(`${it} stopped because of an internal error; create a new one`);
  if (state.atWork) {
    throw new Error(
      `${it} is busy: it cannot be called from its own predicate or from getters of its arguments`,
    );
  }
  return state;
}

/** A method or a getter as the package exports it. */
function guardedMethod(type, work, takes) {
  return named(function (...args) {
    const state = usable(this, type);
    if (takes !== undefined) usable(args[0], takes);
    state.atWork = true;
    try {
      return enter(work, this, args, () => {
        // What it holds was left half-way: nobody gets at it again.
        state.stopped = true;
        this.__destroy_into_raw();
      });
    } finally {
      state.atWork = false;
    }
  }, work.name);
}

/** `free()`: what was freed already, or has stopped, has nothing to give back. */
function guardedFree(type, work) {
  return function free() {
    const state = stateOf(this, type);
    if (state.freed) return;
    if (state.atWork)
      throw new Error(`this ${type.name} is busy: free it when the call is over`);
    state.freed = true;
    if (state.stopped || state.generation !== generation) this.__destroy_into_raw();
    else enter(work, this, []);
  };
}

/**
 * A class of the module as the package exports it, under this name, which the bundler has changed.
 * `takes` says which method takes an object of which class.
 */
export function guardedClass(name, type, takes = {}) {
  const { prototype, __wrap: wrap } = named(type, name);
  type.__wrap = (pointer) => {
    const value = { type, generation, freed: false, stopped: false, atWork: false };
    return Object.defineProperty(wrap(pointer), STATE, { value });
  };
  for (const name of Object.getOwnPropertyNames(type)) {
    if (typeof type[name] === "function" && !name.startsWith("__"))
      type[name] = guarded(type[name]);
  }
  const free = guardedFree(type, prototype.free);
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === "constructor" || name.startsWith("__")) continue;
    const { get, value } = property;
    if (get !== undefined) property.get = guardedMethod(type, get);
    if (value !== undefined) property.value = guardedMethod(type, value, takes[name]);
    Object.defineProperty(prototype, name, property);
  }
  prototype.free = free;
  if (Symbol.dispose !== undefined) prototype[Symbol.dispose] = free;
  return type;
}

/** `reset()`: whatever is called next, a new module answers. `schedule` says so to it, and `next` calls it. */
export function resetting(schedule, next) {
  return function reset() {
    if (depth > 0) throw new Error("taintlab: reset() cannot be called while a call is under way");
    enter(schedule, undefined, []);
    enter(next, undefined, []);
  };
}
