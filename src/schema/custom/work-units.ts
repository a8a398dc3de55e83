/** Number of characters of a string that are processed per unit of work, see `FieldReport.spend`. */
export const charactersPerUnit = 64;

/** Number of scalar comparisons per unit of work. */
export const comparisonsPerUnit = 8;
