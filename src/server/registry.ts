import { apiVersionOf } from "../base/group-names.ts";
import { builtInKinds } from "../kinds/all.ts";
import { Registry } from "../resources/registry.ts";
import { RuntimeConfig, RuntimeConfigError } from "../resources/runtime-config.ts";
import { groupName, type Kind } from "../schema/kind.ts";
import { OptionsError } from "./options-error.ts";
import type { ServerOptions } from "./options.ts";

/** The resource types that the options have served. */
export function registryFor(
  { vocabulary, runtimeConfig }: ServerOptions,
  extensionKinds: readonly Kind[],
): Registry {
  const kinds = [...builtInKinds, ...extensionKinds];
  const known = new Map<string, Set<string>>();
  for (const kind of kinds) {
    const group = groupName(kind.group, vocabulary);
    const version = apiVersionOf(group, kind.version);
    known.set(version, (known.get(version) ?? new Set()).add(kind.resource));
  }
  try {
    const config = RuntimeConfig.parse(runtimeConfig, known);
    return new Registry(kinds, vocabulary, (group, kind) => config.serves(group, kind));
  } catch (error) {
    if (error instanceof RuntimeConfigError) throw new OptionsError(`--runtime-config: ${error.message}`);
    throw error;
  }
}
