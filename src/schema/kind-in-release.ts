import { defaultRelease, isLater, type Release } from "../base/releases.ts";
import type { Column, LaterColumn } from "./columns.ts";
import { declarationOf, withStatus, type Kind, type StatusSpec, type Subresource } from "./kind.ts";
import { fieldsInRelease } from "./later-fields.ts";
import { TypeCopier } from "./type-copier.ts";
import type { StructType } from "./types.ts";

const byRelease = new Map<Release, ReleaseKinds>();

/**
 * Returns a kind with the fields of a release later than the reference release. The kind of its storage version, and those of its
 * subresources, have them too.
 */
export function kindInRelease(kind: Kind, release: Release): Kind {
  return kindsOf(release).get(kind);
}

/** Returns a struct that belongs to no kind, such as ListMeta, with its fields in a release. */
export function structInRelease(type: StructType, release: Release): StructType {
  return release === defaultRelease ? type : kindsOf(release).struct(type);
}

function kindsOf(release: Release): ReleaseKinds {
  let kinds = byRelease.get(release);
  if (kinds === undefined) byRelease.set(release, (kinds = new ReleaseKinds(release)));
  return kinds;
}

/** The kinds of a release. */
class ReleaseKinds {
  private readonly kinds = new WeakMap<Kind, Kind>();
  private readonly copier: TypeCopier;

  constructor(private readonly release: Release) {
    this.copier = new TypeCopier((fields, type) => {
      const later = type.shape === "struct" ? type.rules.later : undefined;
      return later === undefined ? fields : fieldsInRelease(fields, later(), release);
    });
  }

  struct(type: StructType): StructType {
    return this.copier.struct(type);
  }

  get(kind: Kind): Kind {
    let copy = this.kinds.get(kind);
    if (copy === undefined) this.kinds.set(kind, (copy = this.copy(kind)));
    return copy;
  }

  private copy(declared: Kind): Kind {
    const { conversion, laterStatus, laterGeneration, laterSelectable } = declared;
    const hasLaterSelectable = laterSelectable !== undefined && !isLater(laterSelectable.since, this.release);
    const hasLaterGeneration = laterGeneration !== undefined && !isLater(laterGeneration.since, this.release);
    const hasLaterStatus = laterStatus !== undefined && !isLater(laterStatus.since, this.release);
    const kind = hasLaterStatus ? withLaterStatus(declared, laterStatus.status) : declared;
    const subresources = Object.entries<Subresource>(this.subresourcesOf(kind)).map(
      ([name, one]) => [name, this.subresource(one)] as const,
    );
    return {
      ...kind,
      declaration: declarationOf(declared),
      type: this.copier.struct(kind.type),
      ...(hasLaterGeneration && { generationOf: laterGeneration.of }),
      ...(hasLaterSelectable && { selectable: { ...kind.selectable, ...laterSelectable.fields } }),
      ...(kind.columns && { columns: columnsInRelease(kind.columns, kind.laterColumns ?? [], this.release) }),
      subresources: Object.fromEntries(subresources),
      ...(conversion && { conversion: { ...conversion, stored: () => this.get(conversion.stored()) } }),
    };
  }

  private subresourcesOf({ subresources, laterSubresources: later }: Kind): Kind["subresources"] {
    if (later === undefined || isLater(later[0], this.release)) return subresources;
    return { ...subresources, ...later[1] };
  }

  private subresource(one: Subresource): Subresource {
    return one.shape === "view" || one.shape === "action"
      ? { ...one, kind: () => this.get(one.kind()) }
      : one;
  }
}

/** Returns the columns of a kind in a release. */
function columnsInRelease(
  columns: readonly Column[],
  later: readonly LaterColumn[],
  release: Release,
): readonly Column[] {
  const result = [...columns];
  for (const change of later) {
    if (isLater(change.since, release)) continue;
    const title = "removed" in change ? change.removed : change.after;
    const position = result.findIndex(({ name }) => name === title);
    if (position === -1) throw new Error(`there is no column ${title}`);
    if ("removed" in change) result.splice(position, 1);
    else result.splice(position + 1, 0, change.column);
  }
  return result;
}

function withLaterStatus(kind: Kind, status: StatusSpec | undefined): Kind {
  if (status !== undefined) return withStatus(kind, status);
  const { status: _, ...subresources } = kind.subresources;
  return { ...kind, subresources };
}
