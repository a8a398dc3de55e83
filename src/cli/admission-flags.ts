import { admissionPluginNames } from "../server/admission.ts";
import type { ServerOptions } from "../server/options.ts";
import { UsageError, type FlagReader } from "./flag-reader.ts";

/**
 * Which admission plugins run. `--admission-control` names all of them, in any order; the two flags that took its place change
 * which of the default ones do.
 *
 * @throws {UsageError} both ways at a time, or a plugin that doesn't exist.
 */
export function chosenPlugins(
  read: FlagReader,
): Pick<ServerOptions, "enabledAdmissionPlugins" | "disabledAdmissionPlugins"> {
  const all = read.list("admission-control");
  const enabledAdmissionPlugins = read.list("enable-admission-plugins");
  const disabledAdmissionPlugins = read.list("disable-admission-plugins");
  if (all.length === 0) return { enabledAdmissionPlugins, disabledAdmissionPlugins };
  if (enabledAdmissionPlugins.length + disabledAdmissionPlugins.length > 0) {
    throw new UsageError(
      "--admission-control names all plugins that run; give either that or --enable-admission-plugins and --disable-admission-plugins",
    );
  }
  const names = admissionPluginNames.map(({ name }) => name);
  const unknown = all.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--admission-control: there is no admission plugin ${JSON.stringify(unknown)}`);
  return {
    enabledAdmissionPlugins: all,
    disabledAdmissionPlugins: names.filter((name) => !all.includes(name)),
  };
}
