import type { JsonValue } from "../../base/json/value.ts";
import { RecentMap } from "../../base/recent-map.ts";
import { shownUser } from "../../base/user-info.ts";
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
import { Namespace } from "../../kinds/core/namespace.ts";
import type { AdmissionRequest } from "../../resources/engine.ts";
import type { Resource } from "../../resources/registry.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { optionsOf } from "../webhooks/review-request.ts";
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

/** What expressions see of a request: what webhooks are sent of it, without its uid and the objects. */
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

/** An environment with the variables of policies; what is known of the types of the objects narrows them. */
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

/** The environment in which the expressions of a policy are evaluated. */
export function environmentOf(hasParams: boolean): Environment {
  return hasParams ? withParams : withoutParams;
}

/**
 * The last programs by their expressions, so that an update of a policy compiles only what it changes, and many policies with
 * one expression share it.
 */
export class PolicyPrograms {
  private readonly known = new RecentMap<Compiled>({ entries: 5_000, cost: 500_000 });

  get(expression: string, hasParams: boolean): Compiled {
    const key = `${hasParams ? "p" : "n"}${expression}`;
    let found = this.known.get(key);
    if (found === undefined) {
      found = compile(expression, environmentOf(hasParams));
      this.known.set(key, found, key.length);
    }
    return found;
  }
}

/**
 * The variable `request`.
 *
 * @param resource the version of the resource type in which the policy matches.
 */
export function requestVariable(
  request: AdmissionRequest,
  resource: Resource,
  objects: ReviewObjects,
  vocabulary: Vocabulary,
): JsonValue {
  const { operation, target, user, dryRun, requestResource } = request;
  const { subresource, name } = target;
  // The namespace of a request for a Namespace is itself.
  const namespace = target.resource.stored.kind === Namespace ? name : target.namespace;
  const variable = {
    kind: objects.kindIn(resource),
    resource: { group: resource.group, version: resource.version, resource: resource.name },
    ...(subresource === "" ? {} : { subResource: subresource, requestSubResource: subresource }),
    requestKind: objects.kindIn(requestResource),
    requestResource: {
      group: requestResource.group,
      version: requestResource.version,
      resource: requestResource.name,
    },
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: shownUser(user),
    dryRun,
    ...(operation === "CONNECT" ? {} : { options: optionsOf(request, vocabulary) }),
  };
  return variable as unknown as JsonValue;
}
