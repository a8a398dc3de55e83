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
import { field, int32, intOrString, list, string } from "../../schema/types.ts";

const NetworkPolicyPort = struct(
  "NetworkPolicyPort",
  "A port, or a range of ports, that traffic may use.",
  {
    protocol: field(1, string, "Protocol of the traffic.")
      .nullable()
      .oneOf("SCTP", "TCP", "UDP")
      .unpublishedDefault("TCP"),
    port: field(2, intOrString, "Number or name of the port; absent means every port.")
      .nullable()
      .check(portNumberOrName),
    endPort: field(3, int32, "Last port of a range that begins at port.").nullable(),
  },
  { check: checkPort },
);

const IPBlock = struct(
  "IPBlock",
  "A range of addresses, with exceptions.",
  {
    cidr: field(1, string, "The range.").required(),
    except: field(2, list(string), "Ranges inside of it that are left out.").atomic(),
  },
  { check: checkBlock },
);

const NetworkPolicyPeer = struct(
  "NetworkPolicyPeer",
  "Who traffic may come from or go to.",
  {
    podSelector: field(
      1,
      LabelSelector,
      "Pods, of the policy's own namespace unless namespaces are selected too.",
    )
      .nullable()
      .check(labelSelector),
    namespaceSelector: field(2, LabelSelector, "Namespaces; alone it means all pods in them.")
      .nullable()
      .check(labelSelector),
    ipBlock: field(3, IPBlock, "A range of addresses; excludes the other members.").nullable(),
  },
  { check: checkPeer },
);

const NetworkPolicyIngressRule = struct("NetworkPolicyIngressRule", "Traffic that may come in.", {
  ports: field(1, list(NetworkPolicyPort), "Ports it may use; empty means every port.").atomic(),
  from: field(2, list(NetworkPolicyPeer), "Where it may come from; empty means everywhere.").atomic(),
});

const NetworkPolicyEgressRule = struct("NetworkPolicyEgressRule", "Traffic that may go out.", {
  ports: field(1, list(NetworkPolicyPort), "Ports it may use; empty means every port.").atomic(),
  to: field(2, list(NetworkPolicyPeer), "Where it may go to; empty means everywhere.").atomic(),
});

const NetworkPolicySpec = struct(
  "NetworkPolicySpec",
  "The traffic that a policy allows.",
  {
    podSelector: field(1, LabelSelector, "Pods that the policy is for; empty means all of the namespace.")
      .declaredRequired()
      .check(labelSelector),
    ingress: field(2, list(NetworkPolicyIngressRule), "Traffic that may come in to those pods.").atomic(),
    egress: field(3, list(NetworkPolicyEgressRule), "Traffic that may go out from those pods.").atomic(),
    policyTypes: field(4, list(string), "Directions that the policy limits.")
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

const NetworkPolicyStatus = struct("NetworkPolicyStatus", "What a policy is like now.", {
  conditions: field(1, list(Condition), "What is known about the policy's state.")
    .mapBy("type")
    .patchMerge("type")
    .gated("NetworkPolicyStatus")
    .check(conditionList),
});

export const NetworkPolicy = kind({
  name: "NetworkPolicy",
  resource: "networkpolicies",
  singular: "networkpolicy",
  shortNames: ["netpol"],
  scope: "Namespaced",
  doc: "Traffic that pods are allowed to have.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the policy.").emitEmpty(),
    spec: field(2, NetworkPolicySpec, "What the policy allows.").emitEmpty(),
    status: field(3, NetworkPolicyStatus, "What the policy is like now.").emitEmpty(),
  },
  later: () => ({ status: removedIn("1.28") }),
  laterStatus: { since: "1.28", status: undefined },
  generationOf: ({ spec }) => spec,
  status: {
    initial: () => ({}),
    write(written, live, context) {
      const keepsStatus = context.enabled("NetworkPolicyStatus") || live.status?.conditions !== undefined;
      return keepsStatus ? written.status : {};
    },
  },
  validateCreate(policy, report, context) {
    unambiguousBlocks(policy, undefined, report, context);
  },
  validateUpdate: unambiguousBlocks,
  columns: [
    nameColumn,
    {
      name: "Pod-Selector",
      type: "string",
      doc: "Pods that the policy is for.",
      cell: ({ spec }) => selectorCell(spec?.podSelector),
    },
    ageColumn,
  ],
});
export type NetworkPolicy = ObjectFor<typeof NetworkPolicy>;
