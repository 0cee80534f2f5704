// What the definitions of commands share: how a command is run, and how its arguments are read.
import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import type { Context } from './context.ts'
import type { ExitCode } from './exit-codes.ts'

/** Opens a command's context once its options are known, and runs it. */
export type Run = (
  command: Command,
  action: (context: Context) => Promise<ExitCode>,
) => Promise<void>

export const TASK = 'task id, or the first digits of one'

export const collect = (value: string, before: readonly string[]): readonly string[] => [
  ...before,
  value,
]

export function positiveNumber(text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value
  throw new InvalidArgumentError('Expected a number above 0.')
}

const LIMIT_MAX = 1_000

export function limit(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && value <= LIMIT_MAX) return value
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${LIMIT_MAX}.`)
}
