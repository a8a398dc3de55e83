import { expect } from "vitest";
import { systemClock } from "../../../src/base/time/clock.ts";
import type { JsonDocument } from "../../../src/base/json/exact.ts";
import { StatusError } from "../../../src/base/status-error.ts";
import type { JsonValue } from "../../../src/base/json/value.ts";
import { decodeManagedFields } from "../../../src/fields/apply/new-fields-text.ts";
import { applyObject, type AppliedBody, fieldPath } from "../../../src/resources/writes/apply.ts";
import { applyView } from "../../../src/resources/writes/apply-view.ts";
import { createObject } from "../../../src/resources/writes/create.ts";
import type { Engine, Target, WriteResult } from "../../../src/resources/engine/engine.ts";
import { readObject } from "../../../src/resources/input/input.ts";
import { patchObject } from "../../../src/resources/writes/patch.ts";
import { keyOf } from "../../../src/resources/registry/registry.ts";
import { decodeEntry } from "../../../src/resources/objects/stored.ts";
import { updateObject } from "../../../src/resources/writes/update.ts";
import { patchView, updateView, viewAt } from "../../../src/resources/writes/view.ts";
import type { ApiObject, ViewSubresource } from "../../../src/schema/kind.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import { engineOver } from "../engine.ts";
import type { Options, Step } from "./steps.ts";
import { thingKinds, type Topology } from "./thing.ts";

const name = "it";
const apiVersion = "tests.platform.io/v1";

/** One thing in a store of its own, on which steps are taken. */
export class Machine {
  private readonly store = createMemoryStore({ clock: systemClock });
  private engine = this.engineFor({});

  private engineFor(topology: Topology): Engine {
    return engineOver(this.store, thingKinds(topology));
  }

  /** Takes a step, and holds what comes of it against what the step says. */
  async take(step: Step): Promise<void> {
    if (step.verb === "redeclare") {
      this.engine.pages.close();
      this.engine = this.engineFor(step.topology);
      return;
    }
    const { refused, changesNothing = false, dryRun = false } = step.options;
    const before = await this.read();
    const error = await this.write(step).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (refused === undefined) expect(error).toBeUndefined();
    else {
      expect(error).toBeInstanceOf(StatusError);
      const { reason, message } = error as StatusError;
      expect(reason).toBe(refused[0]);
      for (const text of refused.slice(1)) expect(message).toContain(text);
    }
    const quiet = refused !== undefined || changesNothing || dryRun;
    const after = await this.read();
    if (quiet) expect(after).toEqual(before);
    else expect(after).not.toEqual(before);
  }

  /** The thing as it is stored; undefined where there is none. */
  async read(): Promise<ApiObject | undefined> {
    const entry = await this.store.get(keyOf(this.target({}).resource.stored, "", name));
    return entry === undefined ? undefined : decodeEntry(entry);
  }

  async close(): Promise<void> {
    this.engine.pages.close();
    await this.store.close();
  }

  private target({ version = "v1", through = "" }: { version?: string; through?: string }): Target {
    const resource = this.engine.registry.find("tests.platform.io", version, "things")!;
    return { resource, namespace: "", name, subresource: through };
  }

  private async write(step: Exclude<Step, { verb: "redeclare" }>): Promise<WriteResult> {
    const { verb, manager, options } = step;
    const target = this.target(options);
    const { engine } = this;
    const write = {
      user: { name: manager, uid: "", groups: [], extra: {} },
      dryRun: options.dryRun ?? false,
      fieldManager: manager,
      fieldValidation: options.strict === true ? ("Strict" as const) : ("Warn" as const),
    };
    const below = target.resource.kind.subresources[target.subresource];
    const view = below?.shape === "view" ? viewAt(engine, below as ViewSubresource) : undefined;
    const mayCreate = () => undefined;
    switch (verb) {
      case "apply": {
        const document = documentOf(step.isWhole === true ? step.body : this.bodyOf(step.body, options));
        const applied = { ...write, force: options.force ?? false };
        return view === undefined
          ? applyObject(engine, target, bodyOfDocument(document), applied, mayCreate)
          : applyView(engine, target, view, document, applied);
      }
      case "create":
        return createObject(engine, { ...target, name: "" }, this.input(target, step.body, options), write);
      case "update": {
        const at = view === undefined ? target : { ...target, resource: view.resource };
        const read = () => this.input(at, step.body, options);
        return view === undefined
          ? updateObject(engine, target, read, write, mayCreate)
          : updateView(engine, target, view, read, write);
      }
      default: {
        const document = documentOf(step.body);
        return view === undefined
          ? patchObject(engine, target, verb, document, write)
          : patchView(engine, target, view, { kind: verb, patch: document }, write);
      }
    }
  }

  private input(target: Target, body: unknown, options: Options): ApiObject {
    return readObject(this.engine, target, this.bodyOf(body, options), [], "Strict").object;
  }

  /** What the step says of the thing, with its first lines. */
  private bodyOf(body: unknown, options: Options): unknown {
    const { resource } = this.target(options);
    const head =
      options.through === "scale"
        ? { kind: "Scale", apiVersion: "autoscaling/v1" }
        : { kind: "Thing", apiVersion: resource.apiVersion };
    return { ...head, metadata: { name, ...options.metadata }, ...(body as object) };
  }
}

/** With its bytes, so that what was applied before isn't read again. */
function bodyOfDocument(document: JsonDocument): AppliedBody {
  return { bytes: Buffer.from(JSON.stringify(document.value)), document: () => document };
}

function documentOf(value: unknown): JsonDocument {
  return { value: structuredClone(value) as JsonValue, duplicates: [] };
}

/** The fields of a thing, without its first lines and its metadata. */
export function fieldsOf(thing: ApiObject | undefined): object | undefined {
  if (thing === undefined) return undefined;
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...fields } = thing;
  return fields;
}

/** The paths of what each owns; see `Row.owners`. */
export function ownersOf(thing: ApiObject | undefined): Record<string, string[]> {
  const { owners, entries } = decodeManagedFields(thing?.metadata.managedFields);
  return Object.fromEntries(
    [...owners].map(([id, { version, set }]) => {
      const { name: manager, operation, subresource } = entries.get(id)!.manager;
      const words = [
        manager,
        operation === "Update" ? "updates" : "",
        subresource,
        version === apiVersion ? "" : version.slice(version.indexOf("/") + 1),
      ];
      const paths = [...set.paths()].map((path) => fieldPath(path).replace(/^\./, ""));
      return [words.filter((word) => word !== "").join(" "), paths];
    }),
  );
}
