// The records of what leaves a store: one task per log, whose trace is the history of its retention. What is merely marked as
// expired in the database, and not recorded, was removed by somebody.
import { createHash } from 'node:crypto'
import { readRecord, recordIdBytes, sealLogOrigin, uuidOfDigest } from '@baton/ledger'
import type { AuditEntry, Finding } from '@baton/ledger'
import { findRecordedKeys } from '../append/idempotency.ts'
import type { Database } from '../database.ts'
import { readRecordAt } from '../read/records.ts'
import type { ColdTier } from './cold-tier.ts'
import { bundleOf } from './objects.ts'
import { checkRetentionAge } from './retention-age.ts'

/** The same text gives the same UUID, version 8. */
const uuidOf = (text: string): string =>
  uuidOfDigest(createHash('sha256').update(text).digest('hex'))

/** The task under which a log's own retention is recorded; the text it is made of stands in every log and never changes. */
const retentionTask = (sealLog: string): string => uuidOf(`baton/upkeep/v1|${sealLog}`)

/** The same for each try, so that recording it again answers the first receipt. */
function retentionEntry(sealLog: string, what: { handoffId: string; reason: string }): AuditEntry {
  const { handoffId, reason } = what
  const taskId = retentionTask(sealLog)
  const [trace, span] = [taskId, handoffId].map((id) => id.replaceAll('-', ''))
  return {
    event: 'PARTITION_DROPPED',
    taskId,
    handoffId,
    parentHandoffId: null,
    attempt: 0,
    epoch: 0,
    fromAgent: { agentId: 'archiver', agentVersion: '1', executionId: handoffId },
    toAgent: { agentType: 'audit-log', agentVersion: null },
    traceparent: `00-${trace}-${span?.slice(0, 16)}-00`,
    verdicts: null,
    reason,
    cost: null,
    segments: [],
  }
}

/** A day of records stands in the cold store alone from now on. `day` is YYYY-MM-DD. */
export const dropEntry = (sealLog: string, day: string): AuditEntry =>
  retentionEntry(sealLog, {
    handoffId: uuidOf(`baton/drop/v1|${sealLog}|${day}`),
    reason: `DAY_${day.replaceAll('-', '')}`,
  })

/** The day (YYYY-MM-DD) that such a record tells of, by its reason; undefined for any other. */
export function droppedDay(reason: string | null): string | undefined {
  const [, year, month, day] = /^DAY_(\d{4})(\d\d)(\d\d)$/.exec(reason ?? '') ?? []
  return year === undefined ? undefined : `${year}-${month}-${day}`
}

interface Expiry {
  readonly chain: number
  /** The first record that is kept. */
  readonly toIndex: number
}

/** The records of a chain below `toIndex` stand nowhere any more: their retention has ended. */
export const expiryEntry = (sealLog: string, { chain, toIndex }: Expiry): AuditEntry =>
  retentionEntry(sealLog, {
    handoffId: uuidOf(`baton/expiry/v1|${sealLog}|${chain}|${toIndex}`),
    reason: `EXPIRED_CHAIN_${chain}_BELOW_${toIndex}`,
  })

/** Where the record of an expiry stands; undefined where it was never recorded. */
export async function findExpiryRecord(
  db: Database,
  origin: string,
  expiry: Expiry,
): Promise<{ readonly chain: number; readonly seq: number } | undefined> {
  const key = recordIdBytes(expiryEntry(sealLogOrigin(origin), expiry))
  return (await findRecordedKeys(db, [key]))[0]
}

/** The record of an expiry as it is stored. That it is authentic, its own chain proves. */
interface ExpiryRecord {
  readonly chain: number
  readonly seq: number
  readonly body: Buffer
}

/** Undefined where no record tells of the expiry. */
export async function readExpiryRecord(
  db: Database,
  tier: ColdTier,
  { origin, ...expiry }: Expiry & { readonly origin: string },
): Promise<ExpiryRecord | undefined> {
  const place = await findExpiryRecord(db, origin, expiry)
  const body = place && (await readBody(db, tier, place))
  const record = body && readRecord(body)
  const { handoffId, event, reason } = expiryEntry(sealLogOrigin(origin), expiry)
  const isTold =
    record?.handoffId === handoffId && record.event === event && record.reason === reason
  return place && body && isTold ? { ...place, body } : undefined
}

/** A finding where a chain begins late and no record tells why, or where it is too early for that. */
export async function checkExpiryRecord(
  db: Database,
  tier: ColdTier,
  expiry: Expiry & { readonly origin: string },
): Promise<readonly Finding[]> {
  const told = await readExpiryRecord(db, tier, expiry)
  return told === undefined ? [untoldExpiry(expiry)] : checkRetentionAge(db, expiry)
}

/** Records are marked as expired, and no record tells of it. */
export const untoldExpiry = ({
  origin,
  toIndex,
}: Expiry & { readonly origin: string }): Finding => ({
  origin,
  seq: 0,
  rule: 'RECORD_SEQ',
  message: `records 0 to ${toIndex - 1} are marked as expired, and no record says so`,
})

async function readBody(
  db: Database,
  tier: ColdTier,
  { chain, seq }: { readonly chain: number; readonly seq: number },
): Promise<Buffer | undefined> {
  if (seq >= (await tier.position(chain)).hotFrom) return readRecordAt(db, { chain, seq })
  const records = await tier.bundle(chain, bundleOf(seq))
  const found = records.find((record) => record.seq === seq)
  return found && Buffer.from(found.body)
}
