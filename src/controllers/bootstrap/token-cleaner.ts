import { unlessRaced } from "../../resources/clients/races.ts";
import type { Controller } from "../controller.ts";
import { WorkQueue } from "../work-queue.ts";
import { BootstrapTokens, type BootstrapDependencies } from "./tokens.ts";

/** Deletes the Secrets of expired bootstrap tokens (spec: conventions 2.7, 5.4). */
export const tokenCleaner: Controller<BootstrapDependencies> = {
  name: "tokencleaner",
  onlyByName: true,
  start(context) {
    const failed = (key: string, error: unknown) => context.failed(this.name, key, error);
    const queue = new WorkQueue(
      context.clock,
      async (name) => {
        const leftMs = await clean(context, tokens, name);
        if (leftMs < Infinity) queue.addLater(name, leftMs);
      },
      failed,
      context.queueObserver?.(this.name),
    );
    const tokens = new BootstrapTokens(
      context,
      (name) => queue.add(name),
      (error) => failed("/", error),
    );
    return {
      failing: () => tokens.failing,
      close: () => {
        tokens.close();
        return queue.close();
      },
    };
  },
};

/**
 * Deletes the Secret if its token has expired.
 *
 * @returns for how many milliseconds the token is still valid.
 */
async function clean(
  { client, clock, registry }: BootstrapDependencies,
  tokens: BootstrapTokens,
  name: string,
): Promise<number> {
  const token = (await tokens.all()).get(name);
  if (token === undefined) return Infinity;
  const leftMs = token.expiresAtMs - clock.now();
  if (leftMs > 0) return leftMs;
  const namespace = registry.vocabulary.systemNamespace;
  const { uid, resourceVersion } = token;
  const reference = { apiVersion: "v1", kind: "Secret", namespace, name };
  await unlessRaced(() => client.delete(reference, { uid, resourceVersion }));
  return Infinity;
}
