/** One block of a PEM text (RFC 7468). */
export interface PemBlock {
  /** What the block holds, for example `CERTIFICATE`. */
  readonly label: string;
  /** The block from its first boundary line to its last. */
  readonly text: string;
}

const boundary = /-----(BEGIN|END) ([A-Z0-9 ]{1,64})-----/g;

/**
 * The complete blocks of a PEM text, in order. Text between blocks and blocks without an end are skipped. Takes time in
 * proportion to the length of the text, whatever it holds.
 */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let begin: { readonly label: string; readonly at: number } | undefined;
  for (const match of text.matchAll(boundary)) {
    const [whole, kind, label = ""] = match;
    if (kind === "BEGIN") begin = { label, at: match.index };
    else if (begin?.label === label) {
      blocks.push({ label, text: text.slice(begin.at, match.index + whole.length) });
      begin = undefined;
    }
  }
  return blocks;
}

/** The certificates of a PEM text, each as PEM, in order; other blocks and text are skipped. */
export function certificatesIn(pem: string): string[] {
  return pemBlocks(pem)
    .filter(({ label }) => label === "CERTIFICATE")
    .map(({ text }) => text);
}
