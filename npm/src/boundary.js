// The JavaScript part of the boundary.
//
// The module must survive whatever a caller gives it: objects whose getters throw, proxies,
// predicates that call the module again, and traps of its own. Two measures ensure that:
//
// - Code of a caller runs only inside the functions that the module imports from here. `js.rs`
//   catches their exceptions (`catch`), and they hand over plain values.
// - `guarded` and `guardedClass` wrap everything that the package exports: no object is called
//   while it is at work, and a call that ends half-way leaves nothing behind but that object.

/** The stack pointer of the module; absent until it is loaded. */
let stack;
/** The stack pointer while no call is under way. */
let top;
/** Number of times that the module was loaded. */
let generation = 0;
/** The memory of the module. */
let memory;
/** Number of calls under way, one inside another. */
let depth = 0;

/** Called by the module whenever it is loaded. */
export function attach(exports) {
  stack = exports.__stack_pointer;
  memory = exports.memory;
  top = undefined;
  generation += 1;
}

// Values that the module reads.

/** The most elements in a list that is read field by field; a proxy may claim any number. */
const MOST = 1_000_000;

/** Lists of names, by the text that contains them. */
const lists = new Map();

/** The names in a text, which spaces separate. */
function namesIn(text) {
  let names = lists.get(text);
  if (names === undefined) lists.set(text, (names = text.split(" ")));
  return names;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** A value as JSON writes it: a date becomes a text. */
function asInJson(value) {
  if (typeof value !== "object" || value === null || typeof value.toJSON !== "function")
    return value;
  return value.toJSON() ?? value;
}

/**
 * The fields of an object by the names in `text`, after a text with the names of its other fields,
 * one per line. A description of the value if it is not an object.
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

/** The records of all elements of a list; `undefined` if the value is not a list. */
export function records(list, text) {
  if (!Array.isArray(list)) return undefined;
  const { length } = list;
  if (length > MOST)
    throw new RangeError(`a list of ${length} elements; at most ${MOST} can be read`);
  const all = [];
  for (let index = 0; index < length; index++) {
    const fields = record(list[index], text);
    all.push(fields);
    // One error is enough, so stop at the first element that is not an object.
    if (typeof fields === "string") break;
  }
  return all;
}

/** Names and values of an object, one after the other; `undefined` if it is not an object. */
export const entries = (object) => (isObject(object) ? Object.entries(object).flat() : undefined);

/** An object with fields of these names and values; fields that are `undefined` are left out. */
export function object(text, ...values) {
  const names = namesIn(text);
  const made = {};
  for (let i = 0; i < names.length; i++) if (values[i] !== undefined) made[names[i]] = values[i];
  return made;
}

/**
 * Sets an own field of an object or a list, whatever the prototypes have under that name. The
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

/** Appends a value to a list. */
export function append(list, value) {
  list[list.length] = value;
}

/** Whether a text is Unicode: it has no half of a surrogate pair. */
export const isWellFormed = (text) => !/\p{Surrogate}/u.test(text);

/** Calls a function of the caller. */
export const call = (work, first, second) => work(first, second);

/** The answer of a call that made a simulator, with facts about the text that was read. */
export function created(simulator, warnings, imported) {
  return { ok: true, simulator, warnings, imported };
}

/** The answer of a call that made the plan of a report, with facts about the text. */
export function planned(plan, warnings, imported) {
  const answer = { ok: true, plan, warnings };
  return imported === undefined ? answer : { ...answer, imported };
}

/** A value in words. */
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
      if (Array.isArray(value)) return "an array";
      if (typeof value.toJSON === "function") {
        const written = value.toJSON();
        if (!isObject(written)) return `an object that JSON writes as ${describe(written)}`;
      }
      return "an object";
    default:
      return `a ${typeof value}`;
  }
}

// Wrappers of everything that the package exports.

/** The key under which an object of the module keeps its state. */
const STATE = Symbol("taintlab");

/** Calls the module. If the call does not reach its end, the stack pointer is restored. */
function enter(work, self, args, stopped) {
  if (stack === undefined) {
    throw new Error(
      "taintlab: the module is not loaded; call `await init(…)` or `initSync(…)` first",
    );
  }
  const pointer = stack;
  let before = pointer.value;
  if (depth === 0 && before !== top) {
    // Or the stack of JavaScript was exhausted, so that it could not be restored.
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

/** The error for a trap: panics have exceptions of their own, so the memory is exhausted. */
function usedUp(error) {
  if (!(error instanceof WebAssembly.RuntimeError && /unreachable/i.test(error.message))) return;
  const held = Math.round(memory.buffer.byteLength / 2 ** 20);
  const message = `taintlab: there is no more memory (the module holds ${held} MiB); a simulator that was at work can no longer be used; free() others, or call reset()`;
  return new RangeError(message, { cause: error });
}

const named = (wrapper, name) => Object.defineProperty(wrapper, "name", { value: name });

/** Wraps a function of the module for export. */
export function guarded(work) {
  return named(function (...args) {
    return enter(work, undefined, args);
  }, work.name);
}

/** The state of an object of this class. */
function stateOf(object, type) {
  const state = object?.[STATE];
  if (state?.type === type) return state;
  throw new TypeError(`expected a ${type.name}, found ${describe(object)}`);
}

/** The state of an object that can be used; otherwise an error that says why not. */
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

/** Wraps a method or a getter for export. */
function guardedMethod(type, work, takes) {
  return named(function (...args) {
    const state = usable(this, type);
    if (takes !== undefined) usable(args[0], takes);
    state.atWork = true;
    try {
      return enter(work, this, args, () => {
        // Its value was left half-changed: nobody may use it again.
        state.stopped = true;
        this.__destroy_into_raw();
      });
    } finally {
      state.atWork = false;
    }
  }, work.name);
}

/** `free()`: an object that was freed already, or has stopped, has nothing to give back. */
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
 * Wraps a class of the module for export, under this name, which the bundler has changed. `takes`
 * has the class of the object that a method takes, by the method's name.
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

/** `reset()`: a new module answers the next call. `schedule` prepares it, and `next` calls it. */
export function resetting(schedule, next) {
  return function reset() {
    if (depth > 0) throw new Error("taintlab: reset() cannot be called while a call is under way");
    enter(schedule, undefined, []);
    enter(next, undefined, []);
  };
}
