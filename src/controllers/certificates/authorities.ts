import type { CertificatePair } from "../../base/certificates/x509.ts";
import type { SignerRole } from "./built-in-signers.ts";

/** The CAs of the built-in signers. */
export interface SigningAuthorities {
  /**
   * Returns the current CA of a signer; undefined if there is none, and then nothing is signed.
   *
   * @throws {Error} the CA can't be read at present.
   */
  authorityFor(role: SignerRole): Promise<CertificatePair | undefined>;
  /** Default and maximum lifetime of certificates, in milliseconds. */
  readonly durationMs: number;
}
