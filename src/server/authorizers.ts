import { authorizationChain, type AuthorizerChain } from "../authorization/chain.ts";
import { AuthorizationWebhook } from "../authorization/webhook.ts";
import { rarely } from "../base/clock.ts";
import { authorization } from "../kinds/groups.ts";
import type { RemoteService } from "../remote/remote-service.ts";
import { groupName } from "../schema/kind.ts";
import { OptionsError, type ServerOptions } from "./options.ts";
import type { StoredRbac } from "./rbac.ts";
import { outageLogMs, remoteService } from "./remote-services.ts";

/** A service of others that is asked who may do what (mode Webhook). */
export interface AuthorizationWebhookChoice {
  /** Client configuration that names the service. */
  readonly configFile: string;
  /** Of the SubjectAccessReviews that it is asked with. */
  readonly version: "v1" | "v1beta1";
  /** How long it is remembered that somebody may, and that somebody may not, in milliseconds. */
  readonly authorizedMs: number;
  readonly unauthorizedMs: number;
}

/** Who decides what callers may do. */
export interface Authorizers {
  readonly chain: AuthorizerChain;
  close(): Promise<void>;
}

/**
 * The authorizers that the options ask for.
 *
 * @throws {OptionsError} mode Webhook and its configuration aren't given together, or that can't be used.
 */
export async function authorizers(options: ServerOptions, policy: StoredRbac): Promise<Authorizers> {
  const { authorizationModes: modes, authorizationWebhook: chosen, vocabulary, clock } = options;
  const wanted = modes.includes("Webhook");
  if (wanted && chosen === undefined) {
    throw new OptionsError("--authorization-mode Webhook needs --authorization-webhook-config-file");
  }
  if (!wanted && chosen !== undefined) {
    throw new OptionsError("--authorization-webhook-config-file needs --authorization-mode Webhook");
  }
  if (chosen === undefined) {
    return { chain: authorizationChain(modes, policy, vocabulary), close: () => Promise.resolve() };
  }
  const service = await remoteService("--authorization-webhook-config-file", chosen.configFile, clock);
  const chain = authorizationChain(modes, policy, vocabulary, webhook(options, service, chosen));
  return { chain, close: () => service.close() };
}

function webhook(
  { vocabulary, clock, log }: ServerOptions,
  service: RemoteService,
  { version, authorizedMs, unauthorizedMs }: AuthorizationWebhookChoice,
): AuthorizationWebhook {
  const message = "the authorization webhook can't be asked";
  return new AuthorizationWebhook({
    ask: (review) => service.post(review),
    apiVersion: `${groupName(authorization, vocabulary)}/${version}`,
    authorizedMs,
    unauthorizedMs,
    clock,
    failed: rarely(clock, outageLogMs, (error) => log.warn({ error: error.message }, message)),
  });
}
