import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import nodePath from "node:path";
import { isSelfMade } from "../../base/certificates/serving-certificates.ts";
import { systemClock } from "../../base/time/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { similarName } from "../../base/similar-name.ts";
import { whyUnreadable } from "../../base/files/unreadable.ts";
import { decodeYaml } from "../../base/yaml/yaml.ts";
import { auditVersion } from "../../http/audit/policy-file.ts";
import { pluginsOf } from "../../server/admission/plugin-table.ts";
import { optionsOf } from "../../server/options/option.ts";
import { OptionsError } from "../../server/options/options-error.ts";
import { configurationFileOption, programOptionTable } from "../../server/options/program-options.ts";
import type { ServerOptions } from "../../server/options/server-options.ts";
import {
  completeOptions,
  flagNames,
  parseSettings,
  settingsOf,
  type Setting,
  type Settings,
} from "../../server/options/settings.ts";
import type { ValueSettings } from "../../server/options/settings-types.ts";
import { kubernetes } from "../../vocabulary/kubernetes.ts";
import { platform } from "../../vocabulary/platform.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { BackupSettings } from "../backups/scheduled-backups.ts";
import { newestBackupIn } from "../backups/series.ts";
import { identityFolder, storeFolder } from "./data-folder.ts";
import { UsageError, type FlagValues } from "../flags/flag-reader.ts";
import { programLog, type LogFormat, type LogLevel } from "../log.ts";

const minBackupIntervalMs = 1000;

/** The complete options of `plinth serve`. */
export interface ServeOptions {
  readonly server: ServerOptions & { readonly port: number };
  readonly dataDir: string;
  /** Undefined without scheduled backups. */
  readonly backups: BackupSettings | undefined;
  /** File of the administrator's kubeconfig; undefined for the default one in the data folder. */
  readonly kubeconfigFile: string | undefined;
  /** Number of processes that serve requests. */
  readonly workers: number;
  readonly flagDeprecationWarnings: boolean;
  /** For each flag that was set in another way: the name of the environment variable or configuration key. */
  readonly sources: ReadonlyMap<string, string>;
}

type ProgramSettings = ValueSettings & {
  readonly dataDir: string;
  readonly backups: BackupSettings | undefined;
  readonly certificateFolder: string | undefined;
  readonly admissionPlugins: readonly string[];
  readonly kubeconfigFile: string | undefined;
  readonly workers: number | "auto";
  readonly flagDeprecationWarnings: boolean;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly kubernetes: boolean;
};

/**
 * Returns the options of flags, environment variables and the configuration file, in this order of precedence, with
 * defaults.
 *
 * @param flags the flags of the command line; flags without an option are ignored.
 * @throws {OptionsError} if a value isn't allowed, or options contradict each other.
 * @throws {UsageError} for a combination that only the program rejects.
 */
export async function serveOptions(flags: FlagValues, environment: NodeJS.ProcessEnv): Promise<ServeOptions> {
  const ofEnvironment = settingsFrom((flag) => environment[variableOf(flag)], variableOf);
  const ofFlags = settingsFrom(
    (flag) => flags.get(flag),
    (flag) => `--${flag}`,
  );
  const file =
    flags.get(configurationFileOption.flag!) ?? environment[variableOf(configurationFileOption.flag!)];
  const ofFile = file === undefined || file === "" ? new Map<string, Setting>() : await settingsOfFile(file);
  const settings = new Map([...implied(ofFile), ...implied(ofEnvironment), ...implied(ofFlags)]);
  const dataDir = (settings.get("dataDir")?.value ?? programOptionTable.dataDir.default) as string;
  if (!settings.has("storage.dir"))
    settings.set("storage.dir", { value: storeFolder(dataDir), name: "--data-dir" });
  const complete = completeOptions(programOptionTable, settings, "program") as ProgramSettings;
  const { kubeconfigFile, flagDeprecationWarnings } = complete;
  const backups = checkedBackups(complete, settings);
  return {
    server: {
      ...serverOptions(complete, settings),
      newestBackup: backups && (() => newestBackupIn(backups.dir)),
    },
    dataDir,
    backups,
    kubeconfigFile,
    workers: numberOfWorkers(complete, settings),
    flagDeprecationWarnings,
    sources: sourcesOf(settings),
  };
}

/** The environment variable of a flag: `PLINTH_SECURE_PORT` for `secure-port`. */
export function variableOf(flag: string): string {
  return `PLINTH_${flag.toUpperCase().replaceAll("-", "_")}`;
}

