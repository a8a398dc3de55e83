import { labelKey } from "../../vocabulary/names.ts";
import { since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import { certificateOf } from "../../base/certificates/parsed-certificate.ts";
import { pemBlocks } from "../../base/certificates/pem.ts";
import { privateKeyOf } from "../../base/certificates/private-key.ts";
import { kind } from "./v1.ts";
import { parseEmbeddedJson } from "../../base/json/embedded.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, bytes, field, map, string } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkDataKeys, checkImmutable, decodedBytes, maxDataBytes } from "./config-map.ts";

const typed = (name: string) => (vocabulary: Vocabulary) => labelKey(vocabulary.domain, name);

interface Typed {
  readonly type?: string | undefined;
  readonly data?: Readonly<Record<string, string>> | undefined;
}

function tlsWarnings({ type, data = {} }: Typed, { vocabulary }: KindContext): string[] {
  return type === labelKey(vocabulary.domain, "tls") ? keyPairWarnings(data) : [];
}

export const Secret = kind({
  name: "Secret",
  resource: "secrets",
  singular: "secret",
  scope: "Namespaced",
  doc: "Confidential data such as passwords, tokens and keys.",
  effect: {
    enforced: "bootstrap tokens and tokens of service accounts authenticate their bearers",
    acts: "`serviceaccount-token` fills those of type `service-account-token`; `tokencleaner` deletes expired bootstrap tokens",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the secret.").emitEmpty(),
    data: field(2, map(bytes), "Values in base64, by key."),
    type: field(3, string, "Type of the data; immutable. Default: Opaque.").knownValues(
      "Opaque",
      (vocabulary) => labelKey(vocabulary.domain, "token", "bootstrap"),
      typed("basic-auth"),
      typed("dockercfg"),
      typed("dockerconfigjson"),
      typed("service-account-token"),
      typed("ssh-auth"),
      typed("tls"),
    ),
    stringData: field(
      4,
      map(string),
      "Values in plain text, by key; merged into `data` on writes and never returned.",
    ),
    immutable: field(
      5,
      bool,
      "Whether the data is immutable; once true, only the deletion of the object is possible.",
    ).nullable(),
  },
  selectable: { type: (secret) => secret.type ?? "" },
  fillDefaults(copy) {
    copy.type ??= "Opaque";
    if (copy.stringData === undefined) return;
    const data = { ...copy.data };
    for (const [key, text] of Object.entries(copy.stringData)) {
      Object.defineProperty(data, key, {
        value: Buffer.from(text, "utf8").toString("base64"),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    if (Object.keys(data).length > 0) copy.data = data;
    delete copy.stringData;
  },
  validate(secret, report, { vocabulary }) {
    checkDataKeys({ data: secret.data }, report);
    let size = 0;
    for (const text of Object.values(secret.data ?? {})) size += decodedBytes(text);
    if (size > maxDataBytes) report.at("data").tooLong(maxDataBytes);
    checkTyped(secret, report, vocabulary);
  },
  validateUpdate(secret, live, report) {
    if (secret.type !== live.type) report.at("type").invalid(secret.type, "field is immutable");
    checkImmutable(live, secret, [["data", live.data, secret.data]], report);
  },
  warnings: since("1.27", tlsWarnings),
  columns: [
    nameColumn,
    { name: "Type", type: "string", doc: "Type of the data.", cell: (secret) => secret.type ?? "" },
    {
      name: "Data",
      type: "string",
      doc: "Number of keys in `data`.",
      // As in the reference, a number although the column has the type string.
      cell: (secret) => Object.keys(secret.data ?? {}).length,
    },
    ageColumn,
  ],
});
export type Secret = ObjectFor<typeof Secret>;

/** Warns of a certificate and a key that can't be read or don't belong together. */
function keyPairWarnings(data: Readonly<Record<string, string>>): string[] {
  const pem = (name: string): string => Buffer.from(data[name] ?? "", "base64").toString("latin1");
  const first = pemBlocks(pem("tls.crt")).find(({ label }) => label === "CERTIFICATE");
  const certificate = certificateOf(first?.content);
  const key = privateKeyOf(pem("tls.key"));
  if (certificate === undefined || key === undefined)
    return ["tls: no certificate with a private key can be read from tls.crt and tls.key"];
  return certificate.checkPrivateKey(key) ? [] : ["tls: private key does not match public key"];
}

/** Requires the data of the standard types of secrets. */
function checkTyped(secret: Secret, report: FieldReport, vocabulary: Vocabulary): void {
  const has = (key: string) => secret.data !== undefined && Object.hasOwn(secret.data, key);
  const need = (key: string) => {
    if (!has(key)) report.at("data").key(key).required();
  };
  switch (secret.type) {
    case typed("service-account-token")(vocabulary): {
      const annotation = labelKey(vocabulary.domain, "service-account.name");
      if ((secret.metadata.annotations?.[annotation] ?? "") === "") {
        report.at("metadata", "annotations").key(annotation).required();
      }
      return;
    }
    case typed("dockercfg")(vocabulary):
      return checkJson(".dockercfg", secret, report);
    case typed("dockerconfigjson")(vocabulary):
      return checkJson(".dockerconfigjson", secret, report);
    case typed("basic-auth")(vocabulary):
      if (has("username") || has("password")) return;
      need("username");
      need("password");
      return;
    case typed("ssh-auth")(vocabulary):
      return need("ssh-privatekey");
    case typed("tls")(vocabulary):
      need("tls.crt");
      return need("tls.key");
  }
}

function checkJson(key: string, secret: Secret, report: FieldReport): void {
  const dataReport = report.at("data").key(key);
  if (secret.data === undefined || !Object.hasOwn(secret.data, key)) return dataReport.required();
  try {
    parseEmbeddedJson(Buffer.from(secret.data[key]!, "base64").toString("utf8"));
  } catch {
    dataReport.invalid("<secret contents redacted>", "must be JSON");
  }
}
