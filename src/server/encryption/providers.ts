import { aesCbc, aesGcm, secretBox } from "../../storage/encryption/local-ciphers.ts";
import type { CiphersOf, CollectionCiphers, ValueCipher } from "../../storage/encryption/value-cipher.ts";
import type { ConfiguredKms, ConfiguredProvider, ConfiguredResources } from "./encryption-configuration.ts";
import { matchesResource } from "./resource-patterns.ts";

/** Connects to a key management service and returns its cipher. */
export type OpenKms = (kms: ConfiguredKms) => Promise<ValueCipher>;

/** Group of the core resources in keys of the store. */
const coreGroup = "core";

/** Collections of the core group that aren't encrypted: the mark of encryption and the record of releases, which have no objects. */
const plainCollections: ReadonlySet<string> = new Set(["encryption", "releases"]);

/** The ciphers of a configuration. */
export interface ConfiguredCiphers {
  readonly ofCollection: CiphersOf;
  /** Those of the keys that servers share: the ciphers of secrets, or of the first entry if there is none for secrets. */
  readonly ofKeys: CollectionCiphers;
}

/** Creates the ciphers of a configuration with at least one entry. */
export async function configuredCiphers(
  entries: readonly ConfiguredResources[],
  openKms: OpenKms,
): Promise<ConfiguredCiphers> {
  const rules: { readonly entry: ConfiguredResources; readonly ciphers: CollectionCiphers }[] = [];
  for (const entry of entries) rules.push({ entry, ciphers: await ciphersOf(entry.providers, openKms) });
  const ofCollection: CiphersOf = (keyGroup, collection) => {
    if (keyGroup === coreGroup && plainCollections.has(collection)) return undefined;
    // A collection that is stored apart from an older version of its kind has a suffix: `resourceclaims.v1`.
    const [resource = ""] = collection.split(".");
    const group = keyGroup === coreGroup ? "" : keyGroup;
    return rules.find(({ entry }) => entry.patterns.some((one) => matchesResource(one, group, resource)))
      ?.ciphers;
  };
  return { ofCollection, ofKeys: ofCollection(coreGroup, "secrets") ?? rules[0]!.ciphers };
}

async function ciphersOf(
  providers: readonly ConfiguredProvider[],
  openKms: OpenKms,
): Promise<CollectionCiphers> {
  const readers: ValueCipher[] = [];
  for (const provider of providers) readers.push(...(await ciphersOfProvider(provider, openKms)));
  const readsPlain = providers.some(({ type }) => type === "identity");
  const writer = providers[0]?.type === "identity" ? undefined : readers[0];
  return { writer, readers, readsPlain };
}

async function ciphersOfProvider(
  provider: ConfiguredProvider,
  openKms: OpenKms,
): Promise<readonly ValueCipher[]> {
  if (provider.type === "identity") return [];
  if (provider.type === "kms") return [await openKms(provider.kms)];
  const { type, keys } = provider;
  const create = { aesgcm: aesGcm, aescbc: aesCbc, secretbox: secretBox }[type];
  return Promise.all(keys.map(({ name, secret }) => create(`${type}:v1:${name}`, secret)));
}
