import type { Controller } from "./controller.ts";

/** An enabled or disabled controller doesn't exist; the message lists the existing ones. */
export class UnknownControllerError extends Error {
  override name = "UnknownControllerError";
}

/**
 * Returns the controllers selected by `--controllers` (spec: conventions 5.4): `*` selects all except those that run
 * only if named, `NAME` selects one, `-NAME` excludes one. The first item that names a controller decides.
 *
 * @throws {UnknownControllerError}
 */
export function enabledControllers<Dependencies>(
  requested: readonly string[],
  existing: readonly Controller<Dependencies>[],
): readonly Controller<Dependencies>[] {
  for (const text of requested) {
    const name = text.replace(/^-/, "");
    if (text === "*" || existing.some((one) => one.name === name)) continue;
    const names = existing.map((one) => one.name).toSorted();
    throw new UnknownControllerError(
      `there is no controller ${JSON.stringify(name)}; there are ${names.join(", ")}`,
    );
  }
  return existing.filter(({ name, onlyByName = false }) => {
    const item = requested.find((text) => text === name || text === `-${name}`);
    return item === undefined ? requested.includes("*") && !onlyByName : item === name;
  });
}
