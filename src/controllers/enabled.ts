import type { Controller } from "./controller.ts";

/** Controllers were asked for by a name that none has; the message says which there are. */
export class UnknownControllerError extends Error {
  override name = "UnknownControllerError";
}

/**
 * The controllers that `--controllers` asks for (spec: conventions 5.4): `*` means all but those that run only when
 * they are named, `NAME` turns one on, `-NAME` turns one off. The first item about a controller decides.
 *
 * @throws {UnknownControllerError}
 */
export function enabledControllers<Dependencies>(
  wanted: readonly string[],
  known: readonly Controller<Dependencies>[],
): readonly Controller<Dependencies>[] {
  for (const text of wanted) {
    const name = text.replace(/^-/, "");
    if (text === "*" || known.some((one) => one.name === name)) continue;
    const names = known.map((one) => one.name).toSorted();
    throw new UnknownControllerError(
      `there is no controller ${JSON.stringify(name)}; there are ${names.join(", ")}`,
    );
  }
  return known.filter(({ name, onlyByName = false }) => {
    const said = wanted.find((text) => text === name || text === `-${name}`);
    return said === undefined ? wanted.includes("*") && !onlyByName : said === name;
  });
}
