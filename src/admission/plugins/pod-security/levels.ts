/** The Pod security standards, from the one that allows everything to the strictest (spec: conventions 4.13). */
export const levels = ["privileged", "baseline", "restricted"] as const;
export type Level = (typeof levels)[number];

/** A standard as it was in one release. */
export interface LevelVersion {
  readonly level: Level;
  /** Minor number of the release: 26 for `v1.26`. Infinity for `latest`. */
  readonly minor: number;
}

/** The version `latest`. */
export const latest = Infinity;

/** A standard as messages, annotations and warnings name it: `restricted:v1.26`. */
export function textOf({ level, minor }: LevelVersion): string {
  return `${level}:${minor === latest ? "latest" : `v1.${minor}`}`;
}

/** Undefined for a text that names no level. */
export function parseLevel(text: string): Level | undefined {
  return levels.find((level) => level === text);
}

/** The message about a text that names no level. */
export const levelForm = `must be one of ${levels.join(", ")}`;

const versionForm = /^v1\.(0|[1-9][0-9]*)$/;

/** The minor number of a version: `latest` or `v1.26`. Undefined for other texts. */
export function parseVersion(text: string): number | undefined {
  if (text === "latest") return latest;
  const minor = Number(versionForm.exec(text)?.[1]);
  return Number.isSafeInteger(minor) ? minor : undefined;
}

/** The message about a text that is no version. */
export const versionMessage = 'must be "latest" or "v1.x"';

/** Whether the first level allows less than the second. */
export function isStricter(level: Level, other: Level): boolean {
  return levels.indexOf(level) > levels.indexOf(other);
}

/** Whether both are the same level of the same version. */
export function isSame(one: LevelVersion, other: LevelVersion): boolean {
  return one.level === other.level && one.minor === other.minor;
}