/** Whether Kubernetes sets a variable in pods, beside a Service whose name begins with `plinth`. */
function isOfService(name: string, value = ""): boolean {
  return /_SERVICE_(?:HOST|PORT)|_PORT_\d/.test(name) || /^(?:tcp|udp|sctp):/.test(value);
}

/** Warns of environment variables whose names are nearly those of flags: they have no effect. */
export function warnOfVariables(environment: NodeJS.ProcessEnv, log: Logger): void {
  const variables = [...optionsOf(programOptionTable)].flatMap(({ option: { flag } }) =>
    flag === undefined ? [] : variableOf(flag),
  );
  const names = new Set(variables);
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith("PLINTH_") || names.has(name) || isOfService(name, value)) continue;
    const similar = similarName(
      name.slice("PLINTH_".length),
      variables.map((one) => one.slice("PLINTH_".length)),
    );
    if (similar !== undefined)
      log.warn({ variable: name }, `${name} has no effect; did you mean PLINTH_${similar}?`);
  }
}

/** Parses the texts of flags or environment variables. @param textOf gives the text of a flag, if it is set. */
function settingsFrom(
  textOf: (flag: string) => string | undefined,
  nameOf: (flag: string) => string,
): Map<string, Setting> {
  const settings = new Map<string, Setting>();
  for (const one of optionsOf(programOptionTable)) {
    const { flag } = one.option;
    const text = flag === undefined ? undefined : textOf(flag);
    if (text === undefined) continue;
    for (const [path, setting] of parseSettings(one, text, nameOf(flag!))) settings.set(path, setting);
  }
  return settings;
}

async function settingsOfFile(file: string): Promise<Map<string, Setting>> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new OptionsError(`--config ${file}: ${whyUnreadable(error)}`);
  }
  const { value, duplicates } = await decodeYaml(bytes).catch((error: unknown) => {
    throw new OptionsError(`--config ${file}: ${(error as Error).message}`);
  });
  if (duplicates.length > 0) throw new OptionsError(`${file}: ${duplicates.join(", ")}: set more than once`);
  return settingsOf(programOptionTable, value ?? {}, { source: file });
}

/** Sets the engine to etcd or PostgreSQL if this source has an address of one. */
function implied(settings: Map<string, Setting>): Settings {
  const endpoints = settings.get("storage.endpoints");
  const address = settings.get("storage.url") ?? settings.get("storage.urlFile");
  const isEtcd = endpoints !== undefined && (endpoints.value as readonly string[]).length > 0;
  if (isEtcd && address !== undefined)
    throw new UsageError(`${endpoints.name} and ${address.name}: objects are kept in one store; choose one`);
  const engine = isEtcd
    ? { value: "etcd", name: endpoints.name }
    : address && { value: "postgres", name: address.name };
  return engine === undefined ? settings : new Map([...settings, ["storage.engine", engine]]);
}

/** Returns the names of options that weren't set by their flag. */
function sourcesOf(settings: Settings): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  for (const [key, flag] of flagNames(programOptionTable)) {
    const name = settings.get(key)?.name;
    if (name !== undefined && name !== flag) sources.set(flag, `${name} (${flag})`);
  }
  return sources;
}

function serverOptions(
  complete: ProgramSettings,
  settings: Settings,
): ServerOptions & { readonly port: number } {
  const {
    dataDir,
    certificateFolder,
    logLevel,
    logFormat,
    kubernetes: _kubernetes,
    workers: _workers,
    backups: _backups,
    ...values
  } = complete;
  const nameOf = (key: string, flag: string) => settings.get(key)?.name ?? `--${flag}`;
  const { host, port, storage } = values;
  if (isIP(host) === 0)
    throw new UsageError(`${nameOf("host", "bind-address")}: ${JSON.stringify(host)} is not an IP address`);
  if (port === false) throw new UsageError(`${nameOf("port", "secure-port")}: the program needs a port`);
  if (values.authorizationModes.length === 0)
    throw new UsageError(
      `${nameOf("authorizationModes", "authorization-mode")}: at least one mode is needed`,
    );
  if (storage.engine === "etcd" && storage.endpoints.length === 0)
    throw new UsageError("--storage-backend=etcd3 needs --etcd-servers");
  if (storage.engine === "postgres" && storage.url === undefined && storage.urlFile === undefined)
    throw new UsageError("--storage-backend=postgres needs --postgres-url or --postgres-url-file");
  const names = vocabularyOf(complete, settings);
  checkAuditVersions(settings, auditVersion(names));
  return {
    ...values,
    ...chosenPlugins(complete, nameOf),
    vocabulary: names,
    port,
    certificateFiles: values.certificateFiles ?? filesIn(certificateFolder),
    certificateFolder: certificateFolder ?? identityFolder(dataDir),
    dataFolder: nodePath.resolve(dataDir),
    certificateFileName: certificateFolder === undefined ? "server" : "apiserver",
    clock: systemClock,
    accessLog: values.accessLog || logLevel === "debug",
    log: programLog(logLevel, logFormat),
  };
}

