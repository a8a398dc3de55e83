/** The requests that a rule matches; a missing member matches everything. */
export interface FaultMatch {
  /**
   * Verbs of the API: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. By default all to which the
   * effect applies.
   */
  readonly verbs?: readonly string[] | undefined;
  /** API group as requests name it; empty for the core group. */
  readonly group?: string | undefined;
  /** Resource type, plural: `configmaps`. */
  readonly resource?: string | undefined;
  /** Subresource, such as `status`; empty for requests without one. */
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  /** Name of the object. Lists and creates have none; effects on watch events match the object of the event. */
  readonly name?: string | undefined;
  readonly user?: string | undefined;
}

/**
 * What happens to a matching request or watch event. One of:
 *
 * - `error`: the request is answered with this status: 409 is AlreadyExists for a create, else Conflict; 410 (Expired) is for lists and
 *   watches; 429 has `Retry-After`. With `applied`, the request is carried out first and only its answer is replaced, as when a
 *   request times out.
 * - `disconnect`: the connection ends without an answer; a client in the process gets a `ConnectionLostError`. With `applied`, the
 *   request is carried out first.
 * - `delayMs`, `delayTurns`: the request waits, by the server's clock or for turns of the event loop. Turns make a test with a
 *   controller in the process repeatable.
 * - `staleBy`: a list or get answers from the state this many revisions ago, as a cache that is behind, with the resource version of
 *   then. Never from a state before the request's `resourceVersion`, or before a state that the same controller has seen in a list
 *   or watch of the resource type since its start; a list after a crash may go back further.
 * - `delayEventMs`, `delayEventTurns`: a watch event and all later ones of the watch arrive later.
 * - `repeatEvent`: a watch event arrives twice, as after a reconnect.
 * - `dropEvent`: a watch event is lost and the watch continues. An API server never does this; it shows whether a controller depends
 *   on each event. Not in the default mix of `explore`.
 * - `endWatch`: the watch ends before the event: `closed` as at its normal end, `expired` with an ERROR event of code 410 while lists
 *   work, `disconnected` without the end of the response. Nothing is lost: the client lists or watches again.
 * - `crash`: the user's controller stops, before or after the matching write is carried out; see {@link Faults.onCrash}.
 */
export type FaultEffect =
  | {
      readonly error: 409 | 410 | 429 | 500 | 503 | 504;
      readonly applied?: boolean;
      readonly retryAfterSeconds?: number;
    }
  | { readonly disconnect: true; readonly applied?: boolean }
  | { readonly delayMs: number }
  | { readonly delayTurns: number }
  | { readonly staleBy: number }
  | { readonly delayEventMs: number }
  | { readonly delayEventTurns: number }
  | { readonly repeatEvent: true }
  | { readonly dropEvent: true }
  | { readonly endWatch: "closed" | "expired" | "disconnected" }
  | { readonly crash: "before" | "after" };

/**
 * When a fault happens. Matches are counted for each user, and watch events for each user and resource type, so that the decisions
 * depend only on the order of one user's requests.
 *
 * @example
 * // The second write of the controller is carried out, and its answer is lost.
 * const rule: FaultRule = { on: { user: "operator" }, after: 1, times: 1, effect: { crash: "after" } };
 */
export interface FaultRule {
  /** The requests, or for effects on events the watches; all by default. */
  readonly on?: FaultMatch | undefined;
  /** Number of matches that are left alone first; 0 by default. */
  readonly after?: number | undefined;
  /** Of the following, only each such one, beginning with the first: 2 is every other. 1 by default. */
  readonly every?: number | undefined;
  /** Probability from 0 to 1, decided by the seed; 1 by default. */
  readonly probability?: number | undefined;
  /** Maximum number of faults; 1 for a crash, otherwise unlimited by default. */
  readonly times?: number | undefined;
  readonly effect: FaultEffect;
}

/** The names of the effects. */
export type EffectName =
  | "error"
  | "disconnect"
  | "delayMs"
  | "delayTurns"
  | "staleBy"
  | "delayEventMs"
  | "delayEventTurns"
  | "repeatEvent"
  | "dropEvent"
  | "endWatch"
  | "crash";

const writes = ["create", "update", "patch", "delete", "deletecollection"] as const;
const allVerbs: readonly string[] = ["get", "list", "watch", ...writes];
const watches = ["watch"];

/** The verbs to which an effect applies, and whether its value is allowed. */
const effects: Readonly<
  Record<EffectName, { readonly verbs: readonly string[]; allows(value: unknown): boolean }>
