import { apiGroup, groupVersion } from "../../vocabulary/names.ts";
import { parseDuration } from "../../base/time/duration.ts";
import { applies, gate, since, until } from "../../base/release-rows.ts";
import { defaultRelease, type Release } from "../../base/releases.ts";
import { assertNoFaults, readConfiguration } from "../../schema/configuration.ts";
import { FieldReport } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { checkHidden, checkResources, type ResourcePattern } from "./resource-patterns.ts";
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
const EncryptionConfiguration = struct("EncryptionConfiguration", "Encryption of stored objects.", {
  kind: field(undefined, string, "EncryptionConfiguration."),
  apiVersion: field(undefined, string, "Version of the configuration format."),
  resources: field(
    undefined,
    list(Resources),
    "Resources and their providers; the first entry with a resource applies.",
  ),
});

type ProviderFields = Static<typeof Provider>;
type KeyFields = Static<typeof Key>;
type KmsFields = Static<typeof Kms>;

/** One key of a provider. */
export interface ConfiguredKey {
  readonly name: string;
  readonly secret: Buffer;
}

/** A key management service. */
export interface ConfiguredKms {
  readonly protocol: "v1" | "v2";
  readonly name: string;
  /** Path of its socket. */
  readonly socket: string;
  readonly timeoutMs: number;
}

/** A provider of a configuration. */
export type ConfiguredProvider =
  | { readonly type: "aesgcm" | "aescbc" | "secretbox"; readonly keys: readonly ConfiguredKey[] }
  | { readonly type: "kms"; readonly kms: ConfiguredKms }
  | { readonly type: "identity" };

/** The providers of resources. */
export interface ConfiguredResources {
  readonly patterns: readonly ResourcePattern[];
  readonly providers: readonly ConfiguredProvider[];
}

const nanosPerMs = 1_000_000n;
const defaultTimeoutMs = 3000;
/** Limit of Linux. */
const maxSocketBytes = 107;
const secretLengths = { aesgcm: [16, 24, 32], aescbc: [16, 24, 32], secretbox: [32] } as const;
type KeyProvider = keyof typeof secretLengths;
const keyProviders: readonly KeyProvider[] = ["aesgcm", "aescbc", "secretbox"];

const allowsV1 = applies(until("1.28"), gate("KMSv1"));
/** Whether entries that an earlier one hides are refused. */
const checksHidden = applies(since("1.27"));

/**
 * Reads the file of `--encryption-provider-config`.
 *
 * @param release that of the server: from 1.27 on, an entry that never applies is invalid.
 * @param enabled whether a feature gate is on; version 1 of key management services has one from 1.28 on.
 * @throws {ConfigurationError} the configuration is invalid; the message names every field, and no secret.
 */
export async function readEncryptionConfiguration(
  bytes: Uint8Array,
  { groupSuffix }: Vocabulary,
  release: Release = defaultRelease,
  enabled: (gate: string) => boolean = () => false,
): Promise<readonly ConfiguredResources[]> {
  const { value } = await readConfiguration(bytes, {
    type: EncryptionConfiguration,
    kind: "EncryptionConfiguration",
    apiVersions: [groupVersion(groupSuffix, "apiserver.config", "v1")],
  });
  const report = FieldReport.start().at("resources");
  const { resources: entries = [] } = value;
  if (entries.length === 0) report.required("at least one entry is required");
  const kmsNames = new Set<string>();
  const rules = { kmsNames, allowsV1: allowsV1({ release, enabled }) };
  const configured = entries.map(({ resources = [], providers = [] }, index) => {
    const place = report.at(index);
    if (providers.length === 0) place.at("providers").required("at least one provider is required");
    return {
      patterns: checkResources(resources, apiGroup(groupSuffix, "events"), place.at("resources")),
      providers: providers.flatMap((one, at) => checkProvider(one, place.at("providers", at), rules)),
    };
  });
  if (checksHidden({ release })) {
    checkHidden(
      entries.map(({ resources = [] }) => resources),
      report,
    );
  }
  assertNoFaults(report);
  return configured;
}

