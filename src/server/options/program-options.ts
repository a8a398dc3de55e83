import { group, option, type OptionTable } from "./option.ts";
import { serverOptionTable } from "./option-table.ts";
import { boolean, file, integerOrAuto, milliseconds, oneOf, text, texts } from "./value-type.ts";

const hourMs = 60 * 60_000;

/** The options of `plinth serve`: those of the server, and those of the program alone. */
export const programOptionTable = {
  dataDir: option(
    text,
    "data-dir",
    "Folder of the embedded store, of the certificates that the server creates, and of admin.kubeconfig.",
    { default: ".plinth" },
  ),
  kubernetes: option(boolean, "kubernetes", "Short for --vocabulary=kubernetes.", { default: false }),
  ...serverOptionTable,
  backups: group(
    "Scheduled backups of the embedded store.",
    {
      dir: option(
        text,
        "backup-dir",
        "Folder for backups of the data folder, which the server makes while it runs. Embedded store only.",
        { required: true },
      ),
      intervalMs: option(
        milliseconds,
        "backup-interval",
        "Time between two backups, at least a second; also the longest time of which a lost data folder loses writes.",
        { default: hourMs },
      ),
      retentionMs: option(
        milliseconds,
        "backup-retention",
        "How long backups are kept; the newest is always kept.",
        { default: 7 * 24 * hourMs },
      ),
    },
    { typeName: "BackupSettings" },
  ),
  certificateFolder: option(
    text,
    "cert-dir",
    "Folder with apiserver.crt and apiserver.key; if they are missing, the server creates them (and ca.crt and ca.key). Default: server.crt and server.key in the folder pki of --data-dir.",
  ),
  admissionPlugins: option(
    texts(),
    "admission-control",
    "All admission plugins to run, comma separated; no others run.",
    {
      default: [],
      deprecated: {
        release: "1.10",
        instead: "give --enable-admission-plugins and --disable-admission-plugins",
      },
    },
  ),
  kubeconfigFile: option(
    text,
    "write-kubeconfig",
    "File for the administrator's kubeconfig. Default: admin.kubeconfig in --data-dir.",
  ),
  workers: option(
    integerOrAuto(1, 64),
    "workers",
    "Number of processes that serve requests on one port; auto for one per processor. More than one needs a store that processes can share: embedded, postgres or etcd3.",
    { default: 1 },
  ),
  flagDeprecationWarnings: option(
    boolean,
    "flag-deprecation-warnings",
    "Log a warning for each deprecated flag that is set, with its replacement.",
    { default: true },
  ),
  logLevel: option(
    oneOf(["debug", "info", "warn", "error", "silent"]),
    "log-level",
    "Minimum level of log entries: debug, info, warn, error or silent. debug includes --access-log.",
    { default: "info" },
  ),
  logFormat: option(
    oneOf(["auto", "text", "json"]),
    "log-format",
    "Format of log entries: text (a line for people), json, or auto: text on a terminal and in a file, json in a pipe or socket of its own.",
    { default: "auto" },
  ),
} satisfies OptionTable;

/** The flag of the configuration file, which is not an option of the file itself. */
export const configurationFileOption = option(
  file,
  "config",
  "Configuration file (YAML) with the options of createServer and of this program; flags and environment variables override it.",
);
