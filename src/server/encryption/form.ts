import { struct } from "../../schema/meta.ts";
import { field, int32, list, string, type Static } from "../../schema/types.ts";

const Key = struct("Key", "An encryption key.", {
  name: field(undefined, string, "Name of the key, stored beside each value."),
  secret: field(undefined, string, "The key in base64."),
});

const Keys = struct("KeyConfiguration", "The keys of a provider; the first one encrypts.", {
  keys: field(undefined, list(Key), "The keys; any of them can decrypt."),
});

const Identity = struct("IdentityConfiguration", "Storage without encryption.", {});

const Kms = struct("KMSConfiguration", "A key management service.", {
  apiVersion: field(undefined, string, "Version of the KMS protocol: v2 or v1. Default: v1."),
  cachesize: field(undefined, int32, "Number of keys to cache, of version 1; has no effect.").nullable(),
  name: field(undefined, string, "Name of the service, stored beside each value."),
  endpoint: field(undefined, string, "Address of the plugin, such as `unix:///run/kms.sock`."),
  timeout: field(undefined, string, "Timeout of a call. Default: 3s."),
});

const Provider = struct("ProviderConfiguration", "A provider of encryption; exactly one field is set.", {
  aesgcm: field(undefined, Keys, "AES-GCM.").nullable(),
  aescbc: field(undefined, Keys, "AES-CBC with PKCS#7 padding.").nullable(),
  secretbox: field(undefined, Keys, "XSalsa20 and Poly1305.").nullable(),
  identity: field(undefined, Identity, "Storage without encryption.").nullable(),
  kms: field(undefined, Kms, "A key management service.").nullable(),
});

const Resources = struct("ResourceConfiguration", "Resources and the providers that encrypt them.", {
  resources: field(undefined, list(string), "Resources with their API group, such as `secrets` or `*.apps`."),
  providers: field(
    undefined,
    list(Provider),
    "Providers; the first one encrypts, and all of them can decrypt.",
  ),
});

/** The content of the file of `--encryption-provider-config`. */
export const EncryptionConfiguration = struct("EncryptionConfiguration", "Encryption of stored objects.", {
  kind: field(undefined, string, "EncryptionConfiguration."),
  apiVersion: field(undefined, string, "Version of the configuration format."),
  resources: field(
    undefined,
    list(Resources),
    "Resources and their providers; the first entry with a resource applies.",
  ),
});

export type ProviderFields = Static<typeof Provider>;
export type KeyFields = Static<typeof Key>;
export type KmsFields = Static<typeof Kms>;
