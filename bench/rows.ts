/** What a scenario comes to. */
import { median, medianRatio, type Sample } from "./measure.ts";

export interface Aim {
  readonly kind: "at least" | "at most";
  readonly value: number;
}

/** One line of the table. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly product: number;
  readonly limit?: number | undefined;
  /** Of single times of which the product's figure is the longest, in milliseconds. */
  readonly times?: { readonly p50: number; readonly p99: number } | undefined;
  /** How the two are compared, and what comes of it. */
  readonly compare: "ratio" | "difference" | "none";
  readonly compared?: number | undefined;
  readonly aim?: Aim | undefined;
  readonly met?: boolean | undefined;
  /** Limit's over product's processor time a unit: what the ratio is when the servers are all that is slow. */
  readonly cpuRatio?: number | undefined;
  /** The longest turn of the product's event loop while the row was measured, in milliseconds; with a load, see there. */
  readonly longestTurnMs?: number | undefined;
  readonly load?: { readonly product: LoadFacts; readonly limit?: LoadFacts | undefined } | undefined;
}

/** Medians of the rounds of one side. */
export interface LoadFacts {
  /** Units a second in each round. */
  readonly rates: readonly number[];
  readonly p50: number;
  readonly p99: number;
  readonly megabytesPerSecond: number;
  readonly serverMicros: number | undefined;
  /** The longest of all rounds. */
  readonly longestTurnMs: number | undefined;
  /** Share of a processor that the load generator took: near 1 means that it, not the server, is what is measured. */
  readonly clientBusy: number;
}

function loadFacts(samples: readonly Sample[]): LoadFacts {
  const of = (read: (sample: Sample) => number): number => median(samples.map(read));
  const known = samples.every(({ serverMicros }) => serverMicros !== undefined);
  const turns = samples.flatMap(({ longestTurnMs }) => longestTurnMs ?? []);
  return {
    rates: samples.map(({ rate }) => Math.round(rate * 100) / 100),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
    megabytesPerSecond: of(({ bytes, seconds }) => bytes / seconds / 1e6),
    serverMicros: known ? of(({ serverMicros }) => serverMicros!) : undefined,
    longestTurnMs: turns.length === 0 ? undefined : Math.max(...turns),
    clientBusy: of(({ cpuMicros, seconds }) => cpuMicros / 1e6 / seconds),
  };
}

/** A row that says how much of its limit the product reaches; without limit, just what it does. */
export function ratioRow(
  name: string,
  unit: string,
  product: readonly Sample[],
  limit: readonly Sample[] | undefined,
  atLeast?: number,
): Row {
  const rate = median(product.map((sample) => sample.rate));
  const productLoad = loadFacts(product);
  if (limit === undefined)
    return { name, unit, product: rate, compare: "none", load: { product: productLoad } };
  const limitLoad = loadFacts(limit);
  const [limitMicros, productMicros] = [limitLoad.serverMicros, productLoad.serverMicros];
  return judged({
    name,
    unit,
    product: rate,
    limit: median(limit.map((sample) => sample.rate)),
    compare: "ratio",
    compared: medianRatio(product, limit),
    aim: atLeast === undefined ? undefined : { kind: "at least", value: atLeast },
    cpuRatio:
      limitMicros === undefined || productMicros === undefined ? undefined : limitMicros / productMicros,
    load: { product: productLoad, limit: limitLoad },
  });
}

/** A row that says how much more the product takes than its limit. */
export function differenceRow(
  name: string,
  unit: string,
  product: number,
  limit: number,
  atMost?: number,
): Row {
  const aim = atMost === undefined ? undefined : ({ kind: "at most", value: atMost } as const);
  return judged({ name, unit, product, limit, compare: "difference", compared: product - limit, aim });
}

/** A row that says how many times its limit the product takes. */
export function timesRow(name: string, unit: string, product: number, limit: number, atMost?: number): Row {
  const aim = atMost === undefined ? undefined : ({ kind: "at most", value: atMost } as const);
  return judged({ name, unit, product, limit, compare: "ratio", compared: product / limit, aim });
}

/** A row of one figure that has no limit beside it. */
export function valueRow(name: string, unit: string, product: number, atMost?: number): Row {
  const row = { name, unit, product, compare: "none" } as const;
  if (atMost === undefined) return row;
  return { ...row, aim: { kind: "at most", value: atMost }, met: product <= atMost };
}

/** A row of times that were measured one by one: the longest, which the aim is about, and two percentiles. */
export function timesOfRow(name: string, milliseconds: readonly number[], atMost?: number): Row {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return { ...valueRow(name, "ms", at(1), atMost), times: { p50: at(0.5), p99: at(0.99) } };
}

function judged(row: Row): Row {
  const { aim, compared } = row;
  if (aim === undefined || compared === undefined) return row;
  return { ...row, met: aim.kind === "at least" ? compared >= aim.value : compared <= aim.value };
}
