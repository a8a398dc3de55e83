import { labelKey } from "../../vocabulary/names.ts";
import { isObject } from "../../base/json/value.ts";
import { discovery } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, isSet, take, type Rule, type VersionChange } from "./notes.ts";

/** Node and zone have their own fields in the new version; the rest moves to the read-only `deprecatedTopology`. */
const topology: Rule = (part) => {
  const { value: endpoint, vocabulary } = part;
  const topologyLabels = take(endpoint, "topology");
  if (topologyLabels === undefined || topologyLabels === null) return;
  if (!isObject(topologyLabels)) {
    part.unresolved("topology", "must be an object");
    return;
  }
  const host = labelKey(vocabulary.domain, "hostname");
  const zone = labelKey(vocabulary.domain, "zone", "topology");
  const { [host]: hostName, [zone]: zoneName, ...rest } = topologyLabels;
  if (isSet(zoneName)) endpoint["zone"] = zoneName;
  if (isSet(hostName)) {
    if (!isSet(endpoint["nodeName"])) endpoint["nodeName"] = hostName;
    else if (endpoint["nodeName"] !== hostName) rest[host] = hostName;
  }
  if (Object.keys(rest).length === 0) return;
  endpoint["deprecatedTopology"] = rest;
  const names = Object.keys(rest).join(", ");
  part.note("topology", `moved to deprecatedTopology, which servers ignore on writes: ${names}`);
};

const v1 = groupVersion(discovery, "v1");

export const discoveryChanges: readonly VersionChange[] = ["v1alpha1", "v1beta1"].map((version) =>
  change(groupVersion(discovery, version), v1, ["EndpointSlice"], at("endpoints[]", topology)),
);
