import type { Clock } from "../../base/clock.ts";
import type { CertificatePair } from "../../base/certificates/x509.ts";
import type { SharedValues } from "../../storage/shared-values.ts";
import {
  CertificateFault,
  checkPair,
  createAuthority,
  endsSoon,
} from "../../base/certificates/serving-certificates.ts";

const name = "authority";

/**
 * The authority that all servers over one store have in common. The first of them makes it, and the first that finds that
 * it ends within 30 days makes the next one.
 *
 * @param local an authority that this server had to itself until now: it becomes the common one where there is none.
 * @throws {CertificateFault} what the store holds can't be used.
 */
export async function sharedAuthority(
  shared: SharedValues,
  local: CertificatePair | undefined,
  clock: Clock,
): Promise<CertificatePair> {
  const stored = await shared.get(name);
  const known = stored === undefined ? undefined : decode(stored);
  if (known !== undefined && !isEnding(known, clock)) return known;
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
    throw new CertificateFault("what the store holds as the servers' common authority isn't one");
  }
  checkPair({ certificate, key }, "the common authority's certificate", "the common authority's key");
  return { certificate, key };
}
