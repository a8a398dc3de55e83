import { qualifiedName } from "../../base/object-errors.ts";
import { parseFieldSelector, pinnedValue } from "../../base/selectors/field-selector.ts";
import { pathSegmentFaults } from "../../base/names.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Attributes, Decision } from "../../authorization/authorizer.ts";
import { selectorsOfTexts, type RequestSelectors } from "../../authorization/request-selectors.ts";
import type { RequestFacts, ResourceFacts } from "./facts.ts";

/** Returns the attributes of a request that the authorizers decide about. */
export function attributesOf(facts: RequestFacts, user: UserInfo): Attributes {
  if (facts.kind === "path") return { kind: "nonResource", user, verb: facts.verb, path: facts.path };
  const { verb, group, version, resource, subresource, namespace } = facts;
  const name = facts.name === "" ? selectedName(facts) : facts.name;
  return { kind: "resource", user, verb, group, version, resource, subresource, namespace, name };
}

/**
 * Returns the name `x` of a list or watch with `fieldSelector=metadata.name=x`; otherwise the empty string. As in the reference, a
 * permission for this single object is sufficient for such a request. It isn't for the older paths that contain the verb
 * (`/api/v1/watch/…`): for them the result is always empty.
 */
function selectedName({ verb, query, pathVerb }: ResourceFacts): string {
  if (query.empty || pathVerb !== "" || (verb !== "list" && verb !== "watch")) return "";
  return nameInSelector(query.get("fieldSelector") ?? "");
}

/** Returns the name `x` of a field selector with `metadata.name=x`; the empty string if there is none, or it is invalid. */
export function nameInSelector(text: string): string {
  if (!text.includes("metadata.name")) return "";
  try {
    const name = pinnedValue(parseFieldSelector(text), "metadata.name") ?? "";
    return pathSegmentFaults(name).length === 0 ? name : "";
  } catch (error) {
    // The verb rejects the invalid selector later; until then the request names no object.
    if (error instanceof StatusError) return "";
    throw error;
  }
}

/**
 * Returns the selectors of a list, watch or deletecollection; undefined if there are none. The older paths that contain the verb
 * (`/api/v1/watch/…`) have none, because those of a single object ignore them.
 */
export function selectorsOf({ verb, query, pathVerb }: ResourceFacts): RequestSelectors | undefined {
  if (query.empty || pathVerb !== "" || !verbsWithSelectors.has(verb)) return undefined;
  return selectorsOfTexts(query.get("fieldSelector") ?? "", query.get("labelSelector") ?? "");
}

/** Returns the attributes of a request with its selectors. */
export function attributesWithSelectors(facts: RequestFacts, user: UserInfo): Attributes {
  const attributes = attributesOf(facts, user);
  if (facts.kind !== "resource" || attributes.kind !== "resource") return attributes;
  const selectors = selectorsOf(facts);
  return selectors === undefined ? attributes : { ...attributes, selectors };
}

const verbsWithSelectors = new Set(["list", "watch", "deletecollection"]);

/** Returns the attributes of a request with another verb, for stages that need a second decision. */
export function asksFor(facts: ResourceFacts, user: UserInfo, verb: string): Attributes {
  return attributesOf({ ...facts, verb }, user);
}

/** Returns the error for a denied request. The message names the user, the verb and the target, and the reason if there is one. */
export function forbidden(
  attributes: Attributes,
  decision: Pick<Decision, "reason" | "evaluationError">,
): StatusError {
  const { user, verb } = attributes;
  const who = `User ${JSON.stringify(user.name)}`;
  const why = [decision.reason, decision.evaluationError].filter((text) => text !== "").join("; ");
  const because = why === "" ? "" : `: ${why}`;
  if (attributes.kind === "nonResource") {
    const what = `${who} cannot ${verb} path ${JSON.stringify(attributes.path)}`;
    return new StatusError("Forbidden", `forbidden: ${what}${because}`, {});
  }
  const { group, resource, subresource, namespace, name } = attributes;
  const type = subresource === "" ? resource : `${resource}/${subresource}`;
  const scope = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  const what = `${who} cannot ${verb} resource ${JSON.stringify(type)} in API group ${JSON.stringify(group)} ${scope}`;
  const subject = qualifiedName(resource, group);
  const named = name === "" ? subject : `${subject} ${JSON.stringify(name)}`;
  return new StatusError("Forbidden", `${named} is forbidden: ${what}${because}`, {
    name,
    group,
    kind: resource,
  });
}
