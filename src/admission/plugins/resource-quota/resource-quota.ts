import { andThen, type MaybePromise } from "../../../base/maybe-promise.ts";
import type { AdmissionCondition, AdmissionRequest } from "../../../resources/engine/engine.ts";
import { keyOf } from "../../../resources/registry/registry.ts";
import type { Revision } from "../../../storage/store.ts";
import type { AdmissionPlugin } from "../../admission-chain.ts";
import { forbidden } from "../../forbidden.ts";
import type { LimitedResource } from "./configuration.ts";
import type { Evaluator, Measured } from "./evaluator.ts";
import { refuseUncovered } from "./limited-resources.ts";
import type { NamespaceUsage, Reservation } from "./namespace-usage.ts";
import type { QuotaFacts } from "./quota-facts.ts";
import type { QuotaIndex } from "./quota-index.ts";
import type { QuotaTurns } from "./quota-turns.ts";
import { increaseOf, usageText, type Usage } from "./usage.ts";

/** What the plugin works with. */
export interface QuotaParts {
  readonly index: QuotaIndex;
  readonly turns: QuotaTurns;
  readonly limited: readonly LimitedResource[];
}

/**
 * ResourceQuota: rejects what would make a namespace use more than one of its ResourceQuotas allows (spec: conventions 4.13).
 *
 * A request that is let through counts as used at once, by a reservation, until its object is seen in the store or its write
 * has failed. What it was allowed by can't be changed by another process before it is written: see {@link QuotaTurns}.
 */
export function resourceQuota(parts: QuotaParts): AdmissionPlugin {
  const { index, limited } = parts;
  return {
    name: "ResourceQuota",
    concerns(operation, { resource, subresource }) {
      if (subresource !== "" || (operation !== "CREATE" && operation !== "UPDATE")) return false;
      const evaluator = index.evaluatorOf(resource);
      return evaluator !== undefined && (operation === "CREATE" || evaluator.chargesUpdates);
    },
    validate(request) {
      return andThen(index.sync(), () => {
        // Known only now: the first quota that a process sees gives the types that are counted their evaluators.
        const evaluator = index.evaluatorOf(request.target.resource);
        if (evaluator === undefined) return;
        const usage = index.in(request.target.namespace);
        if (usage?.limits(evaluator) === true) return new Charge(parts, request, evaluator).make();
        if (limited.length > 0) new Charge(parts, request, evaluator).check(usage);
      });
    },
  };
}

/** One request that quotas of its namespace may limit. */
class Charge {
  private readonly turnKey: string;
  private measured: Measured | undefined;
  private increase: Usage | undefined;
  private reservation: Reservation | undefined;
  private reservedIn: NamespaceUsage | undefined;

  constructor(
    private readonly parts: QuotaParts,
    private readonly request: AdmissionRequest,
    private readonly evaluator: Evaluator,
  ) {
    this.turnKey = parts.turns.keyOf(request.target.namespace);
  }

  /**
   * Reserves what the request adds to what is used, and has its write depend on the turn.
   *
   * @throws {StatusError} a quota doesn't allow it.
   */
  make(): MaybePromise<void> {
    const { request } = this;
    if (request.dryRun) return this.synced((usage) => void this.check(usage));
    return andThen(this.reserve(), (condition) => {
      if (condition === undefined) return;
      request.effects.addCondition(condition);
      request.effects.onOutcome((outcome) => this.settle(outcome));
    });
  }

  /**
   * Whether the request is allowed.
   *
   * @returns whether it is charged to any quota.
   * @throws {StatusError} a quota doesn't allow it, or none covers what needs one.
   */
  check(usage: NamespaceUsage | undefined): boolean {
    const { request, evaluator, parts } = this;
    const object = request.object!;
    this.measured ??= evaluator.constant ?? evaluator.measure(object, 0);
    const quotas = usage === undefined ? [] : this.quotasOf(usage, this.measured);
    const missing = quotas.length === 0 ? undefined : evaluator.missing?.(object);
    if (missing !== undefined && missing.size > 0) {
      for (const quota of quotas) this.refuseMissing(quota, missing);
    }
    const increase = (this.increase ??= this.increaseOver(this.measured));
    if (increase.size === 0) return false;
    if (parts.limited.length > 0) {
      refuseUncovered(parts.limited, request, {
        ...this.measured,
        covered: quotas.flatMap((quota) => quota.limitsOf(evaluator)),
        coveredScopes: (usage?.quotas ?? []).flatMap(({ scopes }) => scopes),
      });
    }
    for (const quota of quotas) this.refuseExcess(usage!, quota, increase);
    return quotas.some(({ hard }) => [...increase.keys()].some((name) => hard.has(name)));
  }

