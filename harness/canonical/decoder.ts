/** What `decodeEvent` throws: `path` is where, such as `$.payload.state`. */
export class DecodeError extends Error {
  readonly path: string;
  constructor(problem: string, path: string) {
    super(`${problem} - at \`${path}\``);
    this.name = "DecodeError";
    this.path = path;
  }
}

/** What is wrong, and the path from the value that was checked. */
interface Wrong {
  problem: string;
  path: string;
}
type Check = (value: unknown) => Wrong | undefined;
type Fields = Record<string, Check>;

const LONE_SURROGATE = /\p{Surrogate}/u;

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function expected(what: string, value: unknown): Wrong {
  return { problem: `expected ${what}, got ${nameOf(value)}`, path: "" };
}

function within(step: string, wrong: Wrong | undefined): Wrong | undefined {
  return wrong && { problem: wrong.problem, path: step + wrong.path };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const text: Check = (value) => {
  if (typeof value !== "string") return expected("string", value);
  return LONE_SURROGATE.test(value) ? { problem: "lone surrogate in a string", path: "" } : undefined;
};
const id: Check = (value) => (value === "" ? { problem: "empty id", path: "" } : text(value));
const flag: Check = (value) => (typeof value === "boolean" ? undefined : expected("boolean", value));
const number: Check = (value) => (Number.isFinite(value) ? undefined : expected("number", value));
const integer: Check = (value) => (Number.isInteger(value) ? undefined : expected("integer", value));
const count: Check = (value) =>
  integer(value) ?? ((value as number) < 0 ? { problem: "negative count", path: "" } : undefined);

/** Any JSON value. */
const json: Check = (value) => {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return number(value);
  if (value === null || typeof value === "boolean") return undefined;
  if (Array.isArray(value)) return list(json)(value);
  return isObject(value) ? record(value) : expected("JSON", value);
};

const record: Check = (value) => {
  if (!isObject(value)) return expected("object", value);
  for (const [name, inner] of Object.entries(value)) {
    const wrong = inner === undefined ? undefined : within(`.${name}`, text(name) ?? json(inner));
    if (wrong) return wrong;
  }
  return undefined;
};

function list(item: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return expected("array", value);
    for (let index = 0; index < value.length; index++) {
      const wrong = within(`[${index}]`, item(value[index]));
      if (wrong) return wrong;
    }
    return undefined;
  };
}

function nullable(check: Check): Check {
  return (value) => (value === null ? undefined : check(value));
}

function oneOf(values: readonly string[]): Check {
  const known = new Set<unknown>(values);
  return (value) => {
    if (known.has(value)) return undefined;
    if (typeof value !== "string") return expected("string", value);
    return { problem: `unknown value ${JSON.stringify(value)}`, path: "" };
  };
}

/** An object with these fields and no others. A field that is undefined is absent, as in JSON. */
function object(required: Fields, optional: Fields = {}): Check {
  const fields = new Map([...Object.entries(required), ...Object.entries(optional)]);
  return (value) => {
    if (!isObject(value)) return expected("object", value);
    for (const [name, inner] of Object.entries(value)) {
      if (inner === undefined) continue;
      const check = fields.get(name);
      if (!check) return { problem: `unknown field ${JSON.stringify(name)}`, path: "" };
      const wrong = within(`.${name}`, check(inner));
      if (wrong) return wrong;
    }
    for (const name of Object.keys(required)) {
      if (value[name] === undefined) return { problem: `missing field "${name}"`, path: "" };
    }
    return undefined;
  };
}
