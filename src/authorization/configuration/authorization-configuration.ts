import { apiGroup } from "../../vocabulary/names.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import { assertNoFaults, ConfigurationError, readConfiguration } from "../../schema/configuration.ts";
import { FieldReport } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { authorizationModes, type AuthorizationMode } from "../authorizer-chain.ts";
import { checkWebhook, type ConfiguredWebhook } from "./check-webhook.ts";
import { AuthorizationConfiguration, type AuthorizerFields } from "./form.ts";

/** One authorizer of a configuration. */
export interface ConfiguredAuthorizer {
  readonly type: AuthorizationMode;
  readonly name: string;
  /** Only, and always, of the type Webhook. */
  readonly webhook: ConfiguredWebhook | undefined;
}

/**
 * Reads the file of `--authorization-config`.
 *
 * @throws {ConfigurationError} the configuration is invalid; the message names every field.
 */
export async function readAuthorizationConfiguration(
  bytes: Uint8Array,
  vocabulary: Vocabulary,
): Promise<readonly ConfiguredAuthorizer[]> {
  const group = apiGroup(vocabulary.groupSuffix, "apiserver.config");
  const { value } = await readConfiguration(bytes, {
    type: AuthorizationConfiguration,
    kind: "AuthorizationConfiguration",
    apiVersions: ["v1", "v1beta1", "v1alpha1"].map((version) => `${group}/${version}`),
  });
  const report = FieldReport.start();
  const place = report.at("authorizers");
  const { authorizers = [] } = value;
  if (authorizers.length === 0) place.required("at least one authorization mode must be defined");
  const configured = authorizers.flatMap((one, index) =>
    checkAuthorizer(authorizers, one, index, place.at(index)),
  );
  assertNoFaults(report);
  return configured;
}

function checkAuthorizer(
  all: readonly AuthorizerFields[],
  { type = "", name = "", webhook }: AuthorizerFields,
  index: number,
  report: FieldReport,
): ConfiguredAuthorizer[] {
  const earlier = all.slice(0, index);
  const mode = authorizationModes.find((one) => one === type);
  if (type === "") report.at("type").required();
  else if (mode === undefined) report.at("type").notSupported(type, authorizationModes.toSorted());
  else if (type !== "Webhook" && earlier.some((one) => one.type === type)) report.at("type").duplicate(type);
  if (mode === undefined) return [];
  if (name === "") report.at("name").required();
  else if (earlier.some((one) => one.name === name)) report.at("name").duplicate(name);
  else {
    for (const fault of dnsSubdomainFaults(name)) {
      report.at("name").invalid(name, `authorizer name is invalid: ${fault}`);
    }
  }
  if (mode !== "Webhook") {
    if (webhook !== undefined)
      report.at("webhook").invalid("non-null", "may only be specified when type=Webhook");
    return [{ type: mode, name, webhook: undefined }];
  }
  if (webhook !== undefined)
    return [{ type: mode, name, webhook: checkWebhook(webhook, report.at("webhook")) }];
  report.at("webhook").required("required when type=Webhook");
  return [];
}

/**
 * Checks that a configuration has the types of the running server; only webhooks can change while it runs.
 *
 * @throws {ConfigurationError} if it has another type than Webhook that the server lacks, or lacks one.
 */
export function assertSameTypes(
  modes: readonly string[],
  authorizers: readonly ConfiguredAuthorizer[],
): void {
  const running = textOfFixedTypes(modes);
  const configured = textOfFixedTypes(authorizers.map(({ type }) => type));
  if (running === configured) return;
  throw new ConfigurationError(
    `authorizers: the types other than Webhook can't change while the server runs: they are ${running}, not ${configured}`,
  );
}

function textOfFixedTypes(types: readonly string[]): string {
  const fixed = types.filter((type) => type !== "Webhook").toSorted();
  return fixed.length === 0 ? "none" : fixed.join(", ");
}
