// The bodies of the erasure routes: exactly these members, checked before anything is looked up.
import type { ErasedStore, ErasurePlan } from '@baton/audit'
import { ProblemError } from './problem.ts'

export type PlanRequest = ErasurePlan

export interface ConfirmRequest {
  readonly subject: string
  readonly confirmedBy: string
  readonly handoffIds: readonly string[]
  readonly taskIds: readonly string[]
}

export interface CompleteRequest {
  readonly stores: readonly ErasedStore[]
}

export interface SubjectRequest {
  readonly subject: string
}

type Check = (value: unknown) => boolean

const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value)

const UUID = matches(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const SUBJECT = matches(/^[^\n]{1,256}$/u)
const CODE = matches(/^[A-Z][A-Z0-9_]{0,63}$/)
const OPERATOR = matches(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
const LIST_MAX = 10_000

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length <= LIST_MAX && value.every(check)

const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isStore: Check = (value) => {
  const { name, before, after, note } = (value ?? {}) as Partial<Record<string, unknown>>
  return (
    typeof name === 'string' &&
    isCount(before) &&
    isCount(after) &&
    (note === undefined || typeof note === 'string')
  )
}

const lists = { handoffIds: listOf(UUID), taskIds: listOf(UUID) }
const SHAPES = {
  plan: { id: UUID, subject: SUBJECT, basis: CODE, requestedBy: OPERATOR, ...lists },
  confirm: { subject: SUBJECT, confirmedBy: OPERATOR, ...lists },
  complete: { stores: listOf(isStore) },
  subject: { subject: SUBJECT },
} as const satisfies Record<string, Readonly<Record<string, Check>>>

/** The body where it has exactly the members of a shape. Throws a 400 problem that quotes nothing. */
export function readBody<Body>(value: unknown, shape: keyof typeof SHAPES): Body {
  const checks: Readonly<Record<string, Check>> = SHAPES[shape]
  const given = (value ?? {}) as Readonly<Record<string, unknown>>
  const names = Object.keys(checks)
  const wrong =
    names.find((name) => checks[name]?.(given[name]) !== true) ??
    Object.keys(given).find((name) => !names.includes(name))
  if (wrong === undefined) return given as Body
  const pointer = names.includes(wrong) ? `/${wrong}` : ''
  throw new ProblemError({
    status: 400,
    code: 'BATON_REQUEST_INVALID',
    detail: `${pointer} does not have the form that is asked for`,
    fix: `Give exactly ${names.join(', ')}.`,
    pointer,
  })
}
