import { encodeJson } from "../base/json/encode.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/json/value.ts";

/** Thrown for a reference to a part that the document lacks, or for too many references. */
export class SharedPartError extends Error {
  override name = "SharedPartError";
}

/** Maximum number of characters of all shared parts, counted at each reference: references could multiply a document. */
const maxLength = 32 * 1024 * 1024;

/**
 * The shared parameters and responses of an OpenAPI 2.0 document, which replace the references to them (`#/parameters/…`,
 * `#/responses/…`). So items of several documents can be merged although the names of their shared parts collide.
 */
export class SharedParts {
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
