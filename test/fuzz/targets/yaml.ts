import { encodeJson } from "../../../src/base/json/encode.ts";
import { decodeJson } from "../../../src/base/json/decode.ts";
import { SyntaxFault } from "../../../src/base/json/syntax-fault.ts";
import { decodeDocuments } from "../../../src/base/yaml/yaml-documents.ts";
import { decodeYaml } from "../../../src/base/yaml/yaml.ts";
import { attempt, attemptAsync, type Target } from "../target.ts";

/** With this depth the complete parser reads every text. */
const completeDepth = 95;

/** YAML bodies and manifests: the JSON form of what is decoded, as YAML, is the same value. */
export const yamlTarget: Target = {
  name: "yaml",
  files: [
    "src/base/json/duplicate-members.ts",
    "src/base/yaml/simple-yaml.ts",
    "src/base/yaml/yaml.ts",
    "src/base/yaml/yaml-parts.ts",
    "src/base/yaml/yaml-text.ts",
    "src/base/yaml/yaml-scalars.ts",
    "src/base/yaml/yaml-documents.ts",
  ],
  seeds: [
    "kind: ConfigMap\nmetadata:\n  name: a\n  labels: {x: y}\ndata:\n  k: |\n    text\n",
    "- &a {b: 1}\n- *a\n- <<: *a\n  c: yes\n- 0o17\n- 0x1f\n- 1_000\n- .inf\n- 2001-01-01\n- ~\n",
    '? "k"\n: - >-\n    folded\n    text\n  - !!str 1\n  - !!binary eA==\n---\n# next\na: b\n...\n',
    "a: 1\na: 2\nb: [1, {c: 'd', c: \"e\\n\"}]\n",
    '{"a": [1, -2.5, null, "x"], "b": {}}',
    `a:\n${"  - b: [1, {c: 'd'}]\n    e: 'f\ng'#h\n".repeat(300)}i: &j\n  k: *j\n`,
  ],
  dictionary: [
    "- ",
    ": ",
    "\n",
    "\n  ",
    "&a ",
    "*a",
    "<<: ",
    "!!int ",
    "? ",
    "|\n",
    ">-\n",
    "---\n",
    "#",
    "{",
    "[",
    "'",
    '"',
  ],
  async run(bytes) {
    await attemptAsync(() => decodeDocuments(bytes), SyntaxFault);
    const decoded = await attemptAsync(() => decodeYaml(bytes), SyntaxFault);
    const json = attempt(() => decodeJson(bytes), SyntaxFault);
    if (json !== undefined && bytes[0] === 0x7b && encodeJson(json.value) !== encodeJson(decoded!.value)) {
      throw new Error("a JSON body and the same body as YAML differ");
    }
    const complete = await attemptAsync(() => decodeYaml(bytes, { maxDepth: completeDepth }), SyntaxFault);
    if (complete !== undefined && encodeJson(complete.value) !== encodeJson(decoded!.value))
      throw new Error("the simple parser and the complete one read another value");
    if (decoded === undefined) return;
    const encoded = encodeJson(decoded.value);
    // In YAML this character ends a line.
    const again = await decodeYaml(Buffer.from(encoded.replaceAll("\u0085", "\\u0085")));
    if (encodeJson(again.value) !== encoded) throw new Error("the JSON form is another value as YAML");
  },
};
