// The audit store: its database, its append path, its readers, and the client everybody else uses.
export { createAuditClient } from './client.ts'
export type { AuditClient } from './client.ts'
