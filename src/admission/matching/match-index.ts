import type { Registry, Resource } from "../../resources/registry/registry.ts";
import { matchRules, type MatchPolicy, type MatchRule, type MatchSubject } from "./rules.ts";

/** An item that {@link MatchIndex} finds by its rules, such as a webhook. The rules must not have `resourceNames`. */
export interface Matchable {
  readonly rules: readonly MatchRule[];
  readonly matchPolicy: MatchPolicy;
}

/** A match and the version of the resource type in which it matches. */
export interface Match<T> {
  readonly matched: T;
  readonly resource: Resource;
}

/**
 * Finds the items with rules that match an operation on a resource type. Results are cached, so a request costs two map reads
 * regardless of the number of items. The cache has at most one entry for each operation on each served resource type or
 * subresource.
 */
export class MatchIndex<T extends Matchable> {
  private readonly cache = new Map<Resource, Map<string, readonly Match<T>[]>>();

  /** @param all the items; matches are in the same order. */
  constructor(
    private readonly all: readonly T[],
    private readonly registry: Registry,
  ) {}

  /** Returns the matches by rules. The caller evaluates selectors. */
  matching({ operation, resource, subresource }: Omit<MatchSubject, "name">): readonly Match<T>[] {
    let byOperation = this.cache.get(resource);
    if (byOperation === undefined) this.cache.set(resource, (byOperation = new Map()));
    const key = subresource === "" ? operation : `${operation} ${subresource}`;
    let matches = byOperation.get(key);
    if (matches === undefined) {
      matches = this.find({ operation, resource, subresource, name: "" });
      byOperation.set(key, matches);
    }
    return matches;
  }

  private find(subject: MatchSubject): Match<T>[] {
    return this.all.flatMap((matched) => {
      const resource = matchRules(matched.rules, matched.matchPolicy, subject, this.registry);
      return resource === undefined ? [] : [{ matched, resource }];
    });
  }
}
