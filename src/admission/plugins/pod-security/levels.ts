/** The levels of the Pod security standards, from least to most strict (spec: conventions 4.13). */
export const levels = ["privileged", "baseline", "restricted"] as const;
export type Level = (typeof levels)[number];

/** A level in the version of one release. */
export interface LevelVersion {
  readonly level: Level;
  /** Minor release: 26 for `v1.26`; Infinity for `latest`. */
  readonly minor: number;
}

/** The version `latest`. */
export const latest = Infinity;

/** A level and version in messages, annotations and warnings: `restricted:v1.26`. */
export function textOf({ level, minor }: LevelVersion): string {
  return `${level}:${minor === latest ? "latest" : `v1.${minor}`}`;
}

/** Parses a level; undefined if the text is invalid. */
export function parseLevel(text: string): Level | undefined {
  return levels.find((level) => level === text);
}

/** The error message for an invalid level. */
export const levelForm = `must be one of ${levels.join(", ")}`;

const versionForm = /^v1\.(0|[1-9][0-9]*)$/;

/** Parses a version (`latest` or `v1.26`) to its minor release; undefined if the text is invalid. */
export function parseVersion(text: string): number | undefined {
  if (text === "latest") return latest;
  const minor = Number(versionForm.exec(text)?.[1]);
  return Number.isSafeInteger(minor) ? minor : undefined;
}

/** The error message for an invalid version. */
export const versionMessage = 'must be "latest" or "v1.x"';

/** Whether the first level is stricter than the second. */
export function isStricter(level: Level, other: Level): boolean {
  return levels.indexOf(level) > levels.indexOf(other);
}

/** Whether both are the same level of the same version. */
export function isSame(one: LevelVersion, other: LevelVersion): boolean {
  return one.level === other.level && one.minor === other.minor;
}
