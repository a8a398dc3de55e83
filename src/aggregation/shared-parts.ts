import { isObject, type JsonObject, type JsonValue } from "../base/json/value.ts";

/** Thrown for a reference to a part that the document lacks. */
export class MissingPartError extends Error {
  override name = "MissingPartError";
}

/**
 * Returns a path item of an OpenAPI 2.0 document with the shared parameters and responses in place of the references to them
 * (`#/parameters/…`, `#/responses/…`). So items of several documents can be merged although the names of their shared parts collide.
 *
 * @throws {MissingPartError} if the document lacks a part.
 */
export function withSharedParts(item: JsonObject, document: JsonObject): JsonObject {
  const members = Object.entries(item).map(([name, member]) => {
    if (name === "parameters") return [name, parametersWithParts(member, document)];
    return [name, isObject(member) ? operationWithParts(member, document) : member];
  });
  return Object.fromEntries(members) as JsonObject;
}

function operationWithParts(operation: JsonObject, document: JsonObject): JsonObject {
  const { parameters, responses } = operation;
  return {
    ...operation,
    ...(parameters === undefined ? {} : { parameters: parametersWithParts(parameters, document) }),
    ...(isObject(responses) ? { responses: responsesWithParts(responses, document) } : {}),
  };
}

function parametersWithParts(parameters: JsonValue, document: JsonObject): JsonValue {
  if (!Array.isArray(parameters)) return parameters;
  return parameters.map((one) => partOf(one, "parameters", document));
}

function responsesWithParts(responses: JsonObject, document: JsonObject): JsonObject {
  const members = Object.entries(responses).map(([code, one]) => [code, partOf(one, "responses", document)]);
  return Object.fromEntries(members) as JsonObject;
}

/** Returns the shared part to which a value refers; the value itself if it refers to none. */
function partOf(value: JsonValue, map: "parameters" | "responses", document: JsonObject): JsonValue {
  const reference = isObject(value) ? value["$ref"] : undefined;
  const prefix = `#/${map}/`;
  if (typeof reference !== "string" || !reference.startsWith(prefix)) return value;
  const name = reference.slice(prefix.length).replaceAll("~1", "/").replaceAll("~0", "~");
  const shared = document[map];
  if (!isObject(shared) || !Object.hasOwn(shared, name))
    throw new MissingPartError(`it refers to ${JSON.stringify(reference)}, which it lacks`);
  return shared[name]!;
}
