import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder, type YieldIfDue } from "../../base/turns/yielding.ts";
import { defaultRelease, type Release } from "../../base/releases.ts";
import type { CustomType } from "../../cel/types/custom-types.ts";
import { formatFaults } from "../../cel/syntax/fault-text.ts";
import { languageOf } from "../../cel/libraries.ts";
import type { KindContext } from "../../schema/context.ts";
import { parseSchema, type SchemaNode } from "../../schema/custom/schema-node.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { RuleRun } from "./rule-run.ts";
import { ruleFieldPath } from "./field-path.ts";
import { oldSelf, rulesOf, type LanguageFor, type Rule, type RuleNode } from "./rule-tree.ts";

interface Definition {
  readonly spec: { readonly versions: readonly Version[] | null };
}

interface Version {
  readonly schema?: { readonly openAPIV3Schema?: unknown } | undefined;
}

/**
 * Checks the validation rules in the schemas of a definition: they compile, their estimated cost is bounded, and the
 * defaults satisfy them. Schemas with other faults are skipped.
 */
export function checkRules(
  definition: Definition,
  live: Definition | undefined,
  report: FieldReport,
  { vocabulary, enabled, release = defaultRelease, subresource }: KindContext,
): MaybePromise<void> {
  if (subresource !== "" || !enabled("CustomResourceValidationExpressions")) return;
  const prefix = vocabulary.schemaExtensionPrefix;
  const before = live?.spec.versions ?? [];
  const languageFor = languagesOf(release, before, prefix);
  const checks = (definition.spec.versions ?? []).flatMap(({ schema }, index) => {
    const text = schema?.openAPIV3Schema as object | undefined;
    const previousSchema = before[index]?.schema?.openAPIV3Schema;
    if (text === undefined || deepEqual(text as JsonValue, previousSchema as JsonValue)) return [];
    const schemaReport = report.at("spec", "versions", index, "schema", "openAPIV3Schema");
    const { path } = schemaReport;
    if (report.faults.some(({ field }) => field.startsWith(path))) return [];
    const rules = rulesOf(parseSchema(text, prefix), languageFor);
    return rules === undefined ? [] : [{ rules, report: schemaReport }];
  });
  return checks.length === 0 ? undefined : checkSchemas(checks, prefix);
}

/** Expressions that the live definition has may use everything that stored expressions may; others may use less. */
function languagesOf(release: Release, live: readonly Version[], prefix: string): LanguageFor {
  const [stored, fresh] = [languageOf(release, "stored"), languageOf(release, "new")];
  if (stored === fresh) return () => stored;
  let existing: Set<string> | undefined;
  return (expression) => {
    existing ??= new Set(live.flatMap(({ schema }) => expressionsOf(schema?.openAPIV3Schema, prefix)));
    return existing.has(expression) ? stored : fresh;
  };
}

/** Returns the expressions of a schema without errors. */
function expressionsOf(schema: unknown, prefix: string): string[] {
  const expressions: string[] = [];
  const collect = ({ validations, properties, additional, items }: SchemaNode): void => {
    for (const { rule, messageExpression = "" } of validations) {
      expressions.push(rule.trim(), messageExpression);
    }
    for (const below of [...properties.values(), additional, items]) {
      if (below !== undefined) collect(below);
    }
  };
  if (schema !== undefined) collect(parseSchema(schema as object, prefix));
  return expressions;
}

async function checkSchemas(
  schemas: readonly { readonly rules: RuleNode; readonly report: FieldReport }[],
  prefix: string,
): Promise<void> {
  const yieldIfDue = createYielder();
  for (const { rules, report } of schemas) {
    const faultCount = report.faults.length;
    const check = new SchemaRules(prefix, yieldIfDue);
    await check.node(rules, report, 1, undefined);
    check.costs.checkTotal(report, prefix);
    if (report.faults.length === faultCount) await checkDefaults(rules, report, new RuleRun());
  }
}

class SchemaRules {
  readonly costs = new RuleCosts();

  constructor(
    private readonly prefix: string,
    private readonly yieldIfDue: YieldIfDue,
  ) {}

