import { afterAll, expect, test } from "vitest";
import { KeyFault } from "../../../src/authentication/service-accounts/keys.ts";
import { ownSigningKeys } from "../../../src/authentication/service-accounts/own-signing-keys.ts";
import type { SharedValues } from "../../../src/storage/shared-values.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** The shared values of servers with one store. */
class Values implements SharedValues {
  readonly values = new Map<string, Buffer>();

  get(name: string): Promise<Buffer | undefined> {
    return Promise.resolve(this.values.get(name));
  }

  replace(name: string, before: Buffer | undefined, value: Buffer): Promise<Buffer> {
    const current = this.values.get(name);
    if (before === undefined && current !== undefined) return Promise.resolve(current);
    this.values.set(name, value);
    return Promise.resolve(value);
  }
}

test("servers of one store sign with the key of the first one", async () => {
  const shared = new Values();
  const [first, second] = [await ownSigningKeys(undefined, shared), await ownSigningKeys(undefined, shared)];
  expect([...shared.values.keys()]).toEqual(["service-account-signing-key"]);
  expect(second.signing.id).toBe(first.signing.id);
  expect(second.former).toEqual([]);
});

test("the key of a folder becomes the shared one, and a former key if there is another", async () => {
  const { signing: own } = await ownSigningKeys(folder.path, undefined);
  expect((await ownSigningKeys(folder.path, undefined)).signing.id).toBe(own.id);
  expect((await ownSigningKeys(folder.path, new Values())).signing.id).toBe(own.id);
  const shared = new Values();
  const other = await ownSigningKeys(undefined, shared);
  const { signing, former } = await ownSigningKeys(folder.path, shared);
  expect(signing.id).toBe(other.signing.id);
  expect(former.map(({ id }) => id)).toEqual([own.id]);
});

test("an invalid shared key is an error that names it, and other failures are returned unchanged", async () => {
  const shared = new Values();
  shared.values.set("service-account-signing-key", Buffer.from("no key"));
  await expect(ownSigningKeys(undefined, shared)).rejects.toThrow(KeyFault);
  await expect(ownSigningKeys(undefined, shared)).rejects.toThrow(
    /^the shared signing key for service account tokens in the store ./,
  );
  const failure = new TypeError("a bug");
  const broken: SharedValues = {
    get: () =>
      Promise.resolve({
        toString: () => {
          throw failure;
        },
      } as unknown as Buffer),
    replace: () => Promise.reject(failure),
  };
  await expect(ownSigningKeys(undefined, broken)).rejects.toBe(failure);
});