function checkProvider(provider: ProviderFields, report: FieldReport, rules: KmsRules): ConfiguredProvider[] {
  const members = Object.entries(provider).filter(([, value]) => value !== undefined && value !== null);
  const names = members.map(([name]) => name);
  if (names.length !== 1) {
    report.invalid(names, "must have one of aesgcm, aescbc, secretbox, identity and kms, and not several");
    return [];
  }
  if (provider.kms) return checkKms(provider.kms, report.at("kms"), rules);
  if (provider.identity) return [{ type: "identity" }];
  const type = keyProviders.find((one) => names[0] === one)!;
  const keys = provider[type]?.keys ?? [];
  const place = report.at(type, "keys");
  if (keys.length === 0) place.required("at least one key is required");
  const earlier = new Set<string>();
  return [{ type, keys: keys.flatMap((key, at) => checkKey(key, type, place.at(at), earlier)) }];
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function checkKey(
  { name = "", secret = "" }: KeyFields,
  type: KeyProvider,
  report: FieldReport,
  earlier: Set<string>,
): ConfiguredKey[] {
  if (name === "") report.at("name").required("every key needs a name");
  else if (earlier.has(name)) report.at("name").duplicate(name);
  earlier.add(name);
  const place = report.at("secret");
  if (secret === "") {
    place.required("every key needs a secret");
    return [];
  }
  if (!base64.test(secret)) {
    place.invalid("REDACTED", "secrets must be base64 encoded");
    return [];
  }
  const bytes = Buffer.from(secret, "base64");
  const lengths: readonly number[] = secretLengths[type];
  if (!lengths.includes(bytes.length)) {
    place.invalid("REDACTED", `a secret of ${type} has ${lengths.join(", ")} bytes, not ${bytes.length}`);
  }
  return [{ name, secret: bytes }];
}

/** What the checks of services depend on. */
interface KmsRules {
  /** Names of the services before; the check adds its own. */
  readonly kmsNames: Set<string>;
  /** Whether services of version 1 are allowed. */
  readonly allowsV1: boolean;
}

function checkKms(
  { apiVersion = "v1", cachesize, name = "", endpoint = "", timeout = "" }: KmsFields,
  report: FieldReport,
  { kmsNames, allowsV1 }: KmsRules,
): ConfiguredProvider[] {
  checkProtocol(apiVersion, cachesize ?? undefined, report, allowsV1);
  if (name === "") report.at("name").required("a service needs a name");
  else if (name.includes(":")) report.at("name").invalid(name, "must not contain a colon");
  else if (kmsNames.has(name)) report.at("name").duplicate(name);
  kmsNames.add(name);
  const path = /^unix:(?:\/\/)?(\/[^/?#%][^?#%]*)$/.exec(endpoint)?.[1];
  const pathBytes = Buffer.byteLength(path ?? "");
  if (endpoint === "") report.at("endpoint").required("a service needs an endpoint");
  else if (path === undefined) report.at("endpoint").invalid(endpoint, "must be unix:///path of a socket");
  else if (path.startsWith("/@"))
    report.at("endpoint").invalid(endpoint, "abstract sockets are not supported");
  else if (pathBytes > maxSocketBytes) {
    const fault = `the path of a socket may have ${maxSocketBytes} bytes, this one has ${pathBytes}`;
    report.at("endpoint").invalid(endpoint, fault);
  }
  const timeoutMs = timeout === "" ? defaultTimeoutMs : Number((parseDuration(timeout) ?? 0n) / nanosPerMs);
  if (timeoutMs <= 0) report.at("timeout").invalid(timeout, "must be a positive duration, such as 3s");
  const protocol = apiVersion === "v1" ? "v1" : "v2";
  return [{ type: "kms", kms: { protocol, name, socket: path ?? "", timeoutMs } }];
}

function checkProtocol(
  apiVersion: string,
  cachesize: number | undefined,
  report: FieldReport,
  allowsV1: boolean,
): void {
  const place = report.at("apiVersion");
  if (apiVersion !== "v1" && apiVersion !== "v2") place.notSupported(apiVersion, ["v1", "v2"]);
  else if (apiVersion === "v1" && !allowsV1)
    place.invalid(apiVersion, "v1 is deprecated: use v2, or set --feature-gates=KMSv1=true");
  if (cachesize === undefined) return;
  if (apiVersion === "v2") report.at("cachesize").invalid(cachesize, "cachesize is not supported in v2");
  else if (cachesize === 0) report.at("cachesize").invalid(cachesize, "must not be 0");
}
