// How sensitive content is, from the least to the most.
import type { HandoffMessage } from './handoff-message.ts'

export type Classification = NonNullable<HandoffMessage['dataClassification']>

export const CLASSIFICATIONS = [
  'public',
  'internal',
  'confidential',
  'restricted',
] as const satisfies readonly Classification[]

/** The most sensitive of those that are given; undefined where none is. */
export const strictestOf = (
  ...given: readonly (Classification | undefined)[]
): Classification | undefined => CLASSIFICATIONS.findLast((one) => given.includes(one))
