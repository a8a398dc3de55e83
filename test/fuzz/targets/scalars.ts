import { scheduleFault } from "../../../src/base/time/cron.ts";
import { formatDuration, parseDuration, parseDurationInDays } from "../../../src/base/time/duration.ts";
import { parseTime } from "../../../src/base/time/timestamps.ts";
import { addressBytes, addressNumber, isAddress } from "../../../src/base/network/ip-address.ts";
import * as names from "../../../src/base/names.ts";
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  QuantityFault,
} from "../../../src/base/quantity.ts";
import { parseCelDuration, parseDate, parseTimestamp, timestampText } from "../../../src/cel/values/times.ts";
import { escapedPath, parseUrl } from "../../../src/cel/values/url.ts";
import { parseDurationFormat } from "../../../src/schema/custom/duration-format.ts";
import { isIP } from "node:net";
import { attempt, textOf, type Target } from "../target.ts";

/** Quantities: the canonical text of a quantity is the same quantity, except that its fraction may be rounded up. */
export const quantityTarget: Target = {
  name: "quantity",
  files: ["src/base/quantity.ts"],
  seeds: ["0", "1500m", "2Gi", "12e6", "-0.5E", "1.000000001", "9223372036854775807", "+3.25Ki", "1e-9"],
  dictionary: ["Ki", "Mi", "Ei", "n", "u", "m", "k", "E", "e3", "e-3", ".", "-", "+"],
  maxBytes: 256,
  run(bytes) {
    const quantity = attempt(() => parseQuantity(textOf(bytes)), QuantityFault);
    if (quantity === undefined) return;
    const text = formatQuantity(quantity);
    const again = parseQuantity(text);
    if (formatQuantity(again) !== text) throw new Error(`${text} is not canonical`);
    const isFraction = quantity.nanos % 1_000_000_000n !== 0n;
    if (!isFraction && compareQuantities(quantity, again) !== 0)
      throw new Error(`${text} is another quantity`);
  },
};

/** Durations in Go's format and those of custom resources and expressions. */
export const durationTarget: Target = {
  name: "duration",
  files: ["src/base/time/duration.ts", "src/schema/custom/duration-format.ts", "src/cel/values/times.ts"],
  seeds: ["1h30m", "1.5s", "-10ms", "0", "2562047h47m16.854775807s", "1us3ns", "P1D", "1 week 2 days"],
  dictionary: ["h", "m", "s", "ms", "us", "µs", "ns", ".", "-", "+", "P", "T", " days"],
  maxBytes: 512,
  run(bytes) {
    const text = textOf(bytes);
    parseDurationInDays(text);
    parseDurationFormat(text);
    parseCelDuration(text);
    const nanos = parseDuration(text);
    if (nanos !== undefined && parseDuration(formatDuration(nanos)) !== nanos) {
      throw new Error(`${formatDuration(nanos)} is another duration`);
    }
  },
};

/** Timestamps of objects and expressions: the text of a timestamp is the same one. */
export const timestampTarget: Target = {
  name: "timestamp",
  files: ["src/cel/values/times.ts", "src/base/time/timestamps.ts"],
  seeds: [
    "2026-01-02T03:04:05Z",
    "2026-01-02T03:04:05.123456789+01:30",
    "0001-01-01T00:00:00Z",
    "2026-01-02",
  ],
  dictionary: ["T", "Z", ":", "-", "+00:00", ".000000001", "9999", "0000", "60"],
  maxBytes: 256,
  run(bytes) {
    parseDate(textOf(bytes));
    const timeMs = parseTime(textOf(bytes));
    const canonical = timeMs === undefined ? "" : new Date(timeMs).toISOString();
    // An offset can lead to a year of more than four digits.
    if (canonical.length === 24 && parseTime(canonical) !== timeMs)
      throw new Error(`${canonical} is another time`);
    const time = parseTimestamp(textOf(bytes));
    if (time === undefined) return;
    const again = parseTimestamp(timestampText(time));
    if (again?.nanos !== time.nanos) throw new Error(`${timestampText(time)} is another time`);
  },
};

/** IP addresses: the same ones as in node:net. */
export const addressTarget: Target = {
  name: "address",
  files: ["src/base/network/ip-address.ts"],
  seeds: ["127.0.0.1", "::1", "fe80::1%eth0", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"],
  dictionary: [":", "::", ".", "%", "255", "ffff", "0"],
  maxBytes: 128,
  run(bytes) {
    const text = textOf(bytes);
    if (isAddress(text) !== (isIP(text) !== 0)) throw new Error("isAddress and isIP differ");
    if (!isAddress(text) || text.includes("%")) return;
    const { length } = addressBytes(text);
    const limit = 1n << BigInt(length * 8);
    if (addressNumber(text) < 0n || addressNumber(text) >= limit)
      throw new Error("the address is out of range");
  },
};

/** URLs of expressions: the path, escaped again, is a valid path. */
export const urlTarget: Target = {
  name: "url",
  files: ["src/cel/values/url.ts"],
  seeds: ["https://user@example.com:80/a%20b?x=1#f", "/a/b?c", "http://[::1]:8080/", "mailto:a@b"],
  dictionary: ["://", "/", "?", "#", "%20", "%", "@", ":", "[::1]", "\\"],
  run(bytes) {
    const url = parseUrl(textOf(bytes));
    if (url === undefined) return;
    // The decoded bytes may be no UTF-8.
    if (!/^(?:[!-$&-~]|%[0-9A-Fa-f]{2})*$/.test(escapedPath(url))) throw new Error("the path isn't escaped");
  },
};

/** Names and schedules, which have no decoder: checking them never fails, whatever the text. */
export const nameTarget: Target = {
  name: "name",
  files: ["src/base/names.ts", "src/base/time/cron.ts"],
  seeds: ["a", "example.com/a", "*.example.com", "*/5 0-23 1,15 jan-dec mon", "@daily", "TZ=UTC 0 0 * * *"],
  dictionary: ["/", ".", "-", "*", "*/", " ", ",", "@every 1h", "CRON_TZ=", "a".repeat(63)],
  run(bytes) {
    const text = textOf(bytes);
    scheduleFault(text);
    names.dnsLabelFaults(text);
    names.dns1035LabelFaults(text);
    names.dnsSubdomainFaults(text);
    names.wildcardSubdomainFaults(text);
    names.qualifiedNameFaults(text);
    names.labelValueFaults(text);
    names.pathSegmentFaults(text);
    names.configMapKeyFaults(text);
  },
};
