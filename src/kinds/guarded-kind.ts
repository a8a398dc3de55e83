import { ExtensionError } from "../base/extension.ts";
import { StatusError } from "../base/status-error.ts";
import type { Column } from "../schema/columns.ts";
import type { Kind, Subresource } from "../schema/kind.ts";

/**
 * Wraps the functions of an embedding program's kinds, so that an exception names the kind and the function. The
 * exception ends the request or watch, like any bug. Conversions of the result return guarded kinds.
 */
export function guardedKinds(kinds: readonly Kind[]): readonly Kind[] {
  const guarded = new Map(kinds.map((kind) => [kind, guardedKind(kind)] as const));
  for (const kind of guarded.values()) {
    const { conversion } = kind;
    if (conversion === undefined) continue;
    const members = withGuards(conversion, `kind ${kind.name}: conversion`);
    const stored = () => guarded.get(conversion.stored()) ?? conversion.stored();
    Object.assign(kind, { conversion: { ...members, stored } });
  }
  return [...guarded.values()];
}

function guardedKind(kind: Kind): Kind {
  const subject = `kind ${kind.name}`;
  const subresources = Object.entries<Subresource>(kind.subresources).map(
    ([name, one]) => [name, withGuards(one, `${subject}: subresource ${name}`)] as const,
  );
  const columns = kind.columns?.map((one): Column => ({
    ...withGuards(one, `${subject}: column ${one.name}`),
    // It isn't known what such cells depend on.
    varies: one.varies === true || one.ages === undefined,
  }));
  return {
    ...withGuards(kind, subject),
    selectable: withGuards(kind.selectable, `${subject}: selectable`),
    subresources: Object.fromEntries(subresources),
    ...(columns && { columns }),
  };
}

type Call = (...parameters: unknown[]) => unknown;

/** Returns a copy of an object whose functions add their name to exceptions. */
function withGuards<T extends object>(members: T, subject: string): T {
  const entries = Object.entries(members).map(([name, member]: [string, unknown]) => {
    if (typeof member !== "function") return [name, member] as const;
    const failed = (error: unknown): never => {
      if (error instanceof StatusError) throw error;
      throw new ExtensionError(`${subject}: ${name} failed: ${String(error)}`, { cause: error });
    };
    const call: Call = (...parameters) => {
      try {
        const result = (member as Call).apply(members, parameters);
        return result instanceof Promise ? result.catch(failed) : result;
      } catch (error) {
        return failed(error);
      }
    };
    return [name, call] as const;
  });
  return Object.fromEntries(entries) as T;
}
