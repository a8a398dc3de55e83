import { defaultRelease, isLater, type Release } from "../../base/releases.ts";
import type { KindContext } from "../../schema/context.ts";

/** Whether a feature is enabled that later releases have; false in a release before the first one with its gate. */
export function hasFeature(
  { release = defaultRelease, enabled }: Pick<KindContext, "release" | "enabled">,
  gate: string,
  since: Release,
): boolean {
  return !isLater(since, release) && enabled(gate);
}
