import { decodeJson } from "../../../src/base/json/decode.ts";
import { SyntaxFault } from "../../../src/base/json/syntax-fault.ts";
import {
  decodeFieldSet,
  fieldSetText,
  isFieldSet,
  readFieldSet,
} from "../../../src/fields/apply/field-set.ts";
import {
  areValidEntries,
  decodeManagedFields,
  splitEntries,
  textOfEntries,
} from "../../../src/fields/apply/new-fields-text.ts";
import { attempt, expectSame, type Target } from "../target.ts";

/** Field sets (`fieldsV1`): the text of a set is the same set. */
export const fieldSetTarget: Target = {
  name: "field-set",
  files: [
    "src/fields/apply/field-set.ts",
    "src/fields/apply/new-fields-text.ts",
    "src/fields/apply/new-fields-text.ts",
  ],
  seeds: [
    '{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:ports":{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:port":{}}}}}',
    '{"f:finalizers":{"v:\\"a\\"":{},"v:12345678901234567890":{},"i:0":{}},".":{}}',
  ],
  dictionary: [
    '"f:a":{}',
    '"k:{\\"a\\":1}":{}',
    '"v:1":{}',
    '"i:-1":{}',
    '".":{}',
    "{",
    "}",
    ",",
    ":",
    '\\"',
  ],
  run(bytes) {
    const fields = attempt(() => decodeJson(bytes).value, SyntaxFault);
    if (fields === undefined) return;
    const set = decodeFieldSet(fields);
    const text = fieldSetText(set);
    if (fieldSetText(decodeFieldSet(JSON.parse(text))) !== text)
      throw new Error("the text of a set is another set");
    if (fieldSetText(readFieldSet(text)) !== text)
      throw new Error("the set that was read from a text has another one");
    if (!isFieldSet(fields)) return;
    const entry = {
      manager: "m",
      operation: "Update",
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1: fields,
    } as never;
    if (!areValidEntries([entry])) throw new Error("an entry with a valid set is invalid");
    decodeManagedFields([entry]);
    expectSame(splitEntries(textOfEntries([entry])).length, 1, "the numbers of entries");
  },
};
