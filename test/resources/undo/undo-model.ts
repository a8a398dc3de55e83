import { deepEqual, type JsonValue } from "../../../src/base/json/value.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import { contentsOf, type History, type HistoryStep } from "./histories.ts";

/**
 * The parts of an object that are undone independently, by name. Items of `ports` are cells with the number of the port; their members are
 * distinguished by {@link undoPort} only.
 */
type Cells = ReadonlyMap<string, unknown>;

/** Reads the cells of an object. `undefined` is an object without cells; an existing one has at least the cell `exists`. */
export function cellsOf(object: ApiObject | undefined): Map<string, unknown> {
  const cells = new Map<string, unknown>();
  const contents = contentsOf(object);
  if (contents === undefined) return cells;
  cells.set("exists", true);
  for (const name of ["replicas", "image", "whole", "args", "selector"])
    if (contents[name] !== undefined) cells.set(name, contents[name]);
  for (const name of ["labels", "option"])
    for (const [key, value] of Object.entries((contents[name] ?? {}) as object))
      cells.set(`${name}.${key}`, value);
  for (const tag of (contents["tags"] ?? []) as string[]) cells.set(`tags ${tag}`, true);
  for (const port of (contents["ports"] ?? []) as { port: number }[]) cells.set(`port ${port.port}`, port);
  return cells;
}

interface Expected {
  readonly cells: Cells;
  /** Names of the cells with conflicts; "" for the object. */
  readonly conflicts: ReadonlySet<string>;
}

/** Computes by cells what the undo of a manager's writes gives. */
export function expectedUndo(history: History, manager: string): Expected {
  let cells: Map<string, unknown> = cellsOf(history.now);
  let uid = history.now?.metadata.uid;
  const conflicts = new Set<string>();
  for (const { before, after } of history.stepsOf(manager)) {
    const [old, changed] = [cellsOf(before), cellsOf(after)];
    const differing = (a: Cells, b: Cells) =>
      [...new Set([...a.keys(), ...b.keys()])].filter((cell) => !equal(a.get(cell), b.get(cell)));
    if (before === undefined) {
      if (cells.size === 0 || uid !== after!.metadata.uid) continue;
      const names = differing(changed, cells);
      for (const name of names) conflicts.add(name);
      if (names.length === 0) cells = new Map();
    } else if (after === undefined) {
      if (cells.size === 0) [cells, uid] = [new Map(old), before.metadata.uid];
      else if (differing(old, cells).length > 0) conflicts.add("");
    } else if (cells.size > 0)
      for (const name of differing(old, changed))
        undoCell(cells, name, old.get(name), changed.get(name), conflicts);
  }
  return {
    cells,
    conflicts: new Set([...conflicts].map((name) => (name.startsWith("tags ") ? "tags" : name))),
  };
}

function undoCell(
  cells: Map<string, unknown>,
  name: string,
  before: unknown,
  after: unknown,
  conflicts: Set<string>,
): void {
  const now = cells.get(name);
  const isPort = name.startsWith("port ");
  if (isPort && before !== undefined && after !== undefined && now !== undefined) {
    const result = undoPort(before as Port, after as Port, now as Port);
    if (result === undefined) conflicts.add(name);
    else cells.set(name, result);
    return;
  }
  // What another one removed stays removed, with what the change did in it.
  if (isPort && now === undefined && after !== undefined) return;
  if (equal(now, before)) return;
  if (!equal(now, after)) conflicts.add(name);
  else if (before === undefined) cells.delete(name);
  else cells.set(name, before);
}

interface Port {
  readonly port: number;
  readonly name?: string;
  readonly option?: Readonly<Record<string, unknown>>;
}

/** Returns undefined for a conflict. */
function undoPort(before: Port, after: Port, now: Port): Port | undefined {
  const name = undoValue(before.name, after.name, now.name);
  const level = undoValue(before.option?.["level"], after.option?.["level"], now.option?.["level"]);
  if (name === conflict || level === conflict) return undefined;
  return {
    port: now.port,
    ...(name === undefined ? {} : { name: name as string }),
    ...(level === undefined ? {} : { option: { level } }),
  };
}

const conflict = Symbol("conflict");

function undoValue(before: unknown, after: unknown, now: unknown): unknown {
  if (equal(before, after) || equal(now, before)) return now;
  return equal(now, after) ? before : conflict;
}

function equal(a: unknown, b: unknown): boolean {
  return a === undefined || b === undefined ? a === b : deepEqual(a as JsonValue, b as JsonValue);
}

/**
 * Replays the history without the writes of a manager. Returns the cells of which the result is certain: those that never got the same
 * value twice.
 */
export function replayWithout(history: History, manager: string): Cells {
  const cells = new Map<string, unknown>();
  const values = new Map<string, unknown[]>();
  const uncertain = new Set<string>();
  for (const step of history.steps) {
    for (const [name, value] of changesOf(step)) {
      const earlier = values.get(name) ?? [undefined];
      if (earlier.some((one) => equal(one, value))) uncertain.add(name);
      values.set(name, [...earlier, value]);
      // The members of an item may come from several writes.
      if (name.startsWith("port ")) uncertain.add(name);
      if (step.manager !== manager) cells.set(name, value);
      else if (!cells.has(name)) cells.set(name, undefined);
    }
  }
  return new Map([...cells].filter(([name]) => !uncertain.has(name)));
}

function changesOf({ before, after }: HistoryStep): [string, unknown][] {
  const [old, changed] = [cellsOf(before), cellsOf(after)];
  const names = new Set([...old.keys(), ...changed.keys()]);
  return [...names]
    .filter((name) => !equal(old.get(name), changed.get(name)))
    .map((name) => [name, changed.get(name)]);
}
