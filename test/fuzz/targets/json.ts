import { decodeJson } from "../../../src/base/json/decode.ts";
import { parseEmbeddedJson, parseExactJson } from "../../../src/base/json/embedded.ts";
import { encodeJson, encodePretty, decodeUtf8 } from "../../../src/base/json/encode.ts";
import { SyntaxFault } from "../../../src/base/json/syntax-fault.ts";
import { decodeTrusted } from "../../../src/base/json/trusted.ts";
import { attempt, expectSame, type Target } from "../target.ts";

/** Numbers that JSON.parse rounds or can't represent, and escapes of surrogates: the decoder handles them differently on purpose. */
const special = /\d{16}|[eE]\+?\d{3}|\\u[dD][89a-fA-F]|__proto__/;

/** JSON bodies, and JSON in texts: the same values as JSON.parse, and no loss by encoding. */
export const jsonTarget: Target = {
  name: "json",
  files: [
    "src/base/json/decode.ts",
    "src/base/json/embedded.ts",
    "src/base/json/encode.ts",
    "src/base/json/exact.ts",
    "src/base/json/syntax-fault.ts",
    "src/base/json/trusted.ts",
    "src/base/json/encode.ts",
  ],
  seeds: [
    '{"kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"v"}}',
    '[1,-2.5e3,true,false,null,"\\u00e4\\ud83d\\ude00\\n",{"a":{},"a":[]}]',
    '{"long":12345678901234567890,"text":"ä😀"}',
    '{"a":{"b":1,"b":2},"a":[{"c":1,"c":2}]}',
  ],
  dictionary: ['"', "{", "}", "[", "]", ":", ",", "\\u0041", "\\ud800", "1e5", "12345678901234567", '"a":1,'],
  run(bytes) {
    const decoded = attempt(() => decodeJson(bytes), SyntaxFault);
    const text = attempt(() => decodeUtf8(bytes), SyntaxFault);
    if (text === undefined) {
      if (decoded !== undefined) throw new Error("invalid UTF-8 was decoded");
      return;
    }
    compareWithNative(text, decoded);
    if (decoded === undefined) return;
    const encoded = encodeJson(decoded.value);
    const again = decodeJson(Buffer.from(encoded));
    if (encodeJson(again.value) !== encoded) throw new Error("encoding and decoding changes the value");
    if (again.duplicates.length > 0) throw new Error("an encoded value has duplicate members");
    const pretty = decodeJson(Buffer.from(encodePretty(decoded.value)));
    if (encodeJson(pretty.value) !== encoded) throw new Error("indentation changes the value");
    if (encodeJson(decodeTrusted(Buffer.from(encoded))) !== encoded) throw new Error("decodeTrusted differs");
  },
};

function compareWithNative(text: string, decoded: { readonly value: unknown } | undefined): void {
  const native = attempt(() => ({ value: JSON.parse(text) as unknown }), SyntaxError);
  const embedded = attempt(() => ({ value: parseEmbeddedJson(text) }), SyntaxError);
  const exact = attempt(() => ({ value: parseExactJson(text) }), SyntaxError);
  if (native === undefined && (decoded ?? embedded ?? exact) !== undefined) {
    throw new Error("a text that isn't JSON was decoded");
  }
  if (special.test(text) || decoded === undefined) return;
  expectSame(decoded.value, native?.value, "decodeJson and JSON.parse");
  expectSame(embedded?.value, native?.value, "parseEmbeddedJson and JSON.parse");
  expectSame(exact?.value, native?.value, "parseExactJson and JSON.parse");
}
