import { jsonOf, type JsonValue } from "../../base/json/value.ts";
import { bind, compile, type Environment, type Program } from "../../cel/compile.ts";
import { formatFaults } from "../../cel/syntax/fault-text.ts";
import { configurationLanguage } from "../../cel/libraries.ts";
import {
  bool,
  listOf,
  mapOf,
  objectType,
  string,
  type CelType,
  type ObjectType,
} from "../../cel/types/types.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Attributes } from "../authorizer.ts";
import type { RequestSelectors } from "../request-selectors.ts";
import type { WebhookFields } from "./form.ts";

/** Maximum number of conditions of one webhook. */
const maxConditions = 64;
/** Cost limit of all conditions for one request, in the units of Kubernetes. */
const requestBudget = 2_500_000;

function fieldsOf(name: string, fields: Readonly<Record<string, CelType>>): ObjectType {
  return objectType(
    name,
    () => new Map(Object.entries(fields).map(([jsonName, type]) => [jsonName, { type, jsonName }])),
  );
}

const selectorType = (name: string) =>
  fieldsOf(name, {
    rawSelector: string,
    requirements: listOf(
      fieldsOf("SelectorRequirement", { key: string, operator: string, values: listOf(string) }),
    ),
  });

/** The type of the variable `request`: the spec of a SubjectAccessReview of version v1. */
const requestType = fieldsOf("SubjectAccessReviewSpec", {
  resourceAttributes: fieldsOf("ResourceAttributes", {
    namespace: string,
    verb: string,
    group: string,
    version: string,
    resource: string,
    subresource: string,
    name: string,
    fieldSelector: selectorType("FieldSelectorAttributes"),
    labelSelector: selectorType("LabelSelectorAttributes"),
  }),
  nonResourceAttributes: fieldsOf("NonResourceAttributes", { path: string, verb: string }),
  user: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
  uid: string,
});
const environment: Environment = {
  variables: new Map<string, CelType>([["request", requestType]]),
  result: bool,
};

/** Decides whether a webhook is called. */
export interface RequestMatcher {
  /** Returns the result; with an `error` if no condition is false and one can't be evaluated. */
  match(attributes: Attributes): { readonly matches: boolean; readonly error?: string };
}

/** Compiles the conditions of a webhook. Undefined if there are none. */
export function checkConditions(
  conditions: WebhookFields["matchConditions"] = [],
  report: FieldReport,
): RequestMatcher | undefined {
  if (conditions.length > maxConditions) {
    report.tooMany(conditions.length, maxConditions);
    return undefined;
  }
  const programs = new Map<string, { program: Program; field: string }>();
  for (const [index, { expression = "" }] of conditions.entries()) {
    const place = report.at(index, "expression");
    if (expression.trim() === "") place.required();
    else if (programs.has(expression)) place.duplicate(expression);
    else {
      const { program, faults } = compile(expression, { ...environment, language: configurationLanguage() });
      if (program === undefined) place.invalid(expression, formatFaults(faults));
      else programs.set(expression, { program, field: place.path });
    }
  }
  return programs.size === 0 ? undefined : new Conditions([...programs.values()]);
}

class Conditions implements RequestMatcher {
  constructor(private readonly programs: readonly { readonly program: Program; readonly field: string }[]) {}

  match(attributes: Attributes): ReturnType<RequestMatcher["match"]> {
    const bindings = bind(environment, { request: requestOf(attributes) });
    let budget = requestBudget;
    let error: string | undefined;
    for (const { program, field } of this.programs) {
      const result = program.evaluate(bindings, budget);
      budget -= result.cost;
      if (result.outcome !== "value") error ??= `${field}: ${result.message}`;
      else if (result.value !== true) return { matches: false };
    }
    return error === undefined ? { matches: true } : { matches: false, error };
  }
}

/** Returns the variable `request`. All fields of a request are present, also empty ones. */
function requestOf(attributes: Attributes): JsonValue {
  const { name: user, uid, groups, extra } = attributes.user;
  const subject = { user, uid, groups: [...groups], extra: jsonOf(extra) };
  if (attributes.kind === "nonResource") {
    const { path, verb } = attributes;
    return { ...subject, nonResourceAttributes: { path, verb } };
  }
  const { namespace, verb, group, version, resource, subresource, name, selectors } = attributes;
  const texts = { namespace, verb, group, version, resource, subresource, name };
  return { ...subject, resourceAttributes: { ...texts, ...selectorMembers(selectors) } };
}

/** Returns the selectors that have requirements. */
function selectorMembers(selectors: RequestSelectors | undefined): Record<string, JsonValue> {
  const members = Object.entries({
    fieldSelector: selectors?.fieldSelector ?? [],
    labelSelector: selectors?.labelSelector ?? [],
  }).filter(([, requirements]) => requirements.length > 0);
  return Object.fromEntries(
    members.map(([name, requirements]) => [name, { requirements: jsonOf(requirements) }]),
  );
}
