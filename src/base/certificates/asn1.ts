import { createRequire } from "node:module";

/**
 * Loads the ASN.1 library. It takes 50 ms to load, and few servers need it: only those that read certificate requests.
 */
export function loadAsn1() {
  const require = createRequire(import.meta.url);
  const { AsnConvert } = require("@peculiar/asn1-schema") as typeof import("@peculiar/asn1-schema");
  const { CertificationRequest } = require("@peculiar/asn1-csr") as typeof import("@peculiar/asn1-csr");
  return { AsnConvert, CertificationRequest };
}
