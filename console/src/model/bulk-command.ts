/** What is done with all marked objects. */
export type BulkCommand = "delete" | "labels" | "annotations";
