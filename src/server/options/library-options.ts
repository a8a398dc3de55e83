import { systemClock, type Clock } from "../../base/time/clock.ts";
import { silentLogger, type Logger } from "../../base/logger.ts";
import type { Kind } from "../../schema/kind.ts";
import { storeMethods } from "../../storage/guarded-store.ts";
import type { Store } from "../../storage/store.ts";
import { kubernetes } from "../../vocabulary/kubernetes.ts";
import { platform } from "../../vocabulary/platform.ts";
import type { Extensions } from "./extensions.ts";
import { checkShape, methods } from "./code-shape.ts";
import { extensionShapes, store } from "./extension-shapes.ts";
import { serverOptionTable } from "./option-table.ts";
import type { ServerOptions } from "./server-options.ts";
import { testOptionKeys, testOptionsOf, type TestOptions } from "./test-options.ts";
import { completeOptions, flagNames, isObject, settingsOf } from "./settings.ts";
import type { StorageOptions, ValueOptions } from "./option-types.ts";
import type { ValueSettings } from "./settings-types.ts";

/**
 * The options of {@link createServer}; everything has a default that suits tests.
 *
 * @typeParam Kinds the kinds that the program adds.
 */
export interface CreateServerOptions<Kinds extends readonly Kind[] = readonly Kind[]>
  extends Omit<ValueOptions, "storage">, Extensions<Kinds>, TestOptions {
  /**
   * Where objects are stored; by default in memory. A store of the program's own, which passes the suite in
   * `plinth/storage-conformance`, stays open when the server stops.
   */
  readonly storage?: StorageOptions | Store | undefined;
  /** Source of the time, for tests: see `manualClock`. By default the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** Receives the log; by default nothing is logged. */
  readonly log?: Logger | undefined;
}

/** The options that are objects with code. */
const codeShapes = {
  ...extensionShapes,
  clock: methods("now", "monotonicNow", "setTimer"),
  log: methods("info", "warn", "error"),
};
/** The options that the table of options doesn't have. */
const otherKeys = [...Object.keys(codeShapes), ...testOptionKeys];

/**
 * Checks and completes the options of the library.
 *
 * @throws {OptionsError} a wrong value or an unknown option, which it names.
 */
export function serverOptionsOf(options: CreateServerOptions): ServerOptions {
  // The argument may come from untyped code.
  const values: unknown = options;
  const ownStore = isObject(values) && isStoreLike(values["storage"]);
  const others = ownStore ? [...otherKeys, "storage"] : otherKeys;
  const settings = settingsOf(serverOptionTable, values, { others });
  for (const [key, shape] of Object.entries(codeShapes))
    checkShape(options[key as keyof CreateServerOptions], shape, key);
  if (ownStore) checkShape(options.storage, store, "storage");
  const { vocabulary, storage, ...rest } = completeOptions(
    serverOptionTable,
    settings,
    "library",
  ) as ValueSettings;
  const { clock = systemClock, log = silentLogger } = options;
  return {
    ...rest,
    ...testOptionsOf(options, !ownStore && storage.engine === "memory"),
    vocabulary: vocabulary === "kubernetes" ? kubernetes : platform,
    storage: ownStore ? (options.storage as Store) : storage,
    extensions: extensionsOf(options),
    clock,
    log: logInLibraryTerms(log),
  };
}

/** Whether a value has a method of a store, even if it lacks others. */
function isStoreLike(value: unknown): boolean {
  return isObject(value) && storeMethods.some((method) => typeof value[method] === "function");
}

/** The options of {@link Extensions} alone. */
function extensionsOf(options: Extensions): Extensions {
  const { kinds, admissionPlugins, authenticators, authorizers, controllers } = options;
  return {
    ...(kinds && { kinds }),
    ...(admissionPlugins && { admissionPlugins }),
    ...(authenticators && { authenticators }),
    ...(authorizers && { authorizers }),
    ...(controllers && { controllers }),
  };
}

const pathOfFlag = new Map([
  ...[...flagNames(serverOptionTable)].map(([path, flag]) => [flag, path] as const),
  ["--data-dir", "storage.dir"] as const,
]);

/** Replaces flags by the options of the library in the message of an error, and in those of its causes; returns the same error. */
export function inLibraryTerms(error: unknown): unknown {
  return renamedOptions(error, pathOfFlag);
}

/** Returns a logger whose messages, and the errors in their fields, name options of the library instead of flags. */
function logInLibraryTerms(log: Logger): Logger {
  if (log === silentLogger) return log;
  const renamed = (text: string): string => renamedFlags(text, pathOfFlag);
  const fieldsOf = (facts: object): object => {
    const { error } = facts as { readonly error?: unknown };
    return typeof error === "string" ? { ...facts, error: renamed(error) } : facts;
  };
  return {
    info: (facts, message) => log.info(fieldsOf(facts), renamed(message)),
    warn: (facts, message) => log.warn(fieldsOf(facts), renamed(message)),
    error: (facts, message) => log.error(fieldsOf(facts), renamed(message)),
  };
}

/** Maximum number of causes of an error whose messages are changed. */
const maxCauses = 8;

/**
 * Replaces flags in the message of an error that ends a start, and in those of its causes. Its class and other members stay, by which programs
 * distinguish errors.
 *
 * @param names the replacements by flag, with its dashes.
 * @returns the same error.
 */
export function renamedOptions(error: unknown, names: ReadonlyMap<string, string>): unknown {
  let one = error;
  for (let depth = 0; one instanceof Error && depth <= maxCauses; depth++, one = one.cause) {
    const before = one.message;
    const message = renamedFlags(before, names);
    if (message === before) continue;
    one.message = message;
    // The stack repeats the message.
    if (one.stack !== undefined) one.stack = one.stack.replace(before, () => message);
  }
  return error;
}

function renamedFlags(text: string, names: ReadonlyMap<string, string>): string {
  if (!text.includes("--")) return text;
  return text.replaceAll(/(?<![\w-])--[a-z0-9-]+/g, (flag) => names.get(flag) ?? flag);
}
