import type { Vocabulary } from "../../../src/vocabulary/vocabulary.ts";
import { builtInKinds } from "../../../src/kinds/all.ts";
import { groupName } from "../../../src/schema/kind.ts";
import { builtInCollections, nameOf, objectWith, type Collection } from "../../cost-laws/collections.ts";
import type { Dice } from "../../support/dice.ts";
import type { FuzzRequest } from "./request.ts";

/** Largest body, in bytes. */
const maxBytes = 400_000;
const maxEntries = 8000;

/** Kinds whose objects are stored; they share the collections in the metadata. */
const storedKinds = builtInKinds.filter(({ verbs }) => verbs.includes("create") && verbs.includes("patch"));

/** Chooses requests with many entries in one list or map, which are not stored. */
export class LargeBodies {
  private readonly collections: readonly Collection[];
  /** Collections in the metadata, which all kinds share; `builtInCollections` has them once. */
  private readonly shared: readonly Collection[];

  /** @param focus part of the names of the chosen collections; empty for all. */
  constructor(
    private readonly dice: Dice,
    private readonly vocabulary: Vocabulary,
    focus = "",
  ) {
    this.collections = builtInCollections().filter((one) => nameOf(one).includes(focus));
    const inMetadata = this.collections.filter(({ path: [first] }) => first === "metadata");
    this.shared = inMetadata.length > 0 ? inMetadata : this.collections;
  }

  next(token: string | undefined): FuzzRequest {
    const { dice } = this;
    const collection = this.choose();
    const { kind } = collection;
    const group = groupName(kind.group, this.vocabulary);
    const apiVersion = group === "" ? kind.version : `${group}/${kind.version}`;
    const base = group === "" ? `/api/${kind.version}` : `/apis/${apiVersion}`;
    const path = `${base}${kind.scope === "Namespaced" ? "/namespaces/default" : ""}/${kind.resource}`;
    const entryBytes = JSON.stringify(objectWith(collection, 50)).length / 50;
    const count = Math.floor(Math.min(maxEntries, maxBytes / entryBytes));
    const object = { ...objectWith(collection, count), apiVersion };
    this.makeAlike(object, collection.path);
    const body = Buffer.from(JSON.stringify(object)).subarray(0, 2 * maxBytes);
    const applies = kind.verbs.includes("patch") && dice.chance(0.4);
    return {
      token,
      method: applies ? "PATCH" : "POST",
      path: `${path}${applies ? "/sample?fieldManager=m&" : "?"}dryRun=All`,
      headers: { "content-type": applies ? "application/apply-patch+yaml" : "application/json" },
      body,
      manner: "plain",
    };
  }

  private choose(): Collection {
    const { dice } = this;
    const collection = dice.pick(dice.chance(0.15) ? this.shared : this.collections);
    return collection.path[0] === "metadata" ? { ...collection, kind: dice.pick(storedKinds) } : collection;
  }

  /** Gives some members of all entries the values of the first entry: equal keys and equal entries take other paths. */
  private makeAlike(object: Record<string, unknown>, path: readonly string[]): void {
    let value: unknown = object;
    for (const name of path) {
      if (typeof value !== "object" || value === null) return;
      value =
        name === "[]"
          ? (value as unknown[])[0]
          : name === "{}"
            ? Object.values(value)[0]
            : (value as Record<string, unknown>)[name];
    }
    if (!Array.isArray(value) || this.dice.chance(0.3)) return;
    const entries = value as unknown[];
    const [first] = entries;
    if (typeof first !== "object" || first === null) return void entries.fill(first);
    const shared = Object.entries(first).filter(() => this.dice.chance(0.5));
    for (const entry of entries) Object.assign(entry as object, Object.fromEntries(shared));
  }
}
