import type { Clock } from "../../base/time/clock.ts";
import type { CertificatePair } from "../../base/certificates/x509.ts";
import type { sharedKeyNames, SharedValues } from "../../storage/shared-values.ts";
import {
  CertificateFault,
  checkPair,
  createAuthority,
  endsSoon,
} from "../../base/certificates/serving-certificates.ts";

const name: (typeof sharedKeyNames)[number] = "authority";

/**
 * Returns the CA that all servers of one store share. The first server creates it; a server that finds that it
 * expires within 30 days creates the next one.
 *
 * @param local the CA that this server had for itself; it becomes the shared one if there is none.
 * @throws {CertificateFault} if the stored CA can't be used.
 */
export async function sharedAuthority(
  shared: SharedValues,
  local: CertificatePair | undefined,
  clock: Clock,
): Promise<CertificatePair> {
  const stored = await shared.get(name);
  const current = stored === undefined ? undefined : decode(stored);
  if (current !== undefined && !isEnding(current, clock)) return current;
  const isOffered = stored === undefined && local !== undefined && !isEnding(local, clock);
  const next = isOffered ? local : createAuthority(clock);
  return decode(await shared.replace(name, stored, encode(next)));
}

function isEnding(authority: CertificatePair, clock: Clock): boolean {
  return endsSoon(
    checkPair(authority, "the authority's certificate", "the authority's key").certificate,
    clock,
  );
}

function encode({ certificate, key }: CertificatePair): Buffer {
  return Buffer.from(JSON.stringify({ certificate, key }));
}

function decode(stored: Buffer): CertificatePair {
  let pair: Partial<CertificatePair>;
  try {
    pair = JSON.parse(stored.toString()) as Partial<CertificatePair>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    pair = {};
  }
  const { certificate, key } = pair;
  if (typeof certificate !== "string" || typeof key !== "string") {
    throw new CertificateFault(
      "the shared authority in the store is not valid: certificate and key must be text",
    );
  }
  checkPair({ certificate, key }, "the shared authority's certificate", "the shared authority's key");
  return { certificate, key };
}
