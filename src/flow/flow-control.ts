import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../base/time/clock.ts";
import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { FlowSchemaObject, PriorityLevelObject, PolicyRules } from "./objects.ts";
import { PriorityLevel } from "./priority-level.ts";
import type { FlowRequest, WaitingClient, Ticket } from "./request.ts";
import { giveOutBeside, seatRange, sharesOf, type SeatRange } from "./shares.ts";
import { type WaitMeters, SchemaFlows } from "./schema-flows.ts";
import { type Width, meansRequest, meansUser } from "./matching.ts";

/** Interval at which levels lend and borrow seats, in milliseconds. */
const adjustEveryMs = 10_000;

/** Settings of flow control. */
export interface FlowControlSettings {
  /** Seats of all levels together. */
  readonly seats: number;
  /** Longest wait of a request in a queue, in milliseconds. */
  readonly waitMs: number;
  /** Prefix of the names of system users, with its colon. */
  readonly systemPrefix: string;
  /** Prefix of the response headers with the uids of schema and level. */
  readonly headerPrefix: string;
  readonly clock: Clock;
  /** The wait-time metrics of a schema at a level. */
  readonly meters: (level: string, schema: string) => WaitMeters;
}

/** The configuration: flow schemas and priority levels, including the mandatory ones. */
export interface FlowObjects {
  readonly schemas: readonly FlowSchemaObject[];
  readonly levels: readonly PriorityLevelObject[];
}

interface LevelState {
  readonly level: PriorityLevel;
  readonly range: SeatRange;
}

interface LimitedState extends LevelState {
  readonly object: PriorityLevelObject;
}

/**
 * Priority and fairness: a request belongs to a flow schema, a schema to a priority level with its own seats, and the flows of a
 * level share these equally.
 */
export class FlowControl {
  /** Levels by name, including removed ones that still have requests. */
  readonly levels = new Map<string, PriorityLevel>();
  private readonly uses = new Map<string, FlowUse>();
  private limited: readonly LimitedState[] = [];
  /** Exempt levels with seats; others take part in no distribution. */
  private exempt: readonly LevelState[] = [];
  private classifier: Classifier<FlowUse>;
  private current: ReadonlySet<string> = new Set();
  private adjustAtMs: number;

  constructor(private readonly settings: FlowControlSettings) {
    this.classifier = new Classifier([], settings.systemPrefix);
    this.adjustAtMs = settings.clock.monotonicNow() + adjustEveryMs;
  }

  /** Applies a configuration to new requests; current ones keep their seats. */
  configure({ schemas, levels }: FlowObjects): void {
    const { seats } = this.settings;
    const shares = levels.reduce((sum, { spec }) => sum + sharesOf(spec), 0);
    this.current = new Set(levels.map(({ metadata }) => metadata.name));
    const before = new Map(this.limited.map(({ level, range }) => [level, range]));
    const limited: LimitedState[] = [];
    const exempt: LevelState[] = [];
    for (const object of levels) {
      const level = this.level(object);
      const { limited: limits, exempt: reserve } = object.spec;
      level.countsSeats = sharesOf(object.spec) > 0;
      if (!limits) {
        if (!reserve || !level.countsSeats) continue;
        const range = seatRange(seats, shares, reserve);
        exempt.push({ level, range });
        level.limit({ seats: range.nominal, queuing: undefined });
        continue;
      }
      const range = seatRange(seats, shares, limits);
      limited.push({ level, range, object });
      // Seats that are lent or borrowed stay so while the range is the same.
      const currentSeats = isDeepStrictEqual(before.get(level), range) ? level.seats : range.nominal;
      level.limit({ seats: currentSeats, queuing: queuingOf(object) });
    }
    this.limited = limited;
    this.exempt = exempt;
    const usable = schemas.filter(({ spec }) => this.current.has(spec.priorityLevelConfiguration.name));
    const classified = usable.map((schema): Classified<FlowUse> => ({ schema, value: this.useOf(schema) }));
    this.classifier = new Classifier(classified, this.settings.systemPrefix);
    this.forget(new Set(classified.map(({ value }) => value)));
  }

  /**
   * The schema and level of a request.
   *
   * @throws {Error} no schema matches, because the configuration has no mandatory catch-all for the user's groups.
   */
  classify(request: FlowRequest, user: UserInfo): FlowUse {
    return this.classifier.classify(request, user) ?? this.useOfRest();
  }

  /**
   * Admits a request; see {@link PriorityLevel.enter}.
   *
   * @throws {StatusError} TooManyRequests.
   */
  enter(
    use: FlowUse,
    width: Width,
    request: FlowRequest,
    user: UserInfo,
    client: WaitingClient,
  ): MaybePromise<Ticket> {
    if (this.settings.clock.monotonicNow() >= this.adjustAtMs) this.adjust();
    return use.level.enter({ use, width, request, user, client });
  }

