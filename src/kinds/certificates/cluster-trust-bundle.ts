import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import { certificateOf } from "../../base/certificates/parsed-certificate.ts";
import { pemBlocks } from "../../base/certificates/pem.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Conversion, Declarations, ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string } from "../../schema/types.ts";
import { orNone } from "../cells.ts";
import { unchanged } from "../checks/values.ts";
import { nameColumn } from "../columns.ts";
import type { certificates } from "../groups.ts";
import { signerName as checkSignerName } from "./signer-name.ts";
import { sameFields } from "../same-fields.ts";

const maxBundleBytes = 1024 * 1024;
const omitted = "<value omitted>";

/** Declares ClusterTrustBundle in one version of the group. */
function declareClusterTrustBundle<const V extends string>(
  { kind, struct }: Declarations<typeof certificates, V>,
  version: { readonly servedByDefault: boolean; readonly conversion?: Conversion },
) {
  const spec = struct("ClusterTrustBundleSpec", "CA certificates and their signer.", {
    signerName: field(1, string, "Name of the signer of the certificates; empty for none."),
    trustBundle: field(2, string, "CA certificates in PEM; at most 1 MiB.").declaredRequired(),
  });
  return kind({
    name: "ClusterTrustBundle",
    resource: "clustertrustbundles",
    singular: "clustertrustbundle",
    scope: "Cluster",
    nameForm: "pathSegment",
    allowUnconditionalUpdate: false,
    ...version,
    doc: "CA certificates that pods can mount and trust.",
    fields: {
      metadata: field(
        1,
        ObjectMeta,
        "Metadata; with a signer, the name starts with the signer's: `example.com:signer:name`.",
      ).emitEmpty(),
      spec: field(2, spec, "CA certificates and their signer.").declaredRequired(),
    },
    selectable: { "spec.signerName": (bundle) => bundle.spec.signerName ?? "" },
    validate({ metadata, spec: input }, report) {
      const { signerName = "" } = input;
      checkName(metadata.name ?? "", signerName, report.at("metadata", "name"));
      if (signerName !== "") checkSignerName(signerName, report.at("spec", "signerName"));
    },
    validateUpdate({ spec: now }, live, report) {
      unchanged(now.signerName ?? "", live.spec.signerName ?? "", report.at("spec", "signerName"));
    },
    validateLast({ spec: now }, live, report) {
      if (now.trustBundle === live?.spec.trustBundle) return undefined;
      return checkBundle(now.trustBundle, report.at("spec", "trustBundle"));
    },
    columns: [
      nameColumn,
      {
        name: "SignerName",
        type: "string",
        doc: "Signer of the certificates.",
        cell: ({ spec: input }) => orNone(input.signerName),
      },
    ],
  });
}

function checkName(name: string, signer: string, report: FieldReport): void {
  if (name === "") return;
  const prefix = signer === "" ? "" : `${signer.replaceAll("/", ":")}:`;
  if (!name.startsWith(prefix)) {
    return report.invalid(
      name,
      `ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`,
    );
  }
  if (signer === "" && name.includes(":")) {
    return report.invalid(name, 'ClusterTrustBundle without signer name must not have ":" in its name');
  }
  for (const message of dnsSubdomainFaults(name.slice(prefix.length))) report.invalid(name, message);
}

/** Requires different CA certificates. Yields to the event loop. */
async function checkBundle(pem: string, report: FieldReport): Promise<void> {
  if (Buffer.byteLength(pem) > maxBundleBytes) return report.tooLong(maxBundleBytes);
  const yieldIfDue = createYielder();
  const indexes = new Map<string, number[]>();
  let isValid = true;
  for (const [index, { label, hasHeaders, content }] of pemBlocks(pem).entries()) {
    if (report.full) return;
    const fault =
      label !== "CERTIFICATE"
        ? `has bad block type: ${label}`
        : hasHeaders
          ? "has PEM block headers"
          : certificateFault(content);
    if (fault === undefined) {
      const key = content!.toString("latin1");
      indexes.set(key, [...(indexes.get(key)?.slice(0, 1) ?? []), index]);
    } else {
      isValid = false;
      report.invalid(omitted, `entry ${index} ${fault}`);
    }
    await yieldIfDue();
  }
  if (!isValid) return;
  if (indexes.size === 0) report.invalid(omitted, "at least one trust anchor must be provided");
  for (const equal of indexes.values()) {
    if (equal.length > 1) report.invalid(omitted, `duplicate trust anchor (indices [${equal.join(" ")}])`);
  }
}

function certificateFault(der: Buffer | undefined): string | undefined {
  const certificate = certificateOf(der);
  if (certificate === undefined) return "does not parse as X.509";
  return certificate.ca ? undefined : "does not have the CA bit set";
}

/** Release 1.37 and later; the stored version. */
export const ClusterTrustBundleV1 = declareClusterTrustBundle(v1, { servedByDefault: true });
export type ClusterTrustBundleV1 = ObjectFor<typeof ClusterTrustBundleV1>;

const conversion = sameFields(() => ClusterTrustBundleV1);

/** Release 1.33 and later. */
export const ClusterTrustBundleV1beta1 = declareClusterTrustBundle(v1beta1, {
  servedByDefault: false,
  conversion,
});
export type ClusterTrustBundleV1beta1 = ObjectFor<typeof ClusterTrustBundleV1beta1>;

/** Release 1.27 and later. */
export const ClusterTrustBundleV1alpha1 = declareClusterTrustBundle(v1alpha1, {
  servedByDefault: false,
  conversion,
});
export type ClusterTrustBundleV1alpha1 = ObjectFor<typeof ClusterTrustBundleV1alpha1>;
