import { AbacAuthorizer } from "../../authorization/abac.ts";
import { parseAbacFile } from "../../authorization/abac-file.ts";
import {
  authorizationChain,
  authorizationLinks,
  authorizationModes,
  AuthorizerChain,
} from "../../authorization/authorizer-chain.ts";
import type { NamedAuthorizer } from "../../authorization/guarded-authorizer.ts";
import { NodeAuthorizer } from "../../authorization/node/node-authorizer.ts";
import { AuthorizationWebhook } from "../../authorization/webhook.ts";
import { rarely } from "../../base/time/clock.ts";
import { authorization } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import { StoredInsight } from "../../authorization/insight/stored-insight.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { AuthorizationWebhookSettings } from "../options/settings-types.ts";
import type { StoredNodeNeeds } from "../../authorization/node/stored-node-needs.ts";
import { configuredAuthorizers, type ConfigurationCounters } from "./configuration.ts";
import { laterRoleOptions } from "./role-options.ts";
import { readOptionFile } from "../options/option-files.ts";
import type { StoredRbac } from "../../authorization/rbac/stored-rbac.ts";
import { outageLogIntervalMs, remoteService, type ConfiguredService } from "../webhooks/remote-services.ts";

/** The authorizers of the server. */
export interface Authorizers {
  readonly chain: AuthorizerChain;
  /** Undefined without `--authorization-config`. */
  readonly counters?: ConfigurationCounters | undefined;
  close(): Promise<void>;
}

/**
 * Creates the authorizers of the options.
 *
 * @throws {OptionsError} if a mode lacks its options, options lack their mode, or a value can't be used.
 */
export async function authorizers(
  options: ServerOptions,
  {
    policy,
    needs,
    extensions,
  }: {
    readonly policy: StoredRbac;
    readonly needs: StoredNodeNeeds | undefined;
    readonly extensions: readonly NamedAuthorizer[];
  },
): Promise<Authorizers> {
  const { authorizationWebhook: chosen, authorizationConfigFile, vocabulary } = options;
  const modes = orderOf(options.authorizationModes, extensions);
  const insight = new StoredInsight(policy, vocabulary);
  const further = {
    ...Object.fromEntries(extensions.map((one) => [one.name, one])),
    ABAC: modes.includes("ABAC") ? await abac(options) : undefined,
    Node: needs && (await nodeAuthorizer(options, needs)),
  };
  if (authorizationConfigFile !== undefined) {
    const chain = new AuthorizerChain([]);
    const own = extensions.map(({ name }) => name);
    const configured = await configuredAuthorizers(
      options,
      authorizationConfigFile,
      own,
      ({ names, webhooks }) =>
        chain.replace(
          authorizationLinks([...names, ...own], policy, vocabulary, { ...further, ...webhooks }, insight),
        ),
    );
    return { chain, counters: configured, close: () => configured.close() };
  }
  const hasWebhook = modes.includes("Webhook");
  if (hasWebhook && chosen === undefined) {
    throw new OptionsError("--authorization-mode Webhook needs --authorization-webhook-config-file");
  }
  if (!hasWebhook && chosen !== undefined) {
    throw new OptionsError("--authorization-webhook-config-file needs --authorization-mode Webhook");
  }
  if (chosen === undefined) {
    const chain = authorizationChain(modes, policy, vocabulary, further, insight);
    return { chain, close: () => Promise.resolve() };
  }
  const service = await remoteService(options, "--authorization-webhook-config-file", chosen.configFile);
  const Webhook = webhook(options, service, chosen);
  const chain = authorizationChain(modes, policy, vocabulary, { ...further, Webhook }, insight);
  return { chain, close: () => service.close() };
}

async function nodeAuthorizer(options: ServerOptions, needs: StoredNodeNeeds): Promise<NodeAuthorizer> {
  const { vocabulary } = options;
  const later = laterRoleOptions(options);
  if (later === undefined) return new NodeAuthorizer(needs, vocabulary);
  const { laterDecisions } = await import("../../authorization/node/release-decisions.ts");
  return new NodeAuthorizer(needs, vocabulary, laterDecisions(needs, vocabulary, later));
}

/**
 * Returns the names of all authorizers in the order in which they are called; extensions that the modes don't name
 * come last.
 *
 * @throws {OptionsError} if a mode is unknown.
 */
function orderOf(modes: readonly string[], extensions: readonly NamedAuthorizer[]): readonly string[] {
  const names = extensions.map(({ name }) => name);
  const allowed = [...authorizationModes, ...names];
  const unknown = modes.find((mode) => !allowed.includes(mode));
  if (unknown !== undefined) {
    throw new OptionsError(
      `--authorization-mode: ${JSON.stringify(unknown)} is not one of ${allowed.join(", ")}`,
    );
  }
  return [...modes, ...names.filter((name) => !modes.includes(name))];
}

function webhook(
  { vocabulary, clock, log }: ServerOptions,
  service: ConfiguredService,
  { version, authorizedMs, unauthorizedMs }: AuthorizationWebhookSettings,
): AuthorizationWebhook {
  const message = "the authorization webhook can't be reached";
  return new AuthorizationWebhook({
    ask: (review) => service.post(review),
    apiVersion: `${groupName(authorization, vocabulary)}/${version}`,
    authorizedMs,
    unauthorizedMs,
    clock,
    failed: rarely(clock, outageLogIntervalMs, (error) => log.warn({ error: error.message }, message)),
  });
}

async function abac({
  authorizationPolicyFile: file,
  vocabulary,
  log,
}: ServerOptions): Promise<AbacAuthorizer> {
  const flag = "--authorization-policy-file";
  if (file === undefined) throw new OptionsError(`--authorization-mode: ABAC needs ${flag}`);
  const text = await readOptionFile(flag, file);
  try {
    const { policies, warnings } = parseAbacFile(text, vocabulary);
    for (const warning of warnings) log.warn({ file }, `${flag}: ${warning}`);
    return new AbacAuthorizer(policies);
  } catch (error) {
    throw new OptionsError(`${flag} ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
