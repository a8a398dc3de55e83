import { authenticationFlags } from "./authentication-flags.ts";

/** What a flag's value is. */
export type FlagType = "string" | "integer" | "boolean" | "duration" | "list" | "file";

/** One flag of a command. */
export interface Flag {
  readonly name: string;
  /** A letter that stands for the name after a single dash. */
  readonly short?: string;
  readonly type: FlagType;
  /** Shown in help; an empty text means that there is none. */
  readonly default: string;
  readonly doc: string;
}

const flag = (name: string, type: FlagType, byDefault: string, doc: string): Flag => ({
  name,
  type,
  default: byDefault,
  doc,
});

/** Every flag of `plinth serve`; `docs/flags.md` documents each. */
export const serveFlags = [
  flag(
    "data-dir",
    "string",
    ".plinth",
    "Folder of the embedded store, the self-made certificates and admin.kubeconfig.",
  ),
  flag("storage-backend", "string", "embedded", "Engine that keeps the objects: embedded, memory or etcd3."),
  flag(
    "etcd-servers",
    "list",
    "",
    "Addresses of an etcd cluster, comma separated; implies --storage-backend=etcd3.",
  ),
  flag("etcd-cafile", "file", "", "Certificate authorities of the etcd cluster (PEM)."),
  flag("etcd-certfile", "file", "", "Certificate with which the server shows itself to etcd (PEM)."),
  flag("etcd-keyfile", "file", "", "Key of --etcd-certfile (PEM)."),
  flag("etcd-prefix", "string", "/registry", "Prefix of all keys in etcd."),
  flag("history-retention", "duration", "5m", "How long past versions stay readable and watches can resume."),
  flag(
    "vocabulary",
    "string",
    "platform",
    "Names of groups, labels and media types: platform or kubernetes.",
  ),
  flag("bind-address", "string", "127.0.0.1", "Address to listen on."),
  flag("secure-port", "integer", "6443", "Port to listen on; 0 takes a free one."),
  flag(
    "max-connections",
    "integer",
    "",
    "Client connections that may be open at a time; by default 20000, or what the limit of open files leaves.",
  ),
  flag(
    "tls-cert-file",
    "file",
    "",
    "Serving certificate with its chain (PEM); without it the server makes its own.",
  ),
  flag("tls-private-key-file", "file", "", "Key of --tls-cert-file (PEM)."),
  flag("tls-san", "list", "", "Further names and addresses for the self-made certificate, comma separated."),
  flag(
    "client-ca-file",
    "file",
    "",
    "Authorities whose client certificates are accepted (PEM), beside the server's own.",
  ),
  flag("token-auth-file", "file", "", "Static tokens: CSV with token, user, uid and optionally groups."),
  flag(
    "anonymous-auth",
    "boolean",
    "",
    "Let requests without credentials in as the anonymous user; by default on, but off with AlwaysAllow.",
  ),
  ...authenticationFlags,
  flag("authorization-mode", "list", "RBAC", "Authorizers in order: RBAC, AlwaysAllow, AlwaysDeny."),
  flag(
    "runtime-config",
    "string",
    "",
    "API versions and resources to turn on or off: KEY, KEY=true or KEY=false, comma separated.",
  ),
  flag(
    "feature-gates",
    "string",
    "",
    "Features to turn on or off: NAME=true or NAME=false, comma separated; also AllAlpha and AllBeta.",
  ),
  flag("event-ttl", "duration", "1h", "How long events are kept after they were last seen."),
  flag(
    "show-hidden-metrics-for-version",
    "string",
    "",
    "The release before this one: shows deprecated metrics that this release hides.",
  ),
  flag(
    "service-cluster-ip-range",
    "list",
    "10.0.0.0/24",
    "Ranges from which services get their addresses: one, or one of each family, comma separated.",
  ),
  flag(
    "service-node-port-range",
    "string",
    "30000-32767",
    "Node ports that services get, both ends included.",
  ),
  flag(
    "kubelet-certificate-authority",
    "file",
    "",
    "Authorities of the node agents' certificates (PEM); without it they aren't verified.",
  ),
  flag(
    "kubelet-client-certificate",
    "file",
    "",
    "Certificate with which the server shows itself to node agents (PEM).",
  ),
  flag("kubelet-client-key", "file", "", "Key of --kubelet-client-certificate (PEM)."),
  flag(
    "kubelet-preferred-address-types",
    "list",
    "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
    "Types of a node's addresses at which its agent is looked for, the best liked first.",
  ),
  flag("kubelet-timeout", "duration", "5s", "A connection to a node agent must stand by then."),
  flag(
    "allow-loopback-connections",
    "boolean",
    "false",
    "Let connections to pods, services and nodes go to this machine: for tests and development only.",
  ),
  flag("allow-privileged", "boolean", "false", "Let containers have all rights on their host (privileged)."),
  flag("disable-admission-plugins", "list", "", "Admission plugins that are not to run, comma separated."),
  flag(
    "enable-admission-plugins",
    "list",
    "",
    "Admission plugins to run beside the default ones, comma separated.",
  ),
  flag(
    "livez-grace-period",
    "duration",
    "0s",
    "/livez doesn't fail for an unfinished start before this time.",
  ),
  flag(
    "shutdown-delay-duration",
    "duration",
    "0s",
    "After a stop signal the server serves on, not ready, for this time.",
  ),
  flag(
    "write-kubeconfig",
    "string",
    "",
    "Where the administrator's kubeconfig is written; by default into --data-dir.",
  ),
  flag("log-level", "string", "info", "Least level that is logged: debug, info, warn, error or silent."),
] as const satisfies readonly Flag[];

