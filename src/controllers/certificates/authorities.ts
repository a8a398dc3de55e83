import type { CertificatePair } from "../../base/x509.ts";
import type { SignerRole } from "./built-in-signers.ts";

/** With what the built-in signers sign. */
export interface SigningAuthorities {
  /**
   * The authority of a signer as it is now; undefined where there is none, and then nothing is signed.
   *
   * @throws {Error} it can't be read at present.
   */
  authorityFor(role: SignerRole): Promise<CertificatePair | undefined>;
  /** Lifetime of certificates whose request doesn't ask for less, in milliseconds. */
  readonly durationMs: number;
}
