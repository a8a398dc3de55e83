import { groupVersion } from "../../../vocabulary/names.ts";
import { dnsLabelFaults, dnsSubdomainFaults } from "../../../base/names.ts";
import { assertNoFaults, type Configuration } from "../../../schema/configuration.ts";
import { FieldReport } from "../../../schema/faults.ts";
import { struct } from "../../../schema/meta.ts";
import { field, list, string } from "../../../schema/types.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { PluginConfiguration } from "../../configuration.ts";
import { latest, levelForm, parseLevel, parseVersion, versionMessage, type LevelVersion } from "./levels.ts";
import { modes, type Mode, type Policy } from "./namespace-policy.ts";

const Defaults = struct("PodSecurityDefaults", "Default policy of namespaces without labels for it.", {
  enforce: field(undefined, string, "Level that pods must not violate."),
  "enforce-version": field(undefined, string, "Version of the level in `enforce`."),
  audit: field(undefined, string, "Level whose violations are recorded in the audit log."),
  "audit-version": field(undefined, string, "Version of the level in `audit`."),
  warn: field(undefined, string, "Level whose violations cause a warning for the client."),
  "warn-version": field(undefined, string, "Version of the level in `warn`."),
});

const Exemptions = struct("PodSecurityExemptions", "Pods that are not checked.", {
  usernames: field(undefined, list(string), "Names of users whose pods are not checked."),
  namespaces: field(undefined, list(string), "Namespaces whose pods are not checked."),
  runtimeClasses: field(undefined, list(string), "Runtime classes whose pods are not checked."),
});

const PodSecurityConfiguration = struct(
  "PodSecurityConfiguration",
  "Defaults and exemptions of PodSecurity.",
  {
    kind: field(undefined, string, "PodSecurityConfiguration."),
    apiVersion: field(undefined, string, "Version of the configuration format."),
    defaults: field(undefined, Defaults, "Default policy of namespaces without labels for it."),
    exemptions: field(undefined, Exemptions, "Pods that are not checked."),
  },
);

/** The configuration of PodSecurity. */
export interface PodSecuritySettings {
  readonly defaults: Policy;
  readonly exemptions: Exemptions;
}

/** Users, namespaces and runtime classes that are not checked. */
export interface Exemptions {
  readonly usernames: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  readonly runtimeClasses: ReadonlySet<string>;
}

/**
 * Reads the configuration. Without one nothing is exempt, and namespaces without labels are `privileged`.
 *
 * @throws {ConfigurationError} the configuration is invalid.
 */
export async function readPodSecurity(
  configuration: PluginConfiguration | undefined,
  { groupSuffix }: Vocabulary,
): Promise<Configuration<PodSecuritySettings>> {
  const read = await configuration?.read({
    type: PodSecurityConfiguration,
    kind: "PodSecurityConfiguration",
    apiVersions: ["v1", "v1beta1", "v1alpha1"].map((version) =>
      groupVersion(groupSuffix, "pod-security.admission.config", version),
    ),
  });
  const { defaults = {}, exemptions = {} } = read?.value ?? {};
  const report = FieldReport.start();
  const [enforce, audit, warn] = modes.map((mode) => defaultOf(mode, defaults, report.at("defaults")));
  const exemptionsReport = report.at("exemptions");
  const value = {
    defaults: { enforce: enforce!, audit: audit!, warn: warn! },
    exemptions: {
      namespaces: names(exemptions.namespaces, exemptionsReport.at("namespaces"), dnsLabelFaults),
      runtimeClasses: names(
        exemptions.runtimeClasses,
        exemptionsReport.at("runtimeClasses"),
        dnsSubdomainFaults,
      ),
      usernames: names(exemptions.usernames, exemptionsReport.at("usernames"), (name) =>
        name === "" ? ["username must not be empty"] : [],
      ),
    },
  };
  assertNoFaults(report);
  return { value, warnings: read?.warnings ?? [] };
}

function defaultOf(
  mode: Mode,
  defaults: { readonly [Name in Mode | `${Mode}-version`]?: string | undefined },
  report: FieldReport,
): LevelVersion {
  const levelText = defaults[mode] || "privileged";
  const versionText = defaults[`${mode}-version`] || "latest";
  const level = parseLevel(levelText);
  const minor = parseVersion(versionText);
  if (level === undefined) report.at(mode).invalid(levelText, levelForm);
  if (minor === undefined) report.at(`${mode}-version`).invalid(versionText, versionMessage);
  return { level: level ?? "restricted", minor: minor ?? latest };
}

function names(
  list: readonly string[] = [],
  report: FieldReport,
  faultsOf: (name: string) => readonly string[],
): ReadonlySet<string> {
  const unique = new Set<string>();
  list.forEach((name, index) => {
    const faults = faultsOf(name);
    if (faults.length > 0) report.at(index).invalid(name, faults.join(", "));
    else if (unique.has(name)) report.at(index).duplicate(name);
    unique.add(name);
  });
  return unique;
}
