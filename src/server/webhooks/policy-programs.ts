import { PolicyPrograms } from "../../admission/policies/environment.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Returns the expressions of policies and webhooks for the release and the gates of a server. */
export function policyPrograms(options: ServerOptions): PolicyPrograms {
  const checkSelectors = featureGates(options).enabled("AuthorizeWithSelectors");
  return new PolicyPrograms({ release: options.release, checkSelectors });
}
