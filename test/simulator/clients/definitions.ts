import type { ApiObject } from "../../../src/schema/kind.ts";
import type { World } from "../world.ts";
import { ApiClient } from "./api-client.ts";
import { Cache, type CacheMessage } from "./cache.ts";
import { workNamespace } from "./writer.ts";

const group = "simulated.example";
const definitionsUrl = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const definitionName = `gadgets.${group}`;
const definitionKey = `/apiextensions.k8s.io/customresourcedefinitions//${definitionName}`;
const gadgetPrefix = `/${group}/gadgets/${workNamespace}/`;
const versions = ["v1", "v2"] as const;

interface Gadget extends ApiObject {
  readonly spec?: { readonly color?: string; readonly size?: number };
}

interface Definition extends ApiObject {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: SpecSchema } } };
    }[];
  };
}

interface SpecSchema {
  readonly properties: Readonly<Record<string, object>>;
}

function definition(storage: string, hasSize: boolean): object {
  const properties = { color: { type: "string" }, ...(hasSize && { size: { type: "integer" } }) };
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: definitionName },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" },
      versions: versions.map((name) => ({
        name,
        served: true,
        storage: name === storage,
        schema: { openAPIV3Schema },
      })),
    },
  };
}

/** Creates a definition, changes its storage version and its schema, and sometimes deletes it. */
export async function runDefinitionUser(client: ApiClient, meanPauseMs: number): Promise<void> {
  const { world, dice } = client;
  for (; world.isActive; await client.pause(meanPauseMs)) {
    const body = definition(dice.pick(versions), dice.chance(0.5));
    const live = world.history.at(definitionKey, world.history.revision)?.object;
    const url = `${definitionsUrl}/${definitionName}`;
    if (live === undefined) await client.request("POST", definitionsUrl, { body });
    else if (dice.chance(0.1)) await client.request("DELETE", url);
    else {
      const { resourceVersion } = live.metadata;
      const metadata = { name: definitionName, resourceVersion };
      await client.request("PUT", url, { body: { ...body, metadata } });
    }
  }
}

/** Writes custom objects in both versions. */
export async function runGadgetUser(client: ApiClient, names: number, meanPauseMs: number): Promise<void> {
  const { world, dice } = client;
  for (let count = 0; world.isActive; count++) {
    const version = dice.pick(versions);
    const name = `gadget-${dice.below(names)}`;
    const url = `/apis/${group}/${version}/namespaces/${workNamespace}/gadgets`;
    const body = {
      apiVersion: `${group}/${version}`,
      kind: "Gadget",
      metadata: { name },
      spec: { color: `${client.actor}-${count}`, size: count },
    };
    const contentType = "application/merge-patch+json";
    if (dice.chance(0.3)) await client.request("POST", url, { body });
    else if (dice.chance(0.2)) await client.request("DELETE", `${url}/${name}`);
    else await client.request("PATCH", `${url}/${name}`, { body: { spec: body.spec }, contentType });
    await client.pause(meanPauseMs);
  }
}

/** Creates the clients that follow the custom objects, one in each version. */
export function gadgetCaches(world: World): readonly Cache[] {
  return versions.map((version) => {
    const url = `/apis/${group}/${version}/namespaces/${workNamespace}/gadgets`;
    return new Cache(new ApiClient(world, `gadget-watcher-${version}`), {
      listUrl: url,
      streamUrl: (position) => `${url}?watch=true&allowWatchBookmarks=true&resourceVersion=${position}`,
      received: (message, server) => checkForm(world, version, message, server.name),
      check: (cache, revision) => checkGadgets(world, cache, revision),
    });
  });
}

const law = "watches follow the definition";

/** Checks that an event shows the object in the version of the watch, with the fields of a schema that was valid since its write. */
function checkForm(world: World, version: string, { type, object }: CacheMessage, server: string): void {
  if (object === undefined || type === "BOOKMARK" || type === "ERROR") return;
  const { apiVersion, kind, metadata, spec } = object as Gadget;
  const at = `${type} of ${metadata.name} at ${metadata.resourceVersion} by ${server}`;
  if (apiVersion !== `${group}/${version}` || kind !== "Gadget")
    world.violations.add(law, `${at} is a ${apiVersion} ${kind} in a watch of ${version}`);
  const revision = Number(metadata.resourceVersion);
  const stored = world.history
    .changesOf(`${gadgetPrefix}${metadata.name}`)
    .find((change) => change.revision === revision)?.object as Gadget | undefined;
  const schemas = schemasSince(world, revision);
  if (stored === undefined || schemas.length === 0) return;
  const isShown = spec?.size !== undefined;
  if (schemas.every((hasSize) => !hasSize) && isShown)
    world.violations.add(law, `${at} has a field that no schema since its write has`);
  if (schemas.every((hasSize) => hasSize) && !isShown && stored.spec?.size !== undefined)
    world.violations.add(law, `${at} lacks a field that every schema since its write has`);
}

/** Returns for each schema that was valid at a revision or later whether it has the changing field. */
function schemasSince({ history }: World, revision: number): boolean[] {
  const before = history.at(definitionKey, revision);
  const later = history.changesOf(definitionKey).filter((change) => change.revision > revision);
  return [...(before === undefined ? [] : [before]), ...later]
    .filter(({ isDeletion }) => !isDeletion)
    .map(({ object }) => hasSizeField(object as Definition));
}

function hasSizeField({ spec }: Definition): boolean {
  return spec.versions[0]!.schema.openAPIV3Schema.properties.spec.properties["size"] !== undefined;
}

/** Checks that a cache has every object at a revision, each in its state then. Without the definition nothing can be watched. */
function checkGadgets(world: World, cache: Cache, at: number): void {
  const { history, violations } = world;
  const live = history.at(definitionKey, at);
  if (live === undefined || live.object.metadata.deletionTimestamp !== undefined) return;
  const names = ({ metadata }: ApiObject): string => `${metadata.name}@${metadata.resourceVersion}`;
  const present = [...history.stateAt(gadgetPrefix, at).values()].map(({ object }) => object);
  const expected = present.map(names).toSorted().join();
  const actual = [...cache.objects.values()].map(names).toSorted().join();
  if (actual !== expected) violations.add(law, `${cache.name} has at ${at} ${actual} instead of ${expected}`);
}
