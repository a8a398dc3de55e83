import { jsonOf, deepClone, deepEqual, type JsonValue } from "../../base/json/value.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { type AdmissionRequest } from "../../resources/engine/engine.ts";
import { fromStored } from "../../resources/engine/conversion.ts";
import { complete } from "../../resources/input/input.ts";
import { checkDecodedSize } from "../../resources/objects/stored.ts";
import { resourceOf, type Resource } from "../../resources/registry/registry.ts";
import { shown } from "../../resources/writes/view.ts";
import type { KindContext } from "../../schema/context.ts";
import { decode } from "../../schema/decode.ts";
import { fillFieldDefaults } from "../../schema/defaults.ts";
import type { ApiObject, ViewSubresource } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Group, version and name of a kind. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The two objects of a request in one version; `null` for none. */
export interface ReviewedObjects<T> {
  readonly object: T;
  readonly oldObject: T;
}

type OptionalObject = ApiObject | undefined;

/** The JSON of a write's old object in each requested version. The old object doesn't change, so all phases share the texts. */
class OldObjectTexts {
  readonly byVersion = new Map<Resource, MaybePromise<string>>();
}

/**
 * The objects of one request as webhooks and policies see them: in the version in which the webhook or policy matches. For a view such
 * as `scale` they are the views.
 */
export class ReviewObjects {
  private readonly texts = new Map<Resource, MaybePromise<string>>();

  constructor(
    private readonly request: AdmissionRequest,
    private readonly vocabulary: Vocabulary,
    private readonly context: KindContext,
  ) {}

  /** The resource type of the objects: that of a view or of the body of an action, or the resource type itself. */
  typeIn(resource: Resource): Resource {
    const declared = this.subresourceOf(resource);
    if (declared?.shape === "view" || declared?.shape === "action") {
      return resourceOf(declared.kind(), this.vocabulary);
    }
    return resource;
  }

  /** The kind of the objects. */
  kindIn(resource: Resource): KindName {
    const declared = this.subresourceOf(resource);
    if (declared?.shape === "view" || declared?.shape === "action") {
      const { group, version, kind } = resourceOf(declared.kind(), this.vocabulary);
      return { group, version, kind: kind.name };
    }
    const kind = declared?.shape === "connect" ? declared.optionsKind : resource.kind.name;
    return { group: resource.group, version: resource.version, kind };
  }

  /**
   * Returns the objects in a version; they must not be changed. A promise only if a webhook converts them.
   *
   * @throws {StatusError} InternalError: the objects can't be converted.
   */
  read(resource: Resource): MaybePromise<ReviewedObjects<OptionalObject>> {
    return andThen(this.inVersion(resource, this.request.object), (object) =>
      andThen(this.inVersion(resource, this.request.live), (oldObject) => ({ object, oldObject })),
    );
  }

  /** Returns a copy of the object in a version; the request must have one. */
  copy(resource: Resource): MaybePromise<ApiObject> {
    return andThen(this.inVersion(resource, this.request.object), (object) => deepClone(object!));
  }

  /** As {@link read}, in JSON. Each object is encoded once for a version, until {@link replace} changes it. */
  encode(resource: Resource): MaybePromise<ReviewedObjects<string>> {
    const { request, texts } = this;
    const { byVersion } = request.effects.state(OldObjectTexts);
    return andThen(this.encodeOnce(texts, resource, request.object), (object) =>
      andThen(this.encodeOnce(byVersion, resource, request.live), (oldObject) => ({ object, oldObject })),
    );
  }

  private encodeOnce(
    texts: Map<Resource, MaybePromise<string>>,
    resource: Resource,
    object: OptionalObject,
  ): MaybePromise<string> {
    let text = texts.get(resource);
    if (text === undefined) {
      text = andThen(this.inVersion(resource, object), textOf);
      texts.set(resource, text);
    }
    return text;
  }

  private inVersion(resource: Resource, object: OptionalObject): MaybePromise<OptionalObject> {
    if (object === undefined) return undefined;
    const declared = this.subresourceOf(resource);
    if (declared?.shape === "view") return shown(this.view(declared), object);
    if (declared?.shape === "action" || declared?.shape === "connect") return object;
    if (resource.kind.conversion !== undefined) return fromStored(resource, deepClone(object), this.context);
    return this.convert(object, resource);
  }

  /**
   * Replaces the object of the request by the patched one, with defaults for missing fields. Unknown fields are dropped.
   *
   * @param resource the version of `patched`.
   * @returns whether the object has changed.
   * @throws {TypeFault} `patched` can't be decoded as its kind.
   * @throws {StatusError} `patched` can't be converted.
   * @throws {ObjectTooLarge}
   */
  async replace(resource: Resource, patched: JsonValue): Promise<boolean> {
    const { operation, target } = this.request;
    const object = this.request.object!;
    checkDecodedSize(patched as object);
    const before = { ...object };
    const { uid, creationTimestamp } = object.metadata;
    const after = await this.decodePatched(resource, patched, object);
    if (operation === "CREATE" && target.subresource === "") {
      Object.assign(after.metadata, { uid, creationTimestamp });
    }
    for (const member of Object.keys(object)) delete object[member];
    Object.assign(object, after);
    const changed = !deepEqual(jsonOf(object), jsonOf(before));
    if (changed) this.texts.clear();
    return changed;
  }

  /** The patched object in the stored version. */
  private decodePatched(resource: Resource, patched: JsonValue, before: ApiObject): MaybePromise<ApiObject> {
    const declared = this.subresourceOf(resource);
    if (declared?.shape === "view") {
      const copy = deepClone(before);
      declared.write(copy, this.decodeWithDefaults(this.view(declared).resource, patched));
      return copy;
    }
    if (declared?.shape === "action") {
      return this.decodeWithDefaults(resourceOf(declared.kind(), this.vocabulary), patched);
    }
    const completed = complete(resource, decodeAs(resource, patched), this.context);
    return andThen(this.convert(completed, this.request.target.resource), (object) =>
      object === completed ? object : deepClone(object),
    );
  }

  /** Converts an object of a custom kind; returns the object itself if it has the version already. */
  private convert(object: ApiObject, resource: Resource): MaybePromise<ApiObject> {
    const conversions = this.request.target.resource.storage?.newConversions?.();
    if (conversions === undefined || object.apiVersion === resource.apiVersion) return object;
    return andThen(conversions.prefetch([object], resource), () => conversions.get(object, resource));
  }

  private decodeWithDefaults(resource: Resource, patched: JsonValue): ApiObject {
    const object = decodeAs(resource, patched);
    fillFieldDefaults(resource.kind.type, object, this.context);
    return object;
  }

  private subresourceOf(resource: Resource): Resource["kind"]["subresources"][string] | undefined {
    return resource.kind.subresources[this.request.target.subresource];
  }

  private view(subresource: ViewSubresource): { subresource: ViewSubresource; resource: Resource } {
    return { subresource, resource: resourceOf(subresource.kind(), this.vocabulary) };
  }
}

function textOf(object: OptionalObject): string {
  return object === undefined ? "null" : encodeJson(jsonOf(object));
}

/** Decodes an object as the kind; apiVersion, kind and metadata are filled in if they are missing or differ. */
function decodeAs({ kind, apiVersion }: Resource, value: JsonValue): ApiObject {
  const object = decode(kind.type, value).value as ApiObject;
  object.kind = kind.name;
  object.apiVersion = apiVersion;
  (object as Partial<ApiObject>).metadata ??= {};
  return object;
}
