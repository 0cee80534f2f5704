// What starts and tests a gateway inside another process.
export { createGateway } from './gateway.ts'
export type { Gateway, GatewayOptions } from './gateway.ts'
export type { Dialect } from './dialect.ts'
export { createApiKey, parseApiKeys, SCOPES, scopesOfRoles } from './api-keys.ts'
export type { KeyRequest } from './api-keys.ts'
export type { AuditReads } from './audit-reads.ts'
