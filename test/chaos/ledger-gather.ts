// Gathers the evidence of a ledger campaign that has settled, from every side there is.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool } from '@baton/audit'
import { readBatchPublicKey } from '@baton/ledger'
import { checkAll } from './check.ts'
import { readLedger, readLines } from './effect-ledger.ts'
import type { Evidence } from './evidence.ts'
import { readOperations } from './history.ts'
import type { AcknowledgedAppend, HeldReceipt, LedgerEvidence } from './ledger-evidence.ts'
import { asFaults } from './ledger-kills.ts'
import type { KillRun } from './ledger-kills.ts'
import { HISTORY, OFFERED, RECEIPTS } from './ledger-load.ts'
import {
  openNotes,
  readColdLogs,
  readHotLogs,
  readRecords,
  readStoredNotes,
} from './ledger-logs.ts'
import { OBSERVED } from './ledger-observer.ts'
import type { ObservedNote } from './ledger-observer.ts'
import { readCoverage } from './ledger-settle.ts'
import { reconcile, verifyLog } from './ledger-verify.ts'
import type { LedgerWorld } from './ledger-world.ts'
import { readEvidence } from './read-evidence.ts'
import { BACKOFF, LEASE_MS } from './world.ts'

interface GatherOptions {
  readonly world: LedgerWorld
  /** A superuser's connections to the audit database. */
  readonly pool: Pool
  readonly kills: readonly KillRun[]
  readonly startedAt: number
}

export interface Gathered {
  readonly evidence: Omit<LedgerEvidence, 'alarms'>
  readonly handoffs: number
  readonly executions: number
}

/** That work is in time again 30 s after a fault: here the next kill comes sooner, and recovery is a figure. */
const PROMPT_AGAIN = 'I14'

/** Everything but the services' own logs, which are whole once they have ended. */
export async function gather(options: GatherOptions): Promise<Gathered> {
  const { world, pool } = options
  const { folder, ledger } = world
  const acknowledged = readLines<AcknowledgedAppend>(join(folder, RECEIPTS))
  const delivery = await deliveryEvidence(options)
  const held = await readHeld(world)
  const records = await readRecords(pool)
  const notes = [
    ...readLines<ObservedNote>(join(folder, OBSERVED)),
    ...anchoredNotes(ledger.files.anchorFile),
    ...(await readStoredNotes(pool)),
  ]
  const started = delivery.ledger.flatMap(({ what, handoffId, fencingToken }) =>
    what === 'start' ? [{ handoffId, epoch: fencingToken }] : [],
  )
  return {
    handoffs: delivery.handoffs.length,
    executions: started.length,
    evidence: {
      acknowledged,
      records,
      hot: await readHotLogs(pool, records),
      cold: await readColdLogs(pool, ledger.files.coldFolder),
      ...openNotes(notes, readBatchPublicKey(ledger.keys.seal)),
      started,
      held,
      unreconciled: await reconcile(world, held),
      coverage: await readCoverage(pool, world),
      ...(await verifyLog(world)),
      delivery: checkAll(delivery).filter(({ id }) => id !== PROMPT_AGAIN),
    },
  }
}

/** What the other checker looks at; the appender's records belong to no handoff. */
async function deliveryEvidence({ world, kills, startedAt }: GatherOptions): Promise<Evidence> {
  const read = await readEvidence(world.system)
  const offered = new Set(readLines<string>(join(world.folder, OFFERED)))
  return {
    ...read,
    records: read.records.filter(({ handoffId }) => !offered.has(handoffId)),
    operations: readOperations(join(world.folder, HISTORY)),
    sendsKnown: true,
    peers: [],
    told: [],
    ledger: readLedger(world.folder),
    faults: asFaults(kills, startedAt),
    limits: { leaseMs: LEASE_MS, backoff: BACKOFF },
  }
}

async function readHeld({ admin }: LedgerWorld): Promise<readonly HeldReceipt[]> {
  const { rows } = await admin.query<HeldReceipt & Record<string, unknown>>({
    text: `select handoff_id as "handoffId", fencing_token as epoch, encode(audit_hash, 'hex') as hash
      from execution order by handoff_id`,
  })
  return rows
}

/** Every line of the anchor file, not only the last; a line that a kill cut off is none. */
function anchoredNotes(file: string): readonly ObservedNote[] {
  return anchorLines(file).map(({ note }) => ({ from: 'anchor', note }))
}

interface AnchorLine {
  /** ISO 8601. */
  readonly at: string
  readonly note: string
}

export function anchorLines(file: string): readonly AnchorLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as AnchorLine]
      } catch {
        return []
      }
    })
}

const ALARM = /"event":"(?:audit\.tamper_detected|receipts\.unmatched)"/

/** Lines in which a service says that somebody tampered; read them once all have ended. */
export function readAlarms(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .filter((line) => ALARM.test(line))
        .map((line) => `${name}: ${line}`),
    )
}
