import { labelKey } from "../../vocabulary/names.ts";
import { isDeepStrictEqual } from "node:util";
import type { Authorizer, Decision } from "../../authorization/authorizer.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import type { Cause } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { isKindOf, resource as resourceGroup } from "../../kinds/groups.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { invalidError } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";

/** Number of drivers in an error. */
const maxRefusals = 10;

interface DeviceState {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}

interface Selector {
  readonly nodeSelectorTerms?:
    | readonly {
        readonly matchExpressions?: readonly unknown[];
        readonly matchFields?: readonly {
          readonly key: string;
          readonly operator: string;
          readonly values?: readonly string[];
        }[];
      }[]
    | null;
}

interface ClaimStatus {
  readonly allocation?: { readonly nodeSelector?: Selector };
  readonly reservedFor?: readonly unknown[];
  readonly devices?: readonly DeviceState[];
}

interface Access {
  readonly verb: string;
  readonly subresource: "binding" | "driver";
  /** Empty: all namespaces. */
  readonly namespace: string;
  /** Empty: all names. */
  readonly name: string;
}

/**
 * Who changes the allocation or the consumers of a claim needs the verb of the request for `resourceclaims/binding`, in all namespaces. Who
 * changes the states of devices needs the verb `arbitrary-node:VERB` for `resourceclaims/driver` with the name of each driver; a service
 * account whose pod is on the allocated node may have `associated-node:VERB` instead. The check runs after the plugins and can't be disabled.
 */
export function claimStatusPermissions(authorizer: Authorizer, vocabulary: Vocabulary): AdmissionPlugin {
  return {
    name: "ClaimStatusPermissions",
    concerns: (operation, { resource, subresource }) =>
      operation === "UPDATE" &&
      subresource === "status" &&
      isKindOf(resource.stored.kind, resourceGroup, "ResourceClaim"),
    validate(request) {
      const [status, live] = [statusOf(request.object), statusOf(request.live)];
      const binds =
        !isDeepStrictEqual(status.allocation, live.allocation) ||
        !isDeepStrictEqual(status.reservedFor, live.reservedFor);
      const drivers = status.allocation === undefined ? [] : changedDrivers(status, live);
      if (!binds && drivers.length === 0) return undefined;
      return checkPermissions(authorizer, vocabulary, request, binds, drivers);
    },
  };
}

const statusOf = (claim: ApiObject | undefined) => (claim?.["status"] ?? {}) as ClaimStatus;

/** Rejects a write whose user lacks a permission. */
async function checkPermissions(
  authorizer: Authorizer,
  vocabulary: Vocabulary,
  request: AdmissionRequest,
  binds: boolean,
  drivers: readonly string[],
): Promise<void> {
  const { target, user, options, object } = request;
  const { namespace, name, resource } = target;
  // Only the options of a patch have this member.
  const verb = "fieldValidation" in options ? "patch" : "update";
  const lacks = (access: Access) => missingAccess(authorizer, request, access);
  const causes: Cause[] = [];
  if (binds) {
    const refusal = await lacks({ verb, subresource: "binding", namespace: "", name: "" });
    if (refusal !== undefined) {
      const needed = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission`;
      causes.push(forbiddenField("status.allocation", `${needed}: ${refusal}`));
    }
  }
  const verbs = [`arbitrary-node:${verb}`];
  if (isOnNode(user, allocatedNode(statusOf(object)), vocabulary)) verbs.unshift(`associated-node:${verb}`);
  const yieldIfDue = createYielder();
  for (const driver of drivers) {
    const refusal = await missingFrom(verbs, (one) =>
      lacks({ verb: one, subresource: "driver", namespace, name: driver }),
    );
    if (refusal !== undefined) {
      const needed = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(" ")}]" permission`;
      causes.push(forbiddenField("status.devices", `${needed}: ${refusal}`));
    }
    if (causes.length >= maxRefusals) break;
    await yieldIfDue();
  }
  if (causes.length > 0) {
    throw invalidError({ kind: resource.kind.name, group: resource.group, name }, causes);
  }
}

function forbiddenField(field: string, message: string): Cause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${message}`, field };
}

/** Returns why none of the verbs is allowed; undefined if one is. */
async function missingFrom(
  verbs: readonly string[],
  lacks: (verb: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  let first: string | undefined;
  for (const verb of verbs) {
    const refusal = await lacks(verb);
    if (refusal === undefined) return undefined;
    first ??= refusal;
  }
  return first;
}

/** Returns why a user lacks an access; undefined if it is allowed. */
async function missingAccess(
  authorizer: Authorizer,
  { user, requestResource }: AdmissionRequest,
  access: Access,
): Promise<string | undefined> {
  const { group, version, kind } = requestResource;
  const decision = await authorizer.authorize({
    kind: "resource",
    user,
    group,
    version,
    resource: kind.resource,
    ...access,
  });
  return decision.verdict === "allow" ? undefined : refusalText(user, group, kind.resource, access, decision);
}

function refusalText(
  user: UserInfo,
  group: string,
  resource: string,
  { verb, subresource, namespace, name }: Access,
  { reason, evaluationError }: Decision,
): string {
  const named = name === "" ? `${resource}.${group}` : `${resource}.${group} ${JSON.stringify(name)}`;
  const scope = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  const why = [evaluationError, reason].filter((text) => text !== "").join(": ");
  const type = JSON.stringify(`${resource}/${subresource}`);
  return (
    `${named} is forbidden: User ${JSON.stringify(user.name)} cannot ${verb} resource ${type} in API group ` +
    `${JSON.stringify(group)} ${scope}${why === "" ? "" : `: ${why}`}`
  );
}

/** Returns the drivers whose devices have new, changed or removed states, sorted. */
function changedDrivers({ devices = [] }: ClaimStatus, live: ClaimStatus): readonly string[] {
  const before = new Map((live.devices ?? []).map((state) => [keyOf(state), state]));
  const drivers = new Set<string>();
  for (const state of devices) {
    const key = keyOf(state);
    if (!isDeepStrictEqual(before.get(key), state)) drivers.add(state.driver);
    before.delete(key);
  }
  for (const { driver } of before.values()) drivers.add(driver);
  return [...drivers].toSorted();
}

function keyOf({ driver, pool, device, shareID }: DeviceState): string {
  return JSON.stringify([driver, pool, device, shareID]);
}

/** Returns the node of an allocation that selects one node by its name; undefined for other ones. */
function allocatedNode({ allocation }: ClaimStatus): string | undefined {
  const [term, ...others] = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  if (term === undefined || others.length > 0 || (term.matchExpressions ?? []).length > 0) return undefined;
  const [field, ...more] = term.matchFields ?? [];
  if (field === undefined || more.length > 0) return undefined;
  const { key, operator, values = [] } = field;
  return key === "metadata.name" && operator === "In" && values.length === 1 ? values[0] : undefined;
}

/** Whether a user is the service account of a pod on a node. */
function isOnNode({ name, extra }: UserInfo, node: string | undefined, vocabulary: Vocabulary): boolean {
  if (node === undefined || !name.startsWith(`${vocabulary.systemPrefix}serviceaccount:`)) return false;
  const key = labelKey(vocabulary.domain, "node-name", "authentication");
  const nodes = Object.hasOwn(extra, key) ? extra[key]! : [];
  return nodes.length === 1 && nodes[0] === node && dnsSubdomainFaults(node).length === 0;
}
