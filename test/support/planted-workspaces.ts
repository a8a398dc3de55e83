import type { PlantedDefect } from "./planted-program.ts";

/** Defects of keyspaces, pins and derived stores. */
export const workspaceDefects: readonly PlantedDefect[] = [
  {
    name: "a watch of a workspace gets the events of other workspaces",
    patches: [
      {
        file: "src/storage/keyspaces/keyspace-store.ts",
        find: '      {\n        ...options,\n        prefix: isWhole ? "/" : this.names.inner(options.prefix),\n',
        replace: '      {\n        ...options,\n        prefix: "/",\n',
      },
      {
        file: "src/storage/keyspaces/keyspace-store.ts",
        find: "const events = this.outerBatch(batch);\n",
        replace:
          "const events = this.outerBatch(batch).filter(({ key }) => key.startsWith(options.prefix));\n",
      },
      {
        file: "src/storage/keyspaces/keyspace-store.ts",
        find: "if (event.key.startsWith(this.names.start)) events.push(",
        replace: "if (event.key[this.names.start.length - 1] === keyspaceSeparator) events.push(",
      },
    ],
  },
  {
    name: "a value of a pinned revision is lost when a later deletion of its key is compacted",
    patches: [
      {
        file: "src/storage/history/recorder.ts",
        find: 'write.kind !== "create" && write.expected <= this.pins.newest',
        replace: 'write.kind === "update" && write.expected <= this.pins.newest',
      },
    ],
  },
  {
    name: "a get in a branch shows later writes of its base",
    patches: [
      {
        file: "src/storage/derived/derived-store.ts",
        find: "return this.base.get(key, this.start);",
        replace: "return this.base.get(key);",
      },
    ],
  },
  {
    name: "a list in a branch shows later writes of its base",
    patches: [
      {
        file: "src/storage/derived/merged-range.ts",
        find: "new Cursor(base, prefix, after, start, keys)",
        replace: "new Cursor(base, prefix, after, undefined, keys)",
      },
    ],
  },
  {
    name: "a list in a branch shows objects of its base that were deleted in the branch",
    patches: [
      {
        file: "src/storage/derived/merged-range.ts",
        find: "return isMarker(own!.key) ? undefined : own;",
        replace:
          "if (!isMarker(own!.key)) return own;\n    return base?.key === shownKey(own!.key) ? base : undefined;",
      },
    ],
  },
  {
    name: "an object of the base that was deleted in a branch can be read and written in it again",
    patches: [
      {
        file: "src/storage/derived/derived-store.ts",
        find: "if (own !== undefined || marker !== undefined) return own;",
        replace: "if (own !== undefined) return own;",
      },
    ],
  },
  {
    name: "the first change of an object of the base is a creation in watches of a branch",
    patches: [
      {
        file: "src/storage/derived/shown-events.ts",
        find: "this.events.set(event, { key: shownKey(event.key), revision: event.revision, entry, previous });",
        replace:
          "this.events.set(event, {\n      key: shownKey(event.key), revision: event.revision, entry, previous: entry && undefined,\n    } as StoreEvent);",
      },
    ],
  },
  {
    name: "watches of a deleted workspace at other processes get the removal of its objects",
    patches: [
      {
        file: "src/server/workspaces/change-watch.ts",
        find: "if (metadata.deletionTimestamp !== undefined) return this.close(uid);\n",
        replace: "",
      },
    ],
  },
  {
    name: "processes that have a workspace open keep the state of its old base after a rebase",
    patches: [
      {
        file: "src/server/workspaces/workspaces.ts",
        find: "if (use.server.isOver(current.status?.bases ?? [])) {",
        replace: "if (use.server !== undefined) {",
      },
      {
        file: "src/server/workspaces/change-watch.ts",
        find: "    if (last?.isOpen === true) this.close(uid);\n",
        replace: "",
      },
    ],
  },
  {
    name: "a merge leaves out one of several objects",
    patches: [
      {
        file: "src/resources/branches/merge-branch.ts",
        find: "executePlans(target, plans, access, pause)",
        replace: "executePlans(target, plans.length > 1 ? plans.slice(1) : plans, access, pause)",
      },
    ],
  },
];
