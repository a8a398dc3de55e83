import { signDetached } from "../../authentication/jwt/signature.ts";
import { bootstrapSecretPrefix, bootstrapTokenPattern } from "../../authentication/bootstrap-token-secret.ts";
import { ConfigMap } from "../../kinds/core/config-map.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import { keyOf, prefixOf } from "../../resources/registry/registry.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Entry } from "../../storage/store.ts";
import type { Controller } from "../controller.ts";
import { WorkQueue } from "../work-queue.ts";
import { BootstrapTokens, type BootstrapDependencies } from "./tokens.ts";

/** The ConfigMap of the public namespace in which joining nodes find the server's address and CA certificate. */
export const clusterInfo = {
  name: "cluster-info",
  payloadKey: "kubeconfig",
  signaturePrefix: "jws-kubeconfig-",
};

/**
 * Signs the client configuration in `cluster-info` with each bootstrap token that allows signing, so that the owner of
 * a token can verify that the configuration was published by a party that knows the token (spec: conventions 2.7).
 */
export const bootstrapSigner: Controller<BootstrapDependencies> = {
  name: "bootstrapsigner",
  onlyByName: true,
  start(context) {
    const failed = (key: string, error: unknown) => context.failed(this.name, key, error);
    const queue = new WorkQueue(
      context.clock,
      async (key) => {
        const leftMs = await sign(context, tokens);
        if (leftMs < Infinity) queue.addLater(key, leftMs);
      },
      failed,
      context.queueObserver?.(this.name),
    );
    const again = () => queue.add(clusterInfo.name);
    const lost = (error: unknown) => failed("/", error);
    const tokens = new BootstrapTokens(context, again, lost);
    const map = followClusterInfo(context, again, lost);
    return {
      failing: () => map.failing || tokens.failing,
      close: () => {
        map.close();
        tokens.close();
        return queue.close();
      },
    };
  },
};

/** Calls `changed` when the ConfigMap was created or changed. */
function followClusterInfo(
  { store, registry, clock }: BootstrapDependencies,
  changed: () => void,
  failed: (error: unknown) => void,
): Follower {
  const maps = registry.require(ConfigMap);
  const { publicNamespace } = registry.vocabulary;
  const clusterInfoKey = keyOf(maps, publicNamespace, clusterInfo.name);
  const handler = {
    matters: ({ key }: Entry) => key === clusterInfoKey,
    put: changed,
    remove: () => undefined,
    failed,
  };
  const follower = new Follower(store, prefixOf(maps, publicNamespace), handler, clock);
  follower.startInBackground();
  return follower;
}

/**
 * Updates the signatures.
 *
 * @returns for how many milliseconds they are valid; Infinity without a ConfigMap.
 */
async function sign(
  { client, clock, registry }: BootstrapDependencies,
  tokens: BootstrapTokens,
): Promise<number> {
  const namespace = registry.vocabulary.publicNamespace;
  const reference = { apiVersion: "v1", kind: "ConfigMap", namespace, name: clusterInfo.name };
  const map = await client.find<ApiObject & { data?: Record<string, string> }>(reference);
  const payload = map?.data?.[clusterInfo.payloadKey] ?? "";
  if (map === undefined || payload === "") return Infinity;
  const current = await tokens.all();
  const now = clock.now();
  const data: Record<string, string | null> = {};
  for (const key of Object.keys(map.data ?? {})) {
    if (key.startsWith(clusterInfo.signaturePrefix)) data[key] = null;
  }
  let endsMs = Infinity;
  for (const [name, { id, secret, expiresAtMs: ends, forSigning }] of current) {
    const token = `${id}.${secret}`;
    const fits = bootstrapTokenPattern.test(token) && name === `${bootstrapSecretPrefix}${id}`;
    if (!fits || !forSigning || ends <= now) continue;
    data[`${clusterInfo.signaturePrefix}${id}`] = await signDetached(payload, token, id);
    endsMs = Math.min(endsMs, ends);
  }
  const changed = Object.entries(data).filter(([key, text]) => (map.data?.[key] ?? null) !== text);
  if (changed.length > 0) {
    const { resourceVersion } = map.metadata;
    const patch = { metadata: { resourceVersion }, data: Object.fromEntries(changed) };
    await unlessRaced(() => client.patch(reference, patch));
  }
  return endsMs - now;
}
