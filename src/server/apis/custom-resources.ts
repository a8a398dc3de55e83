import { randomValues } from "../../base/random.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { CustomResources } from "../../custom-resources/definitions/custom-resources.ts";
import type { Tracer } from "../../base/tracing/tracer.ts";
import { noCredentials } from "../../remote/named-credentials.ts";
import { WebhookCaller, type ResolveService } from "../../remote/webhook-caller.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";

/**
 * Starts to watch CustomResourceDefinitions and adds their kinds to the registry. Returns undefined if the server
 * doesn't serve CustomResourceDefinitions.
 *
 * @param resolve finds the address of a conversion webhook's Service.
 */
export async function followCustomResources(
  options: ServerOptions,
  registry: Registry,
  store: Store,
  resolve: ResolveService,
  tracing: { readonly tracer: Tracer } | undefined,
): Promise<{ close(): Promise<void> } | undefined> {
  const { clock, log, vocabulary } = options;
  if (!registry.serves(CustomResourceDefinition)) return undefined;
  const failed = (error: unknown) =>
    log.warn({ error: stackOf(error) }, "custom resource definitions can't be loaded; retrying");
  const caller = new WebhookCaller(clock, resolve, noCredentials, tracing?.tracer);
  const newUid = () => randomValues(options).newUid("conversion reviews");
  const kinds = { conversions: { caller, newUid, vocabulary } };
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
