import { parseEmbeddedJson } from "../../base/json/embedded.ts";

/** A subject; the subjects of a list are sorted by these members. */
export interface SubjectPosition {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Encodes the last subject of a page for `status.continue`. */
export function encodeContinueToken({ kind, namespace = "", name }: SubjectPosition): string {
  return Buffer.from(JSON.stringify([kind, namespace, name])).toString("base64url");
}

/** Decodes a continue token; undefined if it is malformed. */
export function decodeContinueToken(text: string): SubjectPosition | undefined {
  const parts = partsOf(Buffer.from(text, "base64url").toString());
  if (parts === undefined) return undefined;
  const [kind, namespace, name] = parts;
  const position =
    namespace === "" ? { kind: kind!, name: name! } : { kind: kind!, namespace: namespace!, name: name! };
  return encodeContinueToken(position) === text ? position : undefined;
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
