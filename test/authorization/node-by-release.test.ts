import { expect, test } from "vitest";
import type { Decision } from "../../src/authorization/authorizer.ts";
import { laterDecisions } from "../../src/authorization/node/release-decisions.ts";
import { NodeAuthorizer } from "../../src/authorization/node/node-authorizer.ts";
import { NodeGraph } from "../../src/authorization/node/node-graph.ts";
import { podReferences } from "../../src/authorization/node/references.ts";
import { SelectorTexts } from "../../src/authorization/request-selectors.ts";
import type { Release } from "../../src/base/releases.ts";
import { platform } from "../../src/vocabulary/platform.ts";

const mirror = "platform.io/config.mirror";
const graph = new NodeGraph();
const pod = {
  metadata: { namespace: "ns", name: "web" },
  spec: {
    nodeName: "n1",
    serviceAccountName: "runner",
    resourceClaims: [
      { name: "a", resourceClaimName: "direct" },
      { name: "b", resourceClaimTemplateName: "t" },
      { name: "c", source: { resourceClaimName: "nested" } },
      { name: "d", resourceClaimTemplateName: "t" },
    ],
  },
  status: {
    resourceClaimStatuses: [{ name: "b", resourceClaimName: "created" }, { name: "d" }],
    extendedResourceClaimStatus: { resourceClaimName: "extended" },
  },
};
graph.setPod("pod ns/web", podReferences(pod, mirror, true));
const own = { ...pod, metadata: { ...pod.metadata, name: "own", annotations: { [mirror]: "" } } };
graph.setPod("pod ns/own", podReferences(own, mirror, true));
graph.setNode("resourceslice /s1", "n1");
graph.setNode("podcertificaterequest ns/r1", "n1");

test("podReferences returns resource claims only where agents read them", () => {
  const claims = (withClaims: boolean) =>
    podReferences(pod, mirror, withClaims)!.objects.filter((one) => one.startsWith("resourceclaim"));
  expect(claims(true)).toEqual(
    ["direct", "created", "nested", "extended"].map((one) => `resourceclaim ns/${one}`),
  );
  expect(claims(false)).toEqual([]);
});

/** Returns the decision about a request: release, gates that are on, verb, type, object, field selector. */
function decide(
  release: Release,
  gates: string,
  verb: string,
  type: string,
  object = "",
  fields = "",
): true | string {
  const enabled = (gate: string) => gates.split(" ").includes(gate);
  const needs = { graph, sync: () => undefined };
  const later = laterDecisions(needs, platform, { release, enabled });
  const [group, resource, subresource = ""] = type.split("|") as [string, string, string?];
  const [namespace, name] = object.split("/") as [string, string];
  const { verdict, reason } = new NodeAuthorizer(needs, platform, later).authorize({
    kind: "resource",
    user: { name: "system:node:n1", uid: "", groups: ["system:nodes"], extra: {} },
    verb,
    group: group === "" ? "" : `${group}.platform.io`,
    version: "v1",
    resource,
    subresource,
    namespace,
    name: name ?? "",
    selectors: fields === "" ? undefined : new SelectorTexts(fields, ""),
  }) as Decision;
  return verdict === "allow" ? true : reason;
}

const withSelectors = "AuthorizeNodeWithSelectors";
const claims = "resource|resourceclaims";
const slices = "resource|resourceslices";
const requests = "certificates|podcertificaterequests";
const drivers = "storage|csinodes";
const unrelated = "no relationship found between node 'n1' and this object";
const certificates = "PodCertificateRequest";
const podList = "can only list/watch pods with spec.nodeName field selector";
const ofNode = "spec.nodeName=n1";

