import type { ShownElsewhere } from "./table.ts";

const etcd = (flag: string, value: string, observed: string, title: string): ShownElsewhere => ({
  flag,
  value,
  observed,
  file: "cli/running-flags/etcd.etcd.test.ts",
  title,
});
const database = (flag: string, value: string, observed: string, title: string): ShownElsewhere => ({
  ...etcd(flag, value, observed, title),
  file: "cli/running-flags/postgres.postgres.test.ts",
});
const cluster =
  "--etcd-servers, --etcd-cafile, --etcd-certfile and --etcd-keyfile keep the objects in the cluster";

/** Flags that the tests of their subject show on a running server. */
export const shownElsewhere: readonly ShownElsewhere[] = [
  {
    flag: "max-connections",
    value: "1",
    observed: "whether a second connection is refused",
    file: "server/command-line.test.ts",
    title: "--max-connections and --allow-privileged reach the server",
  },
  {
    flag: "workers",
    value: "2",
    observed: "whether several processes serve the port",
    file: "cli/workers.test.ts",
    title: "serves one port with several processes",
  },
  {
    flag: "workload-hints",
    value: "false",
    observed: "whether a new workload that nothing runs gets an event",
    file: "controllers/workload-hints.test.ts",
    title: "--workload-hints needs all controllers, and is off in the library",
    code: "workloadHints",
  },
  {
    flag: "kubernetes",
    value: "true",
    observed: "the vocabulary in the start message",
    file: "cli/first-run.test.ts",
    title: "is short for --vocabulary=kubernetes",
  },
  {
    flag: "release",
    value: "1.30",
    observed: "the version in /version, the gates and the served versions",
    file: "server/release.test.ts",
    title: "reports the release",
    code: "{ release",
  },
  {
    flag: "accept-unenforced-policies",
    value: "true",
    observed: "whether a server starts that ignores stored policies",
    file: "server/unenforced-policies.test.ts",
    title:
      "is served with acceptUnenforcedPolicies, disabled plugins, or the gates and versions that enforce them",
  },
  {
    flag: "requestheader-uid-headers",
    value: "X-Remote-Uid",
    observed: "the uid of the user of a proxy",
    file: "api/authenticating-proxy.test.ts",
    title: "have the uid of the user from release 1.33 on",
    code: "uidHeaders:",
  },
  {
    flag: "log-format",
    value: "text",
    observed: "the form of log entries",
    file: "cli/first-run.test.ts",
    title: "with %j all its lines have one form",
  },
  {
    flag: "access-log",
    value: "true",
    observed: "whether requests are logged",
    file: "cli/first-run.test.ts",
    title: "with %s has an entry per request with method, path, user, status and duration",
  },
  {
    flag: "config",
    value: "FILE",
    observed: "the names of groups and who is allowed",
    file: "server/options/serve-options.test.ts",
    title: "--config=FILE and environment variables set what the server does",
  },
  {
    flag: "cert-dir",
    value: "FOLDER",
    observed: "which files hold the serving certificate",
    file: "server/command-line.test.ts",
    title: "--cert-dir holds apiserver.crt and apiserver.key after the start, and serves with them again",
  },
  {
    flag: "livez-grace-period",
    value: "10s",
    observed: "whether /livez fails for a start hook that hasn't passed",
    file: "cli/running-flags/livez-grace-period.test.ts",
    title:
      "--livez-grace-period=%s: /livez answers %d while a start hook hasn't passed, and 500 after the period",
  },
  {
    flag: "show-hidden-metrics-for-version",
    value: "1.25",
    observed: "whether a metric is shown that this release hides",
    file: "cli/running-flags/hidden-metrics.test.ts",
    title: "a server with %s shows the deprecated metrics %j, and logs a warning for each",
  },
  ...(["flag-deprecation-warnings=false keeps warnings", "log-level=info shows lines"] as const).map(
    (title) => ({
      flag: title.split("=")[0]!,
      value: title.split(/[= ]/)[1]!,
      observed: "what is logged",
      file: "cli/running-flags/processes.test.ts",
      title: `--${title}`,
    }),
  ),
  {
    flag: "write-kubeconfig",
    value: "FILE",
    observed: "where the administrator's configuration is",
    file: "cli/running-flags/processes.test.ts",
    title: "--write-kubeconfig=FILE puts the administrator's configuration there and not into --data-dir",
  },
  etcd("etcd-servers", "URL", "where the objects are", cluster),
  etcd("etcd-cafile", "ca.crt", "whether the cluster is trusted", cluster),
  etcd("etcd-certfile", "client.crt", "whether the cluster lets the server in", cluster),
  etcd("etcd-keyfile", "client.key", "whether the cluster lets the server in", cluster),
  etcd(
    "etcd-prefix",
    "/elsewhere",
    "which objects the server sees",
    "--etcd-prefix keeps the objects of servers with another one apart",
  ),
  database(
    "postgres-url",
    "URL",
    "where the objects are",
    "--postgres-url and --postgres-url-file keep the objects in the database",
  ),
  database(
    "postgres-url-file",
    "FILE",
    "where the objects are",
    "--postgres-url and --postgres-url-file keep the objects in the database",
  ),
  database(
    "postgres-schema",
    "elsewhere",
    "which objects the server sees",
    "--postgres-schema keeps the objects of servers with another one apart",
  ),
  // There is one version of events, the default: that another one is refused is all that can be seen.
  ...["audit-log-version", "audit-webhook-version"].map((flag) => ({
    flag,
    value: "v0",
    observed: "whether the server starts",
    file: "cli/wrong-values.test.ts",
    title: "a wrong value is refused by a message that names the flag and the value",
    code: `"${flag}": "v0"`,
  })),
  {
    flag: "backup-dir",
    value: "backups",
    observed: "whether the server makes backups there",
    file: "clients/disaster-recovery.test.ts",
    title:
      "after the loss of the data folder every client logs in again and its watch converges to the restored state",
  },
  {
    flag: "backup-interval",
    value: "1s",
    observed: "whether a backup comes within seconds",
    file: "clients/disaster-recovery.test.ts",
    title:
      "after the loss of the data folder every client logs in again and its watch converges to the restored state",
  },
  {
    flag: "backup-retention",
    value: "25m",
    observed: "which backups are kept",
    file: "cli/scheduled-backups.test.ts",
    title: "begin a minute after the start, repeat at the interval, and keep those within --backup-retention",
    code: "retentionMs:",
  },
  {
    flag: "encryption-provider-config",
    value: "encryption.yaml",
    observed: "whether the store has plain text",
    file: "cli/rewrite.test.ts",
    title: "plinth rewrite encrypts the objects of a store, and decrypts them again",
  },
  {
    flag: "encryption-provider-config-automatic-reload",
    value: "true",
    observed: "whether a changed file is used",
    file: "cli/rewrite.test.ts",
    title: "with --encryption-provider-config-automatic-reload a changed file is in use without a restart",
  },
  {
    flag: "tracing-config-file",
    value: "tracing.yaml",
    observed: "whether a collector receives spans",
    file: "server/tracing.test.ts",
    title: "with --tracing-config-file a request has a span, and spans of its stages below it",
    code: "tracingConfigFile",
  },
];
