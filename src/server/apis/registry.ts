import { imageReviewVersion } from "../../admission/plugins/image-policy-webhook/image-review.ts";
import { apiVersionOf } from "../../base/object-errors.ts";
import { kindsOfRelease } from "../../kinds/kinds-of-release.ts";
import { Registry } from "../../resources/registry/registry.ts";
import { RuntimeConfig, RuntimeConfigError } from "../../resources/registry/runtime-config.ts";
import { groupName, type Kind } from "../../schema/kind.ts";
import { featureGates } from "../features/enabled-features.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

/**
 * Returns the registry of the resources that the options enable.
 *
 * @param isPossible whether a kind can be served; by default all can.
 */
export async function registryFor(
  options: ServerOptions,
  extensionKinds: readonly Kind[],
  isPossible: (kind: Kind) => boolean = () => true,
): Promise<Registry> {
  const { vocabulary, release } = options;
  const config = await runtimeConfigOf(options, extensionKinds);
  const isOn = ({ gate }: Kind) => gate === undefined || featureGates(options).enabled(gate);
  return new Registry(
    [...(await kindsOfRelease(release)), ...extensionKinds],
    vocabulary,
    (group, kind) => config.serves(group, kind) && isOn(kind) && isPossible(kind),
    release,
  );
}

/**
 * Parses `--runtime-config`.
 *
 * @throws {OptionsError} if it names an unknown version or resource.
 */
export async function runtimeConfigOf(
  { vocabulary, release, runtimeConfig, extensions }: ServerOptions,
  extensionKinds: readonly Kind[] = extensions?.kinds ?? [],
): Promise<RuntimeConfig> {
  const resourcesByVersion = new Map<string, Set<string>>([[imageReviewVersion(vocabulary), new Set()]]);
  for (const kind of [...(await kindsOfRelease(release)), ...extensionKinds]) {
    const group = groupName(kind.group, vocabulary);
    const version = apiVersionOf(group, kind.version);
    resourcesByVersion.set(version, (resourcesByVersion.get(version) ?? new Set()).add(kind.resource));
  }
  try {
    return RuntimeConfig.parse(runtimeConfig, resourcesByVersion);
  } catch (error) {
    if (error instanceof RuntimeConfigError) throw new OptionsError(`--runtime-config: ${error.message}`);
    throw error;
  }
}
