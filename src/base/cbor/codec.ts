import type { CborFault, decodeCbor } from "./decode-cbor.ts";
import type { encodeCbor } from "./encode-cbor.ts";

/** Functions of the modules of CBOR, which are loaded by servers with CBOR only. */
interface CborCodec {
  readonly decodeCbor: typeof decodeCbor;
  readonly encodeCbor: typeof encodeCbor;
  readonly CborFault: typeof CborFault;
}

let codec: CborCodec | undefined;

/** Loads the modules of CBOR; must be awaited before {@link cborCodec}. */
export async function loadCbor(): Promise<void> {
  if (codec !== undefined) return;
  const [reader, writer, fault] = await Promise.all([
    import("./decode-cbor.ts"),
    import("./encode-cbor.ts"),
    import("./decode-cbor.ts"),
  ]);
  codec = { ...reader, ...writer, ...fault };
}

export function cborCodec(): CborCodec {
  if (codec === undefined) throw new Error("call loadCbor before cborCodec");
  return codec;
}
