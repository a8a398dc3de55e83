import { andThen, type MaybePromise } from "../../../base/turns/maybe-promise.ts";
import type { AdmissionCondition, AdmissionRequest } from "../../../resources/engine/engine.ts";
import { keyOf } from "../../../resources/registry/registry.ts";
import type { Revision } from "../../../storage/store.ts";
import { isResize, type AdmissionPlugin } from "../../admission-chain.ts";
import { forbidden } from "../../forbidden.ts";
import type { LimitedResource } from "./configuration.ts";
import type { Evaluator, Measured } from "./evaluators.ts";
import type { NamespaceUsage, Reservation } from "./namespace-usage.ts";
import type { QuotaFacts } from "./quota-facts.ts";
import type { QuotaIndex } from "./quota-index.ts";
import type { QuotaTurns } from "./quota-turns.ts";
import { increaseOf, usageText, type Usage } from "./usage.ts";
import { compileScope, scopesText, type ScopeCondition } from "./scopes.ts";

/** Dependencies of the plugin. */
export interface QuotaParts {
  readonly index: QuotaIndex;
  readonly turns: QuotaTurns;
  readonly limited: readonly LimitedResource[];
}

/**
 * ResourceQuota: rejects writes that exceed a ResourceQuota of the namespace (spec: conventions 4.13).
 *
 * An admitted request counts immediately, by a reservation, until its object is visible in the store or its write has failed.
 * Another process can't charge the quota between the decision and the commit: see {@link QuotaTurns}.
 */
export function resourceQuota(parts: QuotaParts): AdmissionPlugin {
  const { index, limited } = parts;
  return {
    name: "ResourceQuota",
    concerns(operation, { resource, subresource }) {
      const evaluator = index.evaluatorOf(resource);
      if (isResize(operation, { resource, subresource })) return evaluator !== undefined;
      if (subresource !== "" || (operation !== "CREATE" && operation !== "UPDATE")) return false;
      if (evaluator === undefined) return false;
      return operation === "CREATE" || evaluator.chargesUpdates || evaluator.changesScope !== undefined;
    },
    validate(request) {
      return andThen(index.sync(), () => {
        // Only now: the sync of the first quota creates the evaluators of the counted types.
        const evaluator = index.evaluatorOf(request.target.resource);
        if (evaluator === undefined || !isCharged(request, evaluator)) return;
        const usage = index.in(request.target.namespace);
        if (usage?.limits(evaluator) === true) return new Charge(parts, request, evaluator).make();
        if (limited.length > 0) new Charge(parts, request, evaluator).check(usage);
      });
    },
  };
}

/** Whether the evaluator counts a write that concerns the plugin. */
function isCharged({ operation, target, object, live }: AdmissionRequest, evaluator: Evaluator): boolean {
  if (operation === "CREATE" || target.subresource !== "" || evaluator.chargesUpdates) return true;
  return live === undefined || evaluator.changesScope!(object!, live);
}

/** The charge of one request. */
class Charge {
  private readonly turnKey: string;
  private measured: Measured | undefined;
  /** The usage before an update; undefined for a create. */
  private before: Measured | undefined;
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
   * Reserves the increase of usage, and adds the condition on the turn to the write.
   *
   * @throws {StatusError} Forbidden: a quota would be exceeded.
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
   * Checks the request.
   *
   * @returns whether it is charged to any quota.
   * @throws {StatusError} Forbidden: a quota would be exceeded, or no quota covers a limited resource.
   */
  check(usage: NamespaceUsage | undefined): boolean {
    const { request, evaluator, parts } = this;
    const object = request.object!;
    this.measured ??= evaluator.constant ?? evaluator.measure(object, 0);
    const quotas = usage === undefined ? [] : this.quotasOf(usage, this.measured);
    const missing = quotas.length === 0 ? undefined : evaluator.missing?.(object);
    if (missing !== undefined && missing.size > 0) {
      for (const quota of quotas) this.rejectMissing(quota, missing);
    }
    this.increase ??= this.increaseOver(this.measured);
    const increases = new Map(quotas.map((quota) => [quota, this.increaseIn(usage!, quota)] as const));
    const charged = quotas.length === 0 ? [this.increase] : [...increases.values()];
    if (charged.every(({ size }) => size === 0)) return false;
    if (parts.limited.length > 0) {
      rejectUncovered(parts.limited, request, {
        ...this.measured,
        covered: quotas.flatMap((quota) => quota.limitsOf(evaluator)),
        coveredScopes: (usage?.quotas ?? []).flatMap(({ scopes }) => scopes),
      });
    }
    for (const [quota, increase] of increases) this.rejectExcess(usage!, quota, increase);
    return [...increases].some(([{ hard }, increase]) => [...increase.keys()].some((name) => hard.has(name)));
  }

