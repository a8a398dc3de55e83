import type { JsonValue } from "../../base/json/value.ts";
import { RecentMap } from "../../base/recent-map.ts";
import { compile, type Compiled, type Environment } from "../../cel/compile.ts";
import {
  bool,
  dyn,
  listOf,
  mapOf,
  objectType,
  string,
  type CelType,
  type ObjectType,
} from "../../cel/types.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { optionsOf, requestAttributes, versionAttributes } from "../webhooks/review-request.ts";
import type { ReviewObjects } from "../webhooks/review-objects.ts";

function fieldsOf(name: string, fields: Readonly<Record<string, CelType>>): ObjectType {
  return objectType(
    name,
    () => new Map(Object.entries(fields).map(([jsonName, type]) => [jsonName, { type, jsonName }])),
  );
}

const groupVersionKind = fieldsOf("GroupVersionKind", { group: string, version: string, kind: string });
const groupVersionResource = fieldsOf("GroupVersionResource", {
  group: string,
  version: string,
  resource: string,
});

/** The type of the variable `request`: the members of an AdmissionReview request without uid and objects. */
const requestType = fieldsOf("AdmissionRequest", {
  kind: groupVersionKind,
  resource: groupVersionResource,
  subResource: string,
  requestKind: groupVersionKind,
  requestResource: groupVersionResource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: fieldsOf("UserInfo", {
    username: string,
    uid: string,
    groups: listOf(string),
    extra: mapOf(string, listOf(string)),
  }),
  dryRun: bool,
  options: dyn,
});

/**
 * Returns the environment of policy expressions.
 *
 * @param types types of the objects and the parameters, if they are known; `params` is undefined for policies without parameters.
 */
export function policyEnvironment(types: {
  readonly object?: CelType;
  readonly params: CelType | undefined;
}): Environment {
  const { object = dyn, params } = types;
  const variables = new Map<string, CelType>([
    ["object", object],
    ["oldObject", object],
    ["request", requestType],
  ]);
  if (params !== undefined) variables.set("params", params);
  return { variables, result: bool };
}

const withoutParams = policyEnvironment({ params: undefined });
const withParams = policyEnvironment({ params: dyn });

/** Returns the environment for evaluation, with objects of dynamic type. */
export function environmentOf(hasParams: boolean): Environment {
  return hasParams ? withParams : withoutParams;
}

/**
 * A cache of compiled expressions. An update of a policy compiles only the changed expressions, and policies with equal
 * expressions share them.
 */
export class PolicyPrograms {
  private readonly cache = new RecentMap<Compiled>({ entries: 5_000, cost: 500_000 });

  get(expression: string, hasParams: boolean): Compiled {
    const key = `${hasParams ? "p" : "n"}${expression}`;
    let compiled = this.cache.get(key);
    if (compiled === undefined) {
      compiled = compile(expression, environmentOf(hasParams));
      this.cache.set(key, compiled, key.length);
    }
    return compiled;
  }
}

/**
 * Returns the value of the variable `request`.
 *
 * @param resource the version of the resource type in which the policy matches.
 */
export function requestVariable(
  request: AdmissionRequest,
  resource: Resource,
  objects: ReviewObjects,
  vocabulary: Vocabulary,
): JsonValue {
  const variable = {
    ...versionAttributes(request, objects, resource),
    ...requestAttributes(request),
    ...(request.operation === "CONNECT" ? {} : { options: optionsOf(request, vocabulary) }),
  };
  return variable as unknown as JsonValue;
}
