/** Verbs of the API, each with its mark. */
const marks = [
  ["get", "g"],
  ["list", "l"],
  ["watch", "w"],
  ["create", "c"],
  ["update", "u"],
  ["patch", "p"],
  ["delete", "d"],
  ["deletecollection", "D"],
] as const;

export const verbs: readonly string[] = marks.map(([verb]) => verb);

/** The meaning of the marks, for people. */
export const legend = marks.map(([verb, mark]) => `${mark} ${verb}`).join(", ");

interface Result {
  readonly allowed: boolean;
  readonly names?: readonly string[];
}

/** The allowed verbs in one cell: a mark or a dash for each verb, one dash if there is none, and the same in words. */
export interface VerbCell {
  readonly text: string;
  readonly label: string;
  /** Whether some verbs are allowed for some objects only; their marks are followed by `°`. */
  readonly isPartial: boolean;
}

/** @param results one for each of {@link verbs}. */
export function verbCell(results: readonly Result[]): VerbCell {
  const allowed = (at: number) => results[at]?.allowed === true;
  const someNames = (at: number) => (allowed(at) ? [] : (results[at]?.names ?? []));
  const words = marks.flatMap(([verb], at) => {
    if (allowed(at)) return [verb];
    const names = someNames(at);
    return names.length === 0
      ? []
      : [`${verb} of ${names.length === 1 ? names[0]! : `${names.length} names`}`];
  });
  if (words.length === 0) return { text: "–", label: "nothing", isPartial: false };
  return {
    text: marks
      .map(([, mark], at) => (allowed(at) ? mark : someNames(at).length > 0 ? `${mark}°` : "-"))
      .join(""),
    label: words.join(", "),
    isPartial: marks.some((_, at) => someNames(at).length > 0),
  };
}
