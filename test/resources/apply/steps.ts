import type { Topology } from "./thing.ts";

type Body = Readonly<Record<string, unknown>>;

/** How a step differs from a plain one, and what comes of it. */
export interface Options {
  /** `v1` unless given. */
  readonly version?: "v1beta1";
  /** The subresource that is written. */
  readonly through?: "status" | "scale";
  readonly force?: boolean;
  readonly dryRun?: boolean;
  /** Of what is applied or written. */
  readonly metadata?: Body;
  /** How unknown fields are taken. */
  readonly strict?: boolean;
  /** The reason for which it is refused, and what the message says beside. */
  readonly refused?: readonly [reason: string, ...texts: string[]];
  /** It leaves the object as it is, with its version. */
  readonly changesNothing?: boolean;
}

/** One write to the thing of a row, or a new declaration of its kind. */
export type Step = { readonly options: Options } & (
  | {
      readonly verb: "apply" | "create" | "update";
      readonly manager: string;
      readonly body: unknown;
      /** The body is all that is sent: what says of which kind it is isn't added. */
      readonly isWhole?: boolean;
    }
  | { readonly verb: "json" | "merge" | "strategic"; readonly manager: string; readonly body: unknown }
  | { readonly verb: "redeclare"; readonly topology: Topology }
);

/** Some steps, and what stands after them. */
export interface Row {
  /** What the steps show, in the words of the specification. */
  readonly rule: string;
  readonly steps: readonly Step[];
  /** Fields of the thing; undefined where there is none. */
  readonly thing: Body | undefined;
  /** Fields by owner: `me` applied, `me updates` wrote; then the subresource and the version where they aren't the plain ones. */
  readonly owners: Readonly<Record<string, readonly string[]>>;
}

/** A manager applies. */
export function apply(manager: string, body: Body, options: Options = {}): Step {
  return { verb: "apply", manager, body, options };
}

/** A manager applies something that may be no object, or not say what it is. */
export function applyWhole(manager: string, body: unknown, options: Options): Step {
  return { verb: "apply", manager, body, isWhole: true, options };
}

/** A manager creates, POST. */
export function create(manager: string, body: Body, options: Options = {}): Step {
  return { verb: "create", manager, body, options };
}

/** A manager replaces the whole, PUT. */
export function update(manager: string, body: Body, options: Options = {}): Step {
  return { verb: "update", manager, body, options };
}

/** A manager patches, PATCH. */
export function patch(
  manager: string,
  kind: "json" | "merge" | "strategic",
  body: unknown,
  options: Options = {},
): Step {
  return { verb: kind, manager, body, options };
}

/** The kind is declared anew, as by a later release. */
export function redeclare(topology: Topology): Step {
  return { verb: "redeclare", topology, options: {} };
}
