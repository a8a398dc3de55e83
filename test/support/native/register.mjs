// Lets Node import TypeScript of the project: `node --import ./test/support/native/register.mjs file.ts`.
import * as module from "node:module";
import { moduleAt } from "./hooks.mjs";
import "./stacks.mjs";

// Newer versions of Node run hooks in the thread that imports, which is faster.
if (module.registerHooks === undefined) module.register("./hooks.mjs", import.meta.url);
else module.registerHooks({ load: (url, context, nextLoad) => moduleAt(url) ?? nextLoad(url, context) });
