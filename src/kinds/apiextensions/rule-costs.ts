import type { FieldReport } from "../../schema/faults.ts";
import type { SchemaNode } from "../../schema/custom/schema-node.ts";

/**
 * Limits of the estimated cost of one rule, and of all rules of a schema, for one object, in the cost units of the
 * reference.
 */
const ruleLimit = 10_000_000;
const schemaLimit = 100_000_000;
/** Maximum size of a request in bytes. It bounds the number of values without another limit. */
const maxRequestBytes = 3 * 1024 * 1024;
/**
 * Number of the most expensive rules that are named if the sum is too large; each must cost at least a hundredth of the
 * limit.
 */
const namedRules = 4;

const advice =
  "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";

/** How often values of a schema can occur in one object; undefined if a list or map around it is unbounded. */
export type Cardinality = number | undefined;

/** Returns how often the children of a schema can occur, given the cardinality of the schema. */
export function cardinalityBelow({ type, additional, rules }: SchemaNode, own: Cardinality): Cardinality {
  if (own === undefined) return undefined;
  const limit = type === "array" ? rules.maxItems : additional === undefined ? 1 : rules.maxProperties;
  return limit === undefined ? undefined : own * Math.max(0, Number(limit));
}

/** Sums the estimated costs of the rules of one schema. */
export class RuleCosts {
  private total = 0;
  private expensive: { readonly report: FieldReport; readonly cost: number }[] = [];

  /**
   * Adds a rule; reports a fault if it is too expensive.
   *
   * @param cost maximum cost of one evaluation.
   * @param minBytes size of the shortest JSON of the rule's values.
   */
  add(
    report: FieldReport,
    cost: number,
    cardinality: Cardinality,
    minBytes: number,
    subject: "rule" | "messageExpression" = "rule",
  ): void {
    const all = cost * (cardinality ?? Math.floor(maxRequestBytes / (minBytes + 1)));
    if (all > ruleLimit) report.forbidden(excess(`estimated ${subject} cost`, all / ruleLimit));
    this.total += all;
    if (all < schemaLimit / 100) return;
    this.expensive.push({ report, cost: all });
    this.expensive = this.expensive.toSorted((a, b) => b.cost - a.cost).slice(0, namedRules);
  }

  /** Reports a fault if the total cost is too high. */
  checkTotal(schema: FieldReport, prefix: string): void {
    if (this.total <= schemaLimit) return;
    for (const { report } of this.expensive) {
      report.forbidden(
        "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
      );
    }
    const subject = `${prefix}validations estimated rule cost total for entire OpenAPIv3 schema`;
    schema.forbidden(excess(subject, this.total / schemaLimit));
  }
}

function excess(subject: string, factor: number): string {
  const times = factor > 100 ? "more than 100x" : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  return `${subject} exceeds budget by factor of ${times} (${advice})`;
}
