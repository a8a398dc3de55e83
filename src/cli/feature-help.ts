import type { Features } from "../server/features/feature-gates.ts";
import { idleFeatures } from "../server/features/idle-features.ts";

/** The part of the help text that lists the feature gates of a release, each with its stage and default. */
export function featureHelp({ gates }: Features): string {
  const rows = Object.entries(gates).map(([name, { stage, on }]) => {
    const idle = idleFeatures.has(name) ? ", no effect here" : "";
    return `  ${name} (${stage}, default ${on}${idle})`;
  });
  return `\nFeature gates:\n${rows.join("\n")}\n`;
}
