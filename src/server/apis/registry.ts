import { imageReviewVersion } from "../../admission/plugins/image-policy-webhook/image-review.ts";
import { apiVersionOf } from "../../base/group-names.ts";
import { kindsOfRelease } from "../../kinds/kinds-of-release.ts";
import { Registry } from "../../resources/registry/registry.ts";
import { RuntimeConfig, RuntimeConfigError } from "../../resources/registry/runtime-config.ts";
import { groupName, type Kind } from "../../schema/kind.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Returns the registry of the resources that the options enable. */
export function registryFor(options: ServerOptions, extensionKinds: readonly Kind[]): Registry {
  const config = runtimeConfigOf(options, extensionKinds);
  const { vocabulary, release } = options;
  return new Registry(
    [...kindsOfRelease(release), ...extensionKinds],
    vocabulary,
    (group, kind) => config.serves(group, kind),
    release,
  );
}

/**
 * Parses `--runtime-config`.
 *
 * @throws {OptionsError} if it names an unknown version or resource.
 */
export function runtimeConfigOf(
  { vocabulary, release, runtimeConfig, extensions }: ServerOptions,
  extensionKinds: readonly Kind[] = extensions?.kinds ?? [],
): RuntimeConfig {
  const resourcesByVersion = new Map<string, Set<string>>([[imageReviewVersion(vocabulary), new Set()]]);
  for (const kind of [...kindsOfRelease(release), ...extensionKinds]) {
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
