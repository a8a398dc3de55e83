import { constants, createPublicKey, verify, X509Certificate, type KeyObject } from "node:crypto";
import { readElements, type Read } from "./der.ts";

/** One block of PEM text. */
interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly content: Buffer;
}

const marker = /^-----(BEGIN|END) ([^-]+)-----[ \t]*$/;

/** The blocks of PEM text, in their order; what stands between them is ignored. */
function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let type: string | undefined;
  let body: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, word, found] = marker.exec(line) ?? [];
    if (word === "BEGIN") {
      type = found;
      body = [];
    } else if (word === "END" && type !== undefined && found === type) {
      const content = Buffer.from(body.join(""), "base64");
      blocks.push({ type, hasHeaders: body.some((one) => one.includes(":")), content });
      type = undefined;
    } else if (type !== undefined) body.push(line.trim());
  }
  return blocks;
}

const tags = { integer: 0x02, bitString: 0x03, sequence: 0x30 } as const;

/** How the signature of a request was made, by the identifier of its algorithm (DER, hexadecimal). */
const algorithms: ReadonlyMap<string, string | null> = new Map([
  ["2a864886f70d010105", "sha1"], // RSA
  ["2a864886f70d01010b", "sha256"],
  ["2a864886f70d01010c", "sha384"],
  ["2a864886f70d01010d", "sha512"],
  ["2a8648ce3d0401", "sha1"], // ECDSA
  ["2a8648ce3d040302", "sha256"],
  ["2a8648ce3d040303", "sha384"],
  ["2a8648ce3d040304", "sha512"],
  ["2b6570", null], // Ed25519 names no hash
]);
/** RSASSA-PSS; its hash stands in the parameters. */
const pss = "2a864886f70d01010a";

/**
 * What is wrong with a certificate request (PKCS#10 in PEM): it can't be read, or it isn't signed by the key that it names.
 * Undefined where it is right.
 */
export function certificateRequestFault(pem: string): string | undefined {
  const request = certificateRequestIn(pem);
  if (request === undefined) return "PEM block type must be CERTIFICATE REQUEST";
  try {
    return requestFault(request);
  } catch {
    // Whatever the readers of DER and of keys stumble over.
    return "is not a well-formed PKCS#10 certificate request";
  }
}

/**
 * The certificate request in PEM text, in DER: its first block; undefined where that is something else. Whoever judges a
 * request reads it here, so that all judge the same one.
 */
export function certificateRequestIn(pem: string): Buffer | undefined {
  const [block] = pemBlocks(pem);
  return block?.type === "CERTIFICATE REQUEST" ? block.content : undefined;
}

function requestFault(der: Buffer): string | undefined {
  const malformed = "is not a well-formed PKCS#10 certificate request";
  const [whole, ...trailing] = readElements(der);
  if (whole?.tag !== tags.sequence || trailing.length > 0) return malformed;
  const [info, algorithm, signature] = readElements(whole.content);
  if (info?.tag !== tags.sequence || algorithm?.tag !== tags.sequence) return malformed;
  if (signature?.tag !== tags.bitString || signature.content[0] !== 0) return malformed;
  const [version, subject, key] = readElements(info.content);
  if (version?.tag !== tags.integer || subject?.tag !== tags.sequence || key?.tag !== tags.sequence) {
    return malformed;
  }
  const publicKey = createPublicKey({ key: key.whole, format: "der", type: "spki" });
  const signed = isSignedBy(publicKey, info.whole, algorithm, signature.content.subarray(1));
  return signed ? undefined : "the signature of the certificate request is not that of its key";
}

function isSignedBy(key: KeyObject, data: Buffer, algorithm: Read, signature: Buffer): boolean {
  const identifier = readElements(algorithm.content)[0]!.content.toString("hex");
  if (identifier === pss) {
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    return ["sha256", "sha384", "sha512"].some((hash) => verify(hash, data, { key, padding }, signature));
  }
  const hash = algorithms.get(identifier);
  return hash !== undefined && verify(hash, data, key, signature);
}

/** What is wrong with certificates in PEM; undefined where there is at least one and each can be read. */
export function certificatesFault(pem: string): string | undefined {
  const blocks = pemBlocks(pem);
  if (blocks.length === 0) return "must contain at least one CERTIFICATE PEM block";
  for (const { type, hasHeaders, content } of blocks) {
    if (type !== "CERTIFICATE") {
      return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    }
    if (hasHeaders) return "no PEM block headers are permitted";
    if (!isCertificate(content)) return "found a CERTIFICATE PEM block that is no certificate";
  }
  return undefined;
}

function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).raw.length > 0;
  } catch {
    return false;
  }
}
