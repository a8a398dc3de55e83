import {
  distinct,
  plural,
  quoted,
  type Check,
  type CheckedPod,
  type Control,
  type Violation,
} from "./control.ts";
import { hostPathVolumes } from "./host-controls.ts";

/** Allowed volume types. */
const allowedSources: ReadonlySet<string> = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

/** Forbids volumes of other types. */
export const restrictedVolumes: Control = {
  id: "restrictedVolumes",
  level: "restricted",
  rules: [
    { since: 0, check: mountsOthers(allowedSources) },
    { since: 0, sinceServer: 33, check: mountsOthers(new Set([...allowedSources, "image"])) },
  ],
  replaces: hostPathVolumes.id,
};

function mountsOthers(allowed: ReadonlySet<string>): Check {
  return ({ spec }) => otherVolumes(spec.volumes ?? [], allowed);
}

function otherVolumes(
  volumes: NonNullable<CheckedPod["spec"]["volumes"]>,
  allowed: ReadonlySet<string>,
): Violation | undefined {
  const names: string[] = [];
  const restrictedTypes: string[] = [];
  for (const { name, ...volume } of volumes) {
    const sources = Object.entries(volume).flatMap(([type, source]) => (source === undefined ? [] : type));
    if (sources.some((type) => allowed.has(type))) continue;
    names.push(name);
    restrictedTypes.push(sources[0] ?? "unknown");
  }
  if (names.length === 0) return undefined;
  const types = distinct(restrictedTypes);
  const verb = names.length === 1 ? "uses" : "use";
  const which = `${plural(types, "restricted volume type")} ${quoted(types)}`;
  return {
    reason: "restricted volume types",
    detail: `${plural(names, "volume")} ${quoted(names)} ${verb} ${which}`,
  };
}