  private reserve(): MaybePromise<AdmissionCondition | undefined> {
    return andThen(this.parts.turns.hold(this.turnKey), (turn) =>
      this.synced((usage) => {
        usage?.releaseBefore(turn, this.evaluator);
        return this.check(usage) ? this.reserveIn(usage!, turn) : undefined;
      }),
    );
  }

  /** Goes on when everything is counted that was acknowledged before. */
  private synced<T>(next: (usage: NamespaceUsage | undefined) => T): MaybePromise<T> {
    const { index } = this.parts;
    return andThen(index.sync(), () => {
      const usage = index.in(this.request.target.namespace);
      return andThen(usage?.sync(this.evaluator), () => {
        usage?.endWhatEnds();
        return next(usage);
      });
    });
  }

  private reserveIn(usage: NamespaceUsage, turn: Revision): AdmissionCondition {
    const { target, object, live } = this.request;
    const { resource, namespace, name } = target;
    this.reservation = {
      key: keyOf(resource, namespace, name),
      uid: live === undefined ? object!.metadata.uid : undefined,
      replaces: Number(live?.metadata.resourceVersion ?? 0),
      measured: live === undefined ? this.measured! : { ...this.measured!, usage: this.increase! },
      evaluator: this.evaluator,
      turn,
      outcome: undefined,
    };
    this.reservedIn = usage;
    usage.reserve(this.reservation);
    return { key: this.turnKey, revision: turn, renew: () => this.renew() };
  }

  /** The turn was lost before the write: nothing was written, and what is used may have changed. */
  private renew(): MaybePromise<AdmissionCondition | undefined> {
    const { reservation } = this;
    this.drop();
    if (reservation !== undefined) this.parts.turns.lost(this.turnKey, reservation.turn);
    return this.reserve();
  }

  private drop(): void {
    if (this.reservation !== undefined) this.reservedIn!.release(this.reservation);
    this.reservation = undefined;
  }

  private settle(outcome: "committed" | "not committed" | "unknown"): void {
    const { reservation } = this;
    const { turns } = this.parts;
    if (reservation === undefined) return;
    if (outcome === "not committed") return this.drop();
    if (outcome === "committed") turns.used(this.turnKey);
    else turns.lost(this.turnKey, reservation.turn);
    this.reservedIn!.end(reservation, outcome);
    this.parts.index.charged(this.request.target.namespace);
  }

  /** The quotas that limit what is measured, and in whose scopes the object is. */
  private quotasOf(usage: NamespaceUsage, measured: Measured): readonly QuotaFacts[] {
    return usage.quotas.filter(
      (quota) => quota.limitsOf(this.evaluator).length > 0 && usage.holds(quota, measured),
    );
  }

  /** Refuses what doesn't say how much it uses of what a quota limits, in the words of the reference. */
  private refuseMissing(quota: QuotaFacts, missing: ReadonlyMap<string, readonly string[]>): void {
    const { request, evaluator } = this;
    const limited = quota.limitsOf(evaluator);
    const texts = [...missing]
      .filter(([name]) => limited.includes(name))
      .map(([name, containers]) => `${name} for: ${[...new Set(containers)].toSorted().join(",")}`);
    if (texts.length === 0) return;
    throw forbidden(
      request.target,
      `failed quota: ${quota.name}: must specify ${texts.toSorted().join("; ")}`,
    );
  }

  /** What the request adds. */
  private increaseOver({ usage }: Measured): Usage {
    const { live } = this.request;
    const before = live === undefined ? undefined : this.evaluator.measure(live, 0);
    if (before !== undefined) return increaseOf(usage, before.usage);
    return new Map([...usage].filter(([, { nanos }]) => nanos !== 0n));
  }

  private refuseExcess(usage: NamespaceUsage, quota: QuotaFacts, increase: Usage): void {
    const { hard } = quota;
    const exceeded = quota.limitsOf(this.evaluator).filter((name) => {
      const more = increase.get(name);
      return more !== undefined && usage.used(quota, name).nanos + more.nanos > hard.get(name)!.nanos;
    });
    if (exceeded.length === 0) return;
    const requested = usageText(exceeded, (name) => increase.get(name)!);
    const used = usageText(exceeded, (name) => usage.used(quota, name));
    const most = usageText(exceeded, (name) => hard.get(name)!);
    throw forbidden(
      this.request.target,
      `exceeded quota: ${quota.name}, requested: ${requested}, used: ${used}, limited: ${most}`,
    );
  }
}
