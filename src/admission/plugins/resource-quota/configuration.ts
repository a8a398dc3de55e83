import { groupVersion } from "../../../vocabulary/names.ts";
import { assertNoFaults, type Configuration } from "../../../schema/configuration.ts";
import { FieldReport } from "../../../schema/faults.ts";
import { struct } from "../../../schema/meta.ts";
import { field, list, string } from "../../../schema/types.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { PluginConfiguration } from "../../configuration.ts";
import type { ScopeCondition } from "./scopes.ts";

const Scope = struct("LimitedScope", "A scope of objects that need a quota.", {
  scopeName: field(undefined, string, "Name of the scope.").required(),
  operator: field(undefined, string, "Operator: In, NotIn, Exists or DoesNotExist.").required(),
  values: field(undefined, list(string), "Values for In and NotIn."),
});

const Limited = struct("LimitedResource", "A resource that can be consumed only with a quota.", {
  apiGroup: field(undefined, string, "API group of the objects; empty for the core group."),
  resource: field(undefined, string, "Resource type of the objects.").required(),
  matchContains: field(
    undefined,
    list(string),
    "Substrings of resource names that need a quota, such as `.storage`.",
  ),
  matchScopes: field(undefined, list(Scope), "Scopes in which objects need a quota with that scope."),
});

const QuotaConfiguration = struct(
  "ResourceQuotaConfiguration",
  "Resources that can be consumed only with a quota.",
  {
    kind: field(undefined, string, "ResourceQuotaConfiguration."),
    apiVersion: field(undefined, string, "Version of the configuration format."),
    limitedResources: field(undefined, list(Limited), "Resources that can be consumed only with a quota."),
  },
);

/** A resource that may be used only if a quota covers it. */
export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeCondition[];
}

/**
 * Reads the configuration. Without one nothing needs a quota.
 *
 * @throws {ConfigurationError} the configuration is invalid.
 */
export async function readLimitedResources(
  configuration: PluginConfiguration | undefined,
  { groupSuffix }: Vocabulary,
): Promise<Configuration<readonly LimitedResource[]>> {
  if (configuration === undefined) return { value: [], warnings: [] };
  const plain = await configuration.readPlain();
  // The first versions have another kind and group.
  const isEarly = (plain as { readonly kind?: unknown } | null)?.kind === "Configuration";
  const { value, warnings } = await configuration.read({
    type: QuotaConfiguration,
    ...(isEarly
      ? {
          kind: "Configuration",
          apiVersions: ["v1beta1", "v1alpha1"].map((version) =>
            groupVersion(groupSuffix, "resourcequota.admission", version),
          ),
        }
      : {
          kind: "ResourceQuotaConfiguration",
          apiVersions: [groupVersion(groupSuffix, "apiserver.config", "v1")],
        }),
  });
  const report = FieldReport.start();
  const limited = (value.limitedResources ?? []).map(
    ({ apiGroup: group = "", resource = "", matchContains = [], matchScopes = [] }, index) => {
      if (resource === "") report.at("limitedResources", index, "resource").required();
      return { group, resource, matchContains, matchScopes };
    },
  );
  assertNoFaults(report);
  return { value: limited, warnings };
}
