import { encodeJson } from "../base/json/encode.ts";
import type { JsonValue } from "../base/json/value.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import { decode, TypeFault } from "../schema/decode.ts";
import type { ApiObject, ObjectConverter } from "../schema/kind.ts";
import type { Resource } from "./registry.ts";

/** The most conversions that one step of a write may need; each version in which a field was written needs two. */
const maxKnown = 200;

/**
 * Objects of a custom kind in the versions in which somebody asked for them. What a webhook converts isn't there at once, and the
 * rules of ownership are written for objects that are: so a step of them that lacks one ends with {@link ConversionNeeded}, and
 * {@link ConvertedObjects.settled} has it converted and takes the step again.
 */
export class ConvertedObjects {
  private readonly known = new Map<string, ApiObject>();

  constructor(private readonly converter: ObjectConverter) {}

  /**
   * An object in another version; not to be changed.
   *
   * @throws {ConversionNeeded} it isn't known yet.
   */
  get(object: ApiObject, resource: Resource): ApiObject {
    if (object.apiVersion === resource.apiVersion) return object;
    const key = `${resource.apiVersion} ${encodeJson(object as unknown as JsonValue)}`;
    const found = this.known.get(key);
    if (found !== undefined) return found;
    throw new ConversionNeeded(async () => {
      const [converted] = await convertAll(this.converter, [object], resource);
      this.known.set(key, converted!);
    });
  }

  /** Takes a step, again and again until it needs no further conversion. It must change nothing before that. */
  settled<T>(step: () => T): MaybePromise<T> {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error;
      if (this.known.size >= maxKnown) {
        throw new StatusError(
          "InternalError",
          "the object has fields that were written in too many versions",
        );
      }
      return error.convert().then(() => this.settled(step));
    }
  }
}

/** Thrown by a step that needs a conversion which isn't done yet. */
class ConversionNeeded extends Error {
  override name = "ConversionNeeded";
  constructor(readonly convert: () => Promise<void>) {
    super("a conversion isn't done yet");
  }
}

/**
 * Objects in a version of their kind, without what its schema doesn't know.
 *
 * @throws {StatusError} InternalError: they can't be converted, or what comes out isn't of the kind.
 */
export async function convertAll(
  converter: ObjectConverter,
  objects: readonly ApiObject[],
  { kind, apiVersion }: Resource,
): Promise<readonly ApiObject[]> {
  const converted = await converter.convert(objects, apiVersion);
  return converted.map((object) => {
    try {
      return decode(kind.type, object).value as ApiObject;
    } catch (error) {
      if (!(error instanceof TypeFault)) throw error;
      const message = `conversion to ${apiVersion}, Kind=${kind.name} failed: ${error.message}`;
      throw new StatusError("InternalError", message);
    }
  });
}
