// The roles that people and services have, each a set of scopes; and which scopes decide about something.

export const ROLES = {
  /** Builds and runs agents. */
  developer: [
    'handoffs:send',
    'handoffs:read',
    'handoffs:return',
    'handoffs:cancel',
    'tasks:resume',
    'executions:claim',
    'events:read',
    'events:subscribe',
  ],
  /** Keeps the installation going. */
  operator: [
    'handoffs:read',
    'handoffs:cancel',
    'tasks:resume',
    'dead-letters:redrive',
    'metrics:read',
    'events:read',
    'events:subscribe',
  ],
  /** Decides about what was stopped and what waits for an approval. */
  reviewer: ['handoffs:read', 'approvals:decide', 'dead-letters:review'],
  /** Holds what a court wants, and erases people. */
  compliance: [
    'handoffs:read',
    'erasures:plan',
    'erasures:approve',
    'audit:read',
    'audit:evidence',
    'audit:hold',
  ],
  /** Reads the log and what it proves. */
  auditor: ['handoffs:read', 'audit:read', 'audit:evidence', 'audit:payload'],
  /** Everything that developers and operators may; deciding takes the role of who decides, too. */
  admin: [
    'handoffs:send',
    'handoffs:read',
    'handoffs:return',
    'handoffs:cancel',
    'tasks:resume',
    'executions:claim',
    'dead-letters:redrive',
    'metrics:read',
    'events:read',
    'events:subscribe',
    'audit:read',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>
export type Role = keyof typeof ROLES

export const isRole = (name: string): name is Role => Object.hasOwn(ROLES, name)

/** What only a person may, whom the caller names: two callers who are nobody would count as two people. */
const DECIDING: ReadonlySet<string> = new Set([
  'approvals:decide',
  'dead-letters:review',
  'erasures:plan',
  'erasures:approve',
  'audit:hold',
])

export const decides = (scope: string): boolean => DECIDING.has(scope)
