import fc, { type Arbitrary } from "fast-check";
import type { Contents } from "./histories.ts";

/** An item of `ports`. */
export type Port = { port: number; name?: string; option?: Record<string, unknown> };

/** One edit of an object; `fresh` returns a text that no other edit has. */
export type Edit = (contents: Contents, fresh: () => string) => void;

const word = fc.constantFrom("a", "b", "c");
/** A value of few, so that managers often set the same one; or a new one. */
const value: Arbitrary<string | undefined> = fc.option(word, { nil: undefined, freq: 2 });
const number = fc.integer({ min: 1, max: 3 });

function member(contents: Contents, name: string): Record<string, unknown> {
  return (contents[name] ??= {}) as Record<string, unknown>;
}

function items<T>(contents: Contents, name: string): T[] {
  return (contents[name] ??= []) as T[];
}

/** An edit of a field of any shape. */
export const edit: Arbitrary<Edit> = fc.oneof(
  fc
    .tuple(fc.constantFrom("image", "whole", "args", "selector"), value)
    .map(([name, to]): Edit => (contents, fresh) => {
      const text = to ?? fresh();
      contents[name] = { image: text, whole: { a: text }, args: [text], selector: { app: text } }[name];
    }),
  fc.constantFrom("image", "replicas", "labels", "whole", "args", "tags", "ports", "option", "selector").map(
    (name): Edit =>
      (contents) =>
        void delete contents[name],
  ),
  fc.integer({ min: 0, max: 3 }).map(
    (replicas): Edit =>
      (contents) =>
        void (contents["replicas"] = replicas),
  ),
  fc.tuple(word, value).map(([name, to]): Edit => (contents, fresh) => {
    member(contents, "labels")[name] = to ?? fresh();
  }),
  word.map(
    (name): Edit =>
      (contents) =>
        void delete member(contents, "labels")[name],
  ),
  value.map(
    (note): Edit =>
      (contents, fresh) =>
        void (member(contents, "option")["note"] = note ?? fresh()),
  ),
  number.map(
    (level): Edit =>
      (contents) =>
        void (member(contents, "option")["level"] = level),
  ),
  word.map((tag): Edit => (contents) => {
    const tags = items<string>(contents, "tags");
    if (!tags.includes(tag)) tags.push(tag);
  }),
  word.map((tag): Edit => (contents) => {
    contents["tags"] = items<string>(contents, "tags").filter((one) => one !== tag);
  }),
  fc.tuple(number, value).map(([port, name]): Edit => (contents, fresh) => {
    const ports = items<Port>(contents, "ports");
    let own = ports.find((one) => one.port === port);
    if (own === undefined) ports.push((own = { port }));
    own.name = name ?? fresh();
  }),
  fc.tuple(number, number).map(([port, level]): Edit => (contents) => {
    const own = items<Port>(contents, "ports").find((one) => one.port === port);
    if (own !== undefined) own.option = { ...own.option, level };
  }),
  number.map((port): Edit => (contents) => {
    const own = items<Port>(contents, "ports").find((one) => one.port === port);
    delete own?.name;
  }),
  number.map((port): Edit => (contents) => {
    contents["ports"] = items<Port>(contents, "ports").filter((one) => one.port !== port);
  }),
);

/** Returns contents without empty members, which servers leave out. */
export function withoutEmpty(contents: Contents): Contents {
  return Object.fromEntries(
    Object.entries(contents).filter(
      ([, member]) => typeof member !== "object" || Object.keys(member as object).length > 0,
    ),
  );
}
