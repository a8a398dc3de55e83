import { deepEqual, type JsonValue } from "../../../src/base/json/value.ts";
import type { MergeStrategy } from "../../../src/fields/merge/merge-fields.ts";
import type { Contents } from "../undo/histories.ts";

/** Three values: at the start, in the branch and in the target. */
type Three = readonly [base: unknown, theirs: unknown, ours: unknown];

/** What a merge gives. */
export interface ModelMerge {
  /** Undefined if there is no object. */
  readonly contents: Contents | undefined;
  /** Paths of the conflicts; "" for the object. */
  readonly conflicts: readonly string[];
}

const same = (a: unknown, b: unknown): boolean =>
  a === undefined || b === undefined ? a === b : deepEqual(a as JsonValue, b as JsonValue);

/** Computes the merge of an object by listing the rules for each of its fields. */
export function modelMerge(
  [base, theirs, ours]: readonly [Contents | undefined, Contents | undefined, Contents | undefined],
  strategy: MergeStrategy | undefined,
): ModelMerge {
  const model = new Model(strategy);
  const at = (name: string): Three => [base?.[name], theirs?.[name], ours?.[name]];
  if (same(base, theirs)) return { contents: ours, conflicts: [] };
  if (theirs === undefined) {
    if (ours === undefined) return { contents: undefined, conflicts: [] };
    if (same(ours, base)) return { contents: undefined, conflicts: [] };
    return { contents: strategy === "theirs" ? undefined : ours, conflicts: ["changed in the target"] };
  }
  if (ours === undefined) {
    if (base === undefined) return { contents: theirs, conflicts: [] };
    return { contents: strategy === "theirs" ? theirs : undefined, conflicts: [""] };
  }
  const contents = {
    ...Object.fromEntries(
      ["replicas", "image", "whole", "args", "selector"].map((name) => [
        name,
        model.atomic(at(name), `f:${name}`),
      ]),
    ),
    labels: model.map(at("labels"), "f:labels"),
    option: model.option(at("option"), "f:option"),
    tags: model.tags(at("tags"), "f:tags"),
    ports: model.ports(at("ports"), "f:ports"),
  };
  return { contents: (pruned(contents) ?? {}) as Contents, conflicts: model.conflicts };
}

class Model {
  readonly conflicts: string[] = [];

  constructor(private readonly strategy: MergeStrategy | undefined) {}

  private conflict([, theirs, ours]: Three, path: string): unknown {
    this.conflicts.push(path);
    return this.strategy === "theirs" ? theirs : ours;
  }

  atomic(three: Three, path: string): unknown {
    const [base, theirs, ours] = three;
    if (same(theirs, base)) return ours;
    if (same(ours, base) || same(theirs, ours)) return theirs;
    return this.conflict(three, path);
  }

  map(three: Three, path: string): unknown {
    return this.members(three, path, (inner, below) => this.atomic(inner, below));
  }

  private members(
    three: Three,
    path: string,
    merge: (inner: Three, path: string, name: string) => unknown,
  ): Record<string, unknown> {
    const objects = three.map((one) => (one ?? {}) as Record<string, unknown>);
    const names = new Set(objects.flatMap((one) => Object.keys(one)));
    return Object.fromEntries(
      [...names].map((name) => {
        const inner = objects.map((one) => one[name]) as unknown as Three;
        return [name, merge(inner, `${path}/f:${name}`, name)];
      }),
    );
  }

  /** A value that one side has removed and the other one changed is a conflict as a whole. */
  private whole(three: Three, path: string, parts: () => unknown): unknown {
    const [base, theirs, ours] = three;
    if (same(theirs, base) || same(theirs, ours)) return ours;
    if (same(ours, base)) return theirs;
    const isRemoved = base !== undefined && (theirs === undefined || ours === undefined);
    return isRemoved ? this.conflict(three, path) : parts();
  }

  option(three: Three, path: string): unknown {
    return this.whole(three, path, () => this.map(three, path));
  }

  tags(three: Three, path: string): string[] {
    const [base, theirs, ours] = three.map((one) => (one ?? []) as string[]);
    this.order([base!, theirs!, ours!], path);
    const all = [...new Set([...base!, ...theirs!, ...ours!])];
    return all
      .filter((tag) => {
        const [was, is, now] = [base!, theirs!, ours!].map((list) => list.includes(tag));
        return was === is ? now : is;
      })
      .toSorted();
  }

  ports(three: Three, path: string): unknown[] {
    type Port = { readonly port: number };
    const lists = three.map((one) => (one ?? []) as Port[]);
    this.order(
      lists.map((list) => list.map(({ port }) => port)) as unknown as [number[], number[], number[]],
      path,
    );
    const numbers = new Set(lists.flatMap((list) => list.map(({ port }) => port)));
    return [...numbers]
      .toSorted()
      .map((number) => {
        const inner = lists.map((list) => list.find(({ port }) => port === number)) as unknown as Three;
        const below = `${path}/k:{"port":${number},"protocol":"TCP"}`;
        return this.whole(inner, below, () =>
          this.members(inner, below, (member, at, name) =>
            name === "option" ? this.option(member, at) : this.atomic(member, at),
          ),
        );
      })
      .filter((port) => port !== undefined);
  }

  /** A list whose common items all three have in different orders is a conflict. */
  private order(
    lists: readonly [readonly unknown[], readonly unknown[], readonly unknown[]],
    path: string,
  ): void {
    const orders = lists.map((list) => list.filter((item) => lists.every((other) => other.includes(item))));
    const [base, theirs, ours] = orders.map((order) => JSON.stringify(order));
    if (base !== theirs && base !== ours && theirs !== ours) this.conflicts.push(path);
  }
}

/** Returns a value without empty objects and lists, with the items of lists of tags and ports in order. */
export function pruned(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(pruned).filter((one) => one !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, pruned(member)] as const)
    .filter(([, member]) => member !== undefined);
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** Returns contents in a form in which the order of tags and ports doesn't matter. */
export function unordered(contents: Contents | undefined): unknown {
  if (contents === undefined) return undefined;
  const {
    tags = [],
    ports = [],
    ...rest
  } = contents as {
    readonly tags?: readonly string[];
    readonly ports?: readonly { readonly port: number }[];
  };
  const sorted = { tags: tags.toSorted(), ports: ports.toSorted((a, b) => a.port - b.port) };
  return pruned({ ...rest, ...sorted }) ?? {};
}
