import { expect, test } from "vitest";
import { durationText } from "../../src/cli/flag.ts";
import { serveFlags } from "../../src/cli/flags.ts";
import { defaultTolerations } from "../../src/admission/plugins/default-toleration-seconds.ts";
import { defaultAuthentication } from "../../src/server/authentication-options.ts";
import { libraryOptions } from "../../src/server/library-options.ts";
import { optionDefaults } from "../../src/server/option-defaults.ts";
import type { OptionShape, OptionShapes } from "../../src/server/option-shape.ts";

/** An option of the library that a flag sets too. */
interface Shared {
  readonly path: readonly string[];
  readonly shape: OptionShape;
  readonly flag: string;
}

function sharedIn(shapes: OptionShapes, path: readonly string[] = []): Shared[] {
  return Object.entries(shapes).flatMap(([name, shape]) => {
    const own = [...path, name];
    const { flag } = shape;
    const here = flag === undefined ? [] : [{ path: own, shape, flag }];
    return [...here, ...sharedIn(shape.all ?? {}, own)];
  });
}

/** The types of flags that set what an option takes. */
const flagTypes: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^a list of texts/, ["list"]],
  [/^(a text|one of )/, ["string", "file"]],
  [/^true or false/, ["boolean"]],
  // Times and sizes of files are given in whole days and megabytes on the command line.
  [/^a number of milliseconds/, ["duration", "integer"]],
  [/^an integer/, ["integer"]],
  [/^a number above 0/, ["number"]],
  [/^an object/, ["string"]],
];

const shared = sharedIn(libraryOptions as unknown as OptionShapes);

test.each(shared.map((one) => [one.path.join("."), one] as const))(
  "the option %s takes what its flag takes",
  (_name, { shape, flag }) => {
    const found = serveFlags.find(({ name }) => name === flag);
    const allowed = flagTypes.find(([takes]) => takes.test(shape.takes))?.[1];
    expect(allowed, shape.takes).toContain(found?.type);
  },
);

const defaults = {
  ...optionDefaults,
  tolerationSeconds: defaultTolerations,
  authentication: defaultAuthentication,
};

function valueAt(path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    defaults,
  );
}

const withDefault = shared.filter(({ path }) => valueAt(path) !== undefined);

test("many options share their defaults with flags", () => {
  expect(withDefault.length).toBeGreaterThan(20);
});

test.each(withDefault.map((one) => [one.path.join("."), one] as const))(
  "the option %s has the default of its flag",
  (_name, { path, flag }) => {
    const found = serveFlags.find(({ name }) => name === flag)!;
    const value = valueAt(path);
    const text =
      found.type === "duration"
        ? durationText(value as number)
        : Array.isArray(value)
          ? value.join(",")
          : String(value);
    expect(found.default === "" && text === "false" ? "false" : found.default).toBe(text);
  },
);