/** @throws {UsageError} backups of another store than the embedded one, or too often. */
function checkedBackups(
  { backups, storage }: ProgramSettings,
  settings: Settings,
): BackupSettings | undefined {
  if (backups === undefined) return undefined;
  if (storage.engine !== "embedded")
    throw new UsageError(
      `${settings.get("backups.dir")!.name}: the server backs up the embedded store only; a cluster is backed up with its own tools`,
    );
  if (backups.intervalMs < minBackupIntervalMs)
    throw new UsageError(
      `${settings.get("backups.intervalMs")!.name}: the shortest interval between backups is a second`,
    );
  return backups;
}

/** @throws {UsageError} several workers over a store in memory, which only one process has. */
function numberOfWorkers({ workers, storage }: ProgramSettings, settings: Settings): number {
  const number = workers === "auto" ? availableParallelism() : workers;
  if (number === 1 || storage.engine !== "memory") return number;
  throw new UsageError(
    `${settings.get("workers")!.name}: ${workers} workers can't share a store in memory; use --storage-backend=embedded, postgres or etcd3`,
  );
}

/** @throws {UsageError} if `--kubernetes` and `--vocabulary=platform` are both set. */
function vocabularyOf(
  { kubernetes: isKubernetes, vocabulary }: ProgramSettings,
  settings: Settings,
): Vocabulary {
  const chosen = settings.get("vocabulary");
  if (isKubernetes && chosen?.value === "platform") {
    throw new UsageError(
      `${settings.get("kubernetes")!.name} and ${chosen.name}=platform contradict each other`,
    );
  }
  return isKubernetes || vocabulary === "kubernetes" ? kubernetes : platform;
}

function checkAuditVersions(settings: Settings, version: string): void {
  for (const path of ["audit.log.version", "audit.webhook.version"]) {
    const requested = settings.get(path);
    if (requested === undefined || requested.value === version) continue;
    throw new UsageError(`${requested.name}: ${JSON.stringify(requested.value)} is not ${version}`);
  }
}

/**
 * The admission plugins to run. `--admission-control` names all of them; the two flags that replaced it change the default set.
 *
 * @throws {UsageError} both ways at once, or a plugin that doesn't exist.
 */
function chosenPlugins(
  { admissionPlugins, enabledAdmissionPlugins, disabledAdmissionPlugins, release }: ProgramSettings,
  nameOf: (key: string, flag: string) => string,
): Pick<ServerOptions, "enabledAdmissionPlugins" | "disabledAdmissionPlugins"> {
  if (admissionPlugins.length === 0) return { enabledAdmissionPlugins, disabledAdmissionPlugins };
  if (enabledAdmissionPlugins.length + disabledAdmissionPlugins.length > 0) {
    throw new UsageError(
      "--admission-control names all plugins that run; give either that or --enable-admission-plugins and --disable-admission-plugins",
    );
  }
  const existing = pluginsOf(release).map(({ name }) => name);
  const unknown = admissionPlugins.find((name) => !existing.includes(name));
  if (unknown !== undefined) {
    const name = nameOf("admissionPlugins", "admission-control");
    throw new UsageError(`${name}: unknown admission plugin ${JSON.stringify(unknown)}`);
  }
  return {
    enabledAdmissionPlugins: admissionPlugins,
    disabledAdmissionPlugins: existing.filter((name) => !admissionPlugins.includes(name)),
  };
}

/** The certificate that an operator has put into the folder of `--cert-dir`; undefined if the server is to create it. */
function filesIn(folder: string | undefined): { cert: string; key: string } | undefined {
  if (folder === undefined) return undefined;
  const files = { cert: nodePath.join(folder, "apiserver.crt"), key: nodePath.join(folder, "apiserver.key") };
  if (existsSync(files.cert)) return isSelfMade(readIfPossible(files.cert)) ? undefined : files;
  return existsSync(files.key) ? files : undefined;
}

/** Returns the text of a file; empty if it can't be read: the code that loads the certificate reports the error. */
function readIfPossible(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
