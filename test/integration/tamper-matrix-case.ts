// What a row of the tamper matrix says about the hot store, and the places that its attacks aim at.
import { rewrite } from './tamper-matrix-rewrite.ts'
import { GROUP, SEALED, SIZE } from './tamper-matrix-world.ts'
import type { TamperWorld } from './tamper-matrix-world.ts'

export interface HotCase {
  readonly row: string
  readonly attack: string
  readonly tamper: (world: TamperWorld) => Promise<unknown>
  /** Each must be among the findings. */
  readonly found: readonly string[]
}

export const LAST = SIZE - 1
export const MIDDLE = 5
/** Not sealed, and not the last one: only the chain itself can tell. */
export const OPEN = SEALED + GROUP
/** Not sealed, the only record of its task, without texts, in the middle of a batch. */
export const LONELY = SEALED + 3

export const at = (chain: number, seq: number) => `where chain = ${chain} and seq = ${seq}`
export const flipped = (column: string, byte: number) =>
  `${column} = set_byte(${column}, ${byte}, get_byte(${column}, ${byte}) # 1)`

/** With the key of the batches, in the part that no seal covers: everything but one thing fits. */
export const onlyOne =
  (change: (record: Record<string, unknown>) => Record<string, unknown>, from = OPEN) =>
  ({ fixture }: TamperWorld) =>
    rewrite(fixture, { chain: 0, from, hasKey: true, change })
