import type { AdmissionPlugin } from "../../admission/admission-chain.ts";
import type { NamedAuthenticator } from "../../authentication/guarded-authenticator.ts";
import type { NamedAuthorizer } from "../../authorization/guarded-authorizer.ts";
import type { Controller } from "../../controllers/controller.ts";
import type { Kind } from "../../schema/kind.ts";

/** What a program adds to a server that it embeds; `docs/extensions.md` says where each stands. */
export interface Extensions<Kinds extends readonly Kind[] = readonly Kind[]> {
  /** Kinds of groups of its own, served like the built-in ones. */
  readonly kinds?: Kinds;
  /** Asked after the built-in admission plugins that change objects, and before quotas. */
  readonly admissionPlugins?: readonly AdmissionPlugin[];
  /** Asked after the built-in methods, in order, and before a request counts as anonymous. */
  readonly authenticators?: readonly NamedAuthenticator[];
  /** Asked where `authorizationModes` names them, else after all modes, in order. */
  readonly authorizers?: readonly NamedAuthorizer[];
  /** Started after the built-in controllers. */
  readonly controllers?: readonly Controller[];
}
