import type { Features } from "../../server/features/feature-gates.ts";
import { idleReason } from "../../server/features/idle-features.ts";

/** Returns the part of the help text with the feature gates of a release, their stage and default. */
export function featureHelp({ gates }: Features): string {
  const rows = Object.entries(gates).map(([name, { stage, on }]) => {
    const idle = idleReason(name) !== undefined ? ", no effect here" : "";
    return `  ${name} (${stage}, default ${on}${idle})`;
  });
  return `\nFeature gates:\n${rows.join("\n")}\n`;
}
