import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { YieldIfDue } from "../../base/turns/yielding.ts";
import type { Revision } from "../../storage/store.ts";

/** The objects of a collection that one user may see. It doesn't change during a request. */
export interface ObjectView {
  /** Identifies the view in continue tokens: chunks of one list have the same. */
  readonly id: string;
  /** Whether it has every object of the collection, so that the list is the same as without it. */
  readonly everything: boolean;
  /**
   * The revision of the rights that the view was made from. A list of the present is read at it: a watch that continues at a later one
   * wouldn't send what changed in between. Undefined if the rights don't depend on the revision.
   */
  readonly revision?: Revision | undefined;
  /**
   * Returns disjoint parts of the collection that together have every visible object: namespaces, or single objects.
   *
   * @param limit maximum number of parts.
   * @returns undefined if there are more, or if they can't be enumerated.
   */
  parts(limit: number): readonly ViewPart[] | undefined;
  /**
   * Whether an object is visible. A list asks in the order of the keys; a list that is read twice gets the same results.
   *
   * @param namespace empty for a cluster-scoped object.
   */
  allows(namespace: string, name: string): MaybePromise<boolean>;
}

/** A view whose objects are enumerated, so that it can be compared with another view of the same user and collection. */
export interface EnumeratedView extends ObjectView {
  allows(namespace: string, name: string): boolean;
  /**
   * Returns disjoint parts of the collection that together have every object of this view that isn't in another one; they may also have
   * objects of both and of neither.
   *
   * @param limit maximum number of parts.
   * @returns undefined if there are more, or if they can't be enumerated.
   */
  partsBeyond(
    other: EnumeratedView,
    limit: number,
    yieldIfDue: YieldIfDue,
  ): Promise<readonly ViewPart[] | undefined>;
}

/** A namespace; or, with a name, an object, whose namespace is empty if it is cluster-scoped. */
export interface ViewPart {
  readonly namespace: string;
  readonly name: string | undefined;
}
