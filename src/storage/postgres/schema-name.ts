const schemaName = /^[a-z_][a-z0-9_]{0,39}$/;

/**
 * Whether a text can be the name of the store's schema in the database. In SQL it is quoted, because it may be a reserved word. Names of
 * prepared statements contain it and have at most 63 bytes.
 */
export function isSchemaName(text: string): boolean {
  return schemaName.test(text) && !text.startsWith("pg_");
}
