import { SeededRandom } from "../../base/seeded-random.ts";
import type { FaultyRequest } from "../../resources/engine/request-faults.ts";
import { isOnEvents, verbsOf, type FaultRule } from "./fault-rule.ts";

/** A rule with its counts. */
export class CountedRule {
  readonly isOnEvents: boolean;
  /** Number of faults so far. */
  fired = 0;
  private readonly verbs: readonly string[];
  /** Matches and faults by user, for events by user and resource type. */
  private readonly counts = new Map<string, { matches: number; fired: number }>();

  /**
   * @param index position among the rules since the last `clear()`; with the seed it decides the rule's random choices.
   * @param clears number of calls of `clear()` before.
   */
  constructor(
    readonly rule: FaultRule,
    readonly index: number,
    readonly clears: number,
  ) {
    this.isOnEvents = isOnEvents(rule.effect);
    this.verbs = rule.on?.verbs ?? verbsOf(rule.effect);
  }

  /**
   * Counts a request or watch event if it matches.
   *
   * @param name the name of the object.
   * @param skipped ids of faults that don't happen.
   * @param mayFire false if another rule has decided the answer, so that the match is only counted.
   * @returns the id of the fault that happens now; undefined if none does.
   */
  next(
    request: FaultyRequest,
    name: string,
    seed: number,
    skipped: ReadonlySet<string> | undefined,
    mayFire = true,
  ): string | undefined {
    if (!this.matches(request, name)) return undefined;
    const { after = 0, every = 1, probability = 1 } = this.rule;
    const { user, group, resource } = request;
    const stream = this.isOnEvents ? `${user} ${group}/${resource}` : user;
    let count = this.counts.get(stream);
    if (count === undefined) this.counts.set(stream, (count = { matches: 0, fired: 0 }));
    const match = count.matches++;
    if (!mayFire || match < after || (match - after) % every !== 0 || count.fired >= this.times)
      return undefined;
    const choice = `${this.index} ${match} ${stream}`;
    if (probability < 1 && !new SeededRandom(`${seed} ${choice}`).chance(probability)) return undefined;
    const id = `${this.clears} ${choice}`;
    count.fired++;
    if (skipped?.has(id)) return undefined;
    this.fired++;
    return id;
  }

  /** Starts its counts again. */
  restart(): void {
    this.counts.clear();
    this.fired = 0;
  }

  private get times(): number {
    return this.rule.times ?? ("crash" in this.rule.effect ? 1 : Infinity);
  }

  private matches(request: FaultyRequest, objectName: string): boolean {
    const { group, resource, subresource, namespace, name, user } = this.rule.on ?? {};
    return (
      this.verbs.includes(request.verb) &&
      (group === undefined || group === request.group) &&
      (resource === undefined || resource === request.resource) &&
      (subresource === undefined || subresource === request.subresource) &&
      (namespace === undefined || namespace === request.namespace) &&
      (user === undefined || user === request.user) &&
      (name === undefined || name === objectName)
    );
  }
}
