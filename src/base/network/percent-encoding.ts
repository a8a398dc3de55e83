const percent = "%".charCodeAt(0);

/** Whether a byte isn't escaped in a path, as in Go's `URL.EscapedPath`. */
const plainInPath: readonly boolean[] = Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9\-._~$&+,/:;=@]/.test(String.fromCharCode(byte)),
);
const escapes: readonly string[] = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
);

/** Decodes percent-encoding. Every percent sign in the text must begin an escape. */
export function decodedPercent(text: string): string {
  if (!text.includes("%")) return text;
  const bytes = Buffer.from(text, "utf8");
  let end = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at]!;
    if (byte === percent) {
      byte = hexDigit(bytes[at + 1]!) * 16 + hexDigit(bytes[at + 2]!);
      at += 2;
    }
    bytes[end++] = byte;
  }
  return bytes.toString("utf8", 0, end);
}

function hexDigit(code: number): number {
  return code <= 0x39 ? code - 0x30 : (code & 0x5f) - 0x37;
}

/** Percent-encodes a path as Go does. */
export function encodePath(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  let escaped = "";
  let plainFrom = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (plainInPath[byte] === true) continue;
    if (plainFrom < at) escaped += bytes.toString("latin1", plainFrom, at);
    escaped += escapes[byte]!;
    plainFrom = at + 1;
  }
  return escaped + bytes.toString("latin1", plainFrom);
}
