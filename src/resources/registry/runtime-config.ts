import { apiVersionOf } from "../../base/object-errors.ts";
import type { Kind } from "../../schema/kind.ts";

/** An invalid `--runtime-config`. */
export class RuntimeConfigError extends Error {
  override name = "RuntimeConfigError";
}

/** The versions and resources that differ from their defaults, on or off (spec: conventions 9.1). */
export class RuntimeConfig {
  private constructor(private readonly settings: ReadonlyMap<string, boolean>) {}

  /** All defaults. */
  static readonly none = new RuntimeConfig(new Map());

  /**
   * Reads comma-separated `key[=value]` pairs, where a key is `GROUP/VERSION`, `v1` for the core group,
   * `GROUP/VERSION/RESOURCE`, or `api/all`, `api/ga`, `api/beta`, `api/alpha`; without a value it is on.
   *
   * @param groupVersions every group version that could be served; other keys are refused.
   * @throws {RuntimeConfigError}
   */
  static parse(text: string, groupVersions: ReadonlyMap<string, ReadonlySet<string>>): RuntimeConfig {
    const settings = new Map<string, boolean>();
    for (const pair of text.split(",").map((one) => one.trim())) {
      if (pair === "") continue;
      const [rawKey = "", value = "true"] = pair.split("=", 2);
      const key = rawKey.replace(/^api\/(v\d)/, "$1");
      if (value !== "true" && value !== "false") {
        throw new RuntimeConfigError(
          `${JSON.stringify(pair)}: the value is true or false, not ${JSON.stringify(value)}`,
        );
      }
      checkKey(key, groupVersions);
      settings.set(key, value === "true");
    }
    return new RuntimeConfig(settings);
  }

  /** Whether the resource of a kind is served: by the most specific setting, otherwise by its default. */
  serves(group: string, kind: Kind): boolean {
    const version = apiVersionOf(group, kind.version);
    return (
      this.settings.get(`${version}/${kind.resource}`) ??
      this.settings.get(version) ??
      this.settings.get(`api/${levelOf(kind.version)}`) ??
      this.settings.get("api/all") ??
      kind.servedByDefault
    );
  }

  /** Whether a version without resources is on; it is off by default. */
  enables(version: string): boolean {
    const level = levelOf(version.slice(version.indexOf("/") + 1));
    return (
      this.settings.get(version) ?? this.settings.get(`api/${level}`) ?? this.settings.get("api/all") ?? false
    );
  }
}

function levelOf(version: string): "alpha" | "beta" | "ga" {
  if (version.includes("alpha")) return "alpha";
  return version.includes("beta") ? "beta" : "ga";
}

const wholeLevels = new Set(["api/all", "api/ga", "api/beta", "api/alpha"]);

function checkKey(key: string, groupVersions: ReadonlyMap<string, ReadonlySet<string>>): void {
  if (wholeLevels.has(key) || groupVersions.has(key)) return;
  const slash = key.lastIndexOf("/");
  const version = key.slice(0, Math.max(0, slash));
  const resources = groupVersions.get(version);
  if (resources?.has(key.slice(slash + 1)) === true) return;
  if (resources !== undefined)
    throw new RuntimeConfigError(`${JSON.stringify(key)}: ${version} has no such resource`);
  throw new RuntimeConfigError(
    `${JSON.stringify(key)} is not a group version (like batch/v1 or v1), a resource of one, or api/all, api/ga, api/beta, api/alpha`,
  );
}
