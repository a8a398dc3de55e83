import { expect, test } from "vitest";
import { CustomResourceDefinition } from "../../src/kinds/apiextensions/custom-resource-definition.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { decode } from "../../src/schema/decode.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { kindInVocabulary } from "../../src/schema/kind-in-vocabulary.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";

/** A definition whose schema has fields with a prefix at several depths, also inside unions. */
const definition = (prefix: string) => ({
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    names: { plural: "things", kind: "Thing" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            [`${prefix}preserve-unknown-fields`]: true,
            properties: {
              list: {
                type: "array",
                [`${prefix}list-type`]: "map",
                [`${prefix}list-map-keys`]: ["name"],
                items: { type: "object", [`${prefix}embedded-resource`]: true },
              },
              free: { additionalProperties: { [`${prefix}int-or-string`]: true } },
            },
          },
        },
      },
    ],
  },
});

test.each([platform, kubernetes])("fields have the prefix of the vocabulary $name", (vocabulary) => {
  const kind = kindInVocabulary(CustomResourceDefinition, vocabulary);
  const own = decode(kind.type, definition(vocabulary.schemaExtensionPrefix));
  expect(own.unknownFields).toEqual([]);
  const other = vocabulary === platform ? kubernetes : platform;
  // Unknown fields inside of `items` and `additionalProperties` aren't reported, as in the reference.
  expect(decode(kind.type, definition(other.schemaExtensionPrefix)).unknownFields).toHaveLength(3);
  const back = decode(kind.type, decodeMessage(kind.type, encodeMessage(kind.type, own.value)));
  expect(back.value).toEqual(own.value);
});

test("a renamed kind is cached; a kind without prefixed fields is returned unchanged", () => {
  expect(kindInVocabulary(CustomResourceDefinition, kubernetes)).toBe(
    kindInVocabulary(CustomResourceDefinition, kubernetes),
  );
  expect(kindInVocabulary(ConfigMap, kubernetes)).toBe(ConfigMap);
});
