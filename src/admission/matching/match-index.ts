import type { Registry, Resource } from "../../resources/registry/registry.ts";
import { matchRules, type MatchPolicy, type MatchRule, type MatchSubject } from "./rules.ts";

/** Something with rules, such as a webhook. Its rules name no objects. */
export interface Matchable {
  readonly rules: readonly MatchRule[];
  readonly matchPolicy: MatchPolicy;
}

/** One of them, and the version of the resource type in which it matches. */
export interface Match<T> {
  readonly matched: T;
  readonly resource: Resource;
}

/**
 * Finds what matches an operation on a resource type. Each answer is worked out once and kept, so that a request costs two
 * look-ups however many there are that don't match it. Bounded by the resource types and subresources that are served.
 */
export class MatchIndex<T extends Matchable> {
  private readonly known = new Map<Resource, Map<string, readonly Match<T>[]>>();

  /** @param all in the order of the answers. */
  constructor(
    private readonly all: readonly T[],
    private readonly registry: Registry,
  ) {}

  /** What matches, by rules alone; selectors are still to be asked. */
  matching({ operation, resource, subresource }: Omit<MatchSubject, "name">): readonly Match<T>[] {
    let byOperation = this.known.get(resource);
    if (byOperation === undefined) this.known.set(resource, (byOperation = new Map()));
    const key = subresource === "" ? operation : `${operation} ${subresource}`;
    let found = byOperation.get(key);
    if (found === undefined) {
      found = this.find({ operation, resource, subresource, name: "" });
      byOperation.set(key, found);
    }
    return found;
  }

  private find(subject: MatchSubject): Match<T>[] {
    return this.all.flatMap((matched) => {
      const resource = matchRules(matched.rules, matched.matchPolicy, subject, this.registry);
      return resource === undefined ? [] : [{ matched, resource }];
    });
  }
}
