import { labelKey } from "../../vocabulary/names.ts";
import type { RequestedCertificate } from "../../base/certificates/certificate-request.ts";
import type { VocabularyBehavior } from "../../vocabulary/behavior.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** The purpose of a built-in signer; the flags for its CA have this name. */
export type SignerRole = "serving" | "nodeClient" | "client" | "legacyUnknown";

export const signerRoles: readonly SignerRole[] = ["serving", "nodeClient", "client", "legacyUnknown"];

/** A built-in signer with its rules (spec: conventions 2.6). */
export interface BuiltInSigner {
  readonly role: SignerRole;
  /** The signer name of requests, such as `platform.io/agent-serving`. */
  readonly name: string;
  /** Returns why a request with these usages isn't signed; undefined if it is. */
  refusal(requested: RequestedCertificate, usages: readonly string[]): string | undefined;
}

/** Returns the built-in signers by name. */
export function builtInSigners(vocabulary: Vocabulary): ReadonlyMap<string, BuiltInSigner> {
  const { domain, systemPrefix, components } = vocabulary;
  const refusalOfNode = (requested: RequestedCertificate) => nodeRefusal(requested, systemPrefix);
  const signers: readonly BuiltInSigner[] = [
    {
      role: "serving",
      name: labelKey(domain, components.nodeAgentServing),
      refusal: (requested, usages) =>
        refusalOfNode(requested) ??
        servingNamesRefusal(requested) ??
        agentUsagesRefusal(usages, "server auth", vocabulary.behavior),
    },
    {
      role: "nodeClient",
      name: labelKey(domain, components.nodeAgentClient),
      refusal: (requested, usages) => nodeClientRefusal(requested, usages, vocabulary),
    },
    {
      role: "client",
      name: labelKey(domain, components.apiServerClient),
      refusal: (requested, usages) => uidRefusal(requested) ?? clientUsagesRefusal(usages),
    },
    { role: "legacyUnknown", name: labelKey(domain, "legacy-unknown"), refusal: uidRefusal },
  ];
  return new Map(signers.map((one) => [one.name, one]));
}

/** Returns why a request isn't a valid request for the client certificate of a node agent; undefined if it is. */
export function nodeClientRefusal(
  requested: RequestedCertificate,
  usages: readonly string[],
  { systemPrefix, behavior }: Vocabulary,
): string | undefined {
  const refusal = nodeRefusal(requested, systemPrefix);
  if (refusal !== undefined) return refusal;
  const { emails, dnsNames, uris, addresses, others } = requested.alternativeNames;
  if (emails.length + dnsNames.length + uris.length + addresses.length + others > 0)
    return "no subjectAltName is allowed";
  return agentUsagesRefusal(usages, "client auth", behavior);
}

/**
 * Rejects a subject with the unique identifier of a user. Requesters choose their subject, and approvers look at its name and groups
 * only; in release 1.33 and later the certificate would authenticate as the user with that identifier.
 */
function uidRefusal({ subjectName: { uids } }: RequestedCertificate): string | undefined {
  return uids.length === 0 ? undefined : "the subject must not contain the unique identifier of a user";
}

/** Requires exactly one common name: of several ones, verifiers would use the last. */
function nodeRefusal(requested: RequestedCertificate, systemPrefix: string): string | undefined {
  const uid = uidRefusal(requested);
  if (uid !== undefined) return uid;
  const { commonNames, organizations } = requested.subjectName;
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
