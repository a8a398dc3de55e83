import { guardedPlugin } from "../../admission/guarded-plugin.ts";
import { guardedAuthenticator } from "../../authentication/guarded-authenticator.ts";
import { authorizationModes } from "../../authorization/authorizer-chain.ts";
import { guardedAuthorizer } from "../../authorization/guarded-authorizer.ts";
import type { ExtensionGuard } from "../../base/extension.ts";
import { builtInControllers } from "../../controllers/all.ts";
import { guardedController } from "../../controllers/guarded-controller.ts";
import { checkExtensionKinds, KindFault } from "../../kinds/extension-kinds.ts";
import { guardedKinds } from "../../kinds/guarded-kind.ts";
import type { Kind } from "../../schema/kind.ts";
import { GuardedStore, isStore } from "../../storage/guarded-store.ts";
import type { Store } from "../../storage/store.ts";
import { pluginTable } from "./plugin-table.ts";
import type { Extensions } from "../options/extensions.ts";
import { OptionsError } from "../options/options-error.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** The extensions of the embedding program, validated and wrapped: an exception in one is logged and contained. */
export type GuardedExtensions = Required<Extensions> & {
  /** The store that the embedding program passes instead of storage options. */
  readonly store: Store | undefined;
};

/**
 * Validates the extensions and wraps each so that its exceptions don't reach the server.
 *
 * @throws {OptionsError} if an extension can't be used; the message names the option and the reason.
 */
export function guardedExtensions(options: ServerOptions): GuardedExtensions {
  const { extensions = {}, clock, log, storage } = options;
  const {
    kinds = [],
    admissionPlugins = [],
    authenticators = [],
    authorizers = [],
    controllers = [],
  } = extensions;
  checkNames("admissionPlugins", admissionPlugins, [
    ...pluginTable.map(({ name }) => name),
    "EscalationCheck",
  ]);
  checkNames("authenticators", authenticators, []);
  checkNames("authorizers", authorizers, [...authorizationModes, "privileged group"]);
  checkNames(
    "controllers",
    controllers,
    builtInControllers.map(({ name }) => name),
  );
  for (const [index, { mutate, validate }] of admissionPlugins.entries()) {
    if (mutate === undefined && validate === undefined)
      throw new OptionsError(`admissionPlugins[${index}]: it must have the method mutate or validate`);
  }
  checkKinds(kinds, options);
  const guard: ExtensionGuard = {
    clock,
    failed: (extension, error) => log.error({ extension, error: stackOf(error) }, `${extension} failed`),
  };
  return {
    kinds: guardedKinds(kinds),
    admissionPlugins: admissionPlugins.map((one) => guardedPlugin(one, guard)),
    authenticators: authenticators.map((one) => ({ ...guardedAuthenticator(one, guard), name: one.name })),
    authorizers: authorizers.map((one) => ({ ...guardedAuthorizer(one, guard), name: one.name })),
    controllers: controllers.map((one) => guardedController(one, guard)),
    store: isStore(storage) ? new GuardedStore(storage, guard) : undefined,
  };
}

/** The form of an extension's name, which appears in logs, metrics and flags. */
const nameForm = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;

function checkNames(
  option: string,
  extensions: readonly { readonly name: string }[],
  builtIn: readonly string[],
): void {
  const names = new Set<string>();
  for (const [index, { name }] of extensions.entries()) {
    const label = `${option}[${index}].name: ${JSON.stringify(name)}`;
    if (!nameForm.test(name)) throw new OptionsError(`${label} is not a name of letters, digits, -, _ and .`);
    if (builtIn.includes(name)) throw new OptionsError(`${label} is the name of a built-in extension`);
    if (names.has(name)) throw new OptionsError(`${label} is used twice`);
    names.add(name);
  }
}

function checkKinds(kinds: readonly Kind[], { vocabulary }: ServerOptions): void {
  try {
    checkExtensionKinds(kinds, vocabulary);
  } catch (error) {
    if (error instanceof KindFault) throw new OptionsError(`kinds: ${error.message}`);
    throw error;
  }
}
