import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { isCidr, isInside } from "../checks/addresses.ts";
import { portNumber } from "../checks/numbers.ts";
import { rejectsAmbiguous, unambiguousRange } from "../checks/strict-addresses.ts";

const policyTypes = ["Egress", "Ingress"];

/** Allows at most two policy types; as in the reference they may be equal. */
export function checkPolicyTypes(types: readonly string[], report: FieldReport): void {
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
export function checkPort({ port, endPort }: Port, report: FieldReport): void {
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
export function checkPeer({ podSelector, namespaceSelector, ipBlock }: Peer, report: FieldReport): void {
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (!selects && ipBlock === undefined) report.required("must specify a peer");
  if (selects && ipBlock !== undefined) report.forbidden("may not specify both ipBlock and another peer");
}

interface Block {
  readonly cidr: string;
  readonly except?: readonly string[] | undefined;
}

/** Requires that exceptions are smaller ranges within the range. */
export function checkBlock({ cidr, except = [] }: Block, report: FieldReport): void {
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
export function unambiguousBlocks(
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
