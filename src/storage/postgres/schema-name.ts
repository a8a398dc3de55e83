const schemaName = /^[a-z_][a-z0-9_]{0,47}$/;

/** Whether a text can be the name of the store's schema in the database; such a name needs no quotes. */
export function isSchemaName(text: string): boolean {
  return schemaName.test(text) && !text.startsWith("pg_");
}
