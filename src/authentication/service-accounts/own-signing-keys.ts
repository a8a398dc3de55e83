import { generateKeyPairSync, randomUUID, type KeyObject } from "node:crypto";
import { link, open, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "../../base/folders.ts";
import type { SharedValues } from "../../storage/shared-values.ts";
import { KeyFault, readSigningKey, signingKey, type SigningKey } from "./keys.ts";

/** The file of the signing key in a server's folder of certificates. */
const ownKeyFile = "service-accounts.key";

/** The keys of a server that no options name. */
export interface SigningKeys {
  readonly signing: SigningKey;
  /** Keys that this server signed with before, whose tokens it still believes. */
  readonly former: readonly SigningKey[];
}

/**
 * The keys that a server makes for itself: the one that the servers over a store share, else the one in its folder, else one
 * that ends with the process.
 *
 * @throws {KeyFault} what is stored is no key, or can't be read.
 */
export async function ownSigningKeys(
  folder: string | undefined,
  shared: SharedValues | undefined,
): Promise<SigningKeys> {
  const alone = (signing: SigningKey): SigningKeys => ({ signing, former: [] });
  if (shared === undefined) return alone(folder === undefined ? signingKey(newKey()) : await ownKey(folder));
  const own = folder === undefined ? undefined : await keyIn(path.join(folder, ownKeyFile));
  const signing = await commonKey(shared, own?.key ?? newKey());
  return { signing, former: own === undefined ? [] : [own] };
}

/** The key with which all servers over one store sign. */
async function commonKey(shared: SharedValues, offered: KeyObject): Promise<SigningKey> {
  const name = "service-account-signing-key";
  const pem =
    (await shared.get(name)) ?? (await shared.replace(name, undefined, Buffer.from(pemOf(offered))));
  try {
    return readSigningKey(pem.toString());
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error;
    throw new KeyFault(`the servers' common key for service account tokens in the store: ${error.message}`);
  }
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function newKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey;
}

/** The key in the folder; made when there is none. Of several servers that make one at once, the first one's stays. */
async function ownKey(folder: string): Promise<SigningKey> {
  const file = path.join(folder, ownKeyFile);
  const known = await keyIn(file);
  if (known !== undefined) return known;
  makeFolder(folder);
  const key = newKey();
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
  return (await keyIn(file))!;
}

async function keyIn(file: string): Promise<SigningKey | undefined> {
  try {
    return readSigningKey(await readFile(file, "utf8"));
  } catch (error) {
    if (error instanceof KeyFault) throw new KeyFault(`${file}: ${error.message}`);
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new KeyFault(`${file} can't be read: ${String(error)}`);
  }
}
