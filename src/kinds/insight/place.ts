import { parseEmbeddedJson } from "../../base/json/embedded.ts";

/** The position of a subject in the ordered list. */
export interface SubjectPlace {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Encodes the position after a subject for `status.continue`. */
export function writePlace({ kind, namespace = "", name }: SubjectPlace): string {
  return Buffer.from(JSON.stringify([kind, namespace, name])).toString("base64url");
}

/** Decodes the result of {@link writePlace}; undefined for any other text. */
export function readPlace(text: string): SubjectPlace | undefined {
  const parts = partsOf(Buffer.from(text, "base64url").toString());
  if (parts === undefined) return undefined;
  const [kind, namespace, name] = parts;
  const place =
    namespace === "" ? { kind: kind!, name: name! } : { kind: kind!, namespace: namespace!, name: name! };
  return writePlace(place) === text ? place : undefined;
}

function partsOf(text: string): readonly string[] | undefined {
  const match = /^\["(Group|ServiceAccount|User)",("(?:[^"\\]|\\.)*"),("(?:[^"\\]|\\.)*")\]$/s.exec(text);
  if (match === null) return undefined;
  try {
    return [match[1]!, parseEmbeddedJson(match[2]!) as string, parseEmbeddedJson(match[3]!) as string];
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
