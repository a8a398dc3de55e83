import { certificateOf } from "../../base/certificates/parsed-certificate.ts";
import { pemBlocks, pemOfBase64 } from "../../base/certificates/pem.ts";

/** The part of a definition's conversion with the CA bundle of its webhook. */
export interface TrustedConversion {
  readonly webhook?:
    { readonly clientConfig?: { readonly caBundle?: string | undefined } | undefined } | undefined;
}

/** Whether a conversion webhook has a CA bundle without any valid certificate. */
export function hasInvalidCaBundle(conversion: TrustedConversion | null | undefined): boolean {
  const bundle = conversion?.webhook?.clientConfig?.caBundle ?? "";
  if (bundle === "") return false;
  return !pemBlocks(pemOfBase64(bundle)).some(
    ({ label, content }) => label === "CERTIFICATE" && certificateOf(content) !== undefined,
  );
}
