import type { AdmissionPlugin } from "../../admission/admission-chain.ts";
import type { NamedAuthenticator } from "../../authentication/guarded-authenticator.ts";
import type { NamedAuthorizer } from "../../authorization/guarded-authorizer.ts";
import type { Controller } from "../../controllers/controller.ts";
import type { Kind } from "../../schema/kind.ts";

/** Extensions of the embedding program. `docs/extensions.md` describes when the server calls each. */
export interface Extensions<Kinds extends readonly Kind[] = readonly Kind[]> {
  /** Kinds in groups of the program, served like the built-in kinds. */
  readonly kinds?: Kinds;
  /** Called after the built-in plugins, and before admission webhooks, ResourceQuota and the escalation check. */
  readonly admissionPlugins?: readonly AdmissionPlugin[];
  /** Called in order after the built-in methods; if none accepts the request, it is anonymous. */
  readonly authenticators?: readonly NamedAuthenticator[];
  /** Called in the order of `authorizationModes`; those that it doesn't name are called after all modes. */
  readonly authorizers?: readonly NamedAuthorizer[];
  /** Started after the built-in controllers. */
  readonly controllers?: readonly Controller[];
}
