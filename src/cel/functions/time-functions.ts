import { declareFunction, type CelFunction } from "./function-table.ts";
import { timePart, type TimePart } from "../values/times.ts";
import { Duration, noOverload, Timestamp } from "../values/values.ts";

const partsOfTimes: readonly TimePart[] = [
  "getFullYear",
  "getMonth",
  "getDayOfYear",
  "getDayOfMonth",
  "getDate",
  "getDayOfWeek",
];
const partsOfBoth: ReadonlyMap<TimePart, bigint> = new Map([
  ["getHours", 3_600_000_000_000n],
  ["getMinutes", 60_000_000_000n],
  ["getSeconds", 1_000_000_000n],
  ["getMilliseconds", 1_000_000n],
]);

const ofTime = ["timestamp.() -> int", "timestamp.(string) -> int"];

function part(name: TimePart, nanosEach: bigint | undefined): CelFunction {
  const signatures = nanosEach === undefined ? ofTime : [...ofTime, "duration.() -> int"];
  return declareFunction(signatures, ([value, zone], meter) => {
    if (value instanceof Duration && nanosEach !== undefined && zone === undefined) {
      return value.nanos / nanosEach;
    }
    if (!(value instanceof Timestamp) || (zone !== undefined && typeof zone !== "string")) return noOverload;
    meter.work(zone === undefined ? 40 : 10_000);
    return timePart(value, name, zone);
  });
}

/** Functions for components of timestamps and durations. */
export const timeFunctions: readonly (readonly [string, CelFunction])[] = [
  ...partsOfTimes.map((name) => [name, part(name, undefined)] as const),
  ...[...partsOfBoth].map(([name, nanosEach]) => [name, part(name, nanosEach)] as const),
];
