import type { MaybePromise } from "../../base/maybe-promise.ts";

/** The objects of a collection that one user may see. It doesn't change during a request. */
export interface ObjectView {
  /** Identifies the view in continue tokens: chunks of one list have the same. */
  readonly id: string;
  /** Whether it has every object of the collection, so that the list is the same as without it. */
  readonly everything: boolean;
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

/** A namespace; or, with a name, an object, whose namespace is empty if it is cluster-scoped. */
export interface ViewPart {
  readonly namespace: string;
  readonly name: string | undefined;
}
