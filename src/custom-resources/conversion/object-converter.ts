import { StatusError } from "../../base/status-error.ts";
import type { KindVersion } from "../../resources/registry/versioned-storage.ts";
import { decode, TypeFault } from "../../schema/decode.ts";
import type { ApiObject } from "../../schema/kind.ts";

/** Converts the objects of a custom kind between its versions, for example by calling a webhook. */
export interface ObjectConverter {
  /** Whether labels are the same in all versions, so that indexes of the stored labels find converted objects. */
  readonly keepsLabels: boolean;
  /**
   * Converts objects to another version, in their order; returns objects unchanged that are already in it. Of the metadata only labels
   * and annotations may change.
   *
   * @param objects each in the version of its apiVersion; they aren't changed.
   * @throws {StatusError} InternalError: they can't be converted.
   */
  convert(objects: readonly ApiObject[], apiVersion: string): Promise<readonly ApiObject[]>;
}

/**
 * Converts objects to a version and drops the fields that its schema doesn't have.
 *
 * @throws {StatusError} InternalError: they can't be converted, or the result isn't an object of the kind.
 */
export async function convertAll(
  converter: ObjectConverter,
  objects: readonly ApiObject[],
  { kind, apiVersion }: KindVersion,
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
