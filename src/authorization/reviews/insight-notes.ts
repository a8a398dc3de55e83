import type { Attributes, ResourceAttributes } from "../authorizer.ts";
import { absentGroups } from "./user-groups.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";

/** What people who ask for an explanation often overlook. */
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

function resourceNotes(asked: ResourceAttributes, registry: Registry): string[] {
  const { group, resource, subresource, namespace } = asked;
  if (group === "*" || resource === "*") return [];
  const served = registry.groupVersions.flatMap((one) => one.resources);
  const same = served.filter((one) => one.name === resource);
  const found = same.filter((one) => one.group === group);
  const what = `${JSON.stringify(resource)} in the API group ${JSON.stringify(group)}`;
  if (found.length === 0) {
    const groups = [...new Set(same.map((one) => JSON.stringify(one.group)))];
    const near = served.find((one) => isNear(one, resource));
    const instead =
      groups.length > 0
        ? `; it is in ${groups.join(", ")}`
        : near === undefined
          ? ""
          : `; is ${JSON.stringify(near.name)} in the API group ${JSON.stringify(near.group)} meant?`;
    return [`no resource ${what} is served by this server${instead}`];
  }
  const notes: string[] = [];
  if (subresource !== "" && !found.some((one) => Object.hasOwn(one.kind.subresources, subresource))) {
    notes.push(`the resource ${what} has no subresource ${JSON.stringify(subresource)}`);
  }
  if (namespace !== "" && found.every((one) => !one.namespaced) && resource !== "namespaces") {
    notes.push(`the resource ${what} has no namespaces: requests for it are made in the whole cluster`);
  }
  return notes;
}

/** Whether a name is another name of a resource. */
function isNear({ kind }: Resource, name: string): boolean {
  const lower = name.toLowerCase();
  return lower === kind.resource || lower === kind.singular || (kind.shortNames ?? []).includes(lower);
}
