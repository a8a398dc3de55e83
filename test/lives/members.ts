import { Life, type Ask, type Told } from "./life.ts";
import { isPlain, type Json, type Subject } from "./subject.ts";

type Path = readonly (string | number)[];

/**
 * What each member of an object may be: it is left out, null, empty, of another type, and given odd values, one after the other,
 * in replacements of the object, in writes of its status and in creations of it, all of them dry runs.
 *
 * @param isAsked which of these requests are sent.
 */
export async function askForMembers(
  subject: Subject,
  ask: Ask,
  isAsked?: (step: string) => boolean,
): Promise<readonly Told[]> {
  const life = new Life(subject, ask);
  const live = await life.fresh();
  const send = async (step: string, method: string, path: string, body: () => Json): Promise<void> => {
    // Bodies are made only for the requests that are sent.
    if (isAsked?.(step) ?? true) await life.ask(step, method, path, { body: body() });
  };
  await each(live, ["status"], (step, body) => send(`put ${step}`, "PUT", `${life.item}?dryRun=All`, body));
  const { status } = subject;
  if (status !== undefined)
    await each({ ...live, status }, ["spec"], (step, body) =>
      step.startsWith("status") ? send(step, "PUT", `${life.item}/status?dryRun=All`, body) : undefined,
    );
  await life.gone();
  await each(life.object(), ["status"], (step, body) =>
    send(`post ${step}`, "POST", `${life.collection}?dryRun=All`, body),
  );
  return life.told;
}

/** Asks about each member of an object, but for those of some parts, with each of its variants. */
async function each(
  object: Json,
  but: readonly string[],
  ask: (step: string, body: () => Json) => Promise<void> | undefined,
): Promise<void> {
  for (const path of pathsOf(object, [])) {
    if (but.includes(String(path[0]))) continue;
    for (const [name, value] of variantsOf(path, at(object, path))) {
      await ask(`${path.join(".")} ${name}`, () => {
        const body = structuredClone(object);
        set(body, path, value);
        return body;
      });
    }
  }
}

function* pathsOf(value: unknown, path: Path): Generator<Path> {
  if (path.length > 0) yield path;
  if (Array.isArray(value) && value.length > 0) yield* pathsOf(value[0], [...path, 0]);
  if (!isPlain(value)) return;
  const identity = path.length === 0 ? ["apiVersion", "kind", "metadata"] : [];
  for (const key of Object.keys(value).toSorted())
    if (!identity.includes(key)) yield* pathsOf(value[key], [...path, key]);
}

/** Ports that the server chooses where none is asked for: nobody knows which. */
const chosen = /(^|\.)(nodePort|healthCheckNodePort)$/;

function variantsOf(path: Path, value: unknown): readonly (readonly [string, unknown])[] {
  const all = allVariants(value);
  return chosen.test(path.join("."))
    ? all.filter(([name]) => !["left out", "null", "zero"].includes(name))
    : all;
}

function allVariants(value: unknown): readonly (readonly [string, unknown])[] {
  const absent = [["left out", undefined] as const, ["null", null] as const];
  if (typeof value === "string")
    return [
      ...absent,
      ["empty", ""],
      ["odd", "Bad_ !"],
      ["other", `${value}x`],
      ["a number", 7],
      ["long", "a".repeat(300)],
    ];
  if (typeof value === "number")
    return [
      ...absent,
      ["zero", 0],
      ["negative", -1],
      ["other", value + 1],
      ["large", 2 ** 31 - 1],
      ["a text", "odd"],
    ];
  if (typeof value === "boolean") return [...absent, ["not", !value], ["a text", "odd"]];
  if (Array.isArray(value))
    return [
      ...absent,
      ["empty", []],
      ...(value.length > 0 ? [["twice", [...(value as unknown[]), value[0]]] as const] : []),
      ["a map", {}],
    ];
  return [...absent, ["empty", {}], ["a list", []]];
}

function at(object: unknown, path: Path): unknown {
  return path.reduce((value, key) => (value as Json)[key], object);
}

function set(object: Json, path: Path, value: unknown): void {
  const holder = at(object, path.slice(0, -1)) as Json | unknown[];
  const key = path.at(-1)!;
  if (value !== undefined) (holder as Json)[key] = value;
  else if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}
