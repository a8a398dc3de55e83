import { defaultRelease, isLater, releaseAfter } from "../../base/releases.ts";
import type { Logger } from "../../base/logger.ts";
import { optionsOf } from "../../server/options/option.ts";
import { programOptionTable } from "../../server/options/program-options.ts";

/** The life cycle of a flag, in releases such as `1.26` (spec: conventions 9.2, rules 5 and 6). */
export interface FlagLifeCycle {
  readonly name: string;
  /** Who sets it: users of a client command, or administrators of a server. */
  readonly audience: "users" | "administrators";
  readonly stability: "alpha" | "beta" | "stable";
  readonly deprecated: string;
  /** The first release without it. */
  readonly removed?: string;
  /** What to do instead, as text. */
  readonly instead: string;
}

const ofServer = { audience: "administrators", stability: "stable" } as const;

function gone(names: readonly string[], releases: Pick<FlagLifeCycle, "deprecated" | "removed" | "instead">) {
  return names.map((name): FlagLifeCycle => ({ name, ...ofServer, ...releases }));
}

const logFiles = "the server logs to standard error, see --log-level and --log-format";

/** The deprecated and removed flags; of those of the reference release, the ones that are deprecated there. */
export const flagLifeCycles: readonly FlagLifeCycle[] = [
  ...[...optionsOf(programOptionTable)].flatMap(({ option: { flag, deprecated } }): FlagLifeCycle[] =>
    flag === undefined || deprecated === undefined
      ? []
      : [{ name: flag, ...ofServer, deprecated: deprecated.release, instead: deprecated.instead }],
  ),
  {
    name: "apiserver-count",
    ...ofServer,
    deprecated: "1.24",
    instead: "omit it: servers that share a store find each other through it",
  },
  {
    name: "enable-logs-handler",
    ...ofServer,
    deprecated: "1.15",
    instead: "omit it: the path /logs isn't served",
  },
  {
    name: "master-service-namespace",
    ...ofServer,
    deprecated: "1.6",
    removed: "1.27",
    instead: "omit it: the server's own Service is in default",
  },
  ...gone(["kubelet-https"], {
    deprecated: "1.19",
    removed: "1.22",
    instead: "omit it: the server connects to node agents over TLS only",
  }),
  ...gone(
    [
      "add-dir-header",
      "alsologtostderr",
      "log-backtrace-at",
      "log-dir",
      "log-file",
      "log-file-max-size",
      "logtostderr",
      "one-output",
      "skip-headers",
      "skip-log-headers",
      "stderrthreshold",
    ],
    { deprecated: "1.23", removed: "1.26", instead: logFiles },
  ),
];

/**
 * Minimum number of releases for which a flag works after its deprecation: 12 months or 2 releases for users, 6
 * months or 1 for administrators, 3 months or 1 for beta flags, whichever is longer. There are three releases a year.
 */
const minReleases = {
  users: { stable: 3, beta: 1, alpha: 0 },
  administrators: { stable: 2, beta: 1, alpha: 0 },
} as const;

/** Returns the first release that may remove a deprecated flag. */
export function earliestRemoval({ audience, stability, deprecated }: FlagLifeCycle): string {
  return releaseAfter(deprecated, minReleases[audience][stability]);
}

const release = defaultRelease;
const byName = new Map(flagLifeCycles.map((one) => [one.name, one]));

/** Returns the reason why a removed flag is unknown; undefined for a flag that never existed. */
export function removalOf(name: string): string | undefined {
  const cycle = byName.get(name);
  if (cycle?.removed === undefined || isLater(cycle.removed, release)) return undefined;
  return `it was removed in ${cycle.removed}; ${cycle.instead}`;
}

/** Returns the help text about a flag's deprecation; undefined if it isn't deprecated in this release. */
export function deprecationOfFlag(name: string): string | undefined {
  const cycle = byName.get(name);
  if (cycle === undefined || removalOf(name) !== undefined || isLater(cycle.deprecated, release))
    return undefined;
  const until = cycle.removed ?? earliestRemoval(cycle);
  const gone = isLater(until, release) ? `, works until ${until}` : ", may be removed";
  return `deprecated since ${cycle.deprecated}${gone}; ${cycle.instead}`;
}

/** Logs a warning for each deprecated flag that is set. */
export function warnOfDeprecated(flagNames: readonly string[], log: Logger): void {
  for (const name of flagNames) {
    const deprecation = deprecationOfFlag(name);
    if (deprecation !== undefined) log.warn({ flag: `--${name}` }, `--${name} is ${deprecation}`);
  }
}
