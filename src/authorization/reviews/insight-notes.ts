import type { Attributes, ResourceAttributes } from "../authorizer.ts";
import { absentGroups } from "./user-groups.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";

/** Returns notes about frequent mistakes: resources that aren't served, missing groups, namespaces of cluster-scoped resources. */
export function insightNotes(
  attributes: Attributes,
  allowed: boolean,
  registry: Registry,
): readonly string[] {
  const notes = attributes.kind === "resource" ? resourceNotes(attributes, registry) : [];
  if (allowed) return notes;
  const absent = absentGroups(attributes.user, registry.vocabulary).map((group) => JSON.stringify(group));
  if (absent.length === 0) return notes;
  const groups = `group${absent.length === 1 ? "" : "s"} ${absent.join(", ")}`;
  return [
    ...notes,
    `the user's own requests are also made as the ${groups}, which the question doesn't name`,
  ];
}

function resourceNotes(request: ResourceAttributes, registry: Registry): string[] {
  const { group, resource, subresource, namespace } = request;
  if (group === "*" || resource === "*") return [];
  const served = registry.groupVersions.flatMap((one) => one.resources);
  const same = served.filter((one) => one.name === resource);
  const matching = same.filter((one) => one.group === group);
  const description = `${JSON.stringify(resource)} in the API group ${JSON.stringify(group)}`;
  if (matching.length === 0) {
    const groups = [...new Set(same.map((one) => JSON.stringify(one.group)))];
    const similar = served.find((one) => isAliasOf(one, resource));
    const instead =
      groups.length > 0
        ? `; it is in ${groups.join(", ")}`
        : similar === undefined
          ? ""
          : `; is ${JSON.stringify(similar.name)} in the API group ${JSON.stringify(similar.group)} meant?`;
    return [`no resource ${description} is served by this server${instead}`];
  }
  const notes: string[] = [];
  if (subresource !== "" && !matching.some((one) => Object.hasOwn(one.kind.subresources, subresource))) {
    notes.push(`the resource ${description} has no subresource ${JSON.stringify(subresource)}`);
  }
  if (namespace !== "" && matching.every((one) => !one.namespaced) && resource !== "namespaces") {
    notes.push(
      `the resource ${description} has no namespaces: requests for it are made in the whole cluster`,
    );
  }
  return notes;
}

/** Whether a name is the plural, singular or short name of the resource, ignoring case. */
function isAliasOf({ kind }: Resource, name: string): boolean {
  const lower = name.toLowerCase();
  return lower === kind.resource || lower === kind.singular || (kind.shortNames ?? []).includes(lower);
}
