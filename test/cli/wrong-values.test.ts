import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { acceptedFlags } from "../../src/cli/flags/accepted-flags.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { UsageError } from "../../src/cli/flags/flag-reader.ts";
import { serveCommand } from "../../src/cli/serve/serve.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { OptionsError } from "../../src/server/options/options-error.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

/** Wrong values of flags whose type alone doesn't make one. */
const wrong: Readonly<Record<string, string>> = {
  "storage-backend": "floppy",
  "etcd-servers": "ftp://127.0.0.1:1",
  "postgres-url": "mysql://me:secret@127.0.0.1/db",
  "postgres-schema": "Not a name",
  durability: "leases=later",
  "history-retention": "soon",
  vocabulary: "klingon",
  release: "2.0",
  "log-format": "xml",
  "bind-address": "nowhere",
  "advertise-address": "nowhere",
  "cert-dir": "/dev/null/folder",
  "tls-min-version": "SSLv3",
  "tls-cipher-suites": "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
  "tls-san": "no host",
  "authorization-mode": "Nope",
  views: "watch",
  "authorization-webhook-version": "v2",
  "authentication-token-webhook-version": "v2",
  "audit-log-path": "/dev/null/audit.log",
  "audit-log-format": "xml",
  "audit-log-mode": "later",
  "audit-log-version": "v0",
  "audit-webhook-mode": "later",
  "audit-webhook-version": "v0",
  "runtime-config": "nope/v1",
  "feature-gates": "Nope",
  "show-hidden-metrics-for-version": "1.20",
  "service-cluster-ip-range": "10.0.0.0",
  "service-node-port-range": "5-1",
  "service-account-issuer": "ftp://%",
  "service-account-key-file": "/nowhere/key",
  "service-account-jwks-uri": "http://127.0.0.1/keys",
  "oidc-issuer-url": "http://127.0.0.1",
  "oidc-required-claim": "alone",
  "oidc-signing-algs": "none",
  "requestheader-username-headers": "no header",
  "requestheader-uid-headers": "X-Remote-Uid",
  "requestheader-group-headers": "no header",
  "requestheader-extra-headers-prefix": "no header",
  "kubelet-preferred-address-types": "Postal",
  "proxy-denied-cidrs": "10.0.0.0.0",
  controllers: "nope",
  "disable-admission-plugins": "Nope",
  "admission-control": "Nope",
  "enable-admission-plugins": "Nope",
  "log-level": "loud",
  "endpoint-reconciler-type": "none of them",
  "logging-format": "xml",
};

/** Flags for which any text is a value. */
const anyText = new Set([
  "data-dir",
  "backup-dir",
  "etcd-prefix",
  "write-kubeconfig",
  "api-audiences",
  "oidc-client-id",
  "oidc-username-claim",
  "oidc-username-prefix",
  "oidc-groups-claim",
  "oidc-groups-prefix",
  "requestheader-allowed-names",
]);

/** Flags whose value may contain a password, so that messages don't have it. */
const secret = new Set(["postgres-url"]);

/** What some flags are only read with. */
const companions: readonly [prefix: string, words: readonly string[]][] = [
  ["etcd-cafile", ["--etcd-servers=https://127.0.0.1:1"]],
  ["etcd-certfile", ["--etcd-servers=https://127.0.0.1:1", "--etcd-keyfile=/nowhere/file"]],
  ["etcd-keyfile", ["--etcd-servers=https://127.0.0.1:1", "--etcd-certfile=CERT"]],
  ["postgres-schema", ["--postgres-url=postgres://127.0.0.1:1/db"]],
  ["oidc-issuer-url", ["--oidc-client-id=me"]],
  ["oidc-", ["--oidc-issuer-url=https://127.0.0.1", "--oidc-client-id=me"]],
  ["requestheader-client-ca-file", ["--requestheader-username-headers=x-user"]],
  ["requestheader-username-headers", ["--requestheader-client-ca-file=CERT"]],
  ["requestheader-", ["--requestheader-username-headers=x-user", "--requestheader-client-ca-file=CERT"]],
  ["authorization-policy-file", ["--authorization-mode=ABAC"]],
  ["authorization-webhook-config-file", ["--authorization-mode=Webhook"]],
  ["tls-cert-file", ["--tls-private-key-file=/nowhere/file"]],
  ["tls-private-key-file", ["--tls-cert-file=/nowhere/file"]],
  ...["", "-kubelet-serving", "-kubelet-client", "-kube-apiserver-client", "-legacy-unknown"].flatMap(
    (signer): [string, string[]][] => [
      [`cluster-signing${signer}-cert-file`, [`--cluster-signing${signer}-key-file=/nowhere/file`]],
      [`cluster-signing${signer}-key-file`, [`--cluster-signing${signer}-cert-file=/nowhere/file`]],
    ],
  ),
  ["kubelet-client-certificate", ["--kubelet-client-key=/nowhere/file"]],
  ["proxy-client-cert-file", ["--proxy-client-key-file=/nowhere/file"]],
  ["proxy-client-key-file", ["--proxy-client-cert-file=/nowhere/file"]],
  ["kubelet-client-key", ["--kubelet-client-certificate=/nowhere/file"]],
  ["audit-log-path", ["--audit-policy-file=POLICY"]],
  ["audit-webhook-config-file", ["--audit-policy-file=POLICY"]],
  [
    "audit-log-batch-throttle-burst",
    ["--audit-log-batch-throttle-enable", "--audit-log-batch-throttle-qps=1"],
  ],
  ["audit-log-batch-throttle-", ["--audit-log-batch-throttle-enable"]],
  ["cert-dir", ["--storage-backend=memory"]],
];

const byType: Readonly<Record<string, string>> = {
  integer: "several",
  number: "several",
  boolean: "maybe",
  duration: "5",
  file: "/nowhere/file",
};

/** A file that holds a certificate. */
function certificate(): string {
  const file = path.join(folder.path, "authority.crt");
  writeFileSync(file, createServingCertificates(["127.0.0.1"], systemClock).caCertificate);
  return file;
}

/** A file that holds a policy of the audit. */
function policy(): string {
  const file = path.join(folder.path, "policy.yaml");
  writeFileSync(file, "apiVersion: audit.platform.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
  return file;
}

function wordsFor(name: string, value: string): string[] {
  const [, with_ = []] = companions.find(([prefix]) => name.startsWith(prefix)) ?? [];
  return [
    "--storage-backend=memory",
    "--secure-port=0",
    "--log-level=silent",
    `--data-dir=${folder.path}`,
    ...with_.map((word) => word.replace("CERT", certificate()).replace("POLICY", policy())),
    `--${name}=${value}`,
  ];
}

describe("a wrong value is refused by a message that names the flag and the value", () => {
  const flags = [
    ...serveFlags,
    ...acceptedFlags.filter(({ type, allowed }) => allowed ?? byType[type]),
  ].filter((one) => !anyText.has(one.name) && !("here" in one && one.type === "file"));
  test.each(flags.map(({ name, type }) => [name, wrong[name] ?? byType[type]]))(
    "--%s=%s",
    async (name, value) => {
      expect(value, `a wrong value of --${name}`).toBeDefined();
      const error: unknown = await serveCommand.run(wordsFor(name!, value!)).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error instanceof UsageError || error instanceof OptionsError, String(error)).toBe(true);
      const { message } = error as Error;
      expect(message).toContain(`--${name}`);
      if (secret.has(name!)) expect(message).not.toContain("secret");
      else expect(message).toContain(value);
    },
  );
});
