import { qualifiedName } from "../../base/object-errors.ts";
import { similarName } from "../../base/similar-name.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UndoSpec } from "../../kinds/history/undo.ts";
import type { Engine } from "../engine/engine.ts";
import type { Registry, Resource } from "../registry/registry.ts";
import type { UndoRequest } from "./undo-change-set.ts";

/** The last millisecond of a second. */
const endOfSecondMs = 999;

/**
 * Returns the selection of an undo, and the collections whose history it searches.
 *
 * @param spec valid by the rules of its kind.
 * @throws {StatusError} BadRequest: no history is kept, or not that of a resource.
 */
export async function undoSelection(
  { store, registry }: Engine,
  spec: UndoSpec,
): Promise<Pick<UndoRequest, "resources" | "selection">> {
  const { history } = store;
  if (history === undefined)
    throw new StatusError(
      "BadRequest",
      "nothing can be undone, because no history is kept: start the server with --history-retention",
    );
  await registry.sync();
  await registry.readAll();
  const collections = registry.stored().filter(({ storePrefix }) => history.keeps(storePrefix));
  const names = spec.resources ?? [];
  const resources =
    names.length === 0
      ? collections
      : names.map((name, index) => resourceNamed(registry, collections, name, index));
  const optional = (text: string | undefined) => (text === "" ? undefined : text);
  return {
    resources: [...new Set(resources)].map((one) => servedVersion(registry, one)),
    selection: {
      change: optional(spec.change),
      user: optional(spec.user),
      manager: optional(spec.manager),
      from: spec.from ? Date.parse(spec.from) : undefined,
      to: spec.to ? Date.parse(spec.to) + endOfSecondMs : undefined,
      namespace: spec.namespace ?? "",
    },
  };
}

function resourceNamed(registry: Registry, kept: readonly Resource[], name: string, index: number): Resource {
  const isNamed = (one: Resource) => one.name === name || qualifiedName(one.name, one.group) === name;
  const [match, second] = kept.filter(isNamed);
  const field = `spec.resources[${index}]: ${JSON.stringify(name)}`;
  if (second !== undefined)
    throw new StatusError(
      "BadRequest",
      `${field} is ambiguous: write it with its group, such as deployments.apps`,
    );
  if (match !== undefined) return match;
  const names = registry.stored().map((one) => qualifiedName(one.name, one.group));
  const isServed = registry.stored().some(isNamed);
  const similar = isServed ? undefined : similarName(name, names);
  throw new StatusError(
    "BadRequest",
    isServed
      ? `${field}: its history is not kept; the server keeps that of the resources in --history-retention`
      : `${field}: the server has no such resource${similar === undefined ? "" : `; did you mean ${similar}?`}`,
  );
}

/** The storage version of a custom resource needn't be served, and writes need a version that is. */
function servedVersion(registry: Registry, resource: Resource): Resource {
  const { group, version, name } = resource;
  return registry.find(group, version, name) ?? registry.versionsOf(group, name)[0] ?? resource;
}
