import type { FieldReport } from "../../schema/faults.ts";
import type { SchemaNode } from "../../schema/custom/schema-node.ts";

/** What one rule, and what all rules of a schema, may be estimated to cost for one object, in the units of the reference. */
const ruleLimit = 10_000_000;
const schemaLimit = 100_000_000;
/** Bytes of the largest request, by which the number of values is bounded that have no other limit. */
const maxRequestBytes = 3 * 1024 * 1024;
/** So many of the most expensive rules are named where the sum is too large, if they have a hundredth of the limit. */
const namedRules = 4;

const advice =
  "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";

/** How often a schema's values can stand in one object; undefined where no list or map around it has a limit. */
export type Cardinality = number | undefined;

/** How often what is directly below a schema can stand in an object, where the schema itself can stand so often. */
export function cardinalityBelow({ type, additional, rules }: SchemaNode, own: Cardinality): Cardinality {
  if (own === undefined) return undefined;
  const limit = type === "array" ? rules.maxItems : additional === undefined ? 1 : rules.maxProperties;
  return limit === undefined ? undefined : own * Math.max(0, Number(limit));
}

/** Adds up what the rules of one schema are estimated to cost. */
export class RuleCosts {
  private total = 0;
  private expensive: { readonly place: FieldReport; readonly cost: number }[] = [];

  /**
   * Counts a rule; one that costs too much is a fault.
   *
   * @param cost of one evaluation, at most.
   * @param minBytes of the shortest JSON of the rule's values.
   */
  add(place: FieldReport, cost: number, cardinality: Cardinality, minBytes: number): void {
    const all = cost * (cardinality ?? Math.floor(maxRequestBytes / (minBytes + 1)));
    if (all > ruleLimit) place.forbidden(excess("estimated rule cost", all / ruleLimit));
    this.total += all;
    if (all < schemaLimit / 100) return;
    this.expensive.push({ place, cost: all });
    this.expensive = this.expensive.toSorted((a, b) => b.cost - a.cost).slice(0, namedRules);
  }

  /** Reports where all rules together cost too much. */
  checkTotal(schema: FieldReport, prefix: string): void {
    if (this.total <= schemaLimit) return;
    for (const { place } of this.expensive) {
      place.forbidden(
        "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
      );
    }
    const what = `${prefix}validations estimated rule cost total for entire OpenAPIv3 schema`;
    schema.forbidden(excess(what, this.total / schemaLimit));
  }
}

function excess(what: string, factor: number): string {
  const times = factor > 100 ? "more than 100x" : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  return `${what} exceeds budget by factor of ${times} (${advice})`;
}
