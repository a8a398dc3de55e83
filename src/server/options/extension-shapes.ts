import { storeMethods } from "../../storage/guarded-store.ts";
import { call, contract, listOf, needed, oneOf, text, texts, boolean, type CodeShape } from "./code-shape.ts";

const name = needed(text);

/** A store with the methods of the contract. */
export const store: CodeShape = contract(
  Object.fromEntries(storeMethods.map((method) => [method, needed(call)])),
);

/** What each option of {@link Extensions} takes. */
export const extensionShapes = {
  kinds: listOf(
    contract({
      name,
      resource: name,
      singular: name,
      version: name,
      scope: needed(oneOf(["Namespaced", "Cluster"])),
      group: needed(contract({ base: needed(text) })),
      type: needed(contract({ shape: needed(oneOf(["struct"])) })),
      verbs: needed(texts),
      selectable: needed(contract({})),
      subresources: needed(contract({})),
      shortNames: texts,
      categories: texts,
    }),
  ),
  admissionPlugins: listOf(
    contract({ name, concerns: needed(call), mutate: call, validate: call, sideEffects: boolean }),
  ),
  authenticators: listOf(contract({ name, authenticate: needed(call) })),
  authorizers: listOf(contract({ name, authorize: needed(call), rulesFor: call })),
  controllers: listOf(contract({ name, start: needed(call), onlyByName: boolean })),
};
