import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { isLater, type Release } from "../../src/base/releases.ts";
import type { Answer, Api, TestServer } from "./api.ts";

/** One request or, with lists in `as` and `do`, one by each user for each line, and what the reference answers to it. */
export interface Step {
  /** The token of a user, which is their name; the administrator where it is absent. */
  readonly as?: string | readonly string[];
  /** Method and path, such as `GET /api/v1/pods`. */
  readonly do: string | readonly string[];
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A status code, or `not` and a code that the answer must not have. */
  readonly status: number | string;
  readonly reason?: string;
  /** Members of the answer, compared as far as they are listed. */
  readonly has?: object;
  /** Members of the token in the answer, likewise; null means absent. */
  readonly claims?: object;
  /** The number of Warning headers. */
  readonly warnings?: number;
  /** Members of the answer that later steps use as `${name}`. */
  readonly keep?: Readonly<Record<string, string>>;
  readonly since?: Release;
  readonly until?: Release;
}

/** Requests in an order, about one subject. Members other than `steps` apply to every step and replace its own. */
export interface Scenario extends Partial<Omit<Step, "do" | "keep">> {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Reads the scenarios of a file; its other members are only anchors. */
export function readScenarios(file: URL): readonly Scenario[] {
  const text = readFileSync(file, "utf8");
  const { scenarios } = parse(text, { merge: true, maxAliasCount: -1 }) as { scenarios: readonly Scenario[] };
  return scenarios;
}

/** Returns whether a scenario or step applies to a release; `until` is the last one. */
export function appliesTo({ since, until }: Pick<Step, "since" | "until">, release: Release): boolean {
  return (
    (since === undefined || !isLater(since, release)) && (until === undefined || !isLater(release, until))
  );
}

/** Sends the requests of scenarios to a server and compares the answers. */
export class Judge {
  private readonly clients = new Map<string, Api>();
  private readonly values: Map<string, string>;

  /** @param values of `${name}` in steps, besides those that steps keep. */
  constructor(
    private readonly server: TestServer,
    private readonly release: Release,
    values: Readonly<Record<string, string>> = {},
  ) {
    this.values = new Map(Object.entries(values));
  }

  /** Returns a line for each answer that differs from the recorded one. */
  async differences({ name: _name, steps, ...all }: Scenario): Promise<readonly string[]> {
    const { values } = this;
    const differences: string[] = [];
    for (const step of steps) {
      if (!appliesTo(step, this.release)) continue;
      const { as = "admin", do: lines, keep, ...rest } = { ...step, ...all };
      const expected = filled(rest, values);
      for (const who of list(as))
        for (const line of list(lines)) {
          const answer = await this.ask(filled(who, values), filled(line, values), expected);
          const faults = faultsOf(answer, expected);
          if (faults.length > 0) differences.push(`${who} ${line}: ${faults.join("; ")}`);
          for (const [key, path] of Object.entries(keep ?? {})) values.set(key, memberOf(answer.body, path));
        }
    }
    return differences;
  }

  private ask(who: string, line: string, step: Omit<Step, "do" | "as">): Promise<Answer> {
    const { body, headers, contentType } = step;
    const blank = line.indexOf(" ");
    const options = {
      ...(body === undefined ? {} : { body }),
      ...(headers && { headers }),
      ...(contentType && { contentType }),
    };
    return this.clientOf(who).ask(line.slice(0, blank), line.slice(blank + 1), options);
  }

  private clientOf(who: string): Api {
    let client = this.clients.get(who);
    if (client === undefined) {
      client = who === "admin" ? this.server.admin : this.server.as(who === "anonymous" ? undefined : who);
      this.clients.set(who, client);
    }
    return client;
  }
}

const list = (value: string | readonly string[]): readonly string[] =>
  typeof value === "string" ? [value] : value;

/** Replaces `${name}` in all texts of a value. */
function filled<T>(value: T, values: ReadonlyMap<string, string>): T {
  if (typeof value === "string")
    return value.replaceAll(/\$\{(\w+)\}/g, (text, name: string) => values.get(name) ?? text) as T;
  if (Array.isArray(value)) return value.map((item) => filled(item as unknown, values)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, filled(member as unknown, values)]),
  ) as T;
}

function faultsOf(answer: Answer, step: Omit<Step, "do" | "as">): readonly string[] {
  const { status, reason, has, claims, warnings } = step;
  const faults: string[] = [];
  const compare = (name: string, actual: unknown, expected: unknown): void => {
    if (!covers(actual, expected))
      faults.push(`${name} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
  };
  const refused = typeof status === "string" ? Number(status.replace("not ", "")) : undefined;
  if (refused === answer.status || (refused === undefined && status !== answer.status))
    faults.push(`status is ${answer.status}, expected ${status}: ${answer.text.slice(0, 300)}`);
  if (reason !== undefined) compare("reason", answer.body?.reason, reason);
  if (has !== undefined) compare("body", answer.body, has);
  if (claims !== undefined) compare("token", claimsOf(answer), claims);
  if (warnings !== undefined) compare("number of warnings", answer.warnings.length, warnings);
  return faults;
}

/** Returns whether a value has all that is expected; null also means absent, and lists must be equal in length. */
function covers(actual: unknown, expected: unknown): boolean {
  if (expected === null) return actual === null || actual === undefined;
  if (typeof expected !== "object") return actual === expected;
  if (typeof actual !== "object" || actual === null) return false;
  if (Array.isArray(expected) && (actual as readonly unknown[]).length !== expected.length) return false;
  return Object.entries(expected).every(([key, member]) =>
    covers((actual as Record<string, unknown>)[key], member),
  );
}

function claimsOf({ body }: Answer): unknown {
  const token = (body?.status?.token ?? "") as string;
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString() || "null");
}

function memberOf(body: unknown, path: string): string {
  const value = path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], body);
  return String(value);
}
