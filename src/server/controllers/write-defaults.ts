import type { FlowConfiguration } from "../../controllers/flow/flow-configuration.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Serving } from "../certificates/serving.ts";
import type { Lifecycle } from "../health/health-checks.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { Opened } from "../start/opened.ts";
import { startWriting } from "../start/start-writes.ts";
import { ensureDefaultObjects, logTrustFailure, publishTrustOf } from "./default-objects.ts";

/** The parts of a server that {@link writeDefaults} needs. */
interface DefaultPieces {
  readonly registry: Registry;
  readonly life: Lifecycle;
  readonly opened: Opened;
  /** Whether the store has the default objects already, from another server of the process. */
  readonly hasDefaults: boolean;
}

/** What {@link writeDefaults} needs. */
interface DefaultWriters {
  readonly client: Client;
  /** A client whose requests pass no admission plugins. */
  readonly startClient: Client;
  readonly serving: Serving | undefined;
  readonly flow: FlowConfiguration;
}

/**
 * Writes the default objects; in the background if the store accepts no writes at present.
 *
 * @returns a function that publishes the CA certificates for client certificates again after they changed.
 */
export async function writeDefaults(
  options: ServerOptions,
  { registry, life, opened, hasDefaults }: DefaultPieces,
  { client, startClient, serving, flow }: DefaultWriters,
): Promise<() => Promise<void>> {
  const publishTrust = () => publishTrustOf(options, startClient, serving);
  const writers = { flow, publishTrust, hasDefaults };
  const defaults = await startWriting(() => ensureDefaultObjects(options, registry, startClient, writers), {
    ...options,
    subject: "the default objects",
    delayed: () => void (life.bootstrapDelayed = true),
    written: () => void (life.bootstrapped = true),
  });
  opened.add(defaults, (one) => one.close());
  return () => publishTrustOf(options, client, serving).catch(logTrustFailure(options));
}
