import { parseDurationInDays } from "../../base/time/duration.ts";
import type { CollectionRetention } from "../../storage/store-history.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { StoredResources } from "./stored-resources.ts";

const flag = "--history-retention";
const form =
  "RESOURCE[.GROUP]=DURATION[:SIZE], for example configmaps=30d:2GiB, deployments.apps=90d or *=7d";
const maxDays = 36_500;
const dayMs = 24 * 60 * 60_000;
const minBytes = 2 ** 20;
const unitBytes: Readonly<Record<string, number>> = {
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};
/** Stored resources that a rule for `*` leaves out: they change every few seconds, and their past is of no use. */
const shortLived: ReadonlySet<string> = new Set(["events", "leases", "leasecandidates"]);

/** The collections whose history is kept longer than the retention time of the store. */
export interface KeptCollections {
  /** By store prefix: those that rules name and, with a rule for `*`, those of built-in kinds. */
  readonly collections: ReadonlyMap<string, CollectionRetention>;
  /** Retention of the collections that aren't built-in and that no rule names; undefined without a rule for `*`. */
  readonly custom: CollectionRetention | undefined;
  /** Returns the retention of a collection by its store prefix; undefined if its history isn't kept. */
  retentionOf(storePrefix: string): CollectionRetention | undefined;
}

/**
 * Returns the collections of option `keptHistory`; undefined if there are none.
 *
 * @throws {OptionsError} if a rule is malformed, names a resource that isn't stored or has a rule, or keeps less than allowed.
 */
export function keptCollections({
  keptHistory,
  retentionMs,
  vocabulary,
  extensions,
}: Pick<ServerOptions, "keptHistory" | "retentionMs" | "vocabulary" | "extensions">):
  KeptCollections | undefined {
  if (keptHistory.length === 0) return undefined;
  const stored = new StoredResources(flag, vocabulary, extensions?.kinds);
  const collections = new Map<string, CollectionRetention>();
  for (const { rule, prefix, value } of stored.rules(keptHistory, form, true))
    collections.set(prefix, retentionIn(rule, value, retentionMs));
  const others = collections.get("*");
  collections.delete("*");
  if (others === undefined)
    return { collections, custom: undefined, retentionOf: (prefix) => collections.get(prefix) };
  // Collections of the server's own are in the core group, and no kind has them.
  const builtInGroups = new Set(["core"]);
  for (const {
    name,
    group,
    stored: { storePrefix },
  } of stored.resources) {
    builtInGroups.add(group);
    if (!shortLived.has(name) && !collections.has(storePrefix)) collections.set(storePrefix, others);
  }
  return {
    collections,
    custom: others,
    retentionOf: (prefix) =>
      collections.get(prefix) ??
      (builtInGroups.has(prefix.slice(1, prefix.indexOf("/", 1))) ? undefined : others),
  };
}

function retentionIn(rule: string, value: string, retentionMs: number): CollectionRetention {
  const separator = value.indexOf(":");
  const time = separator < 0 ? value : value.slice(0, separator);
  const nanoseconds = parseDurationInDays(time);
  if (nanoseconds === undefined) throw new OptionsError(`${flag}: ${JSON.stringify(rule)} is not ${form}`);
  const ms = Number(nanoseconds) / 1_000_000;
  if (ms < retentionMs)
    throw new OptionsError(
      `${flag}: ${JSON.stringify(rule)} keeps less than the retention time of all resources, ${retentionMs / 1000}s`,
    );
  if (ms > maxDays * dayMs)
    throw new OptionsError(`${flag}: the duration of ${JSON.stringify(rule)} is longer than ${maxDays}d`);
  if (separator < 0) return { ms };
  const [, digits, unit] = /^(\d{1,9})(KiB|MiB|GiB|TiB)$/.exec(value.slice(separator + 1)) ?? [];
  if (digits === undefined)
    throw new OptionsError(
      `${flag}: the size of ${JSON.stringify(rule)} is not a size such as 512MiB or 2GiB`,
    );
  const bytes = Number(digits) * unitBytes[unit!]!;
  if (bytes < minBytes)
    throw new OptionsError(`${flag}: the size of ${JSON.stringify(rule)} is less than 1MiB`);
  return { ms, bytes };
}
