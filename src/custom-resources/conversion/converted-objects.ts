import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Conversions, KindVersion } from "../../resources/registry/versioned-storage.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { convertAll, type ObjectConverter } from "./object-converter.ts";

/** Maximum number of conversions of one request; field ownership needs two for each version in which fields were written. */
const maxConversions = 200;

/** The converted objects of one request, by their content and version. */
export class ConvertedObjects implements Conversions {
  private readonly converted = new Map<string, ApiObject>();

  constructor(private readonly converter: ObjectConverter) {}

  prefetch(objects: readonly ApiObject[], version: KindVersion): MaybePromise<void> {
    const missing = new Map<string, ApiObject>();
    for (const object of objects) {
      if (object.apiVersion === version.apiVersion) continue;
      const key = keyOf(object, version);
      if (!this.converted.has(key)) missing.set(key, object);
    }
    if (missing.size > 0) return this.convert(missing, version);
  }

  get(object: ApiObject, version: KindVersion): ApiObject {
    if (object.apiVersion === version.apiVersion) return object;
    const converted = this.converted.get(keyOf(object, version));
    if (converted === undefined) throw new Error("a converted object was not prefetched");
    return converted;
  }

  private async convert(missing: ReadonlyMap<string, ApiObject>, version: KindVersion): Promise<void> {
    if (this.converted.size + missing.size > maxConversions) {
      throw new StatusError("InternalError", "the object has fields that were written in too many versions");
    }
    const converted = await convertAll(this.converter, [...missing.values()], version);
    for (const [index, key] of [...missing.keys()].entries()) this.converted.set(key, converted[index]!);
  }
}

function keyOf(object: ApiObject, { apiVersion }: KindVersion): string {
  return `${apiVersion} ${encodeJson(object as unknown as JsonValue)}`;
}
