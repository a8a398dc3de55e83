import { struct } from "../../schema/meta.ts";
import { field, int32, list, string, type Static } from "../../schema/types.ts";

const Key = struct("Key", "A key of a provider.", {
  name: field(undefined, string, "Name of the key, stored beside each value."),
  secret: field(undefined, string, "The key in Base64."),
});

const Keys = struct("KeyConfiguration", "The keys of a provider; the first one encrypts.", {
  keys: field(undefined, list(Key), "The keys; each of them decrypts."),
});

const Identity = struct("IdentityConfiguration", "No encryption.", {});

const Kms = struct("KMSConfiguration", "A key management service.", {
  apiVersion: field(undefined, string, "Version of the protocol: v2 or v1, the default."),
  cachesize: field(undefined, int32, "Number of keys in memory, for version 1; not used.").nullable(),
  name: field(undefined, string, "Name of the service, stored beside each value."),
  endpoint: field(undefined, string, "Address of the plugin: unix:///path."),
  timeout: field(undefined, string, "Limit of the time of a call; 3s by default."),
});

const Provider = struct("ProviderConfiguration", "One provider.", {
  aesgcm: field(undefined, Keys, "AES-GCM.").nullable(),
  aescbc: field(undefined, Keys, "AES-CBC with PKCS#7 padding.").nullable(),
  secretbox: field(undefined, Keys, "XSalsa20 and Poly1305.").nullable(),
  identity: field(undefined, Identity, "Plain text.").nullable(),
  kms: field(undefined, Kms, "A key management service.").nullable(),
});

const Resources = struct("ResourceConfiguration", "The providers of resources.", {
  resources: field(undefined, list(string), "Resources with their group, such as secrets or *.apps."),
  providers: field(undefined, list(Provider), "The first one encrypts, all of them decrypt."),
});

/** The content of the file of `--encryption-provider-config`. */
export const EncryptionConfiguration = struct(
  "EncryptionConfiguration",
  "How stored objects are encrypted.",
  {
    kind: field(undefined, string, "EncryptionConfiguration."),
    apiVersion: field(undefined, string, "Version of the configuration format."),
    resources: field(
      undefined,
      list(Resources),
      "Providers of resources; the first entry with a resource counts.",
    ),
  },
);

export type ProviderFields = Static<typeof Provider>;
export type KeyFields = Static<typeof Key>;
export type KmsFields = Static<typeof Kms>;
