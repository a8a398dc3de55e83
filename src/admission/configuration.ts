import { groupVersion } from "../vocabulary/names.ts";
import path from "node:path";
import {
  decodeConfiguration,
  readConfiguration,
  readPlain,
  assertNoFaults,
  withLines,
  type Configuration,
  type ConfigurationForm,
} from "../schema/configuration.ts";
import { FieldReport } from "../schema/faults.ts";
import { struct } from "../schema/meta.ts";
import { field, list, object, string, type Static, type StructType } from "../schema/types.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

const Plugin = struct("AdmissionPluginConfiguration", "Configuration of one admission plugin.", {
  name: field(undefined, string, "Name of the admission plugin.").required(),
  path: field(undefined, string, "File with the configuration, relative to the folder of this file."),
  configuration: field(undefined, object, "Inline configuration; only without `path`."),
});

const AdmissionConfiguration = struct("AdmissionConfiguration", "Configuration of admission plugins.", {
  kind: field(undefined, string, "AdmissionConfiguration."),
  apiVersion: field(undefined, string, "Version of the configuration format."),
  plugins: field(undefined, list(Plugin), "Configuration of each plugin."),
});

/** Members of the configurations without kind and apiVersion; ImagePolicyWebhook and PodNodeSelector may share a file. */
export const plainMembers: readonly string[] = ["imagePolicy", "podNodeSelectorPluginConfig"];

/** Reads a file; rejects with a {@link ConfigurationError} that names the file and the reason. */
export type ReadFile = (file: string) => Promise<Uint8Array>;

/** The configuration of one plugin. */
export interface PluginConfiguration {
  /**
   * Decodes the configuration.
   *
   * @throws {ConfigurationError} the configuration is invalid.
   */
  read<S extends StructType>(form: ConfigurationForm<S>): Promise<Configuration<Static<S>>>;
  /**
   * Reads a configuration without kind and apiVersion as a plain value.
   *
   * @param check throws for fields that the configuration doesn't have.
   * @throws {ConfigurationError} the file can't be read or parsed.
   */
  readPlain(check?: (value: unknown) => void): Promise<unknown>;
}

/**
 * Reads the file of `--admission-control-config-file` (spec: conventions 2.9). The result has the configuration of each plugin by
 * its name; the plugins decode it.
 *
 * @throws {ConfigurationError} the file is invalid.
 */
export async function readAdmissionConfiguration(
  file: string,
  readFile: ReadFile,
  vocabulary: Vocabulary,
): Promise<Configuration<ReadonlyMap<string, PluginConfiguration>>> {
  const { groupSuffix } = vocabulary;
  // The first version has another group.
  const versions = [
    groupVersion(groupSuffix, "apiserver.config", "v1"),
    groupVersion(groupSuffix, "apiserver.config", "v1alpha1"),
    groupVersion(groupSuffix, "apiserver", "v1alpha1"),
  ];
  const form = { type: AdmissionConfiguration, kind: "AdmissionConfiguration", apiVersions: versions };
  const bytes = await readFile(file);
  const { value, warnings } = await readConfiguration(bytes, form);
  const plugins = new Map<string, PluginConfiguration>();
  const report = FieldReport.start();
  (value.plugins ?? []).forEach((entry, index) => {
    const entryReport = report.at("plugins", index);
    const { name = "", path: relative = "", configuration } = entry;
    if (name === "") entryReport.at("name").required();
    else if (plugins.has(name)) entryReport.at("name").duplicate(name);
    if (relative !== "" && configuration !== undefined) {
      entryReport.at("configuration").forbidden("must not be set together with path");
    }
    if (relative === "" && configuration === undefined) entryReport.at("path").required("or a configuration");
    const at = `plugins[${index}].configuration`;
    const source =
      relative === "" ? { configuration, bytes, at } : { file: path.resolve(path.dirname(file), relative) };
    plugins.set(name, pluginConfiguration(source, readFile));
  });
  assertNoFaults(report);
  return { value: plugins, warnings };
}

/** The source of a plugin's configuration: a file of its own, or the field `at` of the file with the content `bytes`. */
type Source =
  | { readonly file: string }
  | { readonly configuration: unknown; readonly bytes: Uint8Array; readonly at: string };

function pluginConfiguration(source: Source, readFile: ReadFile): PluginConfiguration {
  return {
    read: async (form) =>
      "file" in source
        ? readConfiguration(await readFile(source.file), form)
        : withLines(source.bytes, source.at, () => decodeConfiguration(source.configuration, form)),
    readPlain: async (check) => {
      if ("file" in source) return readPlain(await readFile(source.file), check);
      await withLines(source.bytes, source.at, () => check?.(source.configuration));
      return source.configuration;
    },
  };
}
