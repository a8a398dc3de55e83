import { describe, expect, test } from "vitest";
import { acceptedFlags, acceptedHelp, acceptFlags } from "../../src/cli/flags/accepted-flags.ts";
import { FlagReader, parseFlags, UsageError } from "../../src/cli/flags/flag-reader.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";

/** What the log says of these words. */
function warningsOf(...words: readonly string[]): string[] {
  const said: string[] = [];
  const log = {
    info: () => undefined,
    warn: (_facts: object, message: string) => said.push(message),
    error: () => undefined,
  };
  acceptFlags(new FlagReader(acceptedFlags, parseFlags(acceptedFlags, words)), log);
  return said;
}

const values: Readonly<Record<string, string>> = {
  integer: "7",
  number: "0.5",
  duration: "7s",
  string: "text",
  list: "a,b",
  file: "/some/file",
};

/** A value that isn't what the server does anyway. */
function otherValue({ type, here, allowed }: (typeof acceptedFlags)[number]): string {
  if (allowed !== undefined) return allowed.find((one) => one !== here)!;
  return type === "boolean" ? String(here !== "true") : values[type]!;
}

describe("flags of the reference without effect", () => {
  test("no flag is also one of the server, and none is listed twice", () => {
    const names = [...serveFlags, ...acceptedFlags].map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  test.each(acceptedFlags.filter(({ refused }) => !refused).map((one) => [one.name, one]))(
    "--%s is accepted, and the log says that it has no effect",
    (name, known) => {
      expect(warningsOf(`--${name}=${otherValue(known)}`)).toEqual([
        `--${name} has no effect here. ${known.doc}`,
      ]);
    },
  );

  test.each(acceptedFlags.filter(({ refused }) => refused).map((one) => [one.name, one]))(
    "--%s is refused, as it would promise what isn't there",
    (name, known) => {
      const accept = () => warningsOf(`--${name}=${otherValue(known)}`);
      expect(accept).toThrow(UsageError);
      expect(accept).toThrow(`--${name}=${otherValue(known)}: this server doesn't have it. ${known.doc}`);
    },
  );

  test("a value that matches the server's behaviour logs nothing", () => {
    const words = acceptedFlags.flatMap(({ name, here }) =>
      here === undefined ? [] : [`--${name}=${here}`],
    );
    expect(words.length).toBeGreaterThan(10);
    expect(warningsOf(...words, "--request-timeout=1m0s", "--goaway-chance=0.0")).toEqual([]);
  });

  test("-v is accepted as a short flag", () => {
    expect(warningsOf("-v", "3")).toHaveLength(1);
    expect(warningsOf("-v=3")).toHaveLength(1);
  });

  test("the help names each of them", () => {
    for (const { name } of acceptedFlags)
      expect(acceptedHelp()).toMatch(new RegExp(`^  --${name}(?: \\(deprecated since .*\\))?$`, "m"));
  });
});
