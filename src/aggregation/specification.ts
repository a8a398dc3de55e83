import { encodeJson } from "../base/json/encode.ts";
import { parseExactJson } from "../base/json/embedded.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/json/value.ts";
import type { YieldIfDue } from "../base/yielding.ts";
import { definitionPair, pathPair } from "../schema/openapi/binary-document.ts";

/** The part of an extension server's OpenAPI 2.0 document that is about one group version. */
export interface RemoteSpecification {
  /** Of the document; asked with when it is read again. */
  tag: string | undefined;
  readonly paths: JsonObject;
  /** Those that the paths lead to. */
  readonly definitions: JsonObject;
}

/** A document that can't be used; the message says why. */
export class SpecificationFault extends Error {
  override name = "SpecificationFault";
}

const definitionPrefix = "#/definitions/";

/**
 * Takes the part of an OpenAPI 2.0 document that is about the paths below a prefix, so that a service can describe nothing but
 * what it serves.
 *
 * @throws {SpecificationFault}
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
  const paths = Object.fromEntries(
    Object.entries(all).filter(
      ([path, item]) => (path === prefix || path.startsWith(`${prefix}/`)) && isObject(item),
    ),
  );
  await yieldIfDue();
  const definitions = reachable(paths, isObject(allDefinitions) ? allDefinitions : {});
  await yieldIfDue();
  try {
    // Older command line clients ask for the binary form: what it has no place for must not spoil the whole document.
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

/** The definitions that a value leads to, and those to which they lead. */
function reachable(from: JsonObject, definitions: JsonObject): JsonObject {
  const result = new Map<string, JsonValue>();
  const left: JsonValue[] = [from];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    for (const name of referencesIn(value)) {
      if (result.has(name)) continue;
      if (!Object.hasOwn(definitions, name))
        throw new SpecificationFault(`it refers to ${JSON.stringify(name)}, which it lacks`);
      result.set(name, definitions[name]!);
      left.push(definitions[name]!);
    }
  }
  return Object.fromEntries(result);
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
 * A specification whose definitions have other names, where the names are taken by other definitions.
 *
 * @param taken the JSON of the definition that has a name.
 */
export function renamed(
  { paths, definitions }: RemoteSpecification,
  taken: (name: string) => string | undefined,
): Pick<RemoteSpecification, "paths" | "definitions"> {
  const names = new Map<string, string>();
  for (const [name, definition] of Object.entries(definitions)) {
    const other = taken(name);
    if (other === undefined || other === encodeJson(definition)) continue;
    let number = 2;
    while (taken(`${name}_v${number}`) !== undefined || Object.hasOwn(definitions, `${name}_v${number}`))
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
