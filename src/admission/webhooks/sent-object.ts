import { encodeJson } from "../../base/json/encode.ts";
import { deepClone, type JsonValue } from "../../base/json/value.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { fromStored } from "../../resources/engine/conversion.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { complete } from "../../resources/input/input.ts";
import { resourceOf, type Resource } from "../../resources/registry/registry.ts";
import type { Conversions } from "../../resources/registry/versioned-storage.ts";
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

/**
 * The objects of a request as webhooks see them, in the version that a webhook asked for, and what a webhook makes of them.
 * A write through a view, such as `scale`, is about the view.
 */
export class SentObjects {
  private readonly conversions = new WeakMap<AdmissionRequest, Conversions>();

  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly contextOf: (request: AdmissionRequest) => KindContext,
  ) {}

  /** The kind of the object that is sent. */
  kindOf({ target: { subresource } }: AdmissionRequest, resource: Resource): KindName {
    const declared = resource.kind.subresources[subresource];
    if (declared?.shape === "view" || declared?.shape === "action") {
      const { group, version, kind } = resourceOf(declared.kind(), this.vocabulary);
      return { group, version, kind: kind.name };
    }
    const kind = declared?.shape === "connect" ? declared.optionsKind : resource.kind.name;
    return { group: resource.group, version: resource.version, kind };
  }

  /**
   * Has the objects of a request at hand in a version, as they are now; at once unless a webhook must convert them. To be awaited
   * before they are shown.
   */
  prepare(request: AdmissionRequest, resource: Resource): MaybePromise<void> {
    const { object, live, target } = request;
    if (resource.kind.subresources[target.subresource]?.shape !== undefined) return;
    const objects = [object, live].filter((one) => one !== undefined);
    return this.conversionsOf(request)?.prefetch(objects, resource);
  }

  /** The conversions of a request; undefined unless a webhook converts its resource type. */
  private conversionsOf(request: AdmissionRequest): Conversions | undefined {
    let conversions = this.conversions.get(request);
    if (conversions === undefined) {
      conversions = request.target.resource.storage?.newConversions?.();
      if (conversions !== undefined) this.conversions.set(request, conversions);
    }
    return conversions;
  }

  /** The text of an object in JSON, `null` for none. */
  encode(request: AdmissionRequest, resource: Resource, object: ApiObject | undefined): string {
    if (object === undefined) return "null";
    return encodeJson(this.show(request, resource, object) as unknown as JsonValue);
  }

  /** An object as it is sent; not to be changed. */
  show(request: AdmissionRequest, resource: Resource, object: ApiObject): ApiObject {
    const declared = resource.kind.subresources[request.target.subresource];
    if (declared?.shape === "view") return shown(this.view(declared), object);
    if (declared?.shape === "action" || declared?.shape === "connect") return object;
    if (resource.kind.conversion === undefined)
      return this.conversionsOf(request)?.get(object, resource) ?? object;
    return fromStored(resource, deepClone(object), this.contextOf(request));
  }

  /**
   * Makes the request's object what a webhook made of it, with the defaults that it leaves out. Fields that the kind doesn't
   * have are dropped.
   *
   * @returns whether that changed it.
   * @throws {TypeFault} the patched value can't be read as its kind.
   */
  taken(request: AdmissionRequest, resource: Resource, patched: JsonValue): MaybePromise<boolean> {
    const after = this.read(request, resource, patched);
    const conversions = this.conversionsOf(request);
    if (conversions === undefined || after.apiVersion === request.target.resource.apiVersion)
      return this.replace(request, after);
    const { target } = request;
    return andThen(conversions.prefetch([after], target.resource), () =>
      this.replace(request, deepClone(conversions.get(after, target.resource))),
    );
  }

  private replace(request: AdmissionRequest, after: ApiObject): boolean {
    const { object } = request;
    const before = encodeJson(object as unknown as JsonValue);
    const { uid, creationTimestamp } = object!.metadata;
    if (request.operation === "CREATE" && request.target.subresource === "") {
      Object.assign(after.metadata, { uid, creationTimestamp });
    }
    for (const member of Object.keys(object!)) delete object![member];
    Object.assign(object!, after);
    return encodeJson(object as unknown as JsonValue) !== before;
  }

  private read(request: AdmissionRequest, resource: Resource, patched: JsonValue): ApiObject {
    const declared = resource.kind.subresources[request.target.subresource];
    const context = this.contextOf(request);
    if (declared?.shape === "view") {
      const copy = deepClone(request.object!);
      declared.write(copy, this.decoded(this.view(declared).resource, patched, context));
      return copy;
    }
    if (declared?.shape === "action") {
      return this.decoded(resourceOf(declared.kind(), this.vocabulary), patched, context);
    }
    const object = decode(resource.kind.type, patched).value as ApiObject;
    named(object, resource);
    return complete(resource, object, context);
  }

  private decoded(resource: Resource, patched: JsonValue, context: KindContext): ApiObject {
    const object = decode(resource.kind.type, patched).value as ApiObject;
    named(object, resource);
    fillFieldDefaults(resource.kind.type, object, context);
    return object;
  }

  private view(subresource: ViewSubresource): { subresource: ViewSubresource; resource: Resource } {
    return { subresource, resource: resourceOf(subresource.kind(), this.vocabulary) };
  }
}

function named(object: ApiObject, { kind, apiVersion }: Resource): void {
  object.kind = kind.name;
  object.apiVersion = apiVersion;
  (object as Partial<ApiObject>).metadata ??= {};
}
