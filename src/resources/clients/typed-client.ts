import type { ApiObject, ObjectMetaValue } from "../../schema/kind.ts";
import type { DeleteOptions } from "../writes/delete.ts";
import type { ObjectList, WatchEvent } from "./client.ts";
import type { PatchKind } from "../writes/patch.ts";

/** The kinds of an apiVersion; any if the apiVersion or kind isn't a literal type, or if no object of the group has a type. */
type KindsIn<Objects, V extends string, K extends string> = string extends V | K
  ? string
  : [TypedKinds<Objects, V>] extends [never]
    ? V extends `${infer Group}/${string}`
      ? UntypedKinds<Objects, Group>
      : never
    : TypedKinds<Objects, V>;

/** Any kind, in a group of custom objects without types, whose name has a dot; otherwise none. */
type UntypedKinds<Objects, Group extends string> = Group extends `${string}.${string}`
  ? [Extract<keyof Objects, `${Group}/${string}`>] extends [never]
    ? string
    : never
  : never;

/** The kinds of an apiVersion whose objects have a type. */
type TypedKinds<Objects, V extends string> = {
  [Key in keyof Objects]: Key extends `${V} ${infer One}` ? One : never;
}[keyof Objects];

/** The objects of a kind; any object if the kind isn't a literal type or has no type. */
export type ObjectAt<Objects, V extends string, K extends string> = `${V} ${K}` extends keyof Objects
  ? Objects[`${V} ${K}`]
  : ApiObject;

/** Names a kind by the apiVersion and kind of its objects. */
interface OfKind<Objects, V extends string, K extends string> {
  readonly apiVersion: V;
  readonly kind: K & KindsIn<Objects, V, K>;
}

/** Names an object. */
export interface OneOf<Objects, V extends string, K extends string> extends OfKind<Objects, V, K> {
  readonly name: string;
  readonly namespace?: string;
}

/** Names a collection: of one namespace, or of all. */
interface AllOf<Objects, V extends string, K extends string> extends OfKind<Objects, V, K> {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** An object in a write; the server fills in the other fields. */
type Draft<Objects, V extends string, K extends string> = OfKind<Objects, V, K> & {
  readonly metadata: ObjectMetaValue;
} & Omit<ObjectAt<Objects, V, K>, "apiVersion" | "kind" | "metadata">;

/**
 * The API without a socket, for embedding programs. Requests pass validation and admission. There is no authentication; the
 * requests of `server.client` are not authorized, those of `server.as()` are.
 *
 * Objects have the types of their kinds. Kinds and fields that don't exist are compile errors if apiVersion and kind are literals; the
 * kinds of other groups are objects with any fields, unless `CustomObjects` has their types. Every method throws the `StatusError` that the API would answer with.
 *
 * @typeParam Objects the types of the objects, by `apiVersion kind`.
 */
export interface TypedClient<Objects> {
  /** Returns an object. */
  get<V extends string, K extends string>(reference: OneOf<Objects, V, K>): Promise<ObjectAt<Objects, V, K>>;

  /** As {@link TypedClient.get}; undefined if it doesn't exist. */
  find<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
  ): Promise<ObjectAt<Objects, V, K> | undefined>;

  /** Returns the objects of a collection, with the resource version for a watch. */
  list<V extends string, K extends string>(
    reference: AllOf<Objects, V, K>,
  ): Promise<ObjectList<ObjectAt<Objects, V, K>>>;

  /** Creates an object and returns it as stored; for a review, returns the review with its status. */
  create<V extends string, K extends string>(object: Draft<Objects, V, K>): Promise<ObjectAt<Objects, V, K>>;

  /** As {@link TypedClient.create}, without decoding the stored object. */
  add<V extends string, K extends string>(object: Draft<Objects, V, K>): Promise<void>;

  /** Replaces an object, or a part of it: `update(object, "status")`. */
  update<V extends string, K extends string>(
    object: Draft<Objects, V, K>,
    subresource?: string,
  ): Promise<ObjectAt<Objects, V, K>>;

  /**
   * Patches an object.
   *
   * @param patch the decoded body of the request: an object, or for `json` a list of operations.
   * @param kind type of the patch; `merge` by default.
   */
  patch<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
    patch: unknown,
    kind?: PatchKind,
  ): Promise<ObjectAt<Objects, V, K>>;

  /** Deletes an object; false if it is terminating because of finalizers or a grace period. */
  delete<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
    only?: { uid?: string; resourceVersion?: string },
    propagationPolicy?: DeleteOptions["propagationPolicy"],
  ): Promise<boolean>;

  /**
   * Calls the listener for each change after a resource version (that of a list), in order, until `close` is called. The listener must not
   * throw; `ended` is called if the watch ends, for example because its history was compacted or the user may not watch.
   */
  watch<V extends string, K extends string>(
    reference: AllOf<Objects, V, K> & { readonly resourceVersion: string },
    listener: (event: WatchEvent<ObjectAt<Objects, V, K>>) => void,
    ended?: (error: Error) => void,
  ): { close(): void };
}
