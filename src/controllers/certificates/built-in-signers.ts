import type { RequestedCertificate } from "../../base/certificate-request.ts";
import type { VocabularyBehavior } from "../../vocabulary/behavior.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** What a built-in signer is for; the flags that name its authority are called after it. */
export type SignerRole = "serving" | "nodeClient" | "client" | "legacyUnknown";

/** Every built-in signer. */
export const signerRoles: readonly SignerRole[] = ["serving", "nodeClient", "client", "legacyUnknown"];

/** A signer of the server's own, with its rules (spec: conventions 2.6). */
export interface BuiltInSigner {
  readonly role: SignerRole;
  /** As requests name it: `platform.io/agent-serving`. */
  readonly name: string;
  /** Why it doesn't sign a request with these usages; undefined where it does. */
  refusal(asked: RequestedCertificate, usages: readonly string[]): string | undefined;
}

/** The built-in signers by their names. */
export function builtInSigners(vocabulary: Vocabulary): ReadonlyMap<string, BuiltInSigner> {
  const { domain, systemPrefix, components } = vocabulary;
  const refusalOfNode = (asked: RequestedCertificate) => nodeRefusal(asked, systemPrefix);
  const signers: readonly BuiltInSigner[] = [
    {
      role: "serving",
      name: `${domain}/${components.nodeAgentServing}`,
      refusal: (asked, usages) =>
        refusalOfNode(asked) ??
        servingNamesRefusal(asked) ??
        agentUsagesRefusal(usages, "server auth", vocabulary.behavior),
    },
    {
      role: "nodeClient",
      name: `${domain}/${components.nodeAgentClient}`,
      refusal: (asked, usages) => nodeClientRefusal(asked, usages, vocabulary),
    },
    {
      role: "client",
      name: `${domain}/${components.apiServerClient}`,
      refusal: (_asked, usages) => clientUsagesRefusal(usages),
    },
    { role: "legacyUnknown", name: `${domain}/legacy-unknown`, refusal: () => undefined },
  ];
  return new Map(signers.map((one) => [one.name, one]));
}

/** Why a request isn't for the client certificate of a node's agent; undefined where it is. */
export function nodeClientRefusal(
  asked: RequestedCertificate,
  usages: readonly string[],
  { systemPrefix, behavior }: Vocabulary,
): string | undefined {
  const refusal = nodeRefusal(asked, systemPrefix);
  if (refusal !== undefined) return refusal;
  const { emails, dnsNames, uris, addresses, others } = asked.alternativeNames;
  if (emails.length + dnsNames.length + uris.length + addresses.length + others > 0)
    return "no subjectAltName is allowed";
  return agentUsagesRefusal(usages, "client auth", behavior);
}

/** A certificate of several common names would be that of the last one: there must be one. */
function nodeRefusal(
  { subjectName: { commonNames, organizations } }: RequestedCertificate,
  systemPrefix: string,
): string | undefined {
  const nodes = `${systemPrefix}nodes`;
  if (organizations.length !== 1 || organizations[0] !== nodes) return `subject organization is not ${nodes}`;
  const prefix = `${systemPrefix}node:`;
  if (commonNames.length !== 1 || !commonNames[0]!.startsWith(prefix))
    return `subject common name does not begin with ${prefix}`;
  return undefined;
}

function servingNamesRefusal({ alternativeNames }: RequestedCertificate): string | undefined {
  const { emails, dnsNames, uris, addresses } = alternativeNames;
  if (dnsNames.length + addresses.length === 0) return "at least one DNS or IP subjectAltName is required";
  if (emails.length > 0) return "an email subjectAltName is not allowed";
  if (uris.length > 0) return "a URI subjectAltName is not allowed";
  return undefined;
}

function agentUsagesRefusal(
  usages: readonly string[],
  purpose: string,
  { optionalKeyEncipherment }: VocabularyBehavior,
): string | undefined {
  const required = ["digital signature", purpose];
  const requested = new Set(usages);
  const hasEncipherment = requested.delete("key encipherment");
  const same = requested.size === required.length && required.every((usage) => requested.has(usage));
  if (same && (hasEncipherment || optionalKeyEncipherment)) return undefined;
  const note = optionalKeyEncipherment ? ', and "key encipherment" or not' : ', "key encipherment"';
  return `usages must be exactly "digital signature", ${JSON.stringify(purpose)}${note}`;
}

const clientUsages = new Set(["digital signature", "key encipherment", "client auth"]);

function clientUsagesRefusal(usages: readonly string[]): string | undefined {
  const other = usages.find((usage) => !clientUsages.has(usage));
  if (other !== undefined) return `invalid usage for a client certificate: ${other}`;
  return usages.includes("client auth")
    ? undefined
    : "missing required usage for a client certificate: client auth";
}
