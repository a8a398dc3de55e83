import {
  jsonOf,
  deepEqual,
  getMember,
  isObject,
  type JsonObject,
  type JsonValue,
} from "../../base/json/value.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { bind, type Bindings } from "../../cel/compile.ts";
import { formatFaults as compileFaultText } from "../../cel/syntax/fault-text.ts";
import { keysOf } from "../../schema/custom/list-items.ts";
import { sortMembers } from "../../schema/custom/order.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { ruleFieldPath } from "./field-path.ts";
import { oldSelf, self, type Rule, type RuleNode } from "./rule-tree.ts";

/** Cost limit of all rules for one object, in the units of the reference. */
const objectBudget = 10_000_000;

/** Faults that mean that the object doesn't have the structure that rules rely on. */
const blocking: ReadonlySet<string> = new Set([
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/**
 * Evaluates the validation rules of a custom kind for an object (spec: conventions 4.8). Skips them if the object
 * doesn't have the structure of the schema. Rules with `oldSelf` run only if there is an old value.
 *
 * @param report has the faults found so far.
 * @param ratchets see {@link RuleRun}.
 */
export function checkExpressions(
  rules: RuleNode | undefined,
  object: ApiObject,
  live: ApiObject | undefined,
  report: FieldReport,
  ratchets = false,
): MaybePromise<void> {
  if (rules === undefined) return;
  if (report.faults.some(({ reason }) => blocking.has(reason))) {
    report
      .withoutField()
      .invalid(
        undefined,
        "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
      );
    return;
  }
  return new RuleRun(ratchets).check(rules, jsonOf(object), jsonOf(live!), report);
}

/** A value whose rules are evaluated. */
interface Visit {
  readonly node: RuleNode;
  readonly value: JsonValue;
  /** The old value; undefined if there is none, or it can't be correlated. */
  readonly old: JsonValue | undefined;
  readonly report: FieldReport;
  /** The list or object of the value; undefined for the whole object. */
  readonly parent: Visit | undefined;
  /** Number of evaluated rules of the node. */
  done: number;
  bindings: Bindings | undefined;
  /** Bindings of rules whose old value is optional. */
  optionalBindings: Bindings | undefined;
  /** Result of {@link isUnchanged}; items of a list share the comparison of the list. */
  unchanged: boolean | undefined;
}

/** Evaluates rules one by one with a common budget. */
export class RuleRun {
  private remainingCost = objectBudget;

  /**
   * @param ratchets whether a rule that doesn't compare may fail for an unchanged value (CRDValidationRatcheting).
   */
  constructor(private readonly ratchets = false) {}

  private current: Visit | undefined;
  /** Iterators of the values to visit, one per depth, the deepest last; lazy, because lists may be long. */
  private readonly pending: Iterator<Visit>[] = [];
  private readonly yieldIfDue = createYielder();

  /** Evaluates the rules of a node and below. Faults go to the report; the last one reports an exhausted budget. */
  check(
    node: RuleNode,
    value: JsonValue,
    old: JsonValue | undefined,
    report: FieldReport,
  ): MaybePromise<void> {
    this.current = visitOf(node, value, old, report);
    return this.run(report);
  }

  private run(report: FieldReport): MaybePromise<void> {
    while (!report.full && this.step()) {
      const turn = this.yieldIfDue();
      if (turn !== undefined) return turn.then(() => this.run(report));
    }
    this.current = undefined;
    this.pending.length = 0;
  }

  /** Evaluates the next rule of the value, or moves to the next value; returns false at the end. */
  private step(): boolean {
    const { current } = this;
    if (current === undefined) {
      const values = this.pending.at(-1);
      if (values === undefined) return false;
      const { value, done } = values.next();
      if (done === true) this.pending.pop();
      else this.current = value;
      return true;
    }
    const rule = current.node.rules[current.done++];
    if (rule !== undefined) return this.evaluate(rule, current);
    if (Array.isArray(current.value)) this.pending.push(itemsOf(current, current.value));
    else if (isObject(current.value)) this.pending.push(membersOf(current, current.value));
    this.current = undefined;
    return true;
  }

  private evaluate(rule: Rule, visit: Visit): boolean {
    const { schema } = visit.node;
    const fault = (message: string): void => {
      const report = visit.report.path === "" ? visit.report.withoutField() : visit.report;
      report.invalid(schema.type, message);
    };
    if (this.remainingCost <= 0) {
      fault(outOfBudget);
      return false;
    }
    const { program, faults } = rule.compiled;
    if (program === undefined) {
      fault(`rule compile error: ${compileFaultText(faults)}`);
      return true;
    }
    const usesOld = program.variables.has(oldSelf);
    if (visit.old === undefined && usesOld && !(rule.hasOptionalOld && this.ratchets)) return true;
    const result = program.evaluate(bindingsOf(rule, visit), Infinity);
    if (result.cost > this.remainingCost) {
      fault(outOfBudget);
      return false;
    }
    this.remainingCost -= result.cost;
    if (result.outcome === "cost exceeded") {
      fault(
        `'${result.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule.shown}`,
      );
      return false;
    }
    if (result.outcome === "fault") fault(faultText(result.message, rule));
    else if (result.value !== true && !(this.ratchets && !usesOld && isUnchanged(visit))) {
      return this.failed(rule, visit);
    }
    return true;
  }

  /** Reports a rule whose result is false; returns whether further rules may run. */
  private failed(rule: Rule, visit: Visit): boolean {
    const { value, node } = visit;
    const report = faultReport(rule, visit);
    const message = this.messageOf(rule, visit);
    if (message instanceof ExhaustedBudget) {
      report.invalid(node.schema.type, message.message);
      return false;
    }
    switch (rule.declared.reason) {
      case "FieldValueForbidden":
        report.forbidden(message);
        break;
      case "FieldValueRequired":
        report.required(message);
        break;
      case "FieldValueDuplicate":
        report.duplicate(isStructured(value) ? noValue : value);
        break;
      default:
        report.invalid(node.schema.type, message);
    }
    return true;
  }

  /** Evaluates the message of a rule; if its expression fails, the message of the definition applies. */
  private messageOf(rule: Rule, visit: Visit): string | ExhaustedBudget {
    const otherwise = rule.message === "" ? `failed rule: ${rule.expression}` : rule.message;
    const program = rule.compiledMessage?.program;
    if (program === undefined) return otherwise;
    const result = program.evaluate(bindingsOf(rule, visit), Infinity);
    if (result.cost > this.remainingCost) {
      return new ExhaustedBudget(
        "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run",
      );
    }
    if (result.outcome === "cost exceeded") {
      const { messageExpression } = rule.declared;
      return new ExhaustedBudget(
        `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(messageExpression)}`,
      );
    }
    this.remainingCost -= result.cost;
    if (result.outcome !== "value" || typeof result.value !== "string") return otherwise;
    const message = result.value.trim();
    const isUsable = message !== "" && message.length <= maxMessageLength && !message.includes("\n");
    return isUsable ? message : otherwise;
  }
}

/** The budget ended while the message of a rule was evaluated. */
class ExhaustedBudget {
  constructor(readonly message: string) {}
}

/** Maximum length of an evaluated message. */
const maxMessageLength = 5 * 1024;

/** Stands for a list or an object in messages. */
const noValue = "";

function isStructured(value: JsonValue): boolean {
  return typeof value === "object" && value !== null;
}

/** Whether the value, or a list or an object around it, equals its old one. */
function isUnchanged(visit: Visit): boolean {
  const { value, old, parent } = visit;
  return (visit.unchanged ??=
    old === undefined ? parent !== undefined && isUnchanged(parent) : deepEqual(value, old));
}

/** Returns the report of the rule's field path. */
function faultReport({ declared }: Rule, { report, node }: Visit): FieldReport {
  const { fieldPath = "" } = declared;
  const steps = fieldPath === "" ? [] : (ruleFieldPath(fieldPath, node.schema) ?? []);
  if (steps.length === 0) return report.path === "" ? report.withoutField() : report;
  return steps.reduce((at, { name, isKey }) => (isKey ? at.key(name) : at.at(name)), report);
}

const outOfBudget =
  "validation failed due to running out of cost budget, no further validation rules will be run";

function faultText(message: string, rule: Rule): string {
  return message.startsWith("no such overload")
    ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${rule.shown}`
    : `${message} evaluating rule: ${rule.shown}`;
}

/** Returns the variables of a value's rules; its rules share them. */
function bindingsOf(rule: Rule, visit: Visit): Bindings {
  const { value, old = null } = visit;
  if (rule.hasOptionalOld) {
    return (visit.optionalBindings ??= bind(rule.environment(), { [self]: value, [oldSelf]: old }));
  }
  return (visit.bindings ??= bind(rule.environment(), { [self]: value, [oldSelf]: old }));
}

/** Returns the items of a list of type `map` by key; undefined for other lists, whose items can't be correlated. */
function itemsByKey(node: RuleNode, list: readonly JsonValue[]): ReadonlyMap<string, JsonValue> | undefined {
  if (node.schema.listType !== "map") return undefined;
  return new Map(list.map((item) => [keyOf(node, item), item]));
}

function keyOf({ schema }: RuleNode, item: JsonValue): string {
  return encodeJson(sortMembers(keysOf(schema, item)));
}

function visitOf(
  node: RuleNode,
  value: JsonValue | undefined,
  old: JsonValue | undefined,
  report: FieldReport,
  parent?: Visit,
): Visit | undefined {
  if (value === undefined || value === null) return undefined;
  return {
    node,
    value,
    old: old === null ? undefined : old,
    report,
    parent,
    done: 0,
    bindings: undefined,
    optionalBindings: undefined,
    unchanged: undefined,
  };
}

function* itemsOf(parent: Visit, list: readonly JsonValue[]): Generator<Visit, void> {
  const { node, old, report } = parent;
  const { items } = node;
  if (items === undefined) return;
  const before = Array.isArray(old) && items.compares ? itemsByKey(node, old) : undefined;
  for (const [index, item] of list.entries()) {
    const visit = visitOf(items, item, before?.get(keyOf(node, item)), report.at(index), parent);
    if (visit !== undefined) yield visit;
  }
}

function* membersOf(parent: Visit, object: JsonObject): Generator<Visit, void> {
  const { node, old, report } = parent;
  const before = isObject(old) ? old : {};
  for (const [name, property] of node.properties) {
    const visit = visitOf(
      property,
      getMember(object, name),
      getMember(before, name),
      report.at(name),
      parent,
    );
    if (visit !== undefined) yield visit;
  }
  if (node.additional === undefined) return;
  for (const name of Object.keys(object)) {
    const visit = visitOf(node.additional, object[name], getMember(before, name), report.key(name), parent);
    if (visit !== undefined) yield visit;
  }
}
