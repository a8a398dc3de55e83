import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Release } from "../../src/base/releases.ts";
import { kindsOfRelease } from "../../src/kinds/kinds-of-release.ts";
import { isStored, resourceOf } from "../../src/resources/registry/registry.ts";
import { readEncryptionConfiguration } from "../../src/server/encryption/encryption-configuration.ts";
import { configuredCiphers } from "../../src/server/encryption/providers.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { blockOf } from "../support/pages.ts";

const secret = Buffer.alloc(32, 7).toString("base64");
const key = { name: "key1", secret };
const identity = { identity: {} };
const gcm = (name: string) => ({ aesgcm: { keys: [{ name, secret }] } });
const header = { apiVersion: "apiserver.config.platform.io/v1", kind: "EncryptionConfiguration" };
const read = (...resources: object[]) =>
  readEncryptionConfiguration(Buffer.from(JSON.stringify({ ...header, resources })), platform);

async function labelsOf(entries: object[], ...collections: [group: string, resource: string][]) {
  const { ofCollection: ciphersOf } = await configuredCiphers(await read(...entries), () => {
    throw new Error("there is no service");
  });
  return collections.map(([group, resource]) => ciphersOf(group, resource)?.writer?.label);
}

test("the first entry with a resource decides; its first provider encrypts and all of them decrypt", async () => {
  const entries = [
    { resources: ["secrets"], providers: [gcm("a"), gcm("b"), identity] },
    { resources: ["*."], providers: [gcm("core")] },
    { resources: ["things.example.com", "*.apps"], providers: [gcm("apps")] },
    { resources: ["nodes"], providers: [identity, gcm("late")] },
    { resources: ["*.*"], providers: [gcm("rest")] },
  ];
  const labels = await labelsOf(
    entries,
    ["core", "secrets"],
    ["core", "pods"],
    ["core", "nodes"],
    ["apps", "deployments"],
    ["example.com", "things"],
    ["example.com", "others"],
  );
  expect(labels).toEqual(["a", "core", "core", "apps", "apps", "rest"].map((name) => `aesgcm:v1:${name}`));
  const { ofCollection: ciphersOf } = await configuredCiphers(await read(...entries), () => {
    throw new Error("there is no service");
  });
  expect(ciphersOf("core", "secrets")?.readers.map(({ label }) => label)).toEqual([
    "aesgcm:v1:a",
    "aesgcm:v1:b",
  ]);
  expect(ciphersOf("core", "secrets")?.readsPlain).toBe(true);
  expect(ciphersOf("core", "pods")?.readsPlain).toBe(false);
});

test("the examples of docs/encryption.md are accepted", async () => {
  const text = blockOf("docs/encryption.md", "yaml configuration").replace("<32 bytes in Base64>", secret);
  expect(await readEncryptionConfiguration(Buffer.from(text), platform)).toHaveLength(1);
  const keys = parse(blockOf("docs/encryption.md", "yaml keys").replaceAll("…", secret)) as object;
  const kms = parse(blockOf("docs/encryption.md", "yaml kms")) as object;
  const configured = await read(
    { resources: ["secrets"], providers: [{ aesgcm: keys }] },
    { resources: ["configmaps"], ...kms },
  );
  expect(configured.map(({ providers }) => providers.length)).toEqual([1, 2]);
});

test("a rule that an earlier wildcard hides is refused from release 1.27 on, with the wildcard", async () => {
  const readFor = (release: Release, ...resources: string[][]) => {
    const entries = resources.map((one) => ({ resources: one, providers: [identity] }));
    return readEncryptionConfiguration(
      Buffer.from(JSON.stringify({ ...header, resources: entries })),
      platform,
      release,
    );
  };
  const hidden: [earlier: string, later: string][] = [
    ["*.*", "secrets"],
    ["*.*", "deployments.apps"],
    ["*.*", "*.apps"],
    ["*.*", "*.*"],
    ["*.", "secrets"],
    ["*.apps", "deployments.apps"],
    ["*.apps", "*.apps"],
  ];
  for (const [earlier, later] of hidden) {
    await expect(readFor("1.27", ["nodes"], [earlier], ["events", later])).rejects.toThrow(
      `resources[2].resources[1]: Invalid value: ${JSON.stringify(later)}: is hidden by the earlier entry with ${earlier}: `,
    );
    expect(await readFor("1.26", [earlier], [later])).toHaveLength(2);
    if (earlier !== later) expect(await readFor("1.37", [later], [earlier])).toHaveLength(2);
  }
  for (const [earlier, later] of [
    ["secrets", "secrets"],
    ["*.", "deployments.apps"],
    ["*.apps", "*.batch"],
  ])
    expect(await readFor("1.37", [earlier!], [later!])).toHaveLength(2);
});

test("identity as the first provider stores plain text and reads encrypted values", async () => {
  const entries = [{ resources: ["secrets"], providers: [identity, gcm("a")] }];
  const { ofCollection: ciphersOf } = await configuredCiphers(await read(...entries), () => {
    throw new Error("there is no service");
  });
  expect(ciphersOf("core", "secrets")).toMatchObject({ writer: undefined, readsPlain: true });
  expect(ciphersOf("core", "secrets")?.readers).toHaveLength(1);
  expect(ciphersOf("core", "pods")).toBeUndefined();
});

