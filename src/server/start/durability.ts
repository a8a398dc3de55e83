import { parseDuration } from "../../base/time/duration.ts";
import { similarName } from "../../base/similar-name.ts";
import { builtInKinds } from "../../kinds/all.ts";
import { isStored, resourceOf, storePrefixOf, type Resource } from "../../resources/registry/registry.ts";
import { isStore } from "../../storage/guarded-store.ts";
import { vocabularyNaming } from "../../vocabulary/other-vocabulary.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

const flag = "--durability";
const form = "RESOURCE[.GROUP]=interval:DURATION, for example leases=interval:1s";
const maxIntervalMs = 60 * 60_000;

/**
 * Returns the maximum time between a write and its sync in milliseconds, by the store prefix of the resource, for the resources of option
 * `durability`.
 *
 * @param hasOwnStore whether the embedding program brings the store.
 * @throws {OptionsError} if a rule is malformed, names a resource that isn't stored, or the store of the options has no such choice.
 */
export function deferredSyncMsOf(options: ServerOptions, hasOwnStore: boolean): ReadonlyMap<string, number> {
  const { durability, storage, vocabulary, extensions } = options;
  const intervals = new Map<string, number>();
  if (durability.length === 0) return intervals;
  if (hasOwnStore || isStore(storage))
    throw new OptionsError(`${flag}: a store of the embedding program syncs its writes by itself`);
  if (storage.engine === "etcd" || storage.engine === "postgres")
    throw new OptionsError(
      `${flag}: ${storage.engine === "etcd" ? "etcd" : "PostgreSQL"} syncs its writes by itself; the option is for the embedded store`,
    );
  const kinds = [...builtInKinds, ...(extensions?.kinds ?? [])];
  const stored = kinds.map((kind) => resourceOf(kind, vocabulary)).filter(isStored);
  for (const rule of durability) {
    const separator = rule.indexOf("=");
    if (separator < 0) throw new OptionsError(`${flag}: ${JSON.stringify(rule)} is not ${form}`);
    const name = rule.slice(0, separator);
    const prefix = storePrefixOfName(name, stored);
    if (intervals.has(prefix)) throw new OptionsError(`${flag}: ${name} is given twice`);
    intervals.set(prefix, intervalOf(rule, rule.slice(separator + 1)));
  }
  return intervals;
}

function storePrefixOfName(name: string, stored: readonly Resource[]): string {
  const dot = name.indexOf(".");
  const matches = stored.filter(
    (one) => one.name === name || (one.group !== "" && `${one.name}.${one.group}` === name),
  );
  const prefixes = new Set(matches.map((one) => one.stored.storePrefix));
  const [first] = prefixes;
  if (prefixes.size > 1)
    throw new OptionsError(
      `${flag}: ${name} is ambiguous; write ${matches.map((one) => `${one.name}.${one.group}`).join(" or ")}`,
    );
  if (first !== undefined) return first;
  const group = dot < 0 ? "" : name.slice(dot + 1);
  const isCustom =
    dot > 0 &&
    group !== "" &&
    vocabularyNaming(group) === undefined &&
    stored.every((one) => one.group !== group);
  // The definitions of custom resources aren't known yet.
  if (isCustom) return storePrefixOf(group, name.slice(0, dot));
  const similar = similarName(
    name,
    stored.flatMap((one) => [one.name, `${one.name}.${one.group}`]),
  );
  const hint = similar === undefined ? "" : `; did you mean ${similar}?`;
  throw new OptionsError(`${flag}: no resource is named ${JSON.stringify(name)}${hint}`);
}

function intervalOf(rule: string, value: string): number {
  const [kind, ...rest] = value.split(":");
  const nanoseconds = kind === "interval" ? parseDuration(rest.join(":")) : undefined;
  if (nanoseconds === undefined) throw new OptionsError(`${flag}: ${JSON.stringify(rule)} is not ${form}`);
  const intervalMs = Number(nanoseconds) / 1_000_000;
  if (intervalMs < 1 || intervalMs > maxIntervalMs)
    throw new OptionsError(`${flag}: the interval of ${JSON.stringify(rule)} is not from 1ms to 1h`);
  return intervalMs;
}
