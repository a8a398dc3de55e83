import type { ResourceQuota } from "../../../kinds/core/resource-quota.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import type { Evaluator } from "./evaluator.ts";
import type { ScopeCondition } from "./scopes.ts";
import { type Usage, usageOf } from "./usage.ts";

/** A quota as it is enforced: by its `spec`, so that it counts from its creation on. */
export class QuotaFacts {
  readonly name: string;
  readonly hard: Usage;
  readonly scopes: readonly ScopeCondition[];
  /** Equal for quotas of the same scopes. */
  readonly scopeKey: string;
  private readonly measuredBy = new Map<Evaluator, readonly string[]>();

  /** @param object what is stored. */
  constructor(readonly object: ResourceQuota) {
    const { metadata, spec } = object;
    this.name = metadata.name!;
    this.hard = usageOf(spec?.hard);
    this.scopes = [
      ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" })),
      ...(spec?.scopeSelector?.matchExpressions ?? []),
    ];
    this.scopeKey = JSON.stringify(
      this.scopes.map(({ scopeName, operator, values = [] }) => [scopeName, operator, values]),
    );
  }

  /** What it limits of the objects that an evaluator measures; in the order of the names. */
  limitsOf(evaluator: Evaluator): readonly string[] {
    let names = this.measuredBy.get(evaluator);
    if (names === undefined) {
      names = [...this.hard.keys()].filter((name) => evaluator.measures(name)).toSorted();
      this.measuredBy.set(evaluator, names);
    }
    return names;
  }

  /** Whether another version of the quota limits the same; its status may differ. */
  limitsSameAs({ object: { spec } }: QuotaFacts): boolean {
    return JSON.stringify(spec) === JSON.stringify(this.object.spec);
  }
}

/** Reads a stored quota. */
export function quotaFacts(object: ApiObject): QuotaFacts {
  return new QuotaFacts(object as unknown as ResourceQuota);
}
