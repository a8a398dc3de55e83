/** Writes requests as text. */

const json = "application/json";

/** The lines that every request of a user has in common, with the empty line at their end. */
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

/** How a patch is meant. */
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

/** A POST of a body that isn't text, with a character for each byte. */
export function binaryPostText(path: string, token: string, body: Buffer, mediaType: string): string {
  const lines = [`Content-Type: ${mediaType}`, `Content-Length: ${body.length}`];
  return `POST ${path} HTTP/1.1\r\n${headOf(token, lines, mediaType)}${body.toString("latin1")}`;
}
