/** Writes requests as text. */

const json = "application/json";

/** Returns the header lines common to a user's requests, with the final empty line. */
export function headOf(token: string, more: readonly string[] = [], accept = json): string {
  return ["Host: localhost", `Authorization: Bearer ${token}`, `Accept: ${accept}`, ...more, "", ""].join(
    "\r\n",
  );
}

/** A GET with header lines of any kind. */
export function plainGetText(path: string, lines: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, "Host: localhost", `Accept: ${json}`, ...lines, "", ""].join("\r\n");
}

export function getText(path: string, token: string, accept = json): string {
  return `GET ${path} HTTP/1.1\r\n${headOf(token, [], accept)}`;
}

/** The type of a patch. */
export type PatchType = "merge-patch" | "strategic-merge-patch" | "apply-patch";

function mediaTypeOf(patch: PatchType): string {
  return `application/${patch}+${patch === "apply-patch" ? "yaml" : "json"}`;
}

export function writeText(
  method: "POST" | "PUT" | "PATCH",
  path: string,
  token: string,
  body: string,
  patch: PatchType = "merge-patch",
): string {
  const type = method === "PATCH" ? mediaTypeOf(patch) : json;
  const head = headOf(token, [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`]);
  return `${method} ${path} HTTP/1.1\r\n${head}${body}`;
}

/** Returns a POST with a binary body, one character per byte. */
export function binaryPostText(path: string, token: string, body: Buffer, mediaType: string): string {
  const lines = [`Content-Type: ${mediaType}`, `Content-Length: ${body.length}`];
  return `POST ${path} HTTP/1.1\r\n${headOf(token, lines, mediaType)}${body.toString("latin1")}`;
}
