import path from "node:path";
import {
  decodeConfiguration,
  readConfiguration,
  readPlain,
  refuseFaults,
  type Configuration,
  type ConfigurationForm,
} from "../schema/configuration.ts";
import { FieldReport } from "../schema/faults.ts";
import { struct } from "../schema/meta.ts";
import { field, list, object, string, type Static, type StructType } from "../schema/types.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

const Plugin = struct("AdmissionPluginConfiguration", "What one plugin is configured with.", {
  name: field(undefined, string, "Name of the plugin.").required(),
  path: field(undefined, string, "File of its configuration, from the folder of this one."),
  configuration: field(undefined, object, "Its configuration, where it isn't in a file of its own."),
});

const AdmissionConfiguration = struct(
  "AdmissionConfiguration",
  "What admission plugins are configured with.",
  {
    kind: field(undefined, string, "AdmissionConfiguration."),
    apiVersion: field(undefined, string, "Version of the configuration's form."),
    plugins: field(undefined, list(Plugin), "One entry a plugin."),
  },
);

/** Reads a file; rejects with a {@link ConfigurationError} that says which file and why. */
export type ReadFile = (file: string) => Promise<Uint8Array>;

/** What the operator configured one plugin with. */
export interface PluginConfiguration {
  /**
   * Reads it.
   *
   * @throws {ConfigurationError}
   */
  read<S extends StructType>(form: ConfigurationForm<S>): Promise<Configuration<Static<S>>>;
  /**
   * Reads one that has no kind and no version, as a plain value.
   *
   * @throws {ConfigurationError}
   */
  readPlain(): Promise<unknown>;
}

/**
 * Reads the file that configures admission plugins (spec: conventions 2.9): what is there for each, by its name; the plugins
 * read their own parts.
 *
 * @throws {ConfigurationError}
 */
export async function readAdmissionConfiguration(
  file: string,
  readFile: ReadFile,
  vocabulary: Vocabulary,
): Promise<Configuration<ReadonlyMap<string, PluginConfiguration>>> {
  const versions = ["v1", "v1alpha1"].map(
    (version) => `apiserver.config.${vocabulary.groupSuffix}/${version}`,
  );
  const form = { type: AdmissionConfiguration, kind: "AdmissionConfiguration", apiVersions: versions };
  const { value, warnings } = await readConfiguration(await readFile(file), form);
  const plugins = new Map<string, PluginConfiguration>();
  const report = FieldReport.start();
  (value.plugins ?? []).forEach((entry, index) => {
    const place = report.at("plugins", index);
    const { name = "", path: own = "", configuration } = entry;
    if (name === "") place.at("name").required();
    else if (plugins.has(name)) place.at("name").duplicate(name);
    if (own !== "" && configuration !== undefined) {
      place.at("configuration").forbidden("may not be given beside a path");
    }
    if (own === "" && configuration === undefined) place.at("path").required("or a configuration");
    const source = own === "" ? { configuration } : { file: path.resolve(path.dirname(file), own) };
    plugins.set(name, pluginConfiguration(source, readFile));
  });
  refuseFaults(report);
  return { value: plugins, warnings };
}

function pluginConfiguration(
  { file, configuration }: { readonly file?: string; readonly configuration?: unknown },
  readFile: ReadFile,
): PluginConfiguration {
  return {
    read: async (form) =>
      file === undefined
        ? decodeConfiguration(configuration, form)
        : readConfiguration(await readFile(file), form),
    readPlain: async () => (file === undefined ? configuration : readPlain(await readFile(file))),
  };
}
