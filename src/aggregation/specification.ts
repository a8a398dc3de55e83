import { encodeJson } from "../base/json/encode.ts";
import { parseExactJson } from "../base/json/embedded.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/json/value.ts";
import type { YieldIfDue } from "../base/turns/yielding.ts";
import { definitionPair, pathPair } from "../schema/openapi/binary-document.ts";

/** The part of an extension server's OpenAPI 2.0 document for one group version. */
export interface RemoteSpecification {
  /** ETag of the document, for the next conditional request. */
  tag: string | undefined;
  readonly paths: JsonObject;
  /** The definitions that the paths refer to. */
  readonly definitions: JsonObject;
}

/** An invalid document; the message contains the reason. */
export class SpecificationFault extends Error {
  override name = "SpecificationFault";
}

const definitionPrefix = "#/definitions/";

/**
 * Extracts the paths below a prefix from an OpenAPI 2.0 document, so that a service describes only the group version that it
 * serves.
 *
 * @throws {SpecificationFault} if the document is invalid.
 */
export async function readSpecification(
  text: string,
  prefix: string,
  tag: string | undefined,
  yieldIfDue: YieldIfDue,
): Promise<RemoteSpecification> {
  const document = parsed(text);
  const all = document["paths"];
  const allDefinitions = document["definitions"];
  if (document["swagger"] !== "2.0" || !isObject(all))
    throw new SpecificationFault("it is no OpenAPI 2.0 document");
  const shared = new SharedParts(document);
  const paths: JsonObject = {};
  for (const [path, item] of Object.entries(all)) {
    if ((path !== prefix && !path.startsWith(`${prefix}/`)) || !isObject(item)) continue;
    paths[path] = inlined(item, shared);
    await yieldIfDue();
  }
  const definitions = reachable(paths, isObject(allDefinitions) ? allDefinitions : {});
  await yieldIfDue();
  try {
    // Older versions of kubectl request the binary form: unsupported content must not break the whole document.
    for (const [name, item] of Object.entries(paths)) {
      pathPair(name, item);
      await yieldIfDue();
    }
    for (const [name, definition] of Object.entries(definitions)) {
      definitionPair(name, definition);
      await yieldIfDue();
    }
  } catch (error) {
    throw new SpecificationFault(`it can't be written in binary: ${String(error)}`);
  }
  return { tag, paths, definitions };
}

function inlined(item: JsonObject, shared: SharedParts): JsonObject {
  try {
    return shared.inline(item);
  } catch (error) {
    if (error instanceof SharedPartError) throw new SpecificationFault(error.message);
    throw error;
  }
}

function parsed(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseExactJson(text);
  } catch (error) {
    throw new SpecificationFault(`it isn't JSON: ${String(error)}`);
  }
  if (!isObject(value)) throw new SpecificationFault("it is no JSON object");
  return value;
}

/** Returns the definitions that a value refers to, directly or indirectly. */
function reachable(from: JsonObject, known: JsonObject): JsonObject {
  const found = new Map<string, JsonValue>();
  const left: JsonValue[] = [from];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    for (const name of referencesIn(value)) {
      if (found.has(name)) continue;
      if (!Object.hasOwn(known, name))
        throw new SpecificationFault(`it refers to ${JSON.stringify(name)}, which it lacks`);
      found.set(name, known[name]!);
      left.push(known[name]!);
    }
  }
  return Object.fromEntries(found);
}

function referencesIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const isReference = name === "$ref" && typeof member === "string" && member.startsWith(definitionPrefix);
    return isReference ? [member.slice(definitionPrefix.length)] : referencesIn(member);
  });
}

/**
 * Returns the specification with new names for definitions whose names other definitions use.
 *
 * @param existing returns the JSON of the definition that uses a name.
 */