> = {
  error: {
    verbs: allVerbs,
    allows: (value) => [409, 410, 429, 500, 503, 504].includes(value as number),
  },
  disconnect: { verbs: allVerbs, allows: (value) => value === true },
  delayMs: { verbs: allVerbs, allows: isPositive },
  delayTurns: { verbs: allVerbs, allows: isPositive },
  staleBy: { verbs: ["get", "list"], allows: isPositive },
  delayEventMs: { verbs: watches, allows: isPositive },
  delayEventTurns: { verbs: watches, allows: isPositive },
  repeatEvent: { verbs: watches, allows: (value) => value === true },
  dropEvent: { verbs: watches, allows: (value) => value === true },
  endWatch: {
    verbs: watches,
    allows: (value) => ["closed", "expired", "disconnected"].includes(value as string),
  },
  crash: { verbs: writes, allows: (value) => value === "before" || value === "after" },
};

const namesOfEffects = Object.keys(effects) as EffectName[];
const eventEffects: ReadonlySet<EffectName> = new Set([
  "delayEventMs",
  "delayEventTurns",
  "repeatEvent",
  "dropEvent",
  "endWatch",
]);

/** Returns which effect it is. */
export function effectName(effect: FaultEffect): EffectName {
  return namesOfEffects.find((name) => Object.hasOwn(effect, name))!;
}

/** Whether an effect is on watch events instead of requests. */
export function isOnEvents(effect: FaultEffect): boolean {
  return eventEffects.has(effectName(effect));
}

/** Returns the verbs to which an effect applies. */
export function verbsOf(effect: FaultEffect): readonly string[] {
  if ("error" in effect && effect.error === 409) return writes;
  if ("error" in effect && effect.error === 410) return ["list", "watch"];
  return effects[effectName(effect)].verbs;
}

/**
 * Checks a rule, which may come from untyped code.
 *
 * @throws {TypeError} it names the member, the value and what is allowed.
 */
export function checkRule(rule: FaultRule): void {
  const { effect, on = {} } = rule;
  checkEffect(effect);
  checkMembers("a fault", rule, ruleMembers);
  checkMembers("on of a fault", on, matchMembers);
  const members: Record<string, readonly [value: unknown, isAllowed: boolean, allowed: string]> = {
    after: [rule.after, isCount(rule.after), "a whole number from 0"],
    every: [rule.every, rule.every === undefined || isPositive(rule.every), "a whole number from 1"],
    times: [rule.times, rule.times === undefined || isPositive(rule.times), "a whole number from 1"],
    probability: [rule.probability, isProbability(rule.probability), "a number from 0 to 1"],
  };
  for (const [member, [value, isAllowed, allowed]] of Object.entries(members)) {
    if (!isAllowed) throw new TypeError(`${member} of a fault is ${JSON.stringify(value)}, not ${allowed}`);
  }
  const applicable = verbsOf(effect);
  const wrong = (on.verbs ?? []).find((verb) => !applicable.includes(verb));
  if (wrong === undefined) return;
  throw new TypeError(
    `verbs of a fault with ${effectName(effect)} are ${applicable.join(", ")}, not ${JSON.stringify(wrong)}`,
  );
}

const ruleMembers = ["on", "after", "every", "probability", "times", "effect"];
const matchMembers = ["verbs", "group", "resource", "subresource", "namespace", "name", "user"];

/** A misspelled member would make the rule match more than its author means. */
function checkMembers(subject: string, value: object, allowed: readonly string[]): void {
  const unknown = Object.keys(value).find((member) => !allowed.includes(member));
  if (unknown === undefined) return;
  throw new TypeError(`${subject} has ${allowed.join(", ")}, not ${JSON.stringify(unknown)}`);
}

function checkEffect(effect: FaultEffect): void {
  const names = namesOfEffects.filter((name) => Object.hasOwn(effect ?? {}, name));
  const [name] = names;
  if (name === undefined || names.length > 1) {
    throw new TypeError(
      `effect of a fault has one of ${namesOfEffects.join(", ")}, not ${JSON.stringify(effect)}`,
    );
  }
  const value = (effect as unknown as Record<string, unknown>)[name];
  if (!effects[name].allows(value))
    throw new TypeError(`effect of a fault: ${name} can't be ${JSON.stringify(value)}`);
}

function isPositive(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isCount(value: unknown): boolean {
  return value === undefined || value === 0 || isPositive(value);
}

function isProbability(value: unknown): boolean {
  return value === undefined || (typeof value === "number" && value >= 0 && value <= 1);
}
