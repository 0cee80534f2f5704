// The three ways a handoff changes: made, taken a step, noted on. Each happens whole or not at all, whoever else is at it.
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '@baton/protocol'
import {
  changeHandoff,
  readHandoff,
  readHandoffBytes,
  timeAfter,
  writeHandoff,
  writeTime,
} from '@baton/protocol/dialects/handoff-v01'
import type {
  DocumentChange,
  OfferedHandoff,
  Status,
  Validation,
} from '@baton/protocol/dialects/handoff-v01'
import { transient } from '@baton/runtime'
import { exists, invalid, refuseExtensions, refuseIllegal, shown, unknown } from './refusals.ts'
import type { OfferStorage } from './storage.ts'

export interface NewHandoff {
  readonly description: string
  readonly from_agent: string
  /** Who should receive it; anyone where it is left out. */
  readonly to_agent?: string
  readonly context?: JsonObject
  /** A fresh UUID where it is left out. */
  readonly task_id?: string
}

/** Added to the context; members that are undefined are taken out. */
export type Note = NonNullable<DocumentChange['context']>

interface ChangeOptions {
  readonly storage: OfferStorage
  readonly validation: Validation
  readonly now: () => number
}

interface Changes {
  create(handoff: NewHandoff): Promise<OfferedHandoff>
  /** `noteOf` may refuse the step by throwing. */
  step(
    taskId: string,
    to: Status,
    noteOf: (handoff: OfferedHandoff) => Note,
  ): Promise<OfferedHandoff>
  note(seen: OfferedHandoff, note: Note): Promise<boolean>
}

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })

/** Who loses so often loses to steps of others, and a handoff has few of them. */
const TRIES_MAX = 20

export function createChanges({ storage, validation, now }: ChangeOptions): Changes {
  async function load(taskId: string) {
    const stored = await storage.load(taskId)
    if (stored === undefined) throw unknown(taskId)
    const read = readHandoffBytes(stored.bytes, validation)
    if (!read.ok) throw invalid(`handoff ${shown(taskId)} ${read.reason}`)
    return { handoff: read.handoff, version: stored.version, text: DECODER.decode(stored.bytes) }
  }

  function checked(text: string): OfferedHandoff {
    const read = readHandoff(text, validation)
    if (read.ok) return read.handoff
    throw invalid(`the handoff ${read.reason}`)
  }

  return {
    async create({ task_id = randomUUID(), to_agent = '', context = {}, ...given }) {
      const { from_agent, description } = given
      const at = writeTime(now())
      const fields = { task_id, from_agent, to_agent, status: 'offered', description } as const
      const text = writeHandoff({ ...fields, context, created_at: at, updated_at: at })
      const handoff = checked(text)
      if (validation === 'strict') refuseExtensions(handoff)
      if (await storage.save(task_id, text, undefined)) return handoff
      throw exists(task_id)
    },
    async step(taskId, to, noteOf) {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const { text, version, handoff } = await load(taskId)
        refuseIllegal(handoff, to)
        const context = noteOf(handoff)
        const updated_at = timeAfter(handoff.updated_at, now())
        const next = changeHandoff(text, { status: to, updated_at, context })
        const changed = checked(next)
        if (await storage.save(taskId, next, version)) return changed
      }
      throw transient('BATON_OFFERS_BUSY', `handoff ${shown(taskId)} changes all the time`, {
        fix: 'Try again.',
      })
    },
    async note(seen, context) {
      const { text, version, handoff } = await load(seen.task_id)
      const isSeen = handoff.status === seen.status && handoff.updated_at === seen.updated_at
      return isSeen && storage.save(seen.task_id, changeHandoff(text, { context }), version)
    },
  }
}
