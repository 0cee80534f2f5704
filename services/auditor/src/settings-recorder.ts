// The auditor has it on record when its settings are others than it said last, and which key follows which. What it said last stands
// in the log itself: nothing else has to be kept, and whoever alters that is found by every verification.
import { hash } from 'node:crypto'
import { readHeads, readTrace } from '@baton/audit'
import type { ColdStore, Pool } from '@baton/audit'
import { namedBy, operationEntry, rotationFacts, sameUuid, taskOfSettings } from '@baton/ledger'
import type { AuditEntry, Operation, OperationDetail } from '@baton/ledger'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { KEY_CODES } from './begun-with.ts'

interface RecorderOptions {
  /** Connected as audit_reader. */
  readonly reader: Pool
  readonly cold: ColdStore | undefined
  /** The settings as they are now. */
  readonly describe: () => Promise<readonly OperationDetail[]>
  /** Answers when they are durable; what is recorded already is left as it is. */
  readonly append: (entries: readonly AuditEntry[]) => Promise<unknown>
  readonly logger: Logger
}

/** What was said last, and the hash of the record that says so. */
interface Told {
  readonly details: readonly OperationDetail[]
  readonly recordHash: string
}

/** The policy may change while the auditor runs. */
const LOOK_EVERY_MS = 5_000
/** A log is begun by what it is there for: what its first auditor began with follows. */
const EMPTY_AGAIN_MS = 600_000
const AGAIN_MS = 1_000
const PROCESS = 'auditor'
const TASK = taskOfSettings(PROCESS)

/** `start` waits for the first look, and does not fail by it: what could not be recorded is tried again. */
export function createSettingsRecorder(options: RecorderOptions): Service {
  const { reader, cold, describe, append, logger } = options
  let known: string | undefined

  async function readTold(): Promise<Told | undefined> {
    const { records } = await readTrace(reader, TASK, { cold })
    const last = records.findLast(({ body }) => isOwn(body))
    const details = last?.body.operation?.details
    return last && details && { details, recordHash: last.recordHash }
  }

  const isEmpty = async () => (await readHeads(reader)).every(({ size }) => size === 0)

  async function look(): Promise<number> {
    const details = await describe()
    const text = textOf(details)
    if (text === known) return LOOK_EVERY_MS
    if (await isEmpty()) return EMPTY_AGAIN_MS
    const told = await readTold()
    if (told === undefined || textOf(told.details) !== text) {
      const at = new Date().toISOString()
      // First, because it follows from the difference, which is gone once the settings are on record.
      await append(rotationsOf(told, details, at))
      await append([changeOf(told, details, at)])
      logger.info({ event: 'settings.recorded', process: PROCESS })
    }
    known = text
    return LOOK_EVERY_MS
  }

  function failed(error: unknown, failures: number): number {
    if (failures === 1) logger.warn({ event: 'settings.unrecorded', code: codeOf(error) })
    return AGAIN_MS
  }

  const firstLook = Promise.withResolvers<void>()
  const looks = every({
    name: 'settings-recorder',
    everyMs: LOOK_EVERY_MS,
    run: () => look().finally(firstLook.resolve),
    failed,
  })
  return {
    ...looks,
    async start() {
      await looks.start()
      // So that nobody is answered by a key that is not on record yet.
      await firstLook.promise
    },
  }
}

const isOwn = ({ event, operation }: Pick<AuditEntry, 'event' | 'operation'>): boolean =>
  event === 'SETTINGS_CHANGED' && operation?.subject === PROCESS

const textOf = (details: readonly OperationDetail[]): string =>
  details.map(({ code, value, sha256 }) => `${code} ${value ?? ''} ${sha256 ?? ''}\n`).join('')

/** Ids are made of what was said before: a crash, or a second auditor, repeats the same ones. */
const idOf = (what: string, told: Told | undefined): string =>
  sameUuid([what, ...(told === undefined ? [] : [told.recordHash])].join('|'))

const byAuditor = { actor: PROCESS, by: PROCESS, right: 'settings' } as const

/**
 * One for each key that is not in force as it was said last. Where nothing was said yet, as by an auditor of an earlier version, one for each
 * that has others behind it: under the id that such an auditor gave it, so that what is on record is not told again.
 */
const rotationsOf = (
  told: Told | undefined,
  details: readonly OperationDetail[],
  at: string,
): AuditEntry[] =>
  Object.entries(KEY_CODES).flatMap(([key, code]) => {
    const to = namedBy(details, code)
    const from = told ? namedBy(told.details, code) : namedBy(details, `EARLIER_${code}`)
    if (from.length === 0 || to.length === 0 || from.join(' ') === to.join(' ')) return []
    const id = idOf(`baton/key-rotated/v1|${key}|${to.join(' ')}`, told)
    return [rotated({ id, at, subject: key, details: rotationFacts({ key, from, to }) })]
  })

const rotated = (own: Pick<Operation, 'id' | 'at' | 'subject' | 'details'>): AuditEntry =>
  operationEntry({ event: 'KEY_ROTATED', ...byAuditor, ...own })

const changeOf = (
  told: Told | undefined,
  details: readonly OperationDetail[],
  at: string,
): AuditEntry =>
  operationEntry({
    event: 'SETTINGS_CHANGED',
    ...byAuditor,
    id: idOf(`baton/settings/v1|${PROCESS}|${hash('sha256', textOf(details))}`, told),
    at,
    subject: PROCESS,
    details,
    about: { taskId: TASK },
  })
