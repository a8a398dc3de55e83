import { until } from "../../base/release-rows.ts";
import { selectorCell } from "../cells.ts";
import { portNumberOrName } from "../checks/names.ts";
import { labelSelector } from "../checks/selectors.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { Condition } from "../meta/condition.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import {
  checkBlock,
  checkPeer,
  checkPolicyTypes,
  checkPort,
  unambiguousBlocks,
} from "./network-policy-rules.ts";
import { kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { conditionList } from "../checks/conditions.ts";
import { removedIn } from "../../schema/later-fields.ts";
import type { StatusSpec } from "../../schema/subresources.ts";
import { field, int32, intOrString, list, string, type Static } from "../../schema/types.ts";

const NetworkPolicyPort = struct(
  "NetworkPolicyPort",
  "A port or range of ports of permitted traffic.",
  {
    protocol: field(1, string, "Protocol of the traffic: TCP, UDP or SCTP. Default: TCP.")
      .nullable()
      .oneOf("SCTP", "TCP", "UDP")
      .unpublishedDefault("TCP"),
    port: field(2, intOrString, "Port number, or name of a container port; absent permits all ports.")
      .nullable()
      .check(portNumberOrName),
    endPort: field(3, int32, "Last port of a range that starts at `port`.").nullable(),
  },
  { check: checkPort },
);

const IPBlock = struct(
  "IPBlock",
  "A range of IP addresses with exceptions.",
  {
    cidr: field(1, string, "The range in CIDR notation.").required(),
    except: field(2, list(string), "Ranges inside `cidr` to exclude, in CIDR notation.").atomic(),
  },
  { check: checkBlock },
);

const NetworkPolicyPeer = struct(
  "NetworkPolicyPeer",
  "Permitted peers: pods or IP addresses.",
  {
    podSelector: field(
      1,
      LabelSelector,
      "Label selector of pods, in the policy's namespace or in those of `namespaceSelector`.",
    )
      .nullable()
      .check(labelSelector),
    namespaceSelector: field(
      2,
      LabelSelector,
      "Label selector of namespaces; without `podSelector`, all their pods are peers.",
    )
      .nullable()
      .check(labelSelector),
    ipBlock: field(3, IPBlock, "A range of IP addresses; not together with the other fields.").nullable(),
  },
  { check: checkPeer },
);

const NetworkPolicyIngressRule = struct("NetworkPolicyIngressRule", "Permitted incoming traffic.", {
  ports: field(1, list(NetworkPolicyPort), "Permitted ports; empty permits all.").atomic(),
  from: field(2, list(NetworkPolicyPeer), "Permitted sources; empty permits all.").atomic(),
});

const NetworkPolicyEgressRule = struct("NetworkPolicyEgressRule", "Permitted outgoing traffic.", {
  ports: field(1, list(NetworkPolicyPort), "Permitted ports; empty permits all.").atomic(),
  to: field(2, list(NetworkPolicyPeer), "Permitted destinations; empty permits all.").atomic(),
});

const NetworkPolicySpec = struct(
  "NetworkPolicySpec",
  "The pods of a policy and their permitted traffic.",
  {
    podSelector: field(
      1,
      LabelSelector,
      "Label selector of the pods to which the policy applies; empty selects all in the namespace.",
    )
      .declaredRequired()
      .check(labelSelector),
    ingress: field(
      2,
      list(NetworkPolicyIngressRule),
      "Permitted incoming traffic of the pods; traffic is permitted if one rule matches.",
    ).atomic(),
    egress: field(
      3,
      list(NetworkPolicyEgressRule),
      "Permitted outgoing traffic of the pods; traffic is permitted if one rule matches.",
    ).atomic(),
    policyTypes: field(4, list(string), "Directions that the policy restricts: Ingress, Egress or both.")
      .atomic()
      .oneOf("Egress", "Ingress")
      .unchecked()
      .check(checkPolicyTypes),
  },
  {
    fill(spec) {
      if (spec.policyTypes === undefined)
        spec.policyTypes = spec.egress === undefined ? ["Ingress"] : ["Ingress", "Egress"];
    },
  },
);

const NetworkPolicyStatus = struct("NetworkPolicyStatus", "Observed state of a NetworkPolicy.", {
  conditions: field(1, list(Condition), "Conditions of the policy, at most one per type.")
    .mapBy("type")
    .patchMerge("type")
    .gated("NetworkPolicyStatus")
    .check(conditionList),
});

interface WithStatus {
  status?: Static<typeof NetworkPolicyStatus> | undefined;
}

const policyStatus: StatusSpec<WithStatus> = {
  initial: () => ({}),
  write(written, live, context) {
    const keepsStatus = context.enabled("NetworkPolicyStatus") || live.status?.conditions !== undefined;
    return keepsStatus ? written.status : {};
  },
};

export const NetworkPolicy = kind({
  name: "NetworkPolicy",
  resource: "networkpolicies",
  singular: "networkpolicy",
  shortNames: ["netpol"],
  scope: "Namespaced",
  doc: "Restricts the network traffic of pods.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the policy.").emitEmpty(),
    spec: field(2, NetworkPolicySpec, "The pods of the policy and their permitted traffic.").emitEmpty(),
    status: field(3, NetworkPolicyStatus, "Observed state of the NetworkPolicy.").emitEmpty(),
  },
  later: () => ({ status: removedIn("1.28") }),
  generationOf: ({ spec }) => spec,
  status: until("1.28", policyStatus),
  validateCreate(policy, report, context) {
    unambiguousBlocks(policy, undefined, report, context);
  },
  validateUpdate: unambiguousBlocks,
  columns: [
    nameColumn,
    {
      name: "Pod-Selector",
      type: "string",
      doc: "Label selector of the pods to which the policy applies.",
      cell: ({ spec }) => selectorCell(spec?.podSelector),
    },
    ageColumn,
  ],
});
export type NetworkPolicy = ObjectFor<typeof NetworkPolicy>;
