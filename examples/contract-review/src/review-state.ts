// What travels in `currentState` between the agents of the contract review, and how it is read back safely.
import { permanent } from '@baton/sdk'
import type { JsonObject, JsonValue } from '@baton/sdk'
import type { ClauseKind } from './clause-kinds.ts'

/** Which licence is under review. Written by intake, carried unchanged by everybody. */
export type LicenceCard = {
  readonly name: string
  /** SPDX expression of what the text looks like; NOASSERTION where it looks like nothing known. */
  readonly spdx: string
  /** BCP 47 tag of the language, `und` where the text is too short to say. */
  readonly language: string
  readonly characters: number
  /** SHA-256 (hex) of the text with placeholders instead of personal data. */
  readonly sha256: string
}

/** A person of whom the text speaks; name and contacts travel in `personalDataPayload` only. */
export type HolderReference = {
  readonly subject: string
  /** What stands in the text instead of the name. */
  readonly placeholder: string
}

export type Section = { readonly id: string; readonly heading: string; readonly text: string }

/** A clause found in a section: `span` is [start, end) of the quote in the section's text. */
export type Clause = {
  readonly id: string
  readonly kind: ClauseKind
  readonly section: string
  readonly span: readonly [start: number, end: number]
  readonly quote: string
}

/** What a kind of clause makes the user of the software do, or lets them do. */
export type Obligation = { readonly kind: ClauseKind; readonly duty: string }

/** Something a lawyer would point at; likelihood and consequence from 1 to 5. */
export type Issue = {
  readonly flag: string
  readonly likelihood: number
  readonly consequence: number
  readonly why: string
  /** Ids of the clauses it rests on; empty where something is missing or a model said so. */
  readonly clauses: readonly string[]
}

/** Levels of the consequence and likelihood matrix of ISO 31010, low to extreme. */
export type RiskLevel = 'low' | 'moderate' | 'high' | 'extreme'

/** The outcome of a review task: one row of the table of findings. */
export type ReviewFindings = {
  readonly licence: string
  readonly spdx: string
  /** 0 harmless to 100. */
  readonly riskScore: number
  readonly level: RiskLevel
  readonly clauses: number
  readonly flags: readonly string[]
  readonly summary: string
}

/** The value of a state key that is an object. Throws BATON_REVIEW_STATE_INVALID. */
export function readObject<T>(state: JsonObject, key: string): T {
  const value = state[key]
  if (isObject(value)) return value as T
  throw invalidState(key, 'an object')
}

/** The value of a state key that lists objects. Throws BATON_REVIEW_STATE_INVALID. */
export function readObjects<T>(state: JsonObject, key: string): readonly T[] {
  const value = state[key]
  if (Array.isArray(value) && value.every(isObject))
    return value as readonly unknown[] as readonly T[]
  throw invalidState(key, 'a list of objects')
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const invalidState = (key: string, expected: string) =>
  permanent('BATON_REVIEW_STATE_INVALID', `currentState.${key} is not ${expected}`, {
    fix: 'Send the state that reviewRequest() or the previous agent of the contract review made.',
  })
