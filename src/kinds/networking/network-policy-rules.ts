import type { FieldReport } from "../../schema/faults.ts";
import { isCidr, isInside } from "../checks/addresses.ts";
import { portNumber } from "../checks/numbers.ts";

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
