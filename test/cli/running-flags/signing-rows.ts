import { authority, type CertificatePair } from "../../authentication/pki.ts";
import { X509Certificate } from "node:crypto";
import { CertificateSigningRequest } from "../../../src/kinds/certificates/certificate-signing-request.ts";
import { keyOf } from "../../../src/resources/registry/registry.ts";
import { decodeEntry, encodeObject } from "../../../src/resources/objects/stored.ts";
import { ok } from "../../api/support.ts";
import {
  decide,
  nodeClient,
  outcome,
  requestObject,
  requestsPath,
  type Asked,
  type Seen,
} from "../../controllers/certificate-support.ts";
import { subjectAltNames } from "../../support/certificate-request.ts";
import { write } from "./files.ts";
import type { FlagGroup, FlaggedServer, FlagRow } from "./table.ts";

const serving: Asked = {
  ...nodeClient,
  signerName: "platform.io/agent-serving",
  usages: ["key encipherment", "digital signature", "server auth"],
  extensions: [subjectAltNames("DNS:n1")],
};

/** The certificate that becomes of an approved request. */
async function issued({ admin, engine }: FlaggedServer, asked: Asked, signerName?: string): Promise<Seen> {
  const object = requestObject(asked);
  const { name } = object.metadata;
  const at = `${requestsPath}/${name}`;
  await ok(admin.post(requestsPath, object));
  if (signerName !== undefined) {
    // The API takes no request to this signer; an older release may have stored one.
    const resource = engine.registry.require(CertificateSigningRequest);
    const key = keyOf(resource, "", name);
    const { revision: expected, ...entry } = (await engine.store.get(key))!;
    const stored = decodeEntry({ ...entry, revision: expected }) as CertificateSigningRequest;
    const changed = { ...stored, spec: { ...stored.spec, signerName } };
    await engine.store.commit({ kind: "update", key, expected, draft: encodeObject(resource, changed) });
  }
  await ok(decide(admin, at, "Approved"));
  return (await outcome(admin, at)).issued!;
}

const authorities = {
  general: authority(),
  serving: authority(),
  nodeClient: authority(),
  client: authority(),
  legacyUnknown: authority(),
} as const;
type Role = keyof typeof authorities;

const asked: Readonly<Record<Exclude<Role, "general">, readonly [asked: Asked, signerName?: string]>> = {
  serving: [serving],
  nodeClient: [nodeClient],
  client: [{}],
  legacyUnknown: [{ signerName: "example.com/legacy-unknown" }, "platform.io/legacy-unknown"],
};

/** Whose authority has signed: a role's, or none of these. */
async function signerOf(server: FlaggedServer, role: Exclude<Role, "general">): Promise<string | undefined> {
  const { certificate } = await issued(server, ...asked[role]);
  const signed = ([, { certificate: pem }]: [string, CertificatePair]) =>
    certificate.verify(new X509Certificate(pem).publicKey);
  return Object.entries(authorities).find(signed)?.[0];
}

const fileOf = (role: Role, part: "certificate" | "key") =>
  write(`signer-${role}.${part}`, authorities[role][part]);

/** The two flags of an authority: without the key that belongs to the certificate nothing is signed. */
function pairRows(prefix: string, role: Role, by: Exclude<Role, "general">): FlagRow[] {
  const parts = [
    ["cert", "certificate"],
    ["key", "key"],
  ] as const;
  return parts.map(([name, part]) => ({
    flag: `${prefix}-${name}-file`,
    value: fileOf(role, part),
    observed: "by which authority a request is signed",
    observe: (server) => signerOf(server, by),
    changed: role,
    usual: undefined,
  }));
}

const day = 24 * 3600;

/** How certificate requests are signed. */
export const signingGroups: readonly FlagGroup[] = [
  {
    name: "the signers of certificate requests",
    rows: [
      ...pairRows("cluster-signing", "general", "client"),
      {
        flag: "cluster-signing-duration",
        value: "48h",
        observed: "how long a certificate holds whose request says nothing",
        requirement: "C-2.6-49",
        observe: async (server) => (await issued(server, {})).lifeSeconds,
        changed: 2 * day,
        usual: 365 * day,
      },
    ],
  },
  {
    name: "single signers of certificate requests",
    rows: [
      ...pairRows("cluster-signing-kubelet-serving", "serving", "serving"),
      ...pairRows("cluster-signing-kubelet-client", "nodeClient", "nodeClient"),
      ...pairRows("cluster-signing-kube-apiserver-client", "client", "client"),
      ...pairRows("cluster-signing-legacy-unknown", "legacyUnknown", "legacyUnknown"),
    ],
  },
];