/** A command line that can't be used; the message names the flag and says what it takes. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** The values given on a command line, by flag name. */
export type FlagValues = ReadonlyMap<string, string>;

/**
 * Reads `--name=value` and `--name value`, or a letter with its value; a boolean flag may stand alone.
 *
 * @throws {UsageError}
 */
export function parseFlags(flags: readonly Flag[], words: readonly string[]): FlagValues {
  const values = new Map<string, string>();
  for (let at = 0; at < words.length; at++) {
    const word = spelledOut(flags, words[at]!);
    if (!word.startsWith("--")) throw new UsageError(`unexpected argument ${JSON.stringify(word)}`);
    const equals = word.indexOf("=");
    const name = word.slice(2, equals === -1 ? undefined : equals);
    const known = flags.find((one) => one.name === name);
    if (known === undefined) throw new UsageError(`unknown flag --${name}${suggestion(flags, name)}`);
    let value = equals === -1 ? undefined : word.slice(equals + 1);
    if (value === undefined) {
      const next = words[at + 1];
      if (known.type === "boolean" && next !== "true" && next !== "false") value = "true";
      else if (next === undefined) throw new UsageError(`--${name} needs a value`);
      else value = words[++at]!;
    }
    const before = values.get(name);
    values.set(name, known.type === "list" && before !== undefined ? `${before},${value}` : value);
  }
  return values;
}

/** `-f x`, `-f=x` and `-fx` as `--filename` has them. */
function spelledOut(flags: readonly Flag[], word: string): string {
  const [, letter, value] = /^-([A-Za-z])(?:=?(.*))$/s.exec(word) ?? [];
  const known = flags.find(({ short }) => short !== undefined && short === letter);
  if (known === undefined) return word;
  return value === "" ? `--${known.name}` : `--${known.name}=${value}`;
}

/** A flag that was probably meant. */
function suggestion(flags: readonly Flag[], name: string): string {
  const near = flags.find(
    (one) => one.name.replaceAll("-", "") === name.replaceAll(/[-_]/g, "").toLowerCase(),
  );
  return near === undefined ? "; see --help" : `; did you mean --${near.name}?`;
}

/** Reads values by their flags' types, with the defaults of the table. */
export class FlagReader {
  constructor(
    private readonly flags: readonly Flag[],
    private readonly values: FlagValues,
  ) {}

  /** The text, or the default's. */
  text(name: string): string {
    const known = this.flags.find((one) => one.name === name);
    if (known === undefined) throw new Error(`no flag --${name}`);
    return this.values.get(name) ?? known.default;
  }

  optional(name: string): string | undefined {
    const text = this.text(name);
    return text === "" ? undefined : text;
  }

  list(name: string): string[] {
    return this.text(name)
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "");
  }

  integer(name: string, min: number, max: number): number {
    const text = this.text(name);
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new UsageError(`--${name}: ${JSON.stringify(text)} is not an integer from ${min} to ${max}`);
    }
    return value;
  }

  /** As {@link integer}; undefined where the flag has no value. */
  optionalInteger(name: string, min: number, max: number): number | undefined {
    return this.text(name) === "" ? undefined : this.integer(name, min, max);
  }

  boolean(name: string): boolean | undefined {
    const text = this.text(name);
    if (text === "") return undefined;
    if (text === "true" || text === "false") return text === "true";
    throw new UsageError(`--${name}: ${JSON.stringify(text)} is not true or false`);
  }

  choice<T extends string>(name: string, allowed: readonly T[]): T {
    const text = this.text(name);
    const found = allowed.find((one) => one === text);
    if (found === undefined)
      throw new UsageError(`--${name}: ${JSON.stringify(text)} is not one of ${allowed.join(", ")}`);
    return found;
  }

  /** Milliseconds of a length of time such as `90s`, `5m` or `1h30m`. */
  durationMs(name: string): number {
    const text = this.text(name);
    if (text === "0") return 0;
    if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) {
      throw new UsageError(
        `--${name}: ${JSON.stringify(text)} is not a length of time such as 30s, 5m or 1h30m`,
      );
    }
    const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
    let total = 0;
    for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g))
      total += Number(amount) * units[unit!]!;
    return total;
  }
}
