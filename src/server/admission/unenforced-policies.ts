import { isLater } from "../../base/releases.ts";
import type { ReleaseRecord } from "../../resources/releases/release-record.ts";
import { isStored, resourceOf, type Registry } from "../../resources/registry/registry.ts";
import type { Kind } from "../../schema/kind.ts";
import type { Store } from "../../storage/store.ts";
import { pluginsOf } from "./plugin-table.ts";
import { featureGates } from "../features/enabled-features.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Kinds whose objects an admission plugin enforces; the plugin and its feature gate have the same name. */
export interface EnforcedKinds {
  readonly plugin: string;
  /** The kinds, each in all versions. */
  readonly kinds: readonly (readonly Kind[])[];
}

/** Objects of a kind are counted up to this number and size. */
const countLimits = { limit: 1000, maxBytes: 4_000_000 };

/** Returns the kinds that later releases enforce and the reference release doesn't. */
export async function laterEnforcedKinds(): Promise<readonly EnforcedKinds[]> {
  const [later, { ValidatingAdmissionPolicy }, { ValidatingAdmissionPolicyBinding }] = await Promise.all([
    import("../../kinds/added-kinds.ts"),
    import("../../kinds/admissionregistration/validating-admission-policy.ts"),
    import("../../kinds/admissionregistration/validating-admission-policy-binding.ts"),
  ]);
  return [
    {
      plugin: "ValidatingAdmissionPolicy",
      kinds: [
        [
          ValidatingAdmissionPolicy,
          later.ValidatingAdmissionPolicyV1beta1,
          later.ValidatingAdmissionPolicyV1,
        ],
        [
          ValidatingAdmissionPolicyBinding,
          later.ValidatingAdmissionPolicyBindingV1beta1,
          later.ValidatingAdmissionPolicyBindingV1,
        ],
      ],
    },
    {
      plugin: "MutatingAdmissionPolicy",
      kinds: [
        [
          later.MutatingAdmissionPolicy,
          later.MutatingAdmissionPolicyV1beta1,
          later.MutatingAdmissionPolicyV1,
        ],
        [
          later.MutatingAdmissionPolicyBinding,
          later.MutatingAdmissionPolicyBindingV1beta1,
          later.MutatingAdmissionPolicyBindingV1,
        ],
      ],
    },
  ];
}

/**
 * Refuses a store with objects that a later release enforced and this server would ignore. Plugins that the options disable are the
 * choice of the operator. A store to which no later release wrote isn't read.
 *
 * @throws {OptionsError} that names kinds, counts and the flags to change; with `acceptUnenforcedPolicies` it is logged instead.
 * @throws {StoreError}
 */
export async function checkUnenforcedPolicies(
  options: ServerOptions,
  registry: Registry,
  store: Pick<Store, "range">,
  record: ReleaseRecord | undefined,
): Promise<void> {
  const { release, vocabulary, disabledAdmissionPlugins } = options;
  if (record === undefined || !isLater(record.newest, release)) return;
  const gates = featureGates(options);
  const plugins = new Set(pluginsOf(release).map(({ name }) => name));
  const counts: string[] = [];
  for (const { plugin, kinds } of await laterEnforcedKinds()) {
    if (disabledAdmissionPlugins.includes(plugin)) continue;
    const [policies] = kinds;
    const isServed = policies!.some((kind) => registry.serves(kind));
    if (plugins.has(plugin) && gates.enabled(plugin) && isServed) continue;
    for (const [kind] of kinds) {
      const resource = resourceOf(kind!, vocabulary);
      if (!isStored(resource)) continue;
      const { entries, more } = await store.range({ prefix: resource.stored.storePrefix, ...countLimits });
      if (entries.length === 0) continue;
      counts.push(`${more ? "at least " : ""}${entries.length} of kind ${kind!.name}`);
    }
  }
  if (counts.length === 0) return;
  const message = `the store has objects that release ${record.newest} enforces and this server of release ${release} ignores: ${counts.join(", ")}`;
  if (!options.acceptUnenforcedPolicies)
    throw new OptionsError(
      `${message}: start with --release=${record.newest}, or with --accept-unenforced-policies to serve without them`,
    );
  options.log.warn({ newest: record.newest, release }, message);
}
