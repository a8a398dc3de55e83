import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { inspect } from "node:util";
import { pino } from "pino";
import { systemClock } from "../base/time/clock.ts";
import type { Logger } from "../base/logger.ts";
import { paint, usesColor, type Color } from "./terminal/terminal.ts";

const standardOutput = 1;
const standardError = 2;
const levels = ["debug", "info", "warn", "error", "silent"] as const;

/** A minimum level of log entries. */
export type LogLevel = (typeof levels)[number];

/** `auto` is `text` for people, on a terminal and in a file, and `json` for programs that collect it through a pipe or socket. */
export type LogFormat = "auto" | "text" | "json";

/** Returns the log of the program, which writes to standard error. */
export function programLog(level: LogLevel, format: LogFormat): Logger {
  const reader = readerOfLog();
  if (format === "json" || (format === "auto" && reader === "program")) {
    return pino({ level }, pino.destination({ fd: standardError, sync: true }));
  }
  const color = reader === "terminal" && usesColor(process.env);
  // A reader that exits doesn't end the server.
  process.stderr.on("error", () => undefined);
  return textLog(level, {
    color,
    // A terminal shows entries when they are made; a file is read days later.
    dated: reader === "file",
    write: (line) => process.stderr.write(line),
    now: () => systemClock.now(),
  });
}

/**
 * Returns what receives standard error. The pipe of both outputs, as with `2>&1 | tee`, has the text of the start message too, so it is not
 * read by a program.
 */
function readerOfLog(): "terminal" | "file" | "same pipe" | "program" {
  if (isatty(standardError)) return "terminal";
  try {
    const error = fstatSync(standardError);
    if (error.isFile()) return "file";
    const output = fstatSync(standardOutput);
    const isSame = error.isFIFO() && output.dev === error.dev && output.ino === error.ino;
    return isSame ? "same pipe" : "program";
  } catch (error) {
    // A process without standard output or standard error.
    if ((error as NodeJS.ErrnoException).code === "EBADF") return "program";
    throw error;
  }
}

/** Destination and look of a {@link textLog}. */
export interface TextLogOptions {
  readonly color: boolean;
  /** Whether entries have the date and the time zone besides the time of day. */
  readonly dated?: boolean;
  readonly write: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Returns a log with one line per entry: time of day, level, message, and the facts as `name=value`. Stacks follow on lines of
 * their own. Control characters are escaped, because facts can contain bytes of clients.
 */
export function textLog(minimum: LogLevel, { color, dated = false, write, now }: TextLogOptions): Logger {
  const timeText = (time: Date) => (dated ? time.toISOString() : timeOfDay(time));
  const entry = (level: LogLevel, hue: Color) => (facts: object, message: string) => {
    if (levels.indexOf(level) < levels.indexOf(minimum)) return;
    const pairs = Object.entries(facts).filter(([, value]) => value !== undefined);
    const stacks = pairs.filter(([, value]) => isStack(value));
    const rest = pairs.filter(([, value]) => !isStack(value));
    const words = [
      paint(timeText(new Date(now())), "gray", color),
      paint(level.padEnd(5), hue, color),
      printable(message),
      ...rest.map(([name, value]) => `${paint(`${name}=`, "gray", color)}${valueText(value)}`),
    ];
    const below = stacks.map(
      ([, value]) => `\n    ${(value as string).split("\n").map(printable).join("\n    ")}`,
    );
    write(`${words.join(" ")}${below.join("")}\n`);
  };
  return { info: entry("info", "green"), warn: entry("warn", "yellow"), error: entry("error", "red") };
}

function timeOfDay(time: Date): string {
  const part = (value: number, length = 2) => String(value).padStart(length, "0");
  const seconds = `${part(time.getSeconds())}.${part(time.getMilliseconds(), 3)}`;
  return `${part(time.getHours())}:${part(time.getMinutes())}:${seconds}`;
}

function isStack(value: unknown): boolean {
  return typeof value === "string" && value.includes("\n");
}

function valueText(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=\\]+$/.test(value)) return printable(value);
  if (typeof value === "bigint") return String(value);
  // Facts can be of any type: JSON can't show errors and circular objects.
  return printable(
    typeof value === "string" ? JSON.stringify(value) : inspect(value, { breakLength: Infinity }),
  );
}

/** Escapes control characters, which could change what a terminal shows. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
