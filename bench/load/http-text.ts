/** Writes requests as text. */

/** The lines that every request of a user has in common, with the empty line at their end. */
export function headOf(token: string, more: readonly string[] = []): string {
  return [
    "Host: localhost",
    `Authorization: Bearer ${token}`,
    "Accept: application/json",
    ...more,
    "",
    "",
  ].join("\r\n");
}

export function getText(path: string, token: string): string {
  return `GET ${path} HTTP/1.1\r\n${headOf(token)}`;
}

export function writeText(
  method: "POST" | "PUT" | "PATCH",
  path: string,
  token: string,
  body: string,
): string {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const head = headOf(token, [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`]);
  return `${method} ${path} HTTP/1.1\r\n${head}${body}`;
}