  /** The increase of the usage of a quota: the whole usage if an update brings the object into its scopes (release 1.33 on). */
  private increaseIn(usage: NamespaceUsage, quota: QuotaFacts): Usage {
    const { before, evaluator, increase, measured } = this;
    const enters =
      before !== undefined && evaluator.changesScope !== undefined && !usage.holds(quota, before);
    return enters ? nonzero(measured!.usage) : increase!;
  }

  private reserve(): MaybePromise<AdmissionCondition | undefined> {
    return andThen(this.parts.turns.acquire(this.turnKey), (turn) =>
      this.synced((usage) => {
        usage?.releaseBefore(turn, this.evaluator);
        return this.check(usage) ? this.reserveIn(usage!, turn) : undefined;
      }),
    );
  }

  /** Continues when the usage includes all acknowledged writes. */
  private synced<T>(next: (usage: NamespaceUsage | undefined) => T): MaybePromise<T> {
    const { index } = this.parts;
    return andThen(index.sync(), () => {
      const usage = index.in(this.request.target.namespace);
      return andThen(usage?.sync(this.evaluator), () => {
        usage?.applyDueChanges();
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
      measured: this.measured!,
      update: this.before && { before: this.before, increase: this.increase! },
      evaluator: this.evaluator,
      turn,
      outcome: undefined,
    };
    this.reservedIn = usage;
    usage.reserve(this.reservation);
    return { key: this.turnKey, revision: turn, renew: () => this.renew() };
  }

  /** Repeats the reservation after the turn was lost: nothing was written, and the usage may have changed. */
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

  /** Returns the quotas that limit the type and have the object in their scopes. */
  private quotasOf(usage: NamespaceUsage, measured: Measured): readonly QuotaFacts[] {
    return usage.quotas.filter(
      (quota) => quota.limitsOf(this.evaluator).length > 0 && usage.holds(quota, measured),
    );
  }

  /** Rejects an object without required requests or limits, with the message of the reference. */
  private rejectMissing(quota: QuotaFacts, missing: ReadonlyMap<string, readonly string[]>): void {
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

  /** Returns the increase of usage by the request. */
  private increaseOver({ usage }: Measured): Usage {
    const { live } = this.request;
    this.before = live === undefined ? undefined : this.evaluator.measure(live, 0);
    return this.before === undefined ? nonzero(usage) : increaseOf(usage, this.before.usage);
  }

  private rejectExcess(usage: NamespaceUsage, quota: QuotaFacts, increase: Usage): void {
    const { hard } = quota;
    const exceeded = quota.limitsOf(this.evaluator).filter((name) => {
      const more = increase.get(name);
      return more !== undefined && usage.used(quota, name).nanos + more.nanos > hard.get(name)!.nanos;
    });
    if (exceeded.length === 0) return;
    const requested = usageText(exceeded, (name) => increase.get(name)!);
    const used = usageText(exceeded, (name) => usage.used(quota, name));
    const limits = usageText(exceeded, (name) => hard.get(name)!);
    throw forbidden(
      this.request.target,
      `exceeded quota: ${quota.name}, requested: ${requested}, used: ${used}, limited: ${limits}`,
    );
  }
}

function nonzero(usage: Usage): Usage {
  return new Map([...usage].filter(([, { nanos }]) => nanos !== 0n));
}

/** The usage of a request, and what the quotas of its namespace cover. */
interface Coverage extends Measured {
  /** Names that the matching quotas limit. */
  readonly covered: readonly string[];
  /** The scopes of all quotas of the namespace. */
  readonly coveredScopes: readonly ScopeCondition[];
}

/**
 * Rejects the use of a limited resource that no quota covers.
 *
 * @throws {StatusError} Forbidden.
 */
function rejectUncovered(
  limited: readonly LimitedResource[],
  { target }: AdmissionRequest,
  { usage, traits, covered, coveredScopes }: Coverage,
): void {
  const { group, name: resource } = target.resource;
  const parts = limited
    .filter((entry) => entry.group === group && entry.resource === resource)
    .flatMap(({ matchContains }) => matchContains);
  const uncovered = [...usage]
    .filter(([name, { nanos }]) => nanos > 0n && parts.some((part) => name.includes(part)))
    .map(([name]) => name)
    .filter((name) => !covered.includes(name));
  if (uncovered.length > 0) {
    throw forbidden(target, `insufficient quota to consume: ${uncovered.toSorted().join(",")}`);
  }
  const isIn = (condition: ScopeCondition): boolean => compileScope(condition)(traits);
  const names = new Set(coveredScopes.filter(isIn).map(({ scopeName }) => scopeName));
  const without = limited
    .flatMap(({ matchScopes }) => matchScopes)
    .filter((condition) => isIn(condition) && !names.has(condition.scopeName));
  if (without.length > 0) {
    throw forbidden(target, `insufficient quota to match these scopes: ${scopesText(without)}`);
  }
}
