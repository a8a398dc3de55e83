import type { Clock } from "../../base/time/clock.ts";
import { listWidth, ordinary, type Width } from "../../flow/matching.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { ResourceFacts } from "../request/facts.ts";

/** Milliseconds for which a count is used; it is refreshed in the background. */
const freshMs = 10_000;

/** Parameters with which a list reads more objects than it returns. */
const selecting = ["labelSelector", "fieldSelector", "search", "sort"];

interface Count {
  /** Undefined if unknown. */
  objects: number | undefined;
  atMs: number;
}

/** Seats of lists, by the number of objects of the resource type. */
export class ListWidths {
  private readonly counts = new Map<string, Count>();

  /** @param failed called when counting fails; lists then take the previous number of seats, or one. */
  constructor(
    private readonly engine: Engine,
    private readonly clock: Clock,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** The seats of a list. */
  width(facts: ResourceFacts): Width {
    const { group, version, resource, query } = facts;
    const found = this.engine.registry.find(group, version, resource);
    if (found === undefined) return ordinary;
    const limit = Number(query.get("limit") ?? 0);
    return listWidth({
      stored: this.count(found),
      limit: Number.isInteger(limit) && limit > 0 ? limit : 0,
      selects: selecting.some((name) => query.get(name) !== undefined),
    });
  }

  private count({ storePrefix }: Resource): number | undefined {
    let count = this.counts.get(storePrefix);
    const now = this.clock.monotonicNow();
    if (count === undefined) {
      this.counts.set(storePrefix, (count = { objects: undefined, atMs: Number.NEGATIVE_INFINITY }));
    }
    if (now - count.atMs >= freshMs) {
      count.atMs = now;
      this.refresh(storePrefix, count);
    }
    return count.objects;
  }

  private refresh(prefix: string, count: Count): void {
    const take = (objects: number) => {
      count.objects = objects;
    };
    try {
      const objects = this.engine.store.count(prefix);
      if (objects instanceof Promise) objects.then(take, this.failed);
      else take(objects);
    } catch (error) {
      this.failed(error);
    }
  }
}
