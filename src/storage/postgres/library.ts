/** The parts of the PostgreSQL library that connections use. */
export { Client, DatabaseError, types } from "pg";
