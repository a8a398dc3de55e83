/** Returns when the first certificate of a PEM text expires, in milliseconds since 1970; undefined if there is none that can be read. */
export function certificateExpiry(pem: string): number | undefined {
  const begin = pem.indexOf("-----BEGIN CERTIFICATE-----");
  const end = pem.indexOf("-----END CERTIFICATE-----", begin);
  if (begin === -1 || end === -1) return undefined;
  try {
    const base64 = pem.slice(begin + "-----BEGIN CERTIFICATE-----".length, end).replace(/\s/g, "");
    return expiryOf(Uint8Array.from(atob(base64), (one) => one.charCodeAt(0)));
  } catch {
    // Not Base64, or not a certificate.
    return undefined;
  }
}

interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** Reads the element of DER at an offset. @throws {RangeError} if it doesn't fit into the bytes. */
function elementAt(bytes: Uint8Array, at: number): Element {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) throw new RangeError("the certificate is cut off");
  let start = at + 2;
  let length = first;
  if (first >= 0x80) {
    length = 0;
    for (const one of bytes.subarray(start, start + (first & 0x7f))) length = length * 256 + one;
    start += first & 0x7f;
  }
  if (start + length > bytes.length) throw new RangeError("the certificate is cut off");
  return { tag, start, end: start + length };
}

function expiryOf(bytes: Uint8Array): number | undefined {
  const certificate = elementAt(bytes, 0);
  const content = elementAt(bytes, certificate.start);
  // An optional version, then serial number, algorithm, issuer, and the validity.
  let next = elementAt(bytes, content.start);
  if (next.tag === 0xa0) next = elementAt(bytes, next.end);
  for (let skipped = 0; skipped < 3; skipped++) next = elementAt(bytes, next.end);
  const notBefore = elementAt(bytes, next.start);
  const notAfter = elementAt(bytes, notBefore.end);
  const text = String.fromCharCode(
    ...bytes.subarray(notAfter.start, Math.min(notAfter.end, notAfter.start + 20)),
  );
  const match = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const fullYear = year!.length === 4 ? Number(year) : Number(year) + (Number(year) < 50 ? 2000 : 1900);
  return Date.UTC(fullYear, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
}
