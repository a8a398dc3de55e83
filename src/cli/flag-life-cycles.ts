import { isLater, releaseAfter } from "../base/releases.ts";
import { referenceRelease } from "../vocabulary/vocabulary.ts";
import type { Logger } from "../base/logger.ts";
import { optionsOf } from "../server/options/option.ts";
import { programOptionTable } from "../server/options/program-options.ts";

/** What became of a flag, in releases such as `1.26` (spec: conventions 9.2, rules 5 and 6). */
export interface FlagLifeCycle {
  readonly name: string;
  /** Who gives it: those who ask a server, or those who run one. */
  readonly audience: "users" | "administrators";
  readonly stability: "alpha" | "beta" | "stable";
  readonly deprecated: string;
  /** The first release without it. */
  readonly removed?: string;
  /** What to do instead, in words. */
  readonly instead: string;
}

const ofServer = { audience: "administrators", stability: "stable" } as const;

function gone(names: readonly string[], releases: Pick<FlagLifeCycle, "deprecated" | "removed" | "instead">) {
  return names.map((name): FlagLifeCycle => ({ name, ...ofServer, ...releases }));
}

const logFiles = "the server logs JSON lines to standard error, see --log-level";

/** The flags that are deprecated or were removed: of the reference release's, those that its makers deprecated. */
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
    instead: "leave it out: servers that share a store find one another by it",
  },
  {
    name: "enable-logs-handler",
    ...ofServer,
    deprecated: "1.15",
    instead: "leave it out: the path /logs isn't served",
  },
  {
    name: "master-service-namespace",
    ...ofServer,
    deprecated: "1.6",
    removed: "1.27",
    instead: "leave it out: the server's own Service is in default",
  },
  ...gone(["kubelet-https"], {
    deprecated: "1.19",
    removed: "1.22",
    instead: "leave it out: node agents are asked over TLS only",
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
 * For how many releases a flag works after the one that deprecated it, at least: 12 months or 2 releases for users and 6 months or 1 for
 * administrators, 3 months or 1 where it is beta, whichever is longer. There are three releases a year.
 */
const leastReleases = {
  users: { stable: 3, beta: 1, alpha: 0 },
  administrators: { stable: 2, beta: 1, alpha: 0 },
} as const;

/** The first release that may lack a deprecated flag. */
export function earliestRemoval({ audience, stability, deprecated }: FlagLifeCycle): string {
  return releaseAfter(deprecated, leastReleases[audience][stability]);
}

const release = `${referenceRelease.major}.${referenceRelease.minor}`;
const byName = new Map(flagLifeCycles.map((one) => [one.name, one]));

/** Why a flag that there was is unknown; undefined for one that there never was. */
export function removalOf(name: string): string | undefined {
  const cycle = byName.get(name);
  if (cycle?.removed === undefined || isLater(cycle.removed, release)) return undefined;
  return `it was removed in ${cycle.removed}; ${cycle.instead}`;
}

/** What help says of a flag that is deprecated in this release; undefined for others. */
export function deprecationOfFlag(name: string): string | undefined {
  const cycle = byName.get(name);
  if (cycle === undefined || removalOf(name) !== undefined || isLater(cycle.deprecated, release))
    return undefined;
  const until = cycle.removed ?? earliestRemoval(cycle);
  const gone = isLater(until, release) ? `, works until ${until}` : ", may be removed";
  return `deprecated since ${cycle.deprecated}${gone}; ${cycle.instead}`;
}

/** Logs which of the flags that are given are deprecated. */
export function warnOfDeprecated(given: readonly string[], log: Logger): void {
  for (const name of given) {
    const deprecation = deprecationOfFlag(name);
    if (deprecation !== undefined) log.warn({ flag: `--${name}` }, `--${name} is ${deprecation}`);
  }
}
