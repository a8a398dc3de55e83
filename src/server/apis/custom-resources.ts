import { randomUUID } from "node:crypto";
import { EvictableValues } from "../../base/forgettable.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { CustomResources } from "../../custom-resources/definitions/custom-resources.ts";
import { WebhookCaller, type ResolveService } from "../../remote/webhook-caller.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** So many schemas within schemas are kept as they were read: those of some hundred definitions, some 20 MB. */
const recentSchemas = 100_000;

/**
 * Has the registry know of custom kinds from now on; undefined where their definitions aren't served.
 *
 * @param resolve finds the services of conversion webhooks.
 */
export async function followCustomResources(
  { clock, log, vocabulary }: ServerOptions,
  registry: Registry,
  store: Store,
  resolve: ResolveService,
): Promise<{ close(): Promise<void> } | undefined> {
  if (!registry.serves(CustomResourceDefinition)) return undefined;
  const failed = (error: unknown) =>
    log.warn({ error: stackOf(error) }, "custom resource definitions can't be loaded; trying again");
  const caller = new WebhookCaller(clock, resolve);
  const conversions = { caller, newUid: randomUUID, vocabulary };
  const kinds = { conversions, schemas: new EvictableValues(recentSchemas) };
  const reserves = (group: string, resource: string) => registry.reserves(group, resource);
  const custom = new CustomResources({ store, clock, vocabulary, reserves, kinds, failed });
  await custom.start();
  registry.changing = custom;
  return {
    close() {
      custom.close();
      return caller.close();
    },
  };
}