  /** Moves seats between levels by their recent demand, once the interval is over. */
  adjust(): void {
    const now = this.settings.clock.monotonicNow();
    if (now < this.adjustAtMs) return;
    this.adjustAtMs = now + adjustEveryMs;
    const total = [...this.limited, ...this.exempt].reduce((sum, { range }) => sum + range.nominal, 0);
    const exempt = this.exempt.map(({ level, range }) => {
      level.demand.endPeriod(now);
      const { highest } = level.demand;
      level.limit({ seats: Math.max(range.least, highest), queuing: undefined });
      return { range, highest };
    });
    const claims = this.limited.map(({ level, range: { nominal, least, most } }) => {
      level.demand.endPeriod(now);
      const { highest, smooth } = level.demand;
      const floor = Math.max(least, Math.min(nominal, highest));
      return { minimum: least, least: floor, most, desired: Math.max(floor, smooth, 1e-9) };
    });
    for (const [index, seats] of giveOutBeside(total, exempt, claims).entries()) {
      const { level, object } = this.limited[index]!;
      level.limit({ seats: Math.round(seats), queuing: queuingOf(object) });
    }
  }

  /** Figures of every schema at every level. */
  get counters(): Iterable<FlowUse> {
    return this.uses.values();
  }

  /** Seats of each level that has some by the configuration. */
  get ranges(): readonly LevelState[] {
    return [...this.limited, ...this.exempt];
  }

  /** Whether the level is no longer in the configuration. */
  isLeaving(level: PriorityLevel): boolean {
    return !this.current.has(level.name);
  }

  private level({ metadata: { name, uid = "" }, spec }: PriorityLevelObject): PriorityLevel {
    let level = this.levels.get(name);
    if (level === undefined) {
      level = new PriorityLevel(name, this.settings.clock, this.settings.waitMs);
      this.levels.set(name, level);
    }
    level.uid = uid;
    level.exempt = spec.type === "Exempt";
    return level;
  }

  private useOf({ metadata: { name, uid = "" }, spec }: FlowSchemaObject): FlowUse {
    const use = this.use(name, this.levels.get(spec.priorityLevelConfiguration.name)!);
    const { headerPrefix } = this.settings;
    use.headers =
      uid === "" || use.level.uid === ""
        ? []
        : [`${headerPrefix}FlowSchema-UID`, uid, `${headerPrefix}PriorityLevel-UID`, use.level.uid];
    use.distinguisher = spec.distinguisherMethod?.type;
    return use;
  }

  /** The catch-all schema, for users who are in none of its groups. */
  private useOfRest(): FlowUse {
    const level = this.levels.get(catchAll);
    if (level === undefined) throw new Error("flow control isn't configured");
    return this.use(catchAll, level);
  }

  private use(schema: string, level: PriorityLevel): FlowUse {
    const key = JSON.stringify([level.name, schema]);
    let use = this.uses.get(key);
    if (use === undefined || use.level !== level) {
      use = new FlowUse(schema, level, this.settings.meters(level.name, schema));
      this.uses.set(key, use);
    }
    return use;
  }

  /** Forgets schemas and levels that are neither configured nor in use. */
  private forget(used: ReadonlySet<FlowUse>): void {
    for (const [key, use] of this.uses) {
      const idle = use.executing === 0 && use.waiting === 0;
      if (idle && !used.has(use) && use.schemaName !== catchAll) this.uses.delete(key);
    }
    for (const [name, level] of this.levels) {
      if (!this.current.has(name) && level.executing === 0 && level.waiting === 0) this.levels.delete(name);
    }
  }
}

const catchAll = "catch-all";

function queuingOf({ spec }: PriorityLevelObject) {
  const { type, queuing } = spec.limited!.limitResponse;
  return type === "Queue" ? (queuing ?? undefined) : undefined;
}

/** A flow schema and the value that belongs to it. */
interface Classified<T> {
  readonly schema: FlowSchemaObject;
  readonly value: T;
}

/** A schema and its rules for one user. */
interface Candidate<T> {
  readonly value: T;
  readonly rules: readonly PolicyRules[];
}

/**
 * Finds the flow schema of a request: of the matching ones, that with the lowest precedence, then the first by name. The schemas
 * that can match a user are cached by user object.
 */
export class Classifier<T> {
  private readonly ordered: readonly Classified<T>[];
  private readonly byUser = new WeakMap<UserInfo, readonly Candidate<T>[]>();

  constructor(
    schemas: readonly Classified<T>[],
    private readonly systemPrefix: string,
  ) {
    this.ordered = schemas.toSorted((a, b) => {
      const difference = a.schema.spec.matchingPrecedence - b.schema.spec.matchingPrecedence;
      return difference !== 0 ? difference : a.schema.metadata.name < b.schema.metadata.name ? -1 : 1;
    });
  }

  /** The value of the schema that matches the request; undefined if none matches. */
  classify(request: FlowRequest, user: UserInfo): T | undefined {
    let candidates = this.byUser.get(user);
    if (candidates === undefined) this.byUser.set(user, (candidates = this.candidatesOf(user)));
    for (const { value, rules } of candidates) {
      for (const rule of rules) if (meansRequest(rule, request)) return value;
    }
    return undefined;
  }

  private candidatesOf(user: UserInfo): Candidate<T>[] {
    return this.ordered
      .map(({ schema, value }) => ({
        value,
        rules: (schema.spec.rules ?? []).filter((rule) => meansUser(rule, user, this.systemPrefix)),
      }))
      .filter(({ rules }) => rules.length > 0);
  }
}

/** A flow schema at its priority level. */
export class FlowUse extends SchemaFlows {
  constructor(
    schemaName: string,
    readonly level: PriorityLevel,
    waits: WaitMeters,
  ) {
    super(schemaName, waits);
  }
}
