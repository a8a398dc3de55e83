import { isObject } from "../../base/json/value.ts";
import { discovery } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, isGiven, take, type Rule, type VersionChange } from "./notes.ts";

/** Node and zone have fields of their own now; what else was said stays readable, but can't be written. */
const topology: Rule = (part) => {
  const { value: endpoint, vocabulary } = part;
  const given = take(endpoint, "topology");
  if (given === undefined || given === null) return;
  if (!isObject(given)) {
    part.unresolved("topology", "it is no object");
    return;
  }
  const host = `${vocabulary.domain}/hostname`;
  const zone = `topology.${vocabulary.domain}/zone`;
  const { [host]: hostName, [zone]: zoneName, ...rest } = given;
  if (isGiven(zoneName)) endpoint["zone"] = zoneName;
  if (isGiven(hostName)) {
    if (!isGiven(endpoint["nodeName"])) endpoint["nodeName"] = hostName;
    else if (endpoint["nodeName"] !== hostName) rest[host] = hostName;
  }
  if (Object.keys(rest).length === 0) return;
  endpoint["deprecatedTopology"] = rest;
  const names = Object.keys(rest).join(", ");
  part.note("topology", `moved to deprecatedTopology, which a server doesn't take in: ${names}`);
};

const v1 = groupVersion(discovery, "v1");

export const discoveryChanges: readonly VersionChange[] = ["v1alpha1", "v1beta1"].map((version) =>
  change(groupVersion(discovery, version), v1, ["EndpointSlice"], at("endpoints[]", topology)),
);
