import { defaultRelease, type Release } from "../base/releases.ts";
import { declarationOf, membersOfRelease, type Kind, type Subresource } from "./kind.ts";
import { fieldsInRelease } from "./added-fields.ts";
import { rulesInRelease } from "./structs.ts";
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
    this.copier = new TypeCopier(
      (fields, type) => {
        const later = type.shape === "struct" ? type.rules.later : undefined;
        const own = later === undefined ? fields : fieldsInRelease(fields, later(), release);
        return Object.fromEntries(Object.entries(own).map(([name, one]) => [name, one.inRelease(release)]));
      },
      (rules) => (rules.released === undefined ? rules : rulesInRelease(rules, release)),
    );
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
    const { conversion, released } = declared;
    const kind =
      released === undefined
        ? declared
        : { ...membersOfRelease(released, this.release), type: declared.type };
    const subresources = Object.entries<Subresource>(kind.subresources).map(
      ([name, one]) => [name, this.subresource(one)] as const,
    );
    return {
      ...kind,
      declaration: declarationOf(declared),
      type: this.copier.struct(kind.type),
      subresources: Object.fromEntries(subresources),
      ...(conversion && { conversion: { ...conversion, stored: () => this.get(conversion.stored()) } }),
    };
  }

  private subresource(one: Subresource): Subresource {
    return one.shape === "view" || one.shape === "action"
      ? { ...one, kind: () => this.get(one.kind()) }
      : one;
  }
}
