import { randomUUID, type KeyObject } from "node:crypto";
import { link, open, rm } from "node:fs/promises";
import path from "node:path";
import { generateEcKeyPair } from "../../base/certificates/key-pair.ts";
import { makeFolder } from "../../base/files/folders.ts";
import { loadSecretFile, UnsafeFileError } from "../../base/files/private-file.ts";
import type { sharedKeyNames, SharedValues } from "../../storage/shared-values.ts";
import { KeyFault, readSigningKey, signingKey, type SigningKey } from "./keys.ts";

/** Name of the key file in the certificate folder of the server. */
const ownKeyFile = "service-accounts.key";

/** The keys of a server without configured signing key. */
export interface SigningKeys {
  readonly signing: SigningKey;
  /** Previous signing keys of this server, whose tokens are still valid. */
  readonly former: readonly SigningKey[];
}

/**
 * Returns generated signing keys: the key that the servers of a store share; without a shared store the key in the folder;
 * without a folder a new key that is lost with the process.
 *
 * @throws {KeyFault} if a stored key is invalid or can't be read.
 */
export async function ownSigningKeys(
  folder: string | undefined,
  shared: SharedValues | undefined,
): Promise<SigningKeys> {
  const withoutFormer = (signing: SigningKey): SigningKeys => ({ signing, former: [] });
  if (shared === undefined)
    return withoutFormer(
      folder === undefined ? signingKey(generateEcKeyPair().privateKey) : await readOrCreateKey(folder),
    );
  const folderKey = folder === undefined ? undefined : await readKeyFile(path.join(folder, ownKeyFile));
  const signing = await sharedKey(shared, folderKey?.key ?? generateEcKeyPair().privateKey);
  return { signing, former: folderKey === undefined ? [] : [folderKey] };
}

/** Returns the key that all servers of a store share; stores `candidate` if there is none. */
async function sharedKey(shared: SharedValues, candidate: KeyObject): Promise<SigningKey> {
  const name: (typeof sharedKeyNames)[number] = "service-account-signing-key";
  const pem =
    (await shared.get(name)) ?? (await shared.replace(name, undefined, Buffer.from(pemOf(candidate))));
  try {
    return readSigningKey(pem.toString());
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error;
    throw new KeyFault(`the shared signing key for service account tokens in the store ${error.message}`);
  }
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

/** Returns the key in the folder; creates it if there is none. If several servers create it at the same time, the first one wins. */
async function readOrCreateKey(folder: string): Promise<SigningKey> {
  const file = path.join(folder, ownKeyFile);
  const existing = await readKeyFile(file);
  if (existing !== undefined) return existing;
  makeFolder(folder);
  const key = generateEcKeyPair().privateKey;
  const temporary = `${file}.${randomUUID()}.new`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(pemOf(key));
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(temporary, file);
    return signingKey(key);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  return (await readKeyFile(file))!;
}

async function readKeyFile(file: string): Promise<SigningKey | undefined> {
  try {
    return readSigningKey(await loadSecretFile(file, "own"));
  } catch (error) {
    if (error instanceof KeyFault) throw new KeyFault(`${file}: ${error.message}`);
    if (error instanceof UnsafeFileError) throw new KeyFault(error.message);
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new KeyFault(`${file} can't be read: ${String(error)}`);
  }
}
