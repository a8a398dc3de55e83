import type { ApiObject, ObjectMetaValue } from "../../schema/kind.ts";
import type { DeleteOptions } from "../writes/delete.ts";
import type { ObjectList, WatchEvent } from "./client.ts";
import type { PatchKind } from "../writes/patch.ts";

/** The kinds of an apiVersion; where it or the kind isn't known when the program is compiled, any. */
type KindsIn<Objects, V extends string, K extends string> = string extends V | K
  ? string
  : { [Key in keyof Objects]: Key extends `${V} ${infer One}` ? One : never }[keyof Objects];

/** The objects of a kind; where it isn't known when the program is compiled, any object. */
type ObjectAt<Objects, V extends string, K extends string> = `${V} ${K}` extends keyof Objects
  ? Objects[`${V} ${K}`]
  : ApiObject;

/** Names a kind by what stands in the first lines of its objects. */
interface OfKind<Objects, V extends string, K extends string> {
  readonly apiVersion: V;
  readonly kind: K & KindsIn<Objects, V, K>;
}

/** Names an object. */
interface OneOf<Objects, V extends string, K extends string> extends OfKind<Objects, V, K> {
  readonly name: string;
  readonly namespace?: string;
}

/** Names a collection: of one namespace, or of all. */
interface AllOf<Objects, V extends string, K extends string> extends OfKind<Objects, V, K> {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** An object as a caller writes it: the server fills in the rest. */
type Draft<Objects, V extends string, K extends string> = OfKind<Objects, V, K> & {
  readonly metadata: ObjectMetaValue;
} & Omit<ObjectAt<Objects, V, K>, "apiVersion" | "kind" | "metadata">;

/**
 * The API without a socket, for programs that hold a server. A request passes through validation and admission like any
 * other; there is no authentication and no authorization: whoever holds the client may do everything.
 *
 * Objects have the types of their kinds. A kind or field that doesn't exist isn't compiled, unless apiVersion or kind is
 * known at run time only. Every method throws `StatusError` as the API would answer.
 *
 * @typeParam Objects the types of the objects, by `apiVersion kind`.
 */
export interface TypedClient<Objects> {
  get<V extends string, K extends string>(reference: OneOf<Objects, V, K>): Promise<ObjectAt<Objects, V, K>>;

  /** As {@link TypedClient.get}; undefined when there is no such object. */
  find<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
  ): Promise<ObjectAt<Objects, V, K> | undefined>;

  list<V extends string, K extends string>(
    reference: AllOf<Objects, V, K>,
  ): Promise<ObjectList<ObjectAt<Objects, V, K>>>;

  create<V extends string, K extends string>(object: Draft<Objects, V, K>): Promise<ObjectAt<Objects, V, K>>;

  /** As {@link TypedClient.create}, without reading what was made of the object. */
  add<V extends string, K extends string>(object: Draft<Objects, V, K>): Promise<void>;

  /** Replaces an object, or a part of it: `update(object, "status")`. */
  update<V extends string, K extends string>(
    object: Draft<Objects, V, K>,
    subresource?: string,
  ): Promise<ObjectAt<Objects, V, K>>;

  /** Changes an object, by a merge patch unless `kind` names another one. */
  patch<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
    patch: unknown,
    kind?: PatchKind,
  ): Promise<ObjectAt<Objects, V, K>>;

  /** Deletes an object; false when finalizers hold it for now. */
  delete<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
    only?: { uid?: string; resourceVersion?: string },
    propagationPolicy?: DeleteOptions["propagationPolicy"],
  ): Promise<boolean>;

  /**
   * Calls the listener for each change after a resource version (that of a list), in order, until `close` is called. The
   * listener must not throw; `ended` is called when the history needed is gone.
   */
  watch<V extends string, K extends string>(
    reference: AllOf<Objects, V, K> & { readonly resourceVersion: string },
    listener: (event: WatchEvent<ObjectAt<Objects, V, K>>) => void,
    ended?: (error: Error) => void,
  ): { close(): void };
}
