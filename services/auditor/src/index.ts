// The audit service: its settings and the service itself, for processes that host it.
export { AUDITOR_SETTINGS } from './settings.ts'
export { createAuditor } from './auditor.ts'
export type { Auditor, AuditorSettings } from './auditor.ts'
