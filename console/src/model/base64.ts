/** Decodes a Base64 text as UTF-8; undefined if it isn't one, or has control characters other than those of texts. */
export function decodedText(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    // oxlint-disable-next-line no-control-regex
    return /[\u0000-\u0008\u000e-\u001f]/.test(text) ? undefined : text;
  } catch {
    // Not Base64, or not UTF-8.
    return undefined;
  }
}
