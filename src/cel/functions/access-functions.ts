import { dnsLabelFaults, dnsSubdomainFaults } from "../../base/names.ts";
import {
  AuthorizerValue,
  DecisionValue,
  GroupCheck,
  PathCheck,
  ResourceCheck,
  type AccessDecision,
  type CheckedResource,
} from "../values/access-checks.ts";
import { declareFunction, traversal, type CelFunction, type CostRule } from "./function-table.ts";
import { Fault, noOverload, type Value } from "../values/values.ts";

/** Cost of a check: an expression can make two. */
export const checkCost = 350_000;

/** A function that sets a part of the resource of a check. */
function withPart(name: keyof CheckedResource, cost: CostRule = () => 1): readonly [string, CelFunction] {
  const run = ([check, value]: readonly Value[]): Value =>
    check instanceof ResourceCheck && typeof value === "string"
      ? new ResourceCheck(check.authorizer, { ...check.object, [name]: value })
      : noOverload;
  return [name, declareFunction(["resourceCheck.(string) -> resourceCheck"], run, { cost })];
}

/** A function of a decision. */
function ofDecision(
  name: string,
  type: "bool" | "string",
  read: (decision: AccessDecision) => Value,
): readonly [string, CelFunction] {
  const run = ([value]: readonly Value[]): Value =>
    value instanceof DecisionValue ? read(value.decision) : noOverload;
  return [name, declareFunction([`decision.() -> ${type}`], run)];
}

function serviceAccount([authorizer, namespace, name]: readonly Value[]): Value {
  if (!(authorizer instanceof AuthorizerValue) || typeof namespace !== "string" || typeof name !== "string") {
    return noOverload;
  }
  if (dnsSubdomainFaults(name).length > 0) return new Fault("Invalid service account name");
  if (dnsLabelFaults(namespace).length > 0) return new Fault("Invalid service account namespace");
  return new AuthorizerValue(authorizer.decide, { namespace, name });
}

function pathCheck([authorizer, path]: readonly Value[]): Value {
  if (!(authorizer instanceof AuthorizerValue) || typeof path !== "string") return noOverload;
  return path.trim() === "" ? new Fault("path must not be empty") : new PathCheck(authorizer, { path });
}

function groupCheck([authorizer, group]: readonly Value[]): Value {
  if (!(authorizer instanceof AuthorizerValue) || typeof group !== "string") return noOverload;
  return new GroupCheck(authorizer, group);
}

function resourceCheck([check, resource]: readonly Value[]): Value {
  if (!(check instanceof GroupCheck) || typeof resource !== "string") return noOverload;
  if (resource.trim() === "") return new Fault("resource must not be empty");
  const rest = { subresource: "", namespace: "", name: "", fieldSelector: "", labelSelector: "" };
  return new ResourceCheck(check.authorizer, { group: check.group, resource, ...rest });
}

function check([value, verb]: readonly Value[]): Value {
  if (!(value instanceof PathCheck || value instanceof ResourceCheck) || typeof verb !== "string") {
    return noOverload;
  }
  const { authorizer, object } = value;
  return new DecisionValue(authorizer.decide({ account: authorizer.account, verb, object }));
}

/** Functions of the variable `authorizer`. */
export const accessFunctions: readonly (readonly [string, CelFunction])[] = [
  ["path", declareFunction(["authorizer.(string) -> pathCheck"], pathCheck)],
  ["group", declareFunction(["authorizer.(string) -> groupCheck"], groupCheck)],
  ["serviceAccount", declareFunction(["authorizer.(string, string) -> authorizer"], serviceAccount)],
  ["resource", declareFunction(["groupCheck.(string) -> resourceCheck"], resourceCheck)],
  withPart("subresource"),
  withPart("namespace"),
  withPart("name"),
  [
    "check",
    declareFunction(["pathCheck.(string) -> decision", "resourceCheck.(string) -> decision"], check, {
      cost: () => checkCost,
    }),
  ],
  ofDecision("allowed", "bool", ({ allowed }) => allowed),
  ofDecision("reason", "string", ({ reason }) => reason),
  ofDecision("errored", "bool", ({ error }) => error !== ""),
  ofDecision("error", "string", ({ error }) => error),
];

/** A requirement has at least two characters, and its list and its structure cost 50. */
const selectorCost: CostRule = (_, size) => 10 + traversal(size) + Math.ceil(size / 2) * 50;

/** Functions that limit a check to the objects of a selector. */
export const selectorCheckFunctions = [
  withPart("fieldSelector", selectorCost),
  withPart("labelSelector", selectorCost),
] as const;