test.each(["1.26", "1.32", "1.37"] as const)(
  "every stored kind of release %s is encrypted by its name",
  async (release) => {
    const kinds = await kindsOfRelease(release);
    const stored = kinds.map((kind) => resourceOf(kind, platform)).filter((one) => isStored(one));
    const ownGroup = stored.filter(({ group }) => group !== "events.platform.io");
    expect(ownGroup.length).toBeGreaterThan(50);
    for (const { name, group, storePrefix } of ownGroup) {
      const text = group === "" ? name : `${name}.${group}`;
      const [, keyGroup = "", collection = ""] = storePrefix.split("/");
      const labels = await labelsOf([{ resources: [text], providers: [gcm("a")] }], [keyGroup, collection]);
      expect([text, ...labels]).toEqual([text, "aesgcm:v1:a"]);
    }
  },
);

describe("the error names the field", () => {
  const withResources = (...resources: string[]) => ({ resources, providers: [identity] });
  const withProvider = (provider: object) => ({ resources: ["secrets"], providers: [provider] });
  const withKey = (one: object) => withProvider({ aesgcm: { keys: [one] } });
  const kms = { apiVersion: "v2", name: "vault", endpoint: "unix:///run/kms.sock" };
  const withKms = (changes: object) => withProvider({ kms: { ...kms, ...changes } });
  const keys = "resources[0].providers[0].aesgcm.keys";
  const service = "resources[0].providers[0].kms";
  test.each<[string, object[]]>([
    ["resources: Required value: at least one entry", []],
    ["resources[0].resources: Required value: at least one resource", [{ providers: [identity] }]],
    ["resources[0].providers: Required value: at least one provider", [{ resources: ["secrets"] }]],
    ["resources[0].others: there is no such field", [{ ...withResources("secrets"), others: 1 }]],
    ['resources[0].resources[0]: Invalid value: "Secrets"', [withResources("Secrets")]],
    [
      'resources[0].resources[0]: Invalid value: "*.events.platform.io": its objects are stored in the core group',
      [withResources("*.events.platform.io")],
    ],
    ['resources[0].resources[0]: Invalid value: "*": use *. for', [withResources("*")]],
    ['resources[0].resources[0]: Invalid value: "secrets.*"', [withResources("secrets.*")]],
    [
      'resources[0].resources[0]: Invalid value: "ingresses.extensions"',
      [withResources("ingresses.extensions")],
    ],
    ['resources[0].resources: Invalid value: ["a","a"]: the same', [withResources("a", "a")]],
    ['resources[0].resources: Invalid value: ["a","*."]: resources such as', [withResources("a", "*.")]],
    ["resources[0].providers[0]: Invalid value: []: must have one of", [withProvider({})]],
    ["resources[0].providers[0]: Invalid value: ", [withProvider({ ...gcm("a"), ...identity })]],
    [`${keys}: Required value: at least one key`, [withProvider({ aesgcm: {} })]],
    [`${keys}[0].name: Required value`, [withKey({ secret })]],
    [`${keys}[1].name: Duplicate value: "key1"`, [withProvider({ aesgcm: { keys: [key, key] } })]],
    [`${keys}[0].secret: Required value`, [withKey({ name: "a" })]],
    [
      `${keys}[0].secret: Invalid value: "REDACTED": secrets must be base64`,
      [withKey({ name: "a", secret: "%" })],
    ],
    [
      `${keys}[0].secret: Invalid value: "REDACTED": a secret of aesgcm has`,
      [withKey({ name: "a", secret: "YWI=" })],
    ],
    [`${service}.apiVersion: Unsupported value: "v3"`, [withKms({ apiVersion: "v3" })]],
    [`${service}.cachesize: Invalid value: 5: cachesize is not supported in v2`, [withKms({ cachesize: 5 })]],
    [`${service}.cachesize: Invalid value: 0: must not be 0`, [withKms({ apiVersion: "v1", cachesize: 0 })]],
    [`${service}.name: Required value`, [withKms({ name: "" })]],
    [`${service}.name: Invalid value: "a:b"`, [withKms({ name: "a:b" })]],
    [`${service}.endpoint: Required value`, [withKms({ endpoint: "" })]],
    [`${service}.endpoint: Invalid value: "http://x"`, [withKms({ endpoint: "http://x" })]],
    [`${service}.endpoint: Invalid value: "unix://run/a"`, [withKms({ endpoint: "unix://run/a" })]],
    [
      `${service}.endpoint: Invalid value: "unix:///@a": abstract sockets are not supported`,
      [withKms({ endpoint: "unix:///@a" })],
    ],
    [
      `: the path of a socket may have 107 bytes, this one has 108`,
      [withKms({ endpoint: `unix:///${"a".repeat(107)}` })],
    ],
    [`${service}.timeout: Invalid value: "0s"`, [withKms({ timeout: "0s" })]],
    [
      "resources[1].providers[0].kms.name: Duplicate value",
      [withKms({}), { ...withKms({}), resources: ["pods"] }],
    ],
  ])("%s", async (message, entries) => {
    await expect(read(...entries)).rejects.toThrow(message);
  });

  test("no message has a secret", async () => {
    const long = Buffer.alloc(33, 9).toString("base64");
    const error = await read(withKey({ name: "a", secret: long })).catch((one: unknown) => String(one));
    expect(error).toContain("not 33");
    expect(error).not.toContain(long.slice(0, 10));
    const wrong = await read(withKey({ name: "a", secret: { value: long } })).catch((one: unknown) =>
      String(one),
    );
    expect(wrong).toContain("secret");
    expect(wrong).not.toContain(long.slice(0, 10));
  });
});
