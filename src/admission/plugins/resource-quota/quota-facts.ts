import { objectAs } from "../../../schema/api-object.ts";
import { parseAmounts } from "../../../base/quantity.ts";
import type { ResourceQuota } from "../../../kinds/core/resource-quota.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import type { Evaluator } from "./evaluators.ts";
import type { ScopeCondition } from "./scopes.ts";
import type { Usage } from "./usage.ts";

/** A quota as it is enforced: by its `spec`, so that it is effective from its creation on. */
export class QuotaFacts {
  readonly name: string;
  readonly hard: Usage;
  readonly scopes: readonly ScopeCondition[];
  /** Equal for quotas with the same scopes. */
  readonly scopeKey: string;
  private readonly measuredBy = new Map<Evaluator, readonly string[]>();

  /** @param object the stored quota. */
  constructor(readonly object: ResourceQuota) {
    const { metadata, spec } = object;
    this.name = metadata.name!;
    this.hard = parseAmounts(spec?.hard);
    this.scopes = [
      ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" })),
      ...(spec?.scopeSelector?.matchExpressions ?? []),
    ];
    this.scopeKey = JSON.stringify(
      this.scopes.map(({ scopeName, operator, values = [] }) => [scopeName, operator, values]),
    );
  }

  /** Returns the limited names that belong to an evaluator, sorted. */
  limitsOf(evaluator: Evaluator): readonly string[] {
    let names = this.measuredBy.get(evaluator);
    if (names === undefined) {
      names = [...this.hard.keys()].filter((name) => evaluator.measures(name)).toSorted();
      this.measuredBy.set(evaluator, names);
    }
    return names;
  }

  /** Whether another version of the quota has the same limits. */
  limitsSameAs({ object: { spec } }: QuotaFacts): boolean {
    return JSON.stringify(spec) === JSON.stringify(this.object.spec);
  }
}

export function quotaFacts(object: ApiObject): QuotaFacts {
  return new QuotaFacts(objectAs<ResourceQuota>(object));
}
