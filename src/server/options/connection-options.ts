import { nodeAddressTypes } from "../../http/backends/rules.ts";
import { signerRoles, type SignerRole } from "../../controllers/certificates/built-in-signers.ts";
import { group, option, type GroupCheck } from "./option.ts";
import { boolean, file, milliseconds, secretFile, texts } from "./value-type.ts";

/** Connections to pods, services and node agents. */
export const connections = group(
  "Connections from the server to pods, services and node agents.",
  {
    nodeAgentCaFile: option(
      file,
      "kubelet-certificate-authority",
      "CA certificates of the node agents (PEM). Default: their certificates aren't verified.",
    ),
    nodeAgentCertFile: option(
      file,
      "kubelet-client-certificate",
      "Client certificate of the server for node agents (PEM); requires --kubelet-client-key.",
    ),
    nodeAgentKeyFile: option(secretFile, "kubelet-client-key", "Key of --kubelet-client-certificate (PEM)."),
    nodeAddressTypes: option(
      texts(),
      "kubelet-preferred-address-types",
      "Types of a node's addresses, in order of preference, for connections to its agent.",
      { default: nodeAddressTypes },
    ),
    nodeAgentTimeoutMs: option(
      milliseconds,
      "kubelet-timeout",
      "Time limit for establishing a connection to a node agent.",
      { default: 5000 },
    ),
    allowLoopback: option(
      boolean,
      "allow-loopback-connections",
      "Allow connections to pods, services and nodes at loopback addresses: for tests and development only.",
      { default: false },
    ),
    deniedRanges: option(
      texts(),
      "proxy-denied-cidrs",
      "Addresses and ranges to which no connection to a pod, service or node is allowed, beside the built-in ones; comma separated.",
      { default: [] },
    ),
  },
  { typeName: "ConnectionOptions" },
);

/** Forwarding to extension servers (APIService). */
export const aggregation = group(
  "Forwarding of requests to extension servers (APIService).",
  {
    clientCertFile: option(
      file,
      "proxy-client-cert-file",
      "Client certificate of the server for extension servers, see APIService (PEM); requires --proxy-client-key-file.",
    ),
    clientKeyFile: option(secretFile, "proxy-client-key-file", "Key of --proxy-client-cert-file (PEM)."),
    endpointRouting: option(
      boolean,
      "enable-aggregator-routing",
      "Connect to extension servers only at the ready endpoints of their service, never at its cluster address.",
      { default: false },
    ),
    rejectRedirects: option(
      boolean,
      "aggregator-reject-forwarding-redirect",
      "Reject redirects from extension servers instead of passing them to the client.",
      { default: true },
    ),
  },
  { typeName: "AggregationOptions" },
);

/** The beginning of the flags of each signer's CA; `-cert-file` and `-key-file` follow. */
export const signingFlagPrefixes: Readonly<Record<SignerRole, string>> = {
  serving: "cluster-signing-kubelet-serving",
  nodeClient: "cluster-signing-kubelet-client",
  client: "cluster-signing-kube-apiserver-client",
  legacyUnknown: "cluster-signing-legacy-unknown",
};

const signerDescriptions: Readonly<Record<SignerRole, string>> = {
  serving: "requests of node agents for serving certificates",
  nodeClient: "requests of node agents for client certificates",
  client: "requests for client certificates of the API",
  legacyUnknown: "requests to the signer legacy-unknown",
};

function authorityFiles(flagPrefix: string, requests: string) {
  return group(`CA that signs ${requests}.`, {
    cert: option(file, `${flagPrefix}-cert-file`, `CA certificate that signs ${requests} (PEM).`, {
      required: true,
    }),
    key: option(secretFile, `${flagPrefix}-key-file`, `Key of --${flagPrefix}-cert-file (PEM).`, {
      required: true,
    }),
  });
}

const eitherOneOrSeveral: GroupCheck = ({ files, signers }, name) => {
  if (files === undefined) return undefined;
  const role = signerRoles.find((one) => (signers as Readonly<Record<string, unknown>>)[one] !== undefined);
  return role === undefined
    ? undefined
    : `${name("files.cert")} and ${name(`signers.${role}.cert`)} can't be given together`;
};

/** The certificates and keys with which the built-in signers sign. */
export const clusterSigning = group(
  "The CAs of the built-in signers of certificate requests.",
  {
    files: authorityFiles(
      "cluster-signing",
      "certificate requests to the built-in signers; default: the server's own CA",
    ),
    signers: group(
      "CAs of single signers.",
      Object.fromEntries(
        signerRoles.map((role) => [
          role,
          authorityFiles(signingFlagPrefixes[role], signerDescriptions[role]),
        ]),
      ),
      { typeName: "SignerAuthorityOptions" },
    ),
    durationMs: option(
      milliseconds,
      "cluster-signing-duration",
      "Lifetime of certificates issued by the built-in signers, unless a request asks for less.",
      { default: 365 * 24 * 3_600_000 },
    ),
  },
  { typeName: "ClusterSigningOptions", check: eitherOneOrSeveral },
);