export function renamed(
  { paths, definitions }: RemoteSpecification,
  existing: (name: string) => string | undefined,
): Pick<RemoteSpecification, "paths" | "definitions"> {
  const names = new Map<string, string>();
  for (const [name, definition] of Object.entries(definitions)) {
    const other = existing(name);
    if (other === undefined || other === encodeJson(definition)) continue;
    let number = 2;
    while (existing(`${name}_v${number}`) !== undefined || Object.hasOwn(definitions, `${name}_v${number}`))
      number++;
    names.set(name, `${name}_v${number}`);
  }
  if (names.size === 0) return { paths, definitions };
  const own = Object.entries(definitions).map(([name, value]) => [
    names.get(name) ?? name,
    withNames(value, names),
  ]);
  return {
    paths: withNames(paths, names) as JsonObject,
    definitions: Object.fromEntries(own) as JsonObject,
  };
}

function withNames(value: JsonValue, names: ReadonlyMap<string, string>): JsonValue {
  if (Array.isArray(value)) return value.map((one) => withNames(one, names));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    if (name !== "$ref" || typeof member !== "string") return [name, withNames(member, names)];
    const changed = names.get(member.slice(definitionPrefix.length));
    return [name, changed === undefined ? member : definitionPrefix + changed];
  });
  return Object.fromEntries(members) as JsonObject;
}

/** Thrown for a reference to a part that the document lacks, or for too many references. */
class SharedPartError extends Error {
  override name = "SharedPartError";
}

/** Maximum number of characters of all shared parts, counted at each reference: references could multiply a document. */
const maxLength = 32 * 1024 * 1024;

/**
 * The shared parameters and responses of an OpenAPI 2.0 document, which replace the references to them (`#/parameters/…`,
 * `#/responses/…`). So items of several documents can be merged although the names of their shared parts collide.
 */
class SharedParts {
  private readonly lengths = new Map<string, number>();
  private length = 0;

  constructor(private readonly document: JsonObject) {}

  /**
   * Returns a path item without references to shared parts.
   *
   * @throws {SharedPartError} if the document lacks a part, or if the replaced references of all items are too long.
   */
  inline(item: JsonObject): JsonObject {
    const members = Object.entries(item).map(([name, member]) => {
      if (name === "parameters") return [name, this.parameters(member)];
      return [name, isObject(member) ? this.operation(member) : member];
    });
    return Object.fromEntries(members) as JsonObject;
  }

  private operation(operation: JsonObject): JsonObject {
    const { parameters, responses } = operation;
    return {
      ...operation,
      ...(parameters === undefined ? {} : { parameters: this.parameters(parameters) }),
      ...(isObject(responses) ? { responses: this.responses(responses) } : {}),
    };
  }

  private parameters(parameters: JsonValue): JsonValue {
    return Array.isArray(parameters) ? parameters.map((one) => this.part(one, "parameters")) : parameters;
  }

  private responses(responses: JsonObject): JsonObject {
    const members = Object.entries(responses).map(([code, one]) => [code, this.part(one, "responses")]);
    return Object.fromEntries(members) as JsonObject;
  }

  /** Returns the shared part to which a value refers; the value itself if it refers to none. */
  private part(value: JsonValue, map: "parameters" | "responses"): JsonValue {
    const reference = isObject(value) ? value["$ref"] : undefined;
    const prefix = `#/${map}/`;
    if (typeof reference !== "string" || !reference.startsWith(prefix)) return value;
    const name = reference.slice(prefix.length).replaceAll("~1", "/").replaceAll("~0", "~");
    const shared = this.document[map];
    if (!isObject(shared) || !Object.hasOwn(shared, name))
      throw new SharedPartError(`it refers to ${JSON.stringify(reference)}, which it lacks`);
    const part = shared[name]!;
    this.count(reference, part);
    return part;
  }

  private count(reference: string, part: JsonValue): void {
    let length = this.lengths.get(reference);
    if (length === undefined) this.lengths.set(reference, (length = encodeJson(part).length));
    this.length += length;
    if (this.length > maxLength)
      throw new SharedPartError(
        `its references to parameters and responses have more than ${maxLength} characters`,
      );
  }
}
