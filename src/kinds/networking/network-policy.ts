import { until } from "../../base/release-rows.ts";
import { selectorCell } from "../cells.ts";
import { portNumberOrName } from "../checks/names.ts";
import { labelSelector } from "../checks/selectors.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { Condition } from "../meta/condition.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { conditionList } from "../checks/conditions.ts";
import { removedIn } from "../../schema/added-fields.ts";
import type { StatusSpec } from "../../schema/subresources.ts";
import { field, int32, intOrString, list, string, type Static } from "../../schema/types.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { isCidr, isInside } from "../checks/addresses.ts";
import { portNumber } from "../checks/numbers.ts";
import { rejectsAmbiguous, unambiguousRange } from "../checks/strict-addresses.ts";

const policyTypes = ["Egress", "Ingress"];

/** Allows at most two policy types; as in the reference they may be equal. */
function checkPolicyTypes(types: readonly string[], report: FieldReport): void {
  if (types.length > policyTypes.length) {
    return report.invalid(types, "may not specify more than two policyTypes");
  }
  for (const [index, type] of types.entries()) {
    if (!policyTypes.includes(type)) report.at(index).notSupported(type, policyTypes);
  }
}

interface Port {
  readonly port?: number | string | undefined;
  readonly endPort?: number | undefined;
}

/** Requires a numeric port if there is an end port. */
function checkPort({ port, endPort }: Port, report: FieldReport): void {
  if (endPort === undefined) return;
  const here = report.at("endPort");
  if (port === undefined) return here.invalid(endPort, "may not be specified when `port` is not specified");
  if (typeof port === "string")
    return here.invalid(endPort, "may not be specified when `port` is non-numeric");
  if (endPort < port) here.invalid(endPort, "must be greater than or equal to `port`");
  portNumber(endPort, here);
}

interface Peer {
  readonly podSelector?: object | undefined;
  readonly namespaceSelector?: object | undefined;
  readonly ipBlock?: object | undefined;
}

/** Requires a selector or a range of addresses. */
function checkPeer({ podSelector, namespaceSelector, ipBlock }: Peer, report: FieldReport): void {
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (!selects && ipBlock === undefined) report.required("must specify a peer");
  if (selects && ipBlock !== undefined) report.forbidden("may not specify both ipBlock and another peer");
}

interface Block {
  readonly cidr: string;
  readonly except?: readonly string[] | undefined;
}

/** Requires that exceptions are smaller ranges within the range. */
function checkBlock({ cidr, except = [] }: Block, report: FieldReport): void {
  if (cidr === "") return;
  if (!isCidr(cidr)) return report.at("cidr").invalid(cidr, "not a valid CIDR");
  for (const [index, inner] of except.entries()) {
    if (report.full) return;
    const here = report.at("except", index);
    if (!isCidr(inner)) return here.invalid(inner, "not a valid CIDR");
    if (!isInside(inner, cidr)) here.invalid(inner, "must be a strict subset of `cidr`");
  }
}

interface Policy {
  readonly spec?: Directions | undefined;
}

interface Directions {
  readonly ingress?: readonly { readonly from?: readonly BlockPeer[] | undefined }[] | undefined;
  readonly egress?: readonly { readonly to?: readonly BlockPeer[] | undefined }[] | undefined;
}

interface BlockPeer {
  readonly ipBlock?: Block | undefined;
}

/** Rejects ranges of a policy that programs read differently, except those anywhere in the stored policy. */
function unambiguousBlocks(
  { spec = {} }: Policy,
  live: Policy | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  if (!rejectsAmbiguous(context)) return;
  const existing = [...blocksOf(live?.spec ?? {})].flatMap(({ block: { cidr, except = [] } }) => [
    cidr,
    ...except,
  ]);
  for (const { block, path } of blocksOf(spec)) {
    if (report.full) return;
    const here = report.at("spec", ...path);
    unambiguousRange(block.cidr, here.at("cidr"), context, existing);
    for (const [index, range] of (block.except ?? []).entries())
      unambiguousRange(range, here.at("except", index), context, existing);
  }
}

function* blocksOf({ ingress = [], egress = [] }: Directions) {
  const lists = [
    ...ingress.map(({ from = [] }, index) => ({ path: ["ingress", index, "from"], peers: from })),
    ...egress.map(({ to = [] }, index) => ({ path: ["egress", index, "to"], peers: to })),
  ];
  for (const { path, peers } of lists) {
    for (const [index, { ipBlock }] of peers.entries())
      if (ipBlock !== undefined) yield { block: ipBlock, path: [...path, index, "ipBlock"] };
  }
}

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
