/** The messages of version 2 of the key management service (`v2.KeyManagementService`), and their limits. */
import type { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { dnsSubdomainFaults } from "../../../base/names.ts";
import { bytesField, eachField, finished, nested } from "../../protobuf-fields.ts";
import type { KeyIdFault } from "../encryption-observer.ts";
import { EncryptionError } from "../value-cipher.ts";

/** Limits of what a service returns, in bytes. */
const maxKeyIdBytes = 1024;
const maxCiphertextBytes = 1024;
const maxAnnotationBytes = 32 * 1024;

/** An encrypted seed, as the service returns it; it needs all parts to decrypt the seed. */
export interface EncryptedSeed {
  readonly keyId: string;
  readonly ciphertext: Uint8Array;
  readonly annotations: ReadonlyMap<string, Uint8Array>;
}

/** The state of a service. */
export interface ServiceStatus {
  readonly version: string;
  /** `ok`, or the reason why the service can't be used. */
  readonly healthz: string;
  /** Identifier of the key that encrypts at present. */
  readonly keyId: string;
}

const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

type Visit = (field: number, reader: BinaryReader, wire: WireType) => void;

/**
 * Calls `visit` for each field of a message.
 *
 * @throws {EncryptionError} the bytes aren't a message.
 */
function visitFields(bytes: Uint8Array, visit: Visit): void {
  try {
    eachField(bytes, visit);
  } catch (error) {
    if (error instanceof EncryptionError) throw error;
    throw new EncryptionError("not a message of the key management service", { cause: error });
  }
}

function text(reader: BinaryReader): string {
  return strictText.decode(reader.bytes());
}

/** Returns what is wrong with the identifier of a key; undefined if it is valid. */
export function keyIdFault(keyId: string): KeyIdFault | undefined {
  if (keyId === "") return "empty";
  return Buffer.byteLength(keyId) > maxKeyIdBytes ? "too_long" : undefined;
}

/**
 * Checks the identifier of a key.
 *
 * @throws {EncryptionError} it is empty or too long.
 */
export function checkKeyId(keyId: string): void {
  const fault = keyIdFault(keyId);
  if (fault === "empty") throw new EncryptionError("the key id of the service is empty");
  if (fault === "too_long") {
    throw new EncryptionError(
      `the key id of the service has ${Buffer.byteLength(keyId)} bytes; at most ${maxKeyIdBytes} are allowed`,
    );
  }
}

/**
 * Checks an encrypted seed of a service.
 *
 * @throws {EncryptionError} a part is missing or exceeds its limit.
 */
export function checkSeed({ keyId, ciphertext, annotations }: EncryptedSeed): void {
  checkKeyId(keyId);
  const { length } = ciphertext;
  if (length === 0) throw new EncryptionError("the ciphertext of the service is empty");
  if (length > maxCiphertextBytes) {
    throw new EncryptionError(
      `the ciphertext of the service has ${length} bytes; at most ${maxCiphertextBytes} are allowed`,
    );
  }
  let total = 0;
  for (const [name, value] of annotations) total += Buffer.byteLength(name) + value.length;
  if (total > maxAnnotationBytes) {
    throw new EncryptionError(
      `the annotations of the service have ${total} bytes; at most ${maxAnnotationBytes} are allowed`,
    );
  }
  for (const name of annotations.keys()) {
    if (isFullyQualified(name)) continue;
    const quoted = JSON.stringify(name.slice(0, 100));
    throw new EncryptionError(
      `the service has an annotation ${quoted}; names must be full domain names, such as a.example.com`,
    );
  }
}

/** Whether a name is a domain name of at least two labels; a final dot is allowed. */
function isFullyQualified(name: string): boolean {
  const domain = name.endsWith(".") ? name.slice(0, -1) : name;
  return domain.includes(".") && dnsSubdomainFaults(domain).length === 0;
}

/** @throws {EncryptionError} the bytes aren't a status with text in UTF-8. */
export function decodeStatusResponse(bytes: Uint8Array): ServiceStatus {
  let [version, healthz, keyId] = ["", "", ""];
  visitFields(bytes, (field, reader, wire) => {
    if (field === 1) version = text(reader);
    else if (field === 2) healthz = text(reader);
    else if (field === 3) keyId = text(reader);
    else reader.skip(wire, field);
  });
  return { version, healthz, keyId };
}

/** Encodes a request to encrypt a seed. */
export function encodeEncryptRequest(plaintext: Uint8Array, uid: string): Buffer {
  return finished(plaintext, (_, writer) => {
    bytesField(writer, 1, plaintext);
    bytesField(writer, 2, Buffer.from(uid));
  });
}

/** @throws {EncryptionError} the bytes aren't an encrypted seed, or exceed a limit. */
export function decodeEncryptResponse(bytes: Uint8Array): EncryptedSeed {
  return decodeSeedFields(bytes, { ciphertext: 1, keyId: 2, annotations: 3 });
}

/** Encodes the form of an encrypted seed that is stored: a request to decrypt it, without `uid`. */
export function encodeSeed(seed: EncryptedSeed): Buffer {
  return finished(seed, encodeSeedInto);
}

/** @throws {EncryptionError} the bytes aren't an encrypted seed, or exceed a limit. */
export function decodeSeed(bytes: Uint8Array): EncryptedSeed {
  return decodeSeedFields(bytes, { ciphertext: 1, keyId: 3, annotations: 4 });
}

/** Encodes a request to decrypt a seed. */
export function encodeDecryptRequest(seed: EncryptedSeed, uid: string): Buffer {
  return finished(seed, (_, writer) => {
    encodeSeedInto(seed, writer);
    bytesField(writer, 2, Buffer.from(uid));
  });
}

function encodeSeedInto({ ciphertext, keyId, annotations }: EncryptedSeed, writer: BinaryWriter): void {
  bytesField(writer, 1, ciphertext);
  bytesField(writer, 3, Buffer.from(keyId));
  for (const annotation of annotations) {
    nested(writer, 4, annotation, ([name, value]) => {
      bytesField(writer, 1, Buffer.from(name));
      bytesField(writer, 2, value);
    });
  }
}

/** Field numbers of a message with an encrypted seed. */
interface SeedFields {
  readonly ciphertext: number;
  readonly keyId: number;
  readonly annotations: number;
}

function decodeSeedFields(bytes: Uint8Array, fields: SeedFields): EncryptedSeed {
  let keyId = "";
  let ciphertext = new Uint8Array(0);
  const annotations = new Map<string, Uint8Array>();
  visitFields(bytes, (field, reader, wire) => {
    if (field === fields.ciphertext) ciphertext = Uint8Array.from(reader.bytes());
    else if (field === fields.keyId) keyId = text(reader);
    else if (field === fields.annotations) annotations.set(...decodeAnnotation(reader.bytes()));
    else reader.skip(wire, field);
  });
  const seed = { keyId, ciphertext, annotations };
  checkSeed(seed);
  return seed;
}

function decodeAnnotation(bytes: Uint8Array): [string, Uint8Array] {
  let name = "";
  let value = new Uint8Array(0);
  eachField(bytes, (field, reader, wire) => {
    if (field === 1) name = text(reader);
    else if (field === 2) value = Uint8Array.from(reader.bytes());
    else reader.skip(wire, field);
  });
  return [name, value];
}

/** @throws {EncryptionError} the bytes aren't a message. */
export function decodeDecryptResponse(bytes: Uint8Array): Buffer {
  let plaintext = Buffer.alloc(0);
  visitFields(bytes, (field, reader, wire) => {
    if (field === 1) plaintext = Buffer.from(reader.bytes());
    else reader.skip(wire, field);
  });
  return plaintext;
}