  /** @param unordered path of the outermost list around the node whose items can't be correlated after an update. */
  async node(
    node: RuleNode,
    report: FieldReport,
    cardinality: Cardinality,
    unordered: string | undefined,
  ): Promise<void> {
    const validations = report.at(`${this.prefix}validations`);
    if (node.rules.length > 0 && node.type === undefined) {
      validations.invalid(
        node.schema.type,
        "rules are only supported where the schema says the types of all values that they can name",
      );
    } else {
      for (const [index, rule] of node.rules.entries()) {
        if (report.full) return;
        this.rule(rule, node, validations.at(index), cardinality, unordered);
        await this.yieldIfDue();
      }
    }
    const below = cardinalityBelow(node.schema, cardinality);
    for (const [name, property] of node.properties) {
      await this.node(property, report.at("properties").key(name), below, unordered);
    }
    if (node.additional !== undefined) {
      await this.node(node.additional, report.at("additionalProperties"), below, unordered);
    }
    if (node.items === undefined) return;
    const lost = node.schema.listType === "map" ? unordered : (unordered ?? report.path);
    await this.node(node.items, report.at("items"), below, lost);
  }

  private rule(
    rule: Rule,
    { type, schema }: RuleNode,
    report: FieldReport,
    cardinality: Cardinality,
    unordered: string | undefined,
  ): void {
    const ruleReport = report.at("rule");
    const { program, faults } = rule.compiled;
    const { fieldPath = "", optionalOldSelf } = rule.declared;
    if (fieldPath !== "" && ruleFieldPath(fieldPath, schema) === undefined) {
      report.at("fieldPath").invalid(fieldPath, "must be a valid path");
    }
    if (program === undefined) return ruleReport.invalid(rule.expression, formatFaults(faults));
    this.costs.add(ruleReport, program.estimateCost(type!.type).max, cardinality, type!.minBytes);
    this.message(rule, type!, report.at("messageExpression"), cardinality);
    if (!program.variables.has(oldSelf)) {
      if (optionalOldSelf === undefined || optionalOldSelf === null) return;
      const message = "may not be set if oldSelf is not used in rule";
      return report.at("optionalOldSelf").invalid(optionalOldSelf, message);
    }
    if (unordered === undefined) return;
    ruleReport.invalid(
      rule.expression,
      `oldSelf cannot be used on the uncorrelatable portion of the schema within ${unordered}`,
    );
  }

  private message(rule: Rule, type: CustomType, report: FieldReport, cardinality: Cardinality): void {
    const message = rule.compiledMessage;
    if (message === undefined) return;
    const { program, faults } = message;
    if (program === undefined) {
      return report.invalid(rule.declared.messageExpression, `messageExpression ${formatFaults(faults)}`);
    }
    const { max } = program.estimateCost(type.type);
    this.costs.add(report, max, cardinality, type.minBytes, "messageExpression");
  }
}

/** Checks that the defaults satisfy the rules. All evaluations share one budget. */
async function checkDefaults(node: RuleNode, report: FieldReport, run: RuleRun): Promise<void> {
  const value = node.schema.default as JsonValue | undefined;
  if (value !== undefined) await run.check(node, value, value, report.at("default"));
  for (const [name, property] of node.properties) {
    await checkDefaults(property, report.at("properties").key(name), run);
  }
  if (node.additional !== undefined) {
    await checkDefaults(node.additional, report.at("additionalProperties"), run);
  }
  if (node.items !== undefined) await checkDefaults(node.items, report.at("items"), run);
}

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
type Cardinality = number | undefined;

/** Returns how often the children of a schema can occur, given the cardinality of the schema. */
function cardinalityBelow({ type, additional, rules }: SchemaNode, own: Cardinality): Cardinality {
  if (own === undefined) return undefined;
  const limit = type === "array" ? rules.maxItems : additional === undefined ? 1 : rules.maxProperties;
  return limit === undefined ? undefined : own * Math.max(0, Number(limit));
}

/** Sums the estimated costs of the rules of one schema. */
class RuleCosts {
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
