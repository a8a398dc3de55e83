/** Properties of a custom kind. */
export interface CustomKindFacts {
  /** Kind of its lists. */
  readonly listKind: string;
  /** Revision of the definition. Objects that were written before may not be pruned and defaulted by its schema. */
  readonly since: number;
  /** Parses the schema in the definition; undefined without one. Not cached, because it is large. */
  readonly schema: () => object | undefined;
  /** Deprecation warning of the version; empty if it isn't deprecated. */
  readonly deprecation: string;
}
