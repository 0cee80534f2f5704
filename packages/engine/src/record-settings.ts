// A process that begins with other people, keys or waivers than the one of its kind before it says so in the audit log.
import { facts, HANDOFF_KEY, rotationFacts, taskOfSettings } from '@baton/ledger'
import type { OperationDetail } from '@baton/ledger'
import type { KeyRing } from '@baton/protocol'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { createPool, inTransaction, recordChangedSettings } from '@baton/store'
import type { Pool } from '@baton/store'
import { operationEvent, recordOperation } from './record-operation.ts'

/** What the record may say of a process's settings: public names and digests, never a secret. */
export interface StartedWith {
  /** The kind of process, for example `gateway`. */
  readonly process: string
  /** A part of them that changes while it runs, and is told of by itself; all of them by default. */
  readonly subject?: string
  readonly details: readonly OperationDetail[]
}

/** Records them where they are others than before, and which key signs instead of which; answers whether they were. */
export const recordSettings = (
  pool: Pool,
  { process, subject = process, details }: StartedWith,
): Promise<boolean> =>
  inTransaction(pool, async (db) => {
    const byProcess = { actor: process, by: process, right: 'settings' }
    const about = { taskId: taskOfSettings(subject) }
    const change = { event: 'SETTINGS_CHANGED', subject, details, about } as const
    const record = operationEvent({ ...byProcess, ...change })
    const { changed, signedBefore, signsNow } = await recordChangedSettings(db, subject, record)
    if (changed && signedBefore !== null && signsNow !== null && signedBefore !== signsNow)
      await recordOperation(db, { ...byProcess, ...rotationOf(signedBefore, signsNow) })
    return changed
  })

const rotationOf = (from: string, to: string) => {
  const key = HANDOFF_KEY
  const details = rotationFacts({ key, from: [from], to: [to] })
  return { event: 'KEY_ROTATED', subject: key, details } as const
}

interface RecorderParts {
  readonly databaseUrl: string
  readonly startedWith: StartedWith
  readonly logger: Logger
}

const AGAIN_MS = 1_000

/** The same as a service: a process starts without its database, so it is tried until it is recorded. */
export function recordingSettings({ databaseUrl, startedWith, logger }: RecorderParts): Service {
  const applicationName = `baton-${startedWith.process}-settings`
  const pool = createPool({ url: databaseUrl, applicationName, connectionsMax: 1 })
  const tries = every({
    name: 'settings-record',
    everyMs: AGAIN_MS,
    holdsProcess: false,
    async run() {
      const isChanged = await recordSettings(pool, startedWith)
      if (isChanged) logger.info({ event: 'settings.recorded', process: startedWith.process })
      return Infinity
    },
    failed: (error, failures) => {
      if (failures === 1) logger.warn({ event: 'settings.unrecorded', code: codeOf(error) })
    },
  })
  let stopped: Promise<void> | undefined
  return {
    name: tries.name,
    start: () => tries.start(),
    stop: () => (stopped ??= tries.stop().then(() => pool.end())),
  }
}

/** The keys that sign handoffs, by their names; nothing of their secrets. */
export const signingKeyFacts = ({ keys }: KeyRing): readonly OperationDetail[] =>
  facts(
    'SIGNING_KEY',
    [...keys].map(([id, { status }]) => `${id}:${status}`),
  )
