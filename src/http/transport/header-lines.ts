/** Header lines of an answer, as name, value, name, value, … */
export type HeaderLines = readonly string[];
