// What a process may spend on large messages, where nothing else is said.
import type { Settings } from '@baton/runtime'
import type { LARGE_WORK_SETTINGS } from './settings.ts'

export interface LargeWorkBounds {
  /** Threads of this process; 1 by default. Of several, one tenant has at most all but one. */
  readonly threadsMax?: number | undefined
  /** How long one message may take; 10 s by default. */
  readonly endMs?: number | undefined
}

/** The defaults. */
export const LARGE_WORK = { threadsMax: 1, endMs: 10_000 } as const

export const readLargeWork = (settings: Settings<typeof LARGE_WORK_SETTINGS>): LargeWorkBounds => ({
  threadsMax: settings.BATON_LARGE_WORK_THREADS,
  endMs: settings.BATON_LARGE_WORK_END_MS,
})