test.each<[Release, string, string, string, string, string, true | string]>([
  ["1.31", "", "list", "|pods", "/", "", true],
  ["1.31", withSelectors, "list", "|pods", "/", "", podList],
  ["1.31", withSelectors, "list", "|pods", "/", ofNode, true],
  ["1.37", "", "list", "|pods", "/", "", podList],
  ["1.37", "", "watch", "|pods", "ns/", "spec.nodeName=n2", podList],
  ["1.37", "", "watch", "|pods", "ns/", `metadata.name=x,${ofNode}`, true],
  ["1.37", "", "watch", "|pods", "ns/", "spec.nodeName!=n1", podList],
  ["1.37", "", "list", "|pods", "ns/web", "metadata.name=web", true],
  ["1.37", "", "list", "|pods", "ns/other", "", unrelated],
  ["1.37", "", "get", "|pods", "ns/web", "", true],
  ["1.37", "", "get", "|pods", "ns/own", "", true],
  ["1.37", "", "get", "|pods", "ns/other", "", unrelated],
  ["1.37", "", "get", "|pods|log", "ns/web", "", ""],
  ["1.37", "", "create", "|pods", "ns/", "", true],
  ["1.37", "", "update", "|pods", "ns/web", "", ""],
  ["1.37", "", "deletecollection", "|pods", "ns/", "", ""],
  ["1.37", "", "patch", "|pods|status", "ns/other", "", true],
  ["1.37", "", "create", "|pods|eviction", "ns/other", "", true],
  ["1.31", "", "get", "|nodes", "/n2", "", true],
  ["1.32", withSelectors, "get", "|nodes", "/n2", "", "node 'n1' cannot read 'n2', only its own Node object"],
  ["1.37", "", "get", "|nodes", "/n1", "", true],
  ["1.37", "", "list", "|nodes", "/", "", "node 'n1' cannot read all nodes, only its own Node object"],
  ["1.37", "", "watch", "|nodes", "/n1", "", true],
  ["1.37", "", "patch", "|nodes", "/n2", "", true],
  ["1.37", "", "delete", "|nodes", "/n1", "", ""],
  ["1.37", "", "patch", "|nodes|status", "/n1", "", true],
  ["1.37", "", "get", "|nodes|status", "/n1", "", ""],
  ["1.37", "", "get", "|nodes|proxy", "/n1", "", ""],
  ["1.27", "DynamicResourceAllocation", "get", claims, "ns/any", "", true],
  ["1.27", "", "get", claims, "ns/any", "", ""],
  ["1.28", "", "get", claims, "ns/direct", "", true],
  ["1.37", "", "get", claims, "ns/created", "", true],
  ["1.37", "", "get", claims, "ns/extended", "", true],
  ["1.37", "", "get", claims, "ns/other", "", unrelated],
  ["1.37", "", "list", claims, "ns/", "", "can only get individual resources of this type"],
  ["1.37", "", "get", `${claims}|status`, "ns/direct", "", "cannot get subresource"],
  ["1.29", "", "get", slices, "/s1", "", ""],
  ["1.30", "", "get", slices, "/s1", "", true],
  ["1.30", "", "list", slices, "/", "", true],
  [
    "1.30",
    "",
    "deletecollection",
    slices,
    "/",
    "",
    "can only get, create, update, patch, or delete a ResourceSlice",
  ],
  ["1.31", "", "deletecollection", slices, "/", "", true],
  ["1.37", "", "create", slices, "/", "", true],
  ["1.37", "", "delete", slices, "/s2", "", unrelated],
  ["1.37", "", "delete", slices, "/s1", "", true],
  ["1.37", "", "deletecollection", slices, "/", ofNode, true],
  [
    "1.37",
    "",
    "deletecollection",
    slices,
    "/",
    "",
    "can only list/watch/deletecollection resourceslices with nodeName field selector",
  ],
  [
    "1.37",
    "",
    "bind",
    slices,
    "/",
    "",
    "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
  ],
  ["1.37", "", "get", `${slices}|status`, "/s1", "", "cannot authorize ResourceSlice subresources"],
  [
    "1.32",
    "",
    "get",
    "|serviceaccounts",
    "ns/runner",
    "",
    "can only create tokens for individual service accounts",
  ],
  ["1.33", "", "get", "|serviceaccounts", "ns/runner", "", "not allowed to get service accounts"],
  [
    "1.33",
    "KubeletServiceAccountTokenForCredentialProviders",
    "get",
    "|serviceaccounts",
    "ns/runner",
    "",
    true,
  ],
  ["1.37", certificates, "get", "|serviceaccounts", "ns/runner", "", true],
  ["1.37", certificates, "get", "|serviceaccounts", "ns/other", "", unrelated],
  [
    "1.37",
    certificates,
    "list",
    "|serviceaccounts",
    "ns/",
    "",
    "can only create tokens for individual service accounts",
  ],
  ["1.37", "", "create", "|serviceaccounts|token", "ns/runner", "", true],
  ["1.34", certificates, "create", requests, "ns/", "", ""],
  ["1.34", `${certificates} ${withSelectors}`, "create", requests, "ns/", "", true],
  ["1.37", certificates, "create", requests, "ns/", "", true],
  ["1.37", "", "create", requests, "ns/", "", ""],
  ["1.37", certificates, "get", requests, "ns/r1", "", true],
  ["1.37", certificates, "get", requests, "ns/r2", "", unrelated],
  ["1.37", certificates, "list", requests, "/", ofNode, true],
  [
    "1.37",
    certificates,
    "list",
    requests,
    "/",
    "",
    "can only list/watch podcertificaterequests with nodeName field selector",
  ],
  ["1.37", certificates, "delete", requests, "ns/r1", "", "nodes may not delete podcertificaterequests"],
  [
    "1.37",
    certificates,
    "get",
    `${requests}|status`,
    "ns/r1",
    "",
    "nodes may not access the status subresource of PodCertificateRequests",
  ],
  ["1.36", "CSIVolumeHealth", "get", `${drivers}|status`, "/n1", "", "cannot authorize CSINode subresources"],
  ["1.37", "CSIVolumeHealth", "patch", `${drivers}|status`, "/n1", "", true],
  [
    "1.37",
    "CSIVolumeHealth",
    "patch",
    `${drivers}|status`,
    "/n2",
    "",
    "can only access CSINode with the same name as the requesting node",
  ],
  [
    "1.37",
    "",
    "patch",
    `${drivers}|status`,
    "/n1",
    "",
    "CSINode status access requires CSIVolumeHealth feature",
  ],
  ["1.37", "", "watch", drivers, "/n1", "", "can only get, create, update, patch, or delete a CSINode"],
  ["1.37", "", "create", drivers, "/", "", true],
  ["1.37", "ClusterTrustBundle", "list", "certificates|clustertrustbundles", "/", "", true],
  ["1.26", "ClusterTrustBundle", "list", "certificates|clustertrustbundles", "/", "", ""],
  ["1.35", "", "create", "events|events", "ns/", "", true],
])("release %s (%s) decides %s %s %s %s", (release, gates, verb, type, object, fields, expected) => {
  expect(decide(release, gates, verb, type, object, fields)).toBe(expected);
});
